"""What the Explorer asks of a history: one protocol for every kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ckpt_viz.timeline.edits import Edit
from ckpt_viz.timeline.records import (
    Capability,
    ForkPreview,
    Row,
    ThreadInfo,
    Topology,
    Unfinished,
    Writes,
)
from ckpt_viz.timeline.shape import Shape

OnStep = Callable[[], None]


class Timeline(Protocol):
    """The history of one thread and namespace, and the acts on it.

    Reads never change the source. An act on a checkpoint id that does not exist raises
    `CheckpointNotFoundError`; what the source can't do is told by `can`.
    """

    thread_id: str | None
    checkpoint_ns: str

    @property
    def title(self) -> str:
        """The name of the graph or of the file; empty where nobody gave one."""
        ...

    @property
    def can(self) -> Capability:
        """What is possible here, and why not."""
        ...

    @property
    def topology(self) -> Topology:
        """The shape of the graph."""
        ...

    def shape(self) -> Shape:
        """What there is to draw of the graph, or why there is nothing."""
        ...

    @property
    def head(self) -> str | None:
        """The newest checkpoint's id."""
        ...

    def at(self, thread_id: str | None, checkpoint_ns: str = "") -> Timeline:
        """The same source, looked at elsewhere."""
        ...

    def threads(
        self, query: str = "", *, limit: int | None = None, offset: int = 0
    ) -> list[ThreadInfo]:
        """The threads whose id holds `query`, the last used first; a page of `limit` of them."""
        ...

    def thread_count(self, query: str = "") -> int:
        """How many threads there are whose id holds `query`."""
        ...

    def namespaces(self) -> list[str]:
        """The namespaces that exist in this thread."""
        ...

    def rows(self) -> list[Row]:
        """All rows, oldest first."""
        ...

    def refresh(self) -> list[Row]:
        """Reads what is new; the rows that are new or have changed, oldest first."""
        ...

    def unfinished(self, running: bool = False) -> list[Unfinished]:
        """The tasks that made no checkpoint: failed, waiting, or (when `running`) under way."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The `StateSnapshot` of a checkpoint (None: of the head)."""
        ...

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's `CheckpointTuple`."""
        ...

    def writes(self, checkpoint_id: str) -> Writes:
        """The tasks that made it and those that run from it, with the reasons."""
        ...

    def preview(
        self, checkpoint_id: str, values: Any, as_node: str | None, replace: Sequence[str]
    ) -> ForkPreview:
        """What `update` would give, found on a scratch saver."""
        ...

    def update(
        self, checkpoint_id: str, values: Any, as_node: str | None, replace: Sequence[str]
    ) -> str:
        """Saves an edited child of the checkpoint and returns its id."""
        ...

    @property
    def place(self) -> str:
        """Where an act writes, in words."""
        ...

    def with_edits(
        self, checkpoint_id: str, edits: Iterable[Edit], values: Any, replace: Sequence[str]
    ) -> Sequence[Any]:
        """The pair of `values` and `replace` of an update that makes edits by path too."""
        ...

    def make_head(self, checkpoint_id: str) -> str:
        """Saves a copy of the checkpoint, which is the newest then; returns the copy's id."""
        ...

    def scratch(self, checkpoint_id: str | None = None) -> Timeline:
        """A timeline on an in-memory copy of a checkpoint's lineage (None: the head's)."""
        ...

    def run(self, value: Any, on_step: OnStep) -> None:
        """Runs with new input on the head."""
        ...

    def replay(self, checkpoint_id: str, on_step: OnStep) -> None:
        """Runs on from a checkpoint, on a branch of its own."""
        ...

    def resume(self, checkpoint_id: str | None, answers: Any, on_step: OnStep) -> None:
        """Answers interrupts: a map from interrupt id to answer, or the one answer."""
        ...

    def labels(self) -> dict[str, str]:
        """Checkpoint id -> the name that somebody gave it."""
        ...

    def set_label(self, checkpoint_id: str | None, label: str | None) -> None:
        """Names a checkpoint; None takes the name away. Kept for the session where `can` says."""
        ...

    def delete_thread(self, thread_id: str) -> None:
        """Removes everything of a thread."""
        ...

    def prune(self, *, dry_run: bool = False) -> Any:
        """Removes all of this thread but its head and what is labelled; what went, where told."""
        ...

    def stop(self) -> bool:
        """Asks the running act to end before its next superstep; False when none runs."""
        ...
