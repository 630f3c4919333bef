"""Records that programs, checkpoints and events are made of. The names are LangGraph's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

N = TypeVar("N")

Durability = Literal["sync", "async", "exit"]
StreamMode = Literal["values", "updates", "checkpoints", "tasks", "debug", "custom", "messages"]
StreamWriter = Callable[[Any], None]
All = Literal["*"]


class Send:
    """Asks for one extra task in the next superstep: run ``node`` with ``arg`` as its input."""

    __slots__ = ("arg", "node")

    def __init__(self, /, node: str, arg: Any) -> None:
        self.node = node
        self.arg = arg

    def __repr__(self) -> str:
        return f"Send(node={self.node!r}, arg={self.arg!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Send) and self.node == other.node and self.arg == other.arg

    def __hash__(self) -> int:
        return hash((self.node, repr(self.arg)))


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question that a node asked: its value, and the id by which it is answered."""

    value: Any
    id: str = ""
    response_schema: Any = None


_UNSET: Any = object()


@dataclass(frozen=True, kw_only=True, slots=True, init=False, repr=False)
class Command(Generic[N]):
    """Steers a graph: update the state, go to nodes, or answer an interrupt.

    A node may return it; a caller may pass it as a run's input. ``resume`` is one answer or a
    map ``{interrupt_id: answer}``; ``answers`` tells whether one was given, for None is an answer
    like any other.
    """

    graph: str | None
    update: Any | None
    resume: Any
    goto: Send | Sequence[Send | N] | N
    answers: bool = field(compare=False, repr=False)

    def __init__(
        self,
        *,
        graph: str | None = None,
        update: Any | None = None,
        resume: Any = _UNSET,
        goto: Any = (),
    ) -> None:
        fill = object.__setattr__
        fill(self, "graph", graph)
        fill(self, "update", update)
        fill(self, "resume", None if resume is _UNSET else resume)
        fill(self, "goto", goto)
        fill(self, "answers", resume is not _UNSET)

    def __repr__(self) -> str:
        said = [("graph", self.graph), ("update", self.update), ("goto", self.goto)]
        told = [f"{k}={v!r}" for k, v in said if v is not None and v != ()]
        return f"Command({', '.join([*told, f'resume={self.resume!r}'] if self.answers else told)})"

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    def goto_list(self) -> list[Any]:
        """The targets as a list, however they were given."""
        if isinstance(self.goto, str | Send):
            return [self.goto]
        return list(self.goto)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A write that replaces a reduced channel's value instead of passing the reducer."""

    value: Any


class RetryPolicy(NamedTuple):
    """When and how often a failed node runs again. Times are in seconds."""

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: Any = Exception


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

    def ask(self, value: Any) -> Any:
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

    def arguments(self, wants: tuple[str, ...]) -> dict[str, Any]:
        """The keyword arguments that a node or router asked for by name."""


scope: ContextVar[Scope] = ContextVar("ckpt_viz_scope")


def interrupt(value: Any) -> Any:
    """Ask the person who runs the graph, and return the answer.

    The first call stops the node; when the run is resumed with ``Command(resume=answer)`` the
    node runs again from its top, and this call returns the answer. Needs a saver.

    Raises:
        GraphInterrupt: no answer is there yet. The engine catches it.
        RuntimeError: called outside of a node.
    """
    current = scope.get(None)
    if current is None:
        raise RuntimeError("interrupt() was called outside of a running node: call it in a node.")
    return current.ask(value)
