"""The records that cross from a history to whoever looks at it: plain, frozen, without values.

State is asked for on demand; a `Row` carries only what a tree needs to draw one checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

Status = Literal["done", "error", "interrupt", "pending", "unreadable", ""]
TaskState = Literal["done", "error", "interrupt", "pending", "running"]


@dataclass(frozen=True, slots=True)
class Reference:
    """Names one checkpoint: thread, namespace and checkpoint id (None: the newest)."""

    thread_id: str
    checkpoint_ns: str = ""
    checkpoint_id: str | None = None

    @property
    def config(self) -> dict[str, Any]:
        """The config dictionary that every graph and saver method takes."""
        where: dict[str, Any] = {"thread_id": self.thread_id, "checkpoint_ns": self.checkpoint_ns}
        if self.checkpoint_id is not None:
            where["checkpoint_id"] = self.checkpoint_id
        return {"configurable": where}


@dataclass(frozen=True, slots=True)
class Row:
    """One checkpoint of the tree, light: no values. `time` is in seconds since the epoch.

    `version` names the graph that saved it, where it named itself. `turn` counts the turns of a
    session, and `event` tells why its state was saved. `apart`: between its parent and it somebody
    answered or a run was begun anew, so the time between them is not what its nodes took. `took`:
    for how many seconds tasks ran to make it, where the saver keeps when they did.
    """

    id: str
    parent_id: str | None
    ns: str
    step: int
    source: str
    time: float
    nodes: tuple[str, ...]
    changed: tuple[str, ...]
    status: Status
    head: bool
    next: tuple[str, ...]
    copy_of: str | None = None
    version: str | None = None
    turn: int | None = None
    event: str | None = None
    apart: bool = False
    took: float | None = None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The tasks of a node that made no checkpoint (yet): failed, waiting for an answer, or running.

    `task` and `text` are those of the first such task of `of`; `counts` tells how many stand how.
    """

    parent: str
    task: str
    name: str
    status: TaskState
    text: str
    of: int = 1
    counts: str = ""
    waits: int = 0


@dataclass(frozen=True, slots=True)
class Able:
    """Whether an act is possible, and the reason when it is not."""

    ok: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Capability:
    """What a source can do. What it can't is data, shown with its reason."""

    fork: Able = field(default_factory=lambda: Able(True))
    replay: Able = field(default_factory=lambda: Able(True))
    resume: Able = field(default_factory=lambda: Able(True))
    run: Able = field(default_factory=lambda: Able(True))
    stop: Able = field(default_factory=lambda: Able(True))
    label: Able = field(default_factory=lambda: Able(True))
    delete: Able = field(default_factory=lambda: Able(True))
    prune: Able = field(default_factory=lambda: Able(True))
    scratch: Able = field(default_factory=lambda: Able(True))
    shape: Able = field(default_factory=lambda: Able(True))
    """Whether the graph's edges, reducers and nodes that never ran are known."""

    @classmethod
    def none(cls, why: str) -> Capability:
        """No act is possible, for one reason."""
        acts = (each.name for each in fields(cls) if each.name != "shape")
        return cls(**{name: Able(False, why) for name in acts})


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One line of the table of threads. `last_time` is in seconds since the epoch.

    `last_step` is -2 where it is not known yet; `bytes` is None where the saver tells no size.
    """

    id: str
    checkpoints: int
    last_step: int
    last_time: float
    status: Status = ""
    head: str = ""
    bytes: int | None = None
    preview: str = ""


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A channel of the graph: its class, its reducer's name, and whether the engine owns it."""

    name: str
    kind: str
    reducer: str | None
    routing: bool


@dataclass(frozen=True, slots=True)
class InterruptView:
    """A question that a node asked."""

    id: str
    value: Any
    answered: bool


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task of a superstep with its outcome and the sentence why it runs.

    `why` is the whole sentence; `reason` the same without values, which are `sent` (the argument
    of its `Send`, when it has one) and `resumed` (the answers that it got). `began` (seconds since
    the epoch) and `took` (seconds) are known where the saver keeps when tasks ran.
    """

    id: str
    name: str
    path: tuple[Any, ...]
    triggers: tuple[str, ...]
    why: str
    versions: str
    state: TaskState
    result: Any = None
    error: str | None = None
    traceback: str | None = None
    interrupts: tuple[InterruptView, ...] = ()
    reason: str = ""
    sent: tuple[Any, ...] = ()
    resumed: tuple[Any, ...] = ()
    began: float | None = None
    took: float | None = None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The reason why a node does not run next, and the versions under it."""

    node: str
    why: str
    versions: str = ""


@dataclass(frozen=True, slots=True)
class Writes:
    """The tasks around one checkpoint: those that made it, and those that run from it."""

    made: tuple[TaskView, ...]
    next: tuple[TaskView, ...]
    why_not: tuple[WhyNot, ...]


@dataclass(frozen=True, slots=True)
class Act:
    """An act with all that it was given, so that it can be told as code.

    `kind`: fork, replay, resume or run. `base`: the checkpoint it starts from. Of an act that is
    over, `end` is the head that it led to, and `error` what it raised.
    """

    kind: str
    base: str | None
    values: Any = None
    as_node: str | None = None
    replace: tuple[str, ...] = ()
    run: bool = False
    end: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ForkPreview:
    """What a fork would give. No node has run to find it; reducers and routers have.

    Of the nodes that may run `again`, `restarts` are graphs that begin at their first node, and
    `asks` have asked a question before.
    """

    values: Any
    next: tuple[str, ...]
    again: tuple[str, ...]
    notes: tuple[str, ...]
    dead_end: bool
    restarts: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topology:
    """The shape of a graph, read off its public attributes.

    `triggers` maps a node to its channels; `branches` a node to its routers and the nodes that
    each may choose (None: any node).
    """

    triggers: dict[str, tuple[str, ...]]
    edges: frozenset[tuple[str, str]]
    waiting: tuple[tuple[tuple[str, ...], str], ...]
    branches: dict[str, dict[str, tuple[str, ...] | None]]
    channels: dict[str, ChannelInfo]

    def reachable(self, start: tuple[str, ...]) -> tuple[str, ...]:
        """The nodes that may run once `start` runs, those of `start` first."""
        seen: list[str] = []
        todo = list(start)
        while todo:
            node = todo.pop(0)
            if node in seen or node.startswith("__"):
                continue
            seen.append(node)
            todo.extend(self._after(node))
        return tuple(seen)

    def leads(self, start: str, end: str) -> bool:
        """Whether an edge or a router of `start` is known to lead to `end`."""
        return (start, end) in self.edges or any(
            ends is not None and end in ends for ends in self.branches.get(start, {}).values()
        )

    def _after(self, node: str) -> list[str]:
        out = [b for a, b in sorted(self.edges) if a == node]
        out += [end for starts, end in self.waiting if node in starts]
        for ends in self.branches.get(node, {}).values():
            out += list(self.triggers) if ends is None else list(ends)
        return out
