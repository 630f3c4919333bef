"""Exceptions: one class for each reaction that a caller can have."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Literal

from ckpt_viz.types import Interrupt
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10


class ErrorCode(Enum):
    """The names under which LangGraph's documentation explains an error."""

    GRAPH_RECURSION_LIMIT = "GRAPH_RECURSION_LIMIT"
    INVALID_CONCURRENT_GRAPH_UPDATE = "INVALID_CONCURRENT_GRAPH_UPDATE"
    INVALID_GRAPH_NODE_RETURN_VALUE = "INVALID_GRAPH_NODE_RETURN_VALUE"
    MULTIPLE_SUBGRAPHS = "MULTIPLE_SUBGRAPHS"
    INVALID_CHAT_HISTORY = "INVALID_CHAT_HISTORY"


def create_error_message(*, message: str, error_code: ErrorCode) -> str:
    """A message with the place where it is explained."""
    return (
        f"{message}\nFor troubleshooting, visit: https://docs.langchain.com/oss/python/langgraph/"
        f"errors/{error_code.value}"
    )


class CkptVizError(Exception):
    """The root of every error that this package raises on purpose."""


class EmptyChannelError(CkptVizError):
    """A channel was read that holds no value."""


class EmptyInputError(CkptVizError):
    """A run was started with nothing to do: no input, and no checkpoint to go on from."""


class InvalidUpdateError(CkptVizError):
    """A write does not fit: wrong shape, unknown key, or two values for a one-value channel."""


class GraphRecursionError(RecursionError):
    """A run took more supersteps than ``recursion_limit`` allows."""


class GraphBubbleUp(CkptVizError):
    """Base of the signals that leave a node without being failures."""


class GraphInterrupt(GraphBubbleUp):
    """A node asked a question; ``args[0]`` is the sequence of `Interrupt`."""

    def __init__(self, interrupts: Any = ()) -> None:
        super().__init__(interrupts)


class NodeInterrupt(GraphInterrupt):
    """The older way to stop a node with a question; `ckpt_viz.types.interrupt` is the newer one."""

    def __init__(self, value: Any, id: str | None = None) -> None:
        warnings.warn(
            LangGraphDeprecatedSinceV10(
                "NodeInterrupt is deprecated. Please use `langgraph.types.interrupt` instead."
            ),
            stacklevel=2,
        )
        super().__init__([Interrupt(value) if id is None else Interrupt(value, id)])


class GraphDrained(GraphBubbleUp):
    """The run was asked to end, and did before its next superstep; it can be resumed."""

    def __init__(self, reason: str = "shutdown") -> None:
        super().__init__(f"Graph drained: {reason}")
        self.reason = reason

    def __reduce__(self) -> Any:
        return type(self), (self.reason,)


class ParentCommand(GraphBubbleUp):
    """A node sent a Command to the graph above it; ``args[0]`` is the Command."""


class NodeTimeoutError(CkptVizError):
    """An attempt of a node took longer than its `TimeoutPolicy` allows. Times are in seconds.

    ``kind`` tells which limit it was, ``timeout`` that limit. It is no built-in `TimeoutError`, so
    the default `RetryPolicy` retries it.
    """

    def __init__(
        self,
        node: str,
        elapsed: float,
        *,
        kind: Literal["idle", "run"],
        idle_timeout: float | None = None,
        run_timeout: float | None = None,
    ) -> None:
        if kind not in ("idle", "run"):
            raise ValueError("kind must be 'idle' or 'run'")
        limit = idle_timeout if kind == "idle" else run_timeout
        if limit is None:
            raise ValueError(f"{kind}_timeout is required when kind='{kind}'")
        how = " without making progress" if kind == "idle" else ""
        super().__init__(
            f"Node '{node}' exceeded its {kind} timeout of {limit:.3f}s{how} "
            f"(elapsed: {elapsed:.3f}s)."
        )
        self.node = node
        self.elapsed = elapsed
        self.kind = kind
        self.timeout = limit
        self.idle_timeout = idle_timeout
        self.run_timeout = run_timeout

    def __reduce__(self) -> Any:
        limits = {"idle_timeout": self.idle_timeout, "run_timeout": self.run_timeout}
        made: Any = partial(type(self), kind=self.kind, **limits)  # type: ignore[arg-type]
        return made, (self.node, self.elapsed)


class NodeCancelledError(CkptVizError):
    """A node raised ``asyncio.CancelledError`` by itself: a failure, for nobody cancelled it."""

    def __init__(self, node: str, message: str | None = None) -> None:
        super().__init__(message or f"Node '{node}' raised asyncio.CancelledError")
        self.node = node

    def __reduce__(self) -> Any:
        return type(self), (self.node, str(self))


@dataclass(frozen=True, slots=True)
class NodeError:
    """What an error handler gets to know in its ``error: NodeError`` parameter.

    After a resume ``error`` is the text that was saved of the exception.
    """

    node: str
    error: BaseException


class UnknownInterruptError(CkptVizError):
    """A map of answers does not fit the open questions."""

    def __init__(
        self,
        message: str,
        *,
        reason: Literal["not_pending", "empty_map", "ambiguous"],
        interrupt_ids: Sequence[str] = (),
        pending_ids: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.interrupt_ids = tuple(interrupt_ids)
        self.pending_ids = tuple(pending_ids)


def is_invalid_resume(error: BaseException | None) -> bool:
    """Whether an error tells that an answer does not fit its question's ``response_schema``."""
    return getattr(error, "invalid_resume", False) is True


class ThreadBusyError(CkptVizError):
    """Another run is executing on this thread."""


class StaleStateError(ThreadBusyError):
    """A session has gone on since the state that is to be saved was read. Nothing was saved."""


class SessionExistsError(CkptVizError, ValueError):
    """A session is to be made that is there already."""


class SessionNotFoundError(CkptVizError, ValueError):
    """There is no such session, or the thread of this name holds something else."""


class CheckpointNotFoundError(CkptVizError, ValueError):
    """A checkpoint id was given that the saver does not have."""


class MigrationError(CkptVizError, ValueError):
    """What another version has saved can't be brought to this one. Nothing was changed.

    ``found`` is the version that saved it, ``wanted`` the one that reads it.
    """

    def __init__(self, message: str, *, found: Any = None, wanted: Any = None) -> None:
        super().__init__(message)
        self.found = found
        self.wanted = wanted


class NothingToResumeError(CkptVizError, ValueError):
    """An answer was given where no interrupt is open."""


class MissingThreadIdError(CkptVizError, ValueError, KeyError):
    """A saver is in use, but the config has no ``configurable.thread_id``."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class SerializationError(CkptVizError, TypeError):
    """A value cannot be saved, or what is stored cannot be read.

    ``path`` is its place in the value (``$.foo.x[1]``), ``type_name`` its type and
    ``channel`` the channel that holds it, where known. ``checkpoint_id`` and ``parent_id`` name
    the stored checkpoint that can't be read.
    """

    checkpoint_id: str | None = None
    parent_id: str | None = None

    def __init__(
        self, message: str, *, path: str = "$", type_name: str = "", channel: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.type_name = type_name
        self.channel = channel


def damaged(tag: str, error: object) -> SerializationError:
    """The error of stored bytes that no value was ever packed into."""
    return SerializationError(
        f"Cannot read a value stored as {tag!r}: {error}. The stored bytes are damaged or cut "
        "short, or they were written by something else. What is stored elsewhere can be read.",
        type_name=tag,
    )


class TaskNotFound(CkptVizError):
    """A task id was named that the checkpoint does not have."""


class ReadOnlyError(CkptVizError):
    """A change was asked of what may only be read."""


class SourceError(CkptVizError, OSError):
    """A file, a database or a server cannot be read as a history; nothing was changed there."""


class UnreadableError(SourceError):
    """One checkpoint of a source can't be read: it is damaged, or no checkpoint at all."""

    checkpoint_id: str | None = None
    parent_id: str | None = None
