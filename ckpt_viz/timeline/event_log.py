"""A history rebuilt from debug events: `checkpoint`, `task` and `task_result`, of any runs.

Rules: an event may come twice (a stream that reconnected) and changes nothing then. A checkpoint
without `parent_config` follows the one before it in the same run and namespace. A task belongs to
the checkpoint that lists its id, else to the newest of its run and namespace, by name: old streams
gave a task another id in each kind of event. What is not understood is noted and left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.timeline.event_text import Event, LogError, Notes
from ckpt_viz.timeline.recorded import Recorded, RecordedSaver, RecordedTask
from ckpt_viz.timeline.why import PUSH
from ckpt_viz.types import Interrupt

PULL = "__pregel_pull"
UNNAMED = "log"
"""The thread of events that name none."""

TYPES = ("checkpoint", "task", "task_result")
_MISSING: Any = object()


class EventLog(RecordedSaver):
    """The checkpoints that a log tells of."""

    why = "This is a log of events: it can be read, and there is no graph here to run"
    name = "event log"
    spoken = "A log of events"


class _Bad(ValueError):
    """An event lacks something, or has it in the wrong form."""


def read_log(events: Iterable[Event], notes: Notes, told: str = "The log") -> EventLog:
    """The history that events tell of.

    Raises:
        LogError: no event tells of a checkpoint.
    """
    fold = Fold(EventLog(), notes)
    fold.take(events)
    fold.check(told)
    return fold.log


class Fold:
    """Takes events one by one, and keeps the checkpoints that they tell of in a log."""

    def __init__(self, log: EventLog, notes: Notes) -> None:
        self.log = log
        self._count = 0
        self._notes = notes
        self._run = ""
        self._thread = UNNAMED
        self._last: dict[tuple[str, str], Recorded] = {}  # run and namespace -> newest checkpoint
        self._owner: dict[str, Recorded] = {}  # task id -> the checkpoint it runs from
        self._open: dict[str, RecordedTask] = {}  # started by this run, and not ended

    def take(self, events: Iterable[Event]) -> None:
        """Takes events; what is not understood is noted."""
        for event in events:
            self._count += 1
            try:
                self._add(event)
            except _Bad as error:
                self._notes.add(event.where, f"left out: {error}")
        waiting = [t.name for t in self._open.values() if not t.interrupts]
        ends = [f"the end: no result was told of {', '.join(waiting)}"] if waiting else []
        self.log.notes = [*self._notes.all, *ends]

    def check(self, told: str) -> None:
        """Raises `LogError` where no checkpoint was told of."""
        if not self.log.size:
            first = f" ({self._notes.told[0]})" if self._notes.told else ""
            raise LogError(
                f"{told} has no checkpoint that could be read, in {self._count} events{first}. "
                'Events are those of graph.stream(…, stream_mode="debug"), of a graph with a '
                "checkpointer."
            )

    def _add(self, event: Event) -> None:
        if event.kind == "metadata":
            return self._metadata(event.data)
        if event.kind == "error":
            return self._error(event.data)
        if event.kind != "debug":
            return None  # another mode of the same stream
        kind, payload = self._typed(event)
        if kind == "checkpoint":
            self._checkpoint(payload, event)
        elif kind == "task":
            self._started(payload, event)
        else:
            self._ended(payload, event)
        return None

    def _typed(self, event: Event) -> tuple[str, dict[str, Any]]:
        data = event.data if isinstance(event.data, dict) else {}
        kind, payload = data.get("type"), data.get("payload")
        if kind not in TYPES:
            raise _Bad(f"its type is {kind!r}, and not one of {', '.join(TYPES)}")
        if not isinstance(payload, dict):
            raise _Bad(f"a {kind} event without a payload")
        return str(kind), payload

    def _metadata(self, data: Any) -> None:
        run = str(data.get("run_id") or "") if isinstance(data, dict) else ""
        if run != self._run:
            self._open = {}
            self._run = run

    def _error(self, data: Any) -> None:
        """The end of a run that failed: known to be a task's where one task alone was open."""
        text = error_line(data)
        for task in self._open.values():
            if len(self._open) == 1 and task.error is None:
                task.error = text
        if len(self._open) != 1:
            self._notes.add("the run", f"ended with an error: {text}")
        self._open = {}

    # -- checkpoints -------------------------------------------------------------------------

    def _checkpoint(self, payload: dict[str, Any], event: Event) -> None:
        where = _configurable(payload.get("config"))
        if not where:
            where = _configurable({"configurable": payload.get("checkpoint")})
        id_ = where.get("checkpoint_id")
        if not isinstance(id_, str) or not id_:
            raise _Bad("a checkpoint without checkpoint_id")
        self._thread = str(where.get("thread_id") or self._thread)
        ns = str(where.get("checkpoint_ns") or event.ns or "")
        place = (self._in_run(payload, where), ns)
        tasks = _tasks(payload)
        known = self.log.record(self._thread, ns, id_)
        if known is None:
            before = self._last.get(place)
            if before is not None and id_ < before.id:
                self._notes.add(event.where, f"{id_} sorts before {before.id}: shown in that order")
            known = self._new(payload, event, id_, ns, before)
            known.tasks = tasks
            self.log.put(known)
        else:
            _learn(known, tasks)
            self.log.told_more(known)
        self._last[place] = known
        self._owner |= {task.id: known for task in known.tasks}

    def _new(
        self, payload: dict[str, Any], event: Event, id_: str, ns: str, before: Recorded | None
    ) -> Recorded:
        metadata = payload.get("metadata")
        metadata = dict(metadata) if isinstance(metadata, dict) else {}
        step = event.data.get("step")
        if isinstance(step, int):
            metadata.setdefault("step", step)
        if not isinstance(metadata.get("step", 0), int):
            raise _Bad(f"its step is {metadata['step']!r}, and no number")
        metadata.setdefault("source", "input" if metadata.get("step") == -1 else "loop")
        parent = payload.get("parent_config", payload.get("parent_checkpoint", _MISSING))
        if parent is _MISSING:
            parent_id = None if before is None else before.id
        else:
            found = parent if isinstance(parent, dict) else {}
            parent_id = _configurable(found).get("checkpoint_id") or found.get("checkpoint_id")
        stamp = event.data.get("timestamp")
        config = payload.get("config")
        return Recorded(
            id=id_,
            parent_id=None if parent_id is None else str(parent_id),
            thread=self._thread,
            ns=ns,
            values=payload.get("values", {}),
            metadata=metadata,
            next=_names(payload.get("next")),
            tasks=[],
            created_at=None if stamp is None else str(stamp),
            config=dict(config) if isinstance(config, dict) else {},
        )

    def _in_run(self, payload: dict[str, Any], where: dict[str, Any]) -> str:
        """The run of an event: as it says itself, else the one that the stream is in."""
        own = where.get("run_id") or _dict(payload.get("metadata")).get("run_id")
        return str(own) if own else self._run or f"\n{self._thread}"

    # -- tasks -------------------------------------------------------------------------------

    def _task(self, payload: dict[str, Any], event: Event) -> tuple[Recorded, RecordedTask]:
        """The task that an event is about, and the checkpoint that it runs from."""
        id_, name = payload.get("id"), payload.get("name")
        if not isinstance(id_, str) or not isinstance(name, str):
            raise _Bad("a task without id or name")
        owner = self._owner.get(id_)
        if owner is None:
            owner = self._owner_by_step(payload, event)
            self._owner[id_] = owner
            free = [t for t in owner.tasks if t.name == name and self._unclaimed(t, owner)]
            if free:
                free[0].id = id_
            elif not owner.tasks:
                owner.tasks.append(RecordedTask(id_, name, (PULL, name)))
        for task in owner.tasks:
            if task.id == id_:
                return owner, task
        return owner, RecordedTask(id_, name)  # called by another task: no task of the checkpoint

    def _unclaimed(self, task: RecordedTask, owner: Recorded) -> bool:
        return task.writes is None and not task.triggers and self._owner.get(task.id) is owner

    def _owner_by_step(self, payload: dict[str, Any], event: Event) -> Recorded:
        run = self._in_run(payload, {})
        step = event.data.get("step")
        places = [(run, event.ns or "")] if event.ns is not None else []
        places += [key for key in self._last if key[0] == run]
        places += [key for key in reversed(self._last) if event.ns in (None, key[1])]
        for place in places:
            found = self._last.get(place)
            if found is not None and found.metadata.get("step") in (_before(step), None):
                return found
        raise _Bad(
            f"task {payload.get('name')!r} of step {step} follows no checkpoint that is here"
        )

    def _started(self, payload: dict[str, Any], event: Event) -> None:
        owner, task = self._task(payload, event)
        triggers = payload.get("triggers")
        task.triggers = _names(triggers)
        if PUSH in task.triggers and not task.pushed:
            task.path = (PUSH, sum(t.pushed for t in owner.tasks), False)
        if task.writes is None:  # a run that goes on tells again of what had ended
            self._open[task.id] = task
        self.log.told_more(owner)

    def _ended(self, payload: dict[str, Any], event: Event) -> None:
        owner, task = self._task(payload, event)
        self._open.pop(task.id, None)
        asked = interrupts(payload.get("interrupts"))
        task.interrupts = task.interrupts or asked
        error = payload.get("error")
        if error is not None:
            task.error = error_line(error)
        elif not asked:
            task.error = None
            task.writes = writes_of(payload.get("result"))
            task.result = payload.get("result")
            if isinstance(task.result, list):
                task.result = dict(task.writes)
        self.log.told_more(owner)


def _before(step: Any) -> int | None:
    return step - 1 if isinstance(step, int) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _configurable(config: Any) -> dict[str, Any]:
    return _dict(_dict(config).get("configurable"))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list | tuple) else ()


def _tasks(payload: dict[str, Any]) -> list[RecordedTask]:
    told = payload.get("tasks")
    found = [recorded_task(each) for each in (told if isinstance(told, list | tuple) else ())]
    tasks = [task for task in found if task is not None]
    if not tasks:
        tasks = [
            RecordedTask(f"{n}:{name}", name, (PULL, name))
            for n, name in enumerate(_names(payload.get("next")))
        ]
    return tasks


def recorded_task(told: Any) -> RecordedTask | None:
    """A task as a checkpoint event or a server's state lists it; None for what is none."""
    name = _dict(told).get("name")
    if not isinstance(name, str):
        return None
    path = _names(told.get("path")) and tuple(told["path"])
    error = told.get("error")
    result = told.get("result")
    ended = error is None and result is not None
    return RecordedTask(
        id=str(told.get("id") or name),
        name=name,
        path=path or (PULL, name),
        writes=writes_of(result) if ended else None,
        result=result,
        error=None if error is None else error_line(error),
        interrupts=interrupts(told.get("interrupts")),
        state=told.get("state"),
    )


def _learn(known: Recorded, tasks: list[RecordedTask]) -> None:
    """Adds what a second account of a checkpoint tells of its tasks."""
    mine = {task.id: task for task in known.tasks}
    for task in tasks:
        old = mine.get(task.id)
        if old is None:
            continue
        old.interrupts = old.interrupts or task.interrupts
        if old.writes is None and task.writes is not None:
            old.writes, old.result, old.error = task.writes, task.result, None
        elif old.writes is None:
            old.error = old.error or task.error


def writes_of(result: Any) -> list[tuple[str, Any]]:
    """A result as writes: it is a map by channel, or a list of pairs.

    >>> writes_of({"xs": {"$writes": [1, 2]}, "foo": 3})
    [('xs', 1), ('xs', 2), ('foo', 3)]
    """
    if isinstance(result, dict):
        out: list[tuple[str, Any]] = []
        for channel, value in result.items():
            many = value.get("$writes") if isinstance(value, dict) and len(value) == 1 else None
            out += [(str(channel), v) for v in (many if isinstance(many, list) else [value])]
        return out
    if isinstance(result, list | tuple):
        pairs = [p for p in result if isinstance(p, list | tuple) and len(p) == 2]
        if len(pairs) == len(result):
            return [(str(channel), value) for channel, value in pairs]
        return [w for each in result if isinstance(each, dict) for w in writes_of(each)]
    return [] if result is None else [("__root__", result)]


def interrupts(told: Any) -> tuple[Interrupt, ...]:
    """Questions as they are told: dicts with `value` and `id`, or objects."""
    out = []
    for n, each in enumerate(told if isinstance(told, list | tuple) else ()):
        if isinstance(each, dict):
            id_ = each.get("id") or each.get("interrupt_id") or _joined(each.get("ns")) or str(n)
            out.append(Interrupt(each.get("value"), str(id_)))
        elif hasattr(each, "value"):
            out.append(Interrupt(each.value, str(getattr(each, "id", n))))
        else:
            out.append(Interrupt(each, str(n)))
    return tuple(out)


def _joined(ns: Any) -> str:
    return "|".join(str(p) for p in ns) if isinstance(ns, list | tuple) else ""


def error_line(error: Any) -> str:
    """One line for an error that was told as a dict, an exception, or a text: as savers keep it.

    >>> error_line(ValueError("no")), error_line({"error": "ValueError", "message": "no"})
    ("ValueError('no')", "ValueError('no')")
    """
    if isinstance(error, dict) and isinstance(error.get("error"), str):
        return f"{error['error']}({str(error.get('message') or '')!r})"
    return repr(error) if isinstance(error, BaseException) else str(error)
