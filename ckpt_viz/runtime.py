"""What a run gives to its nodes: context, store and stream writer in one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from ckpt_viz.types import StreamWriter, scope

ContextT = TypeVar("ContextT")


def _no_writer(chunk: Any) -> None:
    """Takes a custom chunk where nobody listens."""


def _no_heartbeat() -> None:
    """Takes a sign of life where no timeout waits for it."""


@runtime_checkable
class BaseUser(Protocol):
    """Who runs the graph, on a server that knows."""

    @property
    def is_authenticated(self) -> bool:
        """Whether the user has proved who they are."""

    @property
    def display_name(self) -> str:
        """The name to show."""

    @property
    def identity(self) -> str:
        """The name that tells users apart."""

    @property
    def permissions(self) -> Sequence[str]:
        """What the user may do."""


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """Which task of which run this is. ``node_attempt`` counts from 1, times are Unix seconds."""

    checkpoint_id: str
    checkpoint_ns: str
    task_id: str
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    node_first_attempt_time: float | None = None

    def patch(self, **overrides: Any) -> ExecutionInfo:
        """A copy with some fields changed."""
        return replace(self, **overrides)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Which assistant of which server runs the graph."""

    assistant_id: str
    graph_id: str
    user: BaseUser | None = None


class RunControl:
    """Asks a run, from outside, to stop before its next superstep: ``invoke(…, control=…)``."""

    __slots__ = ("drain_reason",)

    def __init__(self) -> None:
        self.drain_reason: str | None = None
        """Why the run was asked, or None."""

    def request_drain(self, reason: str = "shutdown") -> None:
        """Ask the run to stop; it raises `GraphDrained`, its state saved."""
        self.drain_reason = reason

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked."""
        return self.drain_reason is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Runtime(Generic[ContextT]):
    """The run's surroundings, for a node that has a ``runtime`` parameter.

    ``previous`` is what an entrypoint returned last on this thread; ``heartbeat()`` tells an idle
    timeout that the node lives.
    """

    context: ContextT = None  # type: ignore[assignment]
    store: Any = None
    stream_writer: StreamWriter = _no_writer
    heartbeat: Callable[[], None] = _no_heartbeat
    previous: Any = None
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None
    control: RunControl | None = None

    def merge(self, other: Runtime[ContextT]) -> Runtime[ContextT]:
        """This one, with what the other has where the other has something."""
        mine, theirs, none = _fields(self), _fields(other), _fields(Runtime())
        given = {k: v for k, v in theirs.items() if v is not none[k] and (v or k != "context")}
        return Runtime(**{**mine, **given})

    def override(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy with some fields changed."""
        return replace(self, **overrides)

    def patch_execution_info(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy with some fields of ``execution_info`` changed.

        Raises:
            RuntimeError: there is none to change.
        """
        if self.execution_info is None:
            raise RuntimeError("Cannot patch execution_info before it has been set")
        return replace(self, execution_info=self.execution_info.patch(**overrides))

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop."""
        return self.control is not None and self.control.drain_requested

    @property
    def drain_reason(self) -> str | None:
        """Why, or None."""
        return None if self.control is None else self.control.drain_reason


def _fields(runtime: Runtime[Any]) -> dict[str, Any]:
    return {name: getattr(runtime, name) for name in Runtime.__dataclass_fields__}


DEFAULT_RUNTIME: Runtime[Any] = Runtime()
"""What a call outside of any run is given."""


def get_runtime(context_schema: Any = None) -> Runtime[Any]:
    """The runtime of the running task.

    Raises:
        RuntimeError: called outside of a running node.
    """
    current = scope.get(None)
    if current is None:
        raise RuntimeError(
            "Called get_config outside of a runnable context: call get_runtime() in a node."
        )
    found: Runtime[Any] = current.runtime
    return found
