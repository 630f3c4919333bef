"""Records that programs, checkpoints and events are made of. The names are LangGraph's."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from ckpt_viz.constants import NS_SEP
from ckpt_viz.ids import interrupt_id
from ckpt_viz.parts import (
    CheckpointPayload,
    CheckpointStreamPart,
    CheckpointTask,
    CustomStreamPart,
    DebugPayload,
    DebugStreamPart,
    GraphOutput,
    MessagesStreamPart,
    StreamPart,
    TaskPayload,
    TaskResultPayload,
    TasksStreamPart,
    UpdatesStreamPart,
    ValuesStreamPart,
)
from ckpt_viz.policies import (
    CacheKey,
    CachePolicy,
    RetryPolicy,
    TimeoutPolicy,
    TracePolicy,
    default_cache_key,
    default_retry_on,
    omit_payload,
)
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10

__all__ = [
    "All",
    "CacheKey",
    "CachePolicy",
    "CheckpointPayload",
    "CheckpointStreamPart",
    "CheckpointTask",
    "Checkpointer",
    "Command",
    "CustomStreamPart",
    "DebugPayload",
    "DebugStreamPart",
    "Durability",
    "GraphOutput",
    "Interrupt",
    "MessagesStreamPart",
    "Overwrite",
    "PregelTask",
    "RetryPolicy",
    "Scope",
    "Send",
    "StateSnapshot",
    "StateUpdate",
    "StreamMode",
    "StreamPart",
    "StreamWriter",
    "TaskPayload",
    "TaskResultPayload",
    "TasksStreamPart",
    "TimeoutPolicy",
    "TracePolicy",
    "UpdatesStreamPart",
    "ValuesStreamPart",
    "default_cache_key",
    "default_retry_on",
    "ensure_valid_checkpointer",
    "interrupt",
    "omit_payload",
    "scope",
]

N = TypeVar("N")

Durability = Literal["sync", "async", "exit"]
StreamMode = Literal["values", "updates", "checkpoints", "tasks", "debug", "custom", "messages"]
StreamWriter = Callable[[Any], None]
All = Literal["*"]
Checkpointer = Any
"""A saver; or None: the parent graph's; True: a memory of its own; False: none."""


class Send:
    """Asks for one extra task in the next superstep: run ``node`` with ``arg`` as its input.

    ``timeout`` (seconds, timedelta or TimeoutPolicy) stands in for the node's own.
    """

    __slots__ = ("arg", "node", "timeout")

    def __init__(self, /, node: str, arg: Any, *, timeout: Any = None) -> None:
        self.node = node
        self.arg = arg
        self.timeout = None if timeout is None else TimeoutPolicy.coerce(timeout)

    def __repr__(self) -> str:
        more = "" if self.timeout is None else f", timeout={self.timeout!r}"
        return f"Send(node={self.node!r}, arg={self.arg!r}{more})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Send)
            and self.node == other.node
            and self.arg == other.arg
            and self.timeout == other.timeout
        )

    def __hash__(self) -> int:
        return hash((self.node, self.arg))


_PLACEHOLDER = "placeholder-id"


@dataclass(slots=True, init=False)
class Interrupt:
    """A question that a node asked: its value, and the id by which it is answered.

    Older programs give ``ns``, the namespace of the asking task, from which the id comes, and
    ``resumable`` and ``when``, which mean nothing any more.
    """

    value: Any
    id: str
    response_schema: Any
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone

    def __init__(
        self,
        value: Any,
        id: str = _PLACEHOLDER,
        response_schema: Any = None,
        *,
        ns: Sequence[str] | None = None,
        resumable: bool | None = None,
        when: str | None = None,
    ) -> None:
        if ns is not None and id == _PLACEHOLDER:
            id = interrupt_id(NS_SEP.join(ns))
        self.value, self.id, self.response_schema = value, id, response_schema

    @classmethod
    def from_ns(cls, value: Any, ns: str, *, response_schema: Any = None) -> Interrupt:
        """The first question of the task with this namespace."""
        return cls(value, interrupt_id(ns), response_schema=response_schema)

    @property
    def interrupt_id(self) -> str:
        """The older name of ``id``."""
        text = "`interrupt_id` is deprecated. Use `id` instead."
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=2)
        return self.id


_UNSET: Any = object()


@dataclass(frozen=True, kw_only=True, init=False, repr=False)
class Command(Generic[N]):
    """Steers a graph: update the state, go to nodes, or answer an interrupt.

    A node may return it; a caller may pass it as a run's input. ``resume`` is one answer or a
    map ``{interrupt_id: answer}``; ``answers`` tells whether one was given, for None is an answer
    like any other.
    """

    graph: str | None = None
    update: Any | None = None
    resume: Any = None
    goto: Send | Sequence[Send | N] | N = ()
    if TYPE_CHECKING:
        answers: ClassVar[bool]  # set on each instance; no field, so that it is not compared

    def __init__(
        self,
        *,
        graph: str | None = _UNSET,
        update: Any | None = _UNSET,
        resume: Any = _UNSET,
        goto: Any = _UNSET,
    ) -> None:
        given = {"graph": graph, "update": update, "resume": resume, "goto": goto}
        given = {name: value for name, value in given.items() if value is not _UNSET}
        # who gives all four copies a Command (`dataclasses.replace`): None is then no answer
        answers = "resume" in given and (resume is not None or len(given) < 4)
        self.__dict__.update({"graph": None, "update": None, "resume": None, "goto": ()}, **given)
        self.__dict__["answers"] = answers

    def __repr__(self) -> str:
        told = [(k, getattr(self, k)) for k in ("graph", "update", "resume", "goto")]
        shown = [f"{k}={v!r}" for k, v in told if v or (k == "resume" and self.answers)]
        return f"Command({', '.join(shown)})"

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    def without_graph(self) -> Command[N]:
        """The same for the graph that takes it up."""
        resume = {"resume": self.resume} if self.answers else {}
        return Command(update=self.update, goto=self.goto, **resume)

    def goto_list(self) -> list[Any]:
        """The targets as a list, however they were given."""
        if isinstance(self.goto, str | Send):
            return [self.goto]
        return list(self.goto)  # type: ignore[arg-type]


def join_tool_outputs() -> None:
    """Let a tool of langchain_core return a Command as it is, where that is loaded."""
    mixin = getattr(sys.modules.get("langchain_core.messages.tool"), "ToolOutputMixin", None)
    if mixin is not None and not issubclass(Command, mixin):
        Command.__bases__ = (*Command.__bases__, mixin)


join_tool_outputs()


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A write that replaces a reduced channel's value instead of passing the reducer."""

    value: Any
    type: Literal["__overwrite__"] = "__overwrite__"


class PregelTask(NamedTuple):
    """A task of a checkpoint, with what is known of its outcome."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Any = None
    interrupts: tuple[Interrupt, ...] = ()
    state: Any = None
    result: Any = None


class StateSnapshot(NamedTuple):
    """The state of a thread at one checkpoint."""

    values: Any
    next: tuple[str, ...]
    config: dict[str, Any]
    metadata: dict[str, Any] | None
    created_at: str | None
    parent_config: dict[str, Any] | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt, ...]


class StateUpdate(NamedTuple):
    """One update of a bulk: values, and the node they are written as."""

    values: Any
    as_node: str | None = None
    task_id: str | None = None


class Scope(Protocol):
    """What a running task can reach; the engine sets one around each node call."""

    def ask(self, value: Any, schema: Any = None) -> Any:
        """The answer to a question; raises GraphInterrupt where there is none yet."""

    @property
    def config(self) -> dict[str, Any]:
        """The task's config."""

    @property
    def store(self) -> Any:
        """The graph's store."""

    @property
    def writer(self) -> StreamWriter:
        """Puts a chunk into the custom stream."""

    @property
    def runtime(self) -> Any:
        """All of it in one record."""

    def push(self, channel: str, value: Any) -> None:
        """Write to a channel, before what the node returns."""

    def arguments(self, wants: tuple[str, ...]) -> dict[str, Any]:
        """The keyword arguments that a node or router asked for by name."""


scope: ContextVar[Scope] = ContextVar("ckpt_viz_scope")


def ensure_valid_checkpointer(checkpointer: Any) -> Any:
    """The argument, when it is a saver, True, False or None.

    Raises:
        TypeError: it is something else.
    """
    is_saver = hasattr(checkpointer, "get_tuple") and not isinstance(checkpointer, type)
    if is_saver or checkpointer is None or isinstance(checkpointer, bool):
        return checkpointer
    raise TypeError(
        "Invalid checkpointer provided. Expected an instance of `BaseCheckpointSaver`, `True`, "
        f"`False`, or `None`. Received {type(checkpointer).__name__}. Pass a proper saver (e.g., "
        "InMemorySaver, AsyncPostgresSaver)."
    )


def interrupt(value: Any, *, response_schema: Any = None) -> Any:
    """Ask the person who runs the graph, and return the answer.

    The first call stops the node; when the run is resumed with ``Command(resume=answer)`` the
    node runs again from its top, and this call returns the answer. Needs a saver.

    ``response_schema`` tells those who answer what is wanted: a JSON schema as a dictionary, or a
    Pydantic model, a TypedDict, a dataclass or another type, to which the answer is brought.

    Raises:
        GraphInterrupt: no answer is there yet. The engine catches it.
        pydantic.ValidationError: the answer does not fit; the question stays open.
        RuntimeError: called outside of a node.
    """
    current = scope.get(None)
    if current is None:
        raise RuntimeError(
            "Called get_config outside of a runnable context: call interrupt() in a running node."
        )
    return current.ask(value, response_schema)
