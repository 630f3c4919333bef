"""One run: its live state, and what it saves and shows. The script is in `loop`."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

from ckpt_viz.constants import NO_WRITES
from ckpt_viz.ids import checkpoint_id
from ckpt_viz.pregel import events
from ckpt_viz.pregel.algo import NextVersion
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.pending import PendingWrite
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.requests import Emit, Save, SaveWrites
from ckpt_viz.pregel.scope import Answers
from ckpt_viz.pregel.settings import Settings, place, user_metadata
from ckpt_viz.pregel.task import Task

Script = Generator[Any, Any, Any]


def count_versions(current: int | None) -> int:
    """Versions where there is no saver to make them: 1, 2, 3, …"""
    return 1 if current is None else current + 1


class Run:
    """A run's state, shared by its script, its driver and its tasks."""

    __slots__ = (
        "answers",
        "base",
        "checkpoints",
        "deferred",
        "identified",
        "interrupts",
        "kept",
        "keys",
        "live",
        "metadata",
        "next_version",
        "output",
        "parent",
        "pending",
        "post",
        "program",
        "saver",
        "settings",
        "step",
        "stop",
        "stopping",
        "store",
        "tasks",
        "updates",
        "user",
        "values",
    )

    def __init__(self, program: Program, saver: Any, store: Any, settings: Settings) -> None:
        self.program = program
        self.saver = saver
        self.store = store
        self.settings = settings
        self.live = Live(program, None)
        self.metadata: dict[str, Any] = {}
        self.user = user_metadata(settings.config)
        self.pending: list[PendingWrite] = []
        self.answers = Answers()
        self.parent: str | None = None
        self.base: str | None = None
        self.step = -1
        self.stop = settings.limit
        self.stopping = False
        self.interrupts: list[Any] = []
        self.output: Any = None
        self.deferred = False
        self.kept: list[SaveWrites] = []
        self.keys = settings.keys if settings.keys is not None else program.stream_channels
        self.post: Any = None
        modes = settings.modes
        self.values = "values" in modes
        self.updates = "updates" in modes
        self.tasks = "tasks" in modes or "debug" in modes
        self.checkpoints = "checkpoints" in modes or "debug" in modes
        self.identified = saver is not None or self.tasks or self.checkpoints
        self.next_version: NextVersion = (
            count_versions if saver is None else lambda v: saver.get_next_version(v, None)
        )

    def open(self, saved: Any) -> None:
        """Take up a loaded checkpoint tuple, or the virtual empty one."""
        if saved is not None:
            self.live = Live(self.program, saved.checkpoint)
            self.pending = list(saved.pending_writes or ())
            self.metadata = saved.metadata
            self.step = saved.metadata.get("step", -2) + 1
            parent = saved.parent_config
            self.parent = parent["configurable"]["checkpoint_id"] if parent else None
        self.base = self.live.id
        self.stop = self.step + self.settings.limit + 1

    def where(self, checkpoint: str | None) -> dict[str, Any]:
        """The bare config of one of this thread's checkpoints."""
        return place(self.settings.config, checkpoint)

    def writer(self, chunk: Any) -> None:
        """Put a chunk into the custom stream, if somebody listens."""
        if self.post is not None and "custom" in self.settings.modes:
            self.post(self.shape("custom", chunk))

    def shape(self, mode: str, payload: Any) -> Any:
        """A chunk as the caller asked for it."""
        settings = self.settings
        if settings.many:
            return ((), mode, payload) if settings.subgraphs else (mode, payload)
        return ((), payload) if settings.subgraphs else payload

    def show(self, mode: str, payload: Any) -> Emit:
        """The request that hands a chunk to the caller."""
        return Emit(self.shape(mode, payload))

    def show_both(self, mode: str, kind: str, step: int, payload: Any) -> Script:
        """A task or checkpoint event, in its own mode and in the debug mode."""
        if mode in self.settings.modes:
            yield self.show(mode, payload)
        if "debug" in self.settings.modes:
            yield self.show("debug", events.debug_event(kind, step, payload))

    def show_checkpoint(self, tasks: list[Task]) -> Script:
        """The event of the current checkpoint, with its tasks."""
        config = self.settings.config
        base = {k: v for k, v in config["configurable"].items() if k != "checkpoint_id"}
        base = {"checkpoint_ns": "", **base}

        def at(id_: str | None) -> dict[str, Any] | None:
            return {"configurable": {**base, "checkpoint_id": id_}} if id_ else None

        payload = {
            "config": at(self.live.id),
            "parent_config": at(self.parent),
            "values": self.live.read(self.program.stream_channels),
            "metadata": {k: v for k, v in self.metadata.items() if k not in self.user},
            "next": [t.name for t in tasks],
            "tasks": [events.known_task(t, self.keys) for t in tasks],
        }
        yield from self.show_both("checkpoints", "checkpoint", self.metadata["step"], payload)

    def save(self, source: str) -> Script:
        """Make the live state the next checkpoint; the step counts on."""
        live, step = self.live, self.step
        self.metadata = {"source": source, "step": step, "parents": {}, **self.user}
        self.pending = []
        self.answers.single = []  # an answer that nobody took dies with its checkpoint
        self.step = step + 1
        if not self.identified:
            live.changed.clear()
            return
        previous = live.id
        live.id = checkpoint_id(step, previous)
        if self.saver is None:
            return
        if self.settings.durability == "exit":
            self.deferred = True
            self.kept = []
            return
        self.parent = previous
        yield self._save_request(previous)

    def _save_request(self, parent: str | None) -> Save:
        live = self.live
        versions = live.versions
        new = {name: versions[name] for name in live.changed}
        live.changed = {}
        saver = self.saver
        partial = getattr(saver, "partial_values", False)
        checkpoint = {
            "v": 4,
            "ts": datetime.now(UTC).isoformat(),
            "id": live.id,
            "channel_values": live.saved_values(new if partial else versions),
            "channel_versions": versions if partial else dict(versions),
            "versions_seen": live.seen,
            "updated_channels": None if live.updated is None else sorted(live.updated),
        }
        return Save(self.where(parent), checkpoint, self.metadata, new)

    def save_writes(self, writes: list[Any], task_id: str, path: str) -> Script:
        """Store pending writes under the current checkpoint."""
        if self.saver is None:
            return
        request = SaveWrites(self.where(self.live.id), writes, task_id, path)
        if self.settings.durability == "exit":
            self.kept.append(request)
        else:
            yield request

    def flush(self) -> Script:
        """With durability ``exit``: save the last checkpoint and its pending writes now."""
        if self.deferred:
            self.deferred = False
            yield self._save_request(self.base)
        for request in self.kept:
            yield request
        self.kept = []

    def commit(self, task: Task) -> Script:
        """A task has ended: store what it left, then show it."""
        writes: list[Any] = list(task.special)
        if task.outcome == "done":
            writes += task.writes or [(NO_WRITES, None)]
        else:
            writes += task.writes
        if writes:
            yield from self.save_writes(writes, task.id if self.saver else "", task.path_text)
        if task.node.hidden:
            return
        keys = self.keys
        if task.outcome == "done" and self.updates:
            yield self.show("updates", {task.name: events.shown_writes(task.writes, keys)})
        elif task.outcome == "interrupt":
            yield from self._show_interrupt(task)
        if self.tasks:
            yield from self.show_both(
                "tasks", "task_result", self.step, events.task_ended(task, keys)
            )

    def _show_interrupt(self, task: Task) -> Script:
        for one in task.interrupts:
            if self.updates:
                yield self.show("updates", {"__interrupt__": (one,)})
            if self.values:
                values = self.live.read(self.keys)
                yield self.show("values", events.interrupted_values(values, (one,)))
