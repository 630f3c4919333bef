"""Checkpoints as somebody told them: by events, by a server, by an exported file.

Such a source tells states, tasks and results, but no channel versions. `RecordedSaver` keeps what
was told and answers as a saver does: the versions are made up so that what changed, what ran and
what is next come out as they were told. Nothing here reads text or files, and nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ckpt_viz.checkpoint.base import CheckpointTuple
from ckpt_viz.checkpoint.times import Span, timed
from ckpt_viz.timeline.preview import same
from ckpt_viz.timeline.records import ChannelInfo, Reference, Topology
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import PUSH, START, TASKS
from ckpt_viz.types import Interrupt, PregelTask, StateSnapshot

NO_WRITES = "__no_writes__"
Key = tuple[str, str]
"""A thread and a namespace."""
Write = tuple[str, str, Any]


@dataclass(slots=True)
class RecordedTask:
    """A task as it was told. `writes` is None until it is told that the task ended well."""

    id: str
    name: str
    path: tuple[Any, ...] = ()
    triggers: tuple[str, ...] = ()
    writes: list[tuple[str, Any]] | None = None
    result: Any = None
    error: str | None = None
    interrupts: tuple[Interrupt, ...] = ()
    state: Any = None

    @property
    def pushed(self) -> bool:
        """Whether it was made by a `Send`."""
        return bool(self.path) and self.path[0] == PUSH

    @property
    def fires(self) -> tuple[str, ...]:
        """The channels that made it run, as far as known."""
        if self.name == START:
            return (START,)
        return tuple(t for t in self.triggers if t != PUSH) or (f"branch:to:{self.name}",)

    def pending(self) -> list[Write]:
        """What a saver would keep of it as pending writes."""
        out: list[Write] = []
        if self.interrupts:
            out.append((self.id, "__interrupt__", self.interrupts))
        if self.writes is not None:
            out += [(self.id, channel, value) for channel, value in self.writes]
            if not self.writes:
                out.append((self.id, NO_WRITES, None))
        elif self.error is not None:
            out.append((self.id, "__error__", self.error))
        return out


@dataclass(slots=True)
class Recorded:
    """A checkpoint as it was told. What only some sources know is None elsewhere."""

    id: str
    parent_id: str | None
    thread: str
    ns: str
    values: Any
    metadata: dict[str, Any]
    next: tuple[str, ...]
    tasks: list[RecordedTask]
    created_at: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, Any] | None = None
    seen: dict[str, dict[str, Any]] | None = None
    pending: list[Write] | None = None
    routing: dict[str, Any] = field(default_factory=dict)
    ready: tuple[str, ...] | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    """When its tasks ran, as far as that was told."""

    @property
    def source(self) -> str:
        """What made it: input, loop, update or fork."""
        return str(self.metadata.get("source", ""))

    @property
    def channels(self) -> dict[str, Any]:
        """The values by channel."""
        return self.values if isinstance(self.values, dict) else {"__root__": self.values}

    def where(self, checkpoint_id: str) -> dict[str, Any]:
        """The config of a checkpoint of this thread and namespace."""
        return Reference(self.thread, self.ns, checkpoint_id).config


@dataclass(frozen=True, slots=True)
class _Clock:
    """The channel versions of a checkpoint, and what each node has seen of them."""

    versions: dict[str, Any]
    seen: dict[str, dict[str, Any]]


class RecordedSaver:
    """Answers as a saver does, from recorded checkpoints."""

    why = "Only a record of what happened was given: there is no graph here to run"
    name = "record"
    spoken = "A record of events"

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.shapes: dict[str, Topology] = {}
        self.heads: dict[Key, Recorded] = {}
        """The newest state where it is more than its checkpoint's: some of its tasks ended."""
        self._all: dict[Key, dict[str, Recorded]] = {}
        self._newest: dict[Key, str] = {}
        self._clocks: dict[Key, dict[str, _Clock]] = {}
        self._guessed: dict[Key, tuple[int, Topology]] = {}
        self._followed: dict[tuple[str, str, str | None], str] = {}

    def put(self, record: Recorded) -> None:
        """Adds a checkpoint, or puts a newer account of it in its place."""
        key = (record.thread, record.ns)
        known = self._all.setdefault(key, {})
        if known.get(record.id) == record:
            return
        self._newest[key] = max(self._newest.get(key, ""), record.id)
        self.told_more(record)
        known[record.id] = record
        if record.source == "loop":
            self._followed.setdefault((*key, record.parent_id), record.id)

    def told_more(self, record: Recorded) -> None:
        """Something was added to a checkpoint: what was made from it must be made anew."""
        key = (record.thread, record.ns)
        if record.id == self._newest.get(key):
            self._clocks.get(key, {}).pop(record.id, None)
        else:
            self._clocks.pop(key, None)

    def renew(self) -> None:
        """Reads what is new, where the source can grow."""

    def record(self, thread: str, ns: str, checkpoint_id: str | None) -> Recorded | None:
        """One checkpoint as it was told (None: the newest)."""
        found = self._all.get((thread, ns), {})
        newest = self._newest.get((thread, ns), "")
        return found.get(newest if checkpoint_id is None else checkpoint_id)

    @property
    def size(self) -> int:
        """How many checkpoints are kept."""
        return sum(len(found) for found in self._all.values())

    # -- what is asked of a saver ------------------------------------------------------------

    def get_tuple(self, config: dict[str, Any]) -> CheckpointTuple | None:
        """The checkpoint that a config addresses, or the newest of its thread and namespace."""
        where = config["configurable"]
        ns = str(where.get("checkpoint_ns") or "")
        found = self.record(str(where["thread_id"]), ns, where.get("checkpoint_id"))
        return None if found is None else self._tuple(found)

    def list(
        self,
        config: dict[str, Any] | None,
        *,
        filter: dict[str, Any] | None = None,
        before: dict[str, Any] | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest first."""
        del filter  # nothing asks for it here
        self.renew()
        end = (before or {}).get("configurable", {}).get("checkpoint_id")
        where = (config or {}).get("configurable") or {}
        keys = [
            key
            for key in self._all
            if where.get("thread_id") in (None, key[0])
            and where.get("checkpoint_ns", key[1]) == key[1]
        ]
        ids = ((i, key) for key in keys for i in self._all[key] if end is None or i < end)
        for id_, key in sorted(ids, reverse=True)[:limit]:
            yield self._tuple(self._all[key][id_])

    def thread_heads(self, query: str) -> Sequence[tuple[str, str]]:
        """Each thread with the id of its newest root checkpoint, newest first."""
        wanted = query.casefold()
        found = [
            (thread, newest)
            for (thread, ns), newest in self._newest.items()
            if not ns and wanted in thread.casefold()
        ]
        return sorted(found, key=lambda pair: pair[1], reverse=True)

    def count_checkpoints(self, threads: Iterable[str]) -> dict[str, int]:
        """How many root checkpoints each thread has."""
        return {thread: len(self._all.get((thread, ""), ())) for thread in threads}

    def namespaces(self, thread: str) -> Sequence[str]:
        """The namespaces of a thread."""
        return sorted(ns for known, ns in self._all if known == thread)

    # -- made from what was told -------------------------------------------------------------

    def _tuple(self, record: Recorded) -> CheckpointTuple:
        clock = self._clock(record)
        parent = record.parent_id
        pending = record.pending
        if pending is None:
            pending = [write for task in record.tasks for write in task.pending()]
            pending += self._implied(record, {write[0] for write in pending})
        pending = timed(pending, record.spans)
        checkpoint: Any = {
            "v": 1,
            "id": record.id,
            "ts": record.created_at or "",
            "channel_values": {**record.channels, **record.routing},
            "channel_versions": clock.versions,
            "versions_seen": clock.seen,
        }
        metadata: Any = record.metadata
        before = None if parent is None else record.where(parent)
        return CheckpointTuple(record.where(record.id), checkpoint, metadata, before, pending)

    def _implied(self, record: Recorded, told: set[str]) -> Sequence[Write]:
        """What a step that came after tells: all tasks ended, and which of them led on to what."""
        after = self._followed.get((record.thread, record.ns, record.id))
        if after is None:
            return []
        out: list[Write] = [(t.id, NO_WRITES, None) for t in record.tasks if t.id not in told]
        shape = self.topology(record.thread, record.ns)
        for task in self._all[record.thread, record.ns][after].tasks:
            for trigger in task.fires:
                if not task.pushed and trigger == f"branch:to:{task.name}":
                    leading = [t for t in record.tasks if shape.leads(t.name, task.name)]
                    leading = leading or (record.tasks if len(record.tasks) == 1 else [])
                    out += [(t.id, trigger, None) for t in leading]
        return out

    def snapshot(self, record: Recorded) -> StateSnapshot:
        """The state snapshot, as it was told."""
        tasks = tuple(
            PregelTask(t.id, t.name, t.path, t.error, t.interrupts, t.state, t.result)
            for t in record.tasks
        )
        here = record.where(record.id)["configurable"]
        told = record.config.get("configurable")
        config = {**record.config, "configurable": {**(told or {}), **here}}
        return StateSnapshot(
            record.values,
            record.next,
            config,
            record.metadata,
            record.created_at,
            None if record.parent_id is None else record.where(record.parent_id),
            tasks,
            tuple(i for t in tasks for i in t.interrupts),
        )

    def head_snapshot(self, thread: str, ns: str) -> StateSnapshot | None:
        """The newest state, with what those of its tasks did that have ended, as far as told."""
        record = self.record(thread, ns, None)
        if record is None:
            return None
        if record.pending is None and any(task.writes is not None for task in record.tasks):
            left = tuple(task.name for task in record.tasks if task.writes is None)
            tasks = [t if t.writes is None else replace(t, interrupts=()) for t in record.tasks]
            record = replace(record, next=left, tasks=tasks)
        return self.snapshot(self.heads.get((thread, ns), record))

    def _clock(self, record: Recorded) -> _Clock:
        key = (record.thread, record.ns)
        done, known = self._clocks.setdefault(key, {}), self._all[key]
        line: dict[str, Recorded] = {}
        at: Recorded | None = record
        while at is not None and at.id not in done and at.id not in line:
            line[at.id] = at
            at = known.get(at.parent_id or "")
        for each in reversed(line.values()):
            parent = known.get(each.parent_id or "")
            before = done.get(parent.id) if parent is not None else None
            done[each.id] = _tick(each, parent, before or _Clock({}, {}))
        return done[record.id]

    def topology(self, thread: str, ns: str) -> Topology:
        """The graph's shape: as it was told, or as far as tasks and states tell it."""
        name = "|".join(part.split(":", 1)[0] for part in ns.split("|"))
        if name in self.shapes:
            return self.shapes[name]
        known = self._all.get((thread, ns), {})
        size, topology = self._guessed.get((thread, ns), (-1, NOTHING))
        if size != len(known):
            topology = _guess(known.values())
            self._guessed[thread, ns] = (len(known), topology)
        return topology


def _tick(record: Recorded, parent: Recorded | None, before: _Clock) -> _Clock:
    """The clock of a checkpoint, from its parent's."""
    if record.versions is not None:
        return _Clock(record.versions, record.seen or {})
    versions, seen = dict(before.versions), dict(before.seen)
    now = max(versions.values(), default=0) + 1
    versions |= dict.fromkeys(_changed(record, parent), now)
    for task in record.tasks:
        versions |= dict.fromkeys((TASKS,) if task.pushed else task.fires, now)
    if parent is not None and record.source == "loop":
        for task in tasks_of(parent):
            if not task.pushed:
                seen[task.name] = {t: before.versions.get(t, now - 1) for t in task.fires}
    return _Clock(versions, seen)


def tasks_of(record: Recorded) -> list[RecordedTask]:
    """The tasks that run from a checkpoint; where none was told, those of the nodes next."""
    return record.tasks or [RecordedTask("", name) for name in record.next]


def _changed(record: Recorded, parent: Recorded | None) -> list[str]:
    """The channels that the step wrote, or that hold another value than in the parent."""
    if record.source == "input" and START in record.next:
        return []  # the input waits in a channel of the engine's
    old = parent.channels if parent is not None else {}
    names = [c for c, v in record.channels.items() if c not in old or not same(old[c], v)]
    if parent is not None and record.source == "loop":
        names += [c for task in parent.tasks for c, _ in task.writes or ()]
    return [name for name in names if not is_routing(name)]


NOTHING = Topology({}, frozenset(), (), {}, {})


def _guess(records: Iterable[Recorded]) -> Topology:
    triggers: dict[str, dict[str, None]] = {}
    channels: dict[str, ChannelInfo] = {}
    for record in records:
        for task in tasks_of(record):
            triggers.setdefault(task.name, {}).update(dict.fromkeys(task.fires))
        for name in record.channels:
            channels.setdefault(name, ChannelInfo(name, "recorded", None, is_routing(name)))
    waiting = {
        (tuple(name.split(":", 2)[1].split("+")), node)
        for node, found in triggers.items()
        for name in found
        if name.startswith("join:") and name.count(":") == 2
    }
    shapes = {node: tuple(found) for node, found in triggers.items()}
    return Topology(shapes, frozenset(), tuple(sorted(waiting)), {}, channels)
