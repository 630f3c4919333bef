"""One run: its live state, and what it saves and shows. The script is in `loop`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import Extending, is_replaced
from ckpt_viz.checkpoint.kept import FEW, Changes
from ckpt_viz.constants import (
    ERROR,
    ERROR_SOURCE,
    INTERRUPT,
    NO_WRITES,
    NS_SEP,
    RETURN,
    TAG_HIDDEN,
    TASKS,
)
from ckpt_viz.errors import GraphBubbleUp, is_invalid_resume
from ckpt_viz.ids import stamp, unsaved
from ckpt_viz.pregel import events
from ckpt_viz.pregel.algo import NextVersion
from ckpt_viz.pregel.langchain import Trace
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.migrate import VERSION, changed_by, migrated
from ckpt_viz.pregel.nesting import ALONE, Nest, wanted_id
from ckpt_viz.pregel.older import as_written_now
from ckpt_viz.pregel.pending import PendingWrite
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.progress import progress_of
from ckpt_viz.pregel.requests import Emit, Save, SaveWrites
from ckpt_viz.pregel.scope import Answers
from ckpt_viz.pregel.settings import Settings, place, user_metadata, with_parents
from ckpt_viz.pregel.streams import SILENT, Mapper, mapped
from ckpt_viz.pregel.task import Task
from ckpt_viz.runtime import RunControl
from ckpt_viz.types import Send, scope

Script = Generator[Any, Any, Any]
_PLACE = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")
_NOT_HERE = Emit(SILENT)
_NOTHING = [(NO_WRITES, None)]


def is_signal(task: Task) -> bool:
    """Whether a task was left by something that is no failure: a Command upwards, Ctrl-C."""
    error = task.error
    if task.outcome != "error":
        return task.outcome == "cancelled"
    return isinstance(error, GraphBubbleUp) or not isinstance(error, Exception)


def stops(failed: Task | None) -> bool:
    """Whether a failure stops the step's other tasks; an answer that does not fit stops none."""
    return failed is not None and not is_invalid_resume(failed.error)


def told(error: BaseException) -> str:
    """The error as text, also where its own repr fails."""
    try:
        return repr(error)
    except Exception as other:  # noqa: BLE001 - a broken repr must not hide the error it is of
        return f"{type(error).__name__}(<its repr raises {type(other).__name__}>)"


def _fits(values: Any, program: Program) -> bool:
    return isinstance(values, dict) and values.keys() <= program.channels.keys()


def count_versions(current: int | None, channel: None = None) -> int:
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
        "before",
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
        "filed",
        "going_on",
        "guarded",
        "heard",
        "held",
        "here",
        "identified",
        "interrupts",
        "joins",
        "kept",
        "keys",
        "lease",
        "leaving",
        "listened",
        "live",
        "metadata",
        "names",
        "nest",
        "next_version",
        "noted",
        "ns",
        "output",
        "owner",
        "parent",
        "parents",
        "partial",
        "pending",
        "post",
        "program",
        "progress",
        "remote",
        "replay",
        "resumed",
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

    def __init__(
        self, program: Program, saver: Any, store: Any, settings: Settings, nest: Nest = ALONE
    ) -> None:
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
        self.nest = nest
        self.ns = nest.ns
        self.names = tuple(nest.ns.split(NS_SEP)) if nest.ns else ()
        self.parents = nest.parents
        self.replay = nest.replay
        self.going_on = self.resumed = False
        self.before: Any = None
        self.live = Live(program, None, nest.ns, unsaved() if saver is None else None)
        self.metadata: dict[str, Any] = {}
        self.user = user_metadata(settings.config)
        if program.version is not None:
            self.user[VERSION] = program.version
        self.pending: list[PendingWrite] = []
        self.answers = Answers(nest.above.run.answers if nest.above is not None else None)
        self.parent: str | None = None
        self.base: str | None = None
        self.step = -1
        self.stop = self.live.stop = settings.limit
        self.stopping = self.deferred = False
        self.interrupts: list[Any] = []
        self.output: Any = None
        self.kept: list[SaveWrites] = []
        self.keys = settings.keys if settings.keys is not None else program.stream_channels
        self.post: Any = None
        self.trace: Trace | None = None
        self.driver: Any = None
        self.children: list[Task] = []
        self.filed: Any = None
        self._listen(program)
        self.partial = bool(getattr(saver, "partial_values", False)) and not is_replaced(saver)
        self.held: SaveWrites | None = None
        self.deferring = settings.durability == "exit"
        self.time = ""
        self.alone: Task | None = None
        self.address: dict[str, Any] = {}
        if saver is not None and "thread_id" in settings.config["configurable"]:
            self.address = {
                **place(settings.config, None)["configurable"],
                "checkpoint_ns": nest.ns,
            }
        self.here = self.where(None)
        self._claim(saver, settings)
        self.next_version: NextVersion = count_versions if saver is None else saver.get_next_version

    def _claim(self, saver: Any, settings: Settings) -> None:
        """What runs around this one, and which thread's lease it is to take."""
        self.within: Any = scope.get(None)
        around = getattr(self.within, "run", None)
        if around is not None and settings.control is None:
            self.control = around.control
        self.progress = progress_of(self.within)
        if self.progress is not None:
            self.announces = True
        joins = getattr(saver, "joins_writes", False) is True
        self.joins = joins and not is_replaced(saver)
        self.noted: dict[str, Any] | None = getattr(saver, "noted", None)
        self.owner: Any = None
        self.lease: Any = None
        self.addressed = self.guarded = self.leaving = False
        self.baton: list[None] = []
        if self.address and self.nest.above is None:
            self.lease = (getattr(saver, "identity", None) or id(saver), self.address["thread_id"])
            config = self.settings.config
            inner = config["configurable"].get("checkpoint_id") if self.ns else None
            self.addressed = (inner or wanted_id(config, self.nest)) is not None
            self.guarded = not self.addressed and getattr(saver, "compares_heads", False)

    def _listen(self, program: Program) -> None:
        """Work out what has to be told, to this run's caller and to those above."""
        settings, outlets = self.settings, self.nest.outlets
        self.heard = modes = settings.modes.union(*(o.settings.modes for o in outlets))
        self.values = "values" in modes
        hidden = TAG_HIDDEN in (settings.config.get("tags") or ())
        self.updates = "updates" in modes and not hidden
        self.tasks = ("tasks" in modes or "debug" in modes) and not hidden
        self.checkpoints = "checkpoints" in modes or "debug" in modes
        self.listened = bool(modes) or program.momentary
        self.announces = self.tasks
        own = settings.modes
        deep = settings.form.subgraphs and bool(own)
        self.beside = "custom" in own or "messages" in own or deep
        typed = settings.form.typed
        self.coerce_output: Mapper = program.coerce_output if typed else None
        self.coerce_state: Mapper = program.coerce_state if typed else None
        self.identified = self.saver is not None or self.tasks or self.checkpoints or bool(outlets)

    def open(self, saved: Any) -> None:
        """Take up a loaded checkpoint tuple, or the virtual empty one."""
        if saved is not None:
            program, stored = self.program, saved
            saved = as_written_now(program, stored)
            versioned = program.version is not None or program.migrate is not None
            found = migrated(program, saved) if versioned else saved
            self.live = live = Live(program, found.checkpoint, self.ns)
            if found is not stored:
                live.since = None  # what is stored differs by more than will be noted
                changed = changed_by(program, saved, found)
                live.changed = {name: live.versions[name] for name in changed}
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
        if "custom" in self.heard:
            self.custom(self.names, chunk)

    def custom(self, ns: tuple[str, ...], chunk: Any) -> None:
        """Put a chunk into the custom stream as that of the graph at a namespace.

        It is the stream of this run, or else of the nearest above that has one.
        """
        for run in (self, *reversed(self.nest.outlets)):
            if "custom" in run.settings.modes:
                run.tell(ns, "custom", chunk)
                break

    def below(self) -> dict[str, Any]:
        """The checkpoint ids that a graph called in this run is under, by namespace."""
        return {**self.parents, self.ns: self.live.id}

    def tell(
        self, ns: tuple[str, ...], mode: str, payload: Any, interrupts: Sequence[Any] = ()
    ) -> None:
        """Hand a chunk to the caller now, from within a task."""
        chunk = self.settings.form.chunk(ns, mode, payload, interrupts)
        if self.post is not None and chunk is not SILENT:
            self.post(chunk)

    def _tell_above(self, mode: str, payload: Any, interrupts: Sequence[Any] = ()) -> None:
        """Hand a chunk to the runs above that stream what happens in here."""
        for outlet in self.nest.outlets:
            if mode in outlet.settings.modes:
                shown = payload
                if mode == "values" and _fits(payload, outlet.program):
                    shown = mapped(payload, outlet.coerce_output)
                outlet.tell(self.names, mode, shown, interrupts)

    def show(self, mode: str, payload: Any, interrupts: Sequence[Any] = ()) -> Emit:
        """The request that hands a chunk to the caller; those above get it now."""
        if self.nest.outlets:
            self._tell_above(mode, payload, interrupts)
            if mode not in self.settings.modes:
                return _NOT_HERE
        if mode == "values":
            payload = mapped(payload, self.coerce_output)
        return Emit(self.settings.form.chunk(self.names, mode, payload, interrupts))

    def show_both(self, mode: str, kind: str, step: int, payload: Any) -> Script:
        """A task or checkpoint event, in its own mode and in the debug mode."""
        if mode in self.heard:
            yield self.show(mode, payload)
        if "debug" in self.heard:
            yield self.show("debug", events.debug_event(kind, step, payload))

    def show_checkpoint(self, tasks: list[Task]) -> Script:
        """The event of the current checkpoint, with its tasks."""
        given = self.settings.config["configurable"]
        base = {k: v for k, v in given.items() if k not in _PLACE and not k.startswith("__pregel_")}
        base["checkpoint_ns"] = self.ns

        def at(id_: str | None, **more: Any) -> Any:
            found = {"configurable": {**base, **more, "checkpoint_id": id_}} if id_ else None
            return with_parents(found, self.metadata)

        thread, ids = given.get("thread_id"), given.get("checkpoint_map")
        values = self.live.read(self.program.stream_channels)
        payload = {
            "config": at(self.live.id, **({"checkpoint_map": ids} if ids else {})),
            "parent_config": at(self.parent),
            "values": mapped(values, self.coerce_state) if values else values,
            "metadata": {k: v for k, v in self.metadata.items() if k not in self.user},
            "next": [t.name for t in tasks],
            "tasks": [events.known_task(t, self.program.stream_channels, thread) for t in tasks],
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
        self.metadata = {"source": source, "step": step, "parents": self.parents, **self.user}
        if self.pending:
            self.pending = []
        if self.answers.single:  # an answer that nobody took dies with its checkpoint
            self.answers.single = []
        self.step = step + 1
        if not self.identified:
            live.changed.clear()
            live.saw.clear()
            return None
        previous, here = live.id, self.here
        live.id, time = stamp(step, previous)
        self.here = {"configurable": {**self.address, "checkpoint_id": live.id}}
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
        versions, seen, new = live.versions, live.seen, live.changed
        values = live.changed_values() if self.partial else live.saved_values(versions)
        long = len(versions) > FEW or len(seen) > FEW
        if not self.partial:
            versions, seen = dict(versions), {k: dict(v) for k, v in seen.items()}
        elif long and parent["configurable"].get("checkpoint_id") == live.since:
            new = Changes(new, live.saw)
        live.changed, live.saw, live.since = {}, {}, live.id
        checkpoint = {
            "v": 4,
            "ts": time,
            "id": live.id,
            "channel_values": values,
            "channel_versions": versions,
            "versions_seen": seen,
            "updated_channels": None if live.updated is None else sorted(live.updated),
        }
        if self.guarded:
            parent = Extending(parent)
            # What only this process has is kept by the lease from then on.
            self.guarded = not self.saver.never_blocks
        held, self.held = self.held, None
        return Save((parent, checkpoint, self.metadata, new), held)

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

    def finish(self) -> Script:
        """`flush` at a good end; a graph nested for this one call then keeps nothing."""
        if self.nest.lasting:
            yield from self.flush()

    def ended(self, task: Task) -> SaveWrites | None:
        """The request that stores what an ended task left, if there is anything to store."""
        writes: Sequence[Any] = ()
        if task.outcome == "done":
            writes = task.writes or _NOTHING
            plain = self.saver is not None and not (task.special or self.program.untracked)
            if plain and not self.deferring:
                return SaveWrites(self.here, writes, self._note(task), task.path_text)
        elif task.outcome == "interrupt":
            if task.interrupts:  # none: a break point inside a nested graph
                task.special.append((INTERRUPT, list(task.interrupts)))
        elif task.outcome == "cancelled" or not is_signal(task):
            task.special.append((ERROR, told(task.error)))
            if task.outcome == "handled":
                task.special.append((ERROR_SOURCE, task.name))
            task.error.add_note(f"During task with name '{task.name}' and id '{task.id}'")
        elif isinstance(task.error, GraphBubbleUp):
            return None  # a Command upwards is all that the task leaves
        if self.saver is None:
            return None
        if self.program.untracked:
            writes = [self._tracked(w) for w in writes if w[0] not in self.program.untracked]
        if task.special:
            writes = [*task.special, *writes]
        if writes:
            return self.keep(writes, self._note(task), task.path_text)
        return None

    def _note(self, task: Task) -> str:
        """Tell the saver when a task ran; it stores that with what the task, by this id, wrote."""
        id_ = task.id
        if self.noted is not None and task.began and not self.deferring:
            self.noted[id_] = task.began, task.took
        return id_

    def left_over(self, finished: Iterable[Task]) -> Iterator[Save | SaveWrites]:
        """What is still to be stored of a run that is left early."""
        for task in finished:
            if task.outcome in ("done", "cancelled") and (request := self.ended(task)) is not None:
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
            if not task.interrupts:
                return
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
                values = self.live.read(self.keys)
                yield self.show("values", values if isinstance(values, dict) else {}, (one,))
