"""One run: its live state, and what it saves and shows. The script is in `loop`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import Extending
from ckpt_viz.constants import ERROR, ERROR_SOURCE, INTERRUPT, NO_WRITES, RETURN, TAG_HIDDEN, TASKS
from ckpt_viz.errors import GraphBubbleUp
from ckpt_viz.ids import stamp
from ckpt_viz.pregel import events
from ckpt_viz.pregel.algo import NextVersion
from ckpt_viz.pregel.langchain import Trace
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.pending import PendingWrite
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.requests import Emit, Save, SaveWrites
from ckpt_viz.pregel.scope import Answers
from ckpt_viz.pregel.settings import Settings, place, user_metadata
from ckpt_viz.pregel.streams import SILENT, Mapper, mapped
from ckpt_viz.pregel.task import Task
from ckpt_viz.runtime import RunControl
from ckpt_viz.types import Send, scope

Script = Generator[Any, Any, Any]
_NOTHING = [(NO_WRITES, None)]


def is_signal(task: Task) -> bool:
    """Whether a task was left by something that is no failure: a Command upwards, Ctrl-C."""
    error = task.error
    if task.outcome != "error":
        return False
    return isinstance(error, GraphBubbleUp) or not isinstance(error, Exception)


def told(error: BaseException) -> str:
    """The error as text, also where its own repr fails."""
    try:
        return repr(error)
    except Exception as other:  # noqa: BLE001 - a broken repr must not hide the error it is of
        return f"{type(error).__name__}(<its repr raises {type(other).__name__}>)"


def count_versions(current: int | None) -> int:
    """Versions where there is no saver to make them: 1, 2, 3, …"""
    return 1 if current is None else current + 1


class Run:
    """A run's state, shared by its script, its driver and its tasks."""

    __slots__ = (
        "address",
        "addressed",
        "alone",
        "announces",
        "answers",
        "base",
        "baton",
        "beside",
        "cache",
        "cache_keys",
        "checkpoints",
        "children",
        "coerce_output",
        "coerce_state",
        "control",
        "deadline",
        "deferred",
        "deferring",
        "driver",
        "guarded",
        "here",
        "identified",
        "interrupts",
        "kept",
        "keys",
        "lease",
        "leaving",
        "listened",
        "live",
        "metadata",
        "next_version",
        "output",
        "owner",
        "parent",
        "partial",
        "pending",
        "post",
        "program",
        "remote",
        "saver",
        "settings",
        "step",
        "step_timeout",
        "stop",
        "stopping",
        "store",
        "tasks",
        "time",
        "trace",
        "updates",
        "user",
        "values",
        "within",
    )

    def __init__(self, program: Program, saver: Any, store: Any, settings: Settings) -> None:
        self.program = program
        self.control = settings.control or RunControl()
        self.cache: Any = None
        self.cache_keys: dict[Task, Any] = {}
        self.remote: Any = None
        self.step_timeout: float | None = None
        self.deadline: float | None = None
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
        self.stop = self.live.stop = settings.limit
        self.stopping = False
        self.interrupts: list[Any] = []
        self.output: Any = None
        self.deferred = False
        self.kept: list[SaveWrites] = []
        self.keys = settings.keys if settings.keys is not None else program.stream_channels
        self.post: Any = None
        self.trace: Trace | None = None
        self.driver: Any = None
        self.children: list[Task] = []
        self._listen(program, settings)
        self.identified = saver is not None or self.tasks or self.checkpoints
        self.partial = bool(getattr(saver, "partial_values", False))
        self.deferring = settings.durability == "exit"
        self.time = ""
        self.alone: Task | None = None
        self.address: dict[str, Any] = {}
        if saver is not None and "thread_id" in settings.config["configurable"]:
            self.address = {**place(settings.config, None)["configurable"], "checkpoint_ns": ""}
        self.here = self.where(None)
        self._claim(saver, settings.config["configurable"])
        self.next_version: NextVersion = (
            count_versions if saver is None else lambda v: saver.get_next_version(v, None)
        )

    def _claim(self, saver: Any, where: dict[str, Any]) -> None:
        """Which thread's lease this run is to take; see `ckpt_viz.pregel.lease`."""
        self.within: Any = scope.get(None)
        self.owner: Any = None
        self.lease: Any = None
        self.addressed = self.guarded = self.leaving = False
        self.baton: list[None] = []
        if self.address and (self.within is None or not where.get("checkpoint_ns")):
            self.lease = (getattr(saver, "identity", None) or id(saver), self.address["thread_id"])
            self.addressed = "checkpoint_id" in where
            self.guarded = not self.addressed and getattr(saver, "compares_heads", False)

    def _listen(self, program: Program, settings: Settings) -> None:
        """Note what the caller listens to."""
        modes = settings.modes
        self.values = "values" in modes
        hidden = TAG_HIDDEN in (settings.config.get("tags") or ())
        self.updates = "updates" in modes and not hidden
        self.tasks = ("tasks" in modes or "debug" in modes) and not hidden
        self.checkpoints = "checkpoints" in modes or "debug" in modes
        self.listened = bool(modes) or program.momentary
        self.announces = self.tasks
        self.beside = "custom" in modes or "messages" in modes
        typed = settings.form.typed
        self.coerce_output: Mapper = program.coerce_output if typed else None
        self.coerce_state: Mapper = program.coerce_state if typed else None

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
        self.here = self.where(self.base)
        self.stop = self.live.stop = self.step + self.settings.limit + 1

    def where(self, checkpoint: str | None) -> dict[str, Any]:
        """The bare config of one of this thread's checkpoints."""
        if checkpoint is None:
            return {"configurable": {**self.address}}
        return {"configurable": {**self.address, "checkpoint_id": checkpoint}}

    def writer(self, chunk: Any) -> None:
        """Put a chunk into the custom stream, if somebody listens."""
        if "custom" in self.settings.modes:
            self.tell((), "custom", chunk)

    def tell(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """Hand a chunk to the caller now, from within a task."""
        chunk = self.settings.form.chunk(ns, mode, payload)
        if self.post is not None and chunk is not SILENT:
            self.post(chunk)

    def show(self, mode: str, payload: Any, interrupts: Sequence[Any] = ()) -> Emit:
        """The request that hands a chunk to the caller."""
        if mode == "values":
            payload = mapped(payload, self.coerce_output)
        return Emit(self.settings.form.chunk((), mode, payload, interrupts))

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

        values = self.live.read(self.program.stream_channels)
        payload = {
            "config": at(self.live.id),
            "parent_config": at(self.parent),
            "values": mapped(values, self.coerce_state) if values else values,
            "metadata": {k: v for k, v in self.metadata.items() if k not in self.user},
            "next": [t.name for t in tasks],
            "tasks": [events.known_task(t, self.program.stream_channels) for t in tasks],
        }
        yield from self.show_both("checkpoints", "checkpoint", self.metadata["step"], payload)

    def read(self) -> Any:
        """The values that this run shows."""
        return self.live.read(self.keys)

    def saved(self, source: str) -> Script:
        """`save` as a script."""
        if (request := self.save(source)) is not None:
            yield request

    def save(self, source: str) -> Save | None:
        """Make the live state the next checkpoint and count the step; the request to store it."""
        live, step = self.live, self.step
        self.metadata = {"source": source, "step": step, "parents": {}, **self.user}
        self.pending = []
        self.answers.single = []  # an answer that nobody took dies with its checkpoint
        self.step = step + 1
        if not self.identified:
            live.changed.clear()
            return None
        previous, here = live.id, self.here
        live.id, time = stamp(step, previous)
        self.here = self.where(live.id)
        if self.saver is None:
            return None
        if self.deferring:
            self.deferred = True
            self.time = time
            self.kept = []
            return None
        self.parent = previous
        return self._save_request(here, time)

    def _save_request(self, parent: dict[str, Any], time: str) -> Save:
        live = self.live
        versions = live.versions
        new = {name: versions[name] for name in live.changed}
        live.changed = {}
        partial = self.partial
        checkpoint = {
            "v": 4,
            "ts": time,
            "id": live.id,
            "channel_values": live.saved_values(new if partial else versions),
            "channel_versions": versions if partial else dict(versions),
            "versions_seen": live.seen if partial else {k: dict(v) for k, v in live.seen.items()},
            "updated_channels": None if live.updated is None else sorted(live.updated),
        }
        if self.guarded:
            parent = Extending(parent)
            # What only this process has is kept by the lease from then on.
            self.guarded = not self.saver.never_blocks
        return Save(parent, checkpoint, self.metadata, new)

    def keep(self, writes: Sequence[Any], task_id: str, path: str) -> SaveWrites | None:
        """The request that stores pending writes under the current checkpoint, if it is due now."""
        request = SaveWrites(self.here, writes, task_id, path)
        if not self.deferring:
            return request
        self.kept.append(request)
        return None

    def flush(self) -> Script:
        """With durability ``exit``: save the last checkpoint and its pending writes now."""
        if self.deferred:
            self.deferred = False
            yield self._save_request(self.where(self.base), self.time)
        for request in self.kept:
            yield request
        self.kept = []

    def ended(self, task: Task) -> SaveWrites | None:
        """The request that stores what an ended task left, if there is anything to store."""
        writes: Sequence[Any] = ()
        if task.outcome == "done":
            writes = task.writes or _NOTHING
        elif task.outcome == "interrupt":
            task.special.append((INTERRUPT, list(task.interrupts)))
        elif not is_signal(task):
            task.special.append((ERROR, told(task.error)))
            if task.outcome == "handled":
                task.special.append((ERROR_SOURCE, task.name))
            task.error.add_note(f"During task with name '{task.name}' and id '{task.id}'")
        if self.saver is None:
            return None
        if self.program.untracked:
            writes = [self._tracked(w) for w in writes if w[0] not in self.program.untracked]
        if task.special:
            writes = [*task.special, *writes]
        return self.keep(writes, task.id, task.path_text) if writes else None

    def left_over(self, finished: Iterable[Task]) -> Iterator[Save | SaveWrites]:
        """What is still to be stored of a run that is left early."""
        for task in finished:
            if task.outcome == "done" and (request := self.ended(task)) is not None:
                yield request
        yield from self.flush()

    def _tracked(self, write: Any) -> Any:
        """A write without what must not be saved: a Send's argument loses untracked keys."""
        channel, value = write
        if channel == TASKS and isinstance(value, Send) and isinstance(value.arg, dict):
            arg = {k: v for k, v in value.arg.items() if k not in self.program.untracked}
            return channel, Send(value.node, arg)
        return write

    def show_end(self, task: Task, step: int) -> Script:
        """The events that tell that a task of a step has ended."""
        if task.node.hidden:
            return
        keys = self.keys if task.caller is None else RETURN
        if task.outcome == "done" and self.updates:
            yield self.show("updates", {task.name: events.shown_writes(task.writes, keys)})
        elif task.outcome == "interrupt":
            yield from self._show_interrupt(task)
        if self.tasks:
            told = self.program.stream_channels if task.caller is None else RETURN
            payload = events.task_ended(task, told)
            yield from self.show_both("tasks", "task_result", step, payload)

    def _show_interrupt(self, task: Task) -> Script:
        for one in task.interrupts:
            if self.updates:
                yield self.show("updates", {"__interrupt__": (one,)})
            if self.values:
                yield self.show("values", self.live.read(self.keys), (one,))
