"""Whole threads in the memory saver's dictionaries: the scripts that `scripted.upkeep` needs.

Their connection is the saver. Before something goes, whatever of the rest is told as a change of
it is stored anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ckpt_viz.checkpoint.plans import Script, on_connection
from ckpt_viz.checkpoint.scripted.rows import BaseGone, BlobKey, Edit, Row, Size
from ckpt_viz.checkpoint.scripted.threads import WholeThreads
from ckpt_viz.checkpoint.scripted.upkeep import Upkeep


class ThreadsInMemory(WholeThreads):
    """The part of the memory saver that deals with whole threads."""

    storage: Any
    writes: Any
    blobs: Any
    _names: dict[tuple[str, str, str], str]
    _packed: Any
    noted: dict[str, tuple[float, float]]

    @property
    def _upkeep(self) -> Upkeep:
        return MemoryUpkeep(MemoryRows(), self._packed.using(self.serde))


class MemoryRows:
    """The threads of a memory saver."""

    @on_connection
    def threads(self, saver: ThreadsInMemory, tokens: Sequence[int] | None) -> list[str]:
        """All threads; the tokens make no difference."""
        return list(saver.storage)

    @on_connection
    def namespaces(self, saver: ThreadsInMemory, thread: str) -> list[str]:
        """The namespaces that hold checkpoints."""
        spaces = saver.storage.get(thread)
        return [ns for ns in list(spaces) if spaces[ns]] if spaces else []

    @on_connection
    def count(self, saver: ThreadsInMemory) -> list[tuple[str, int, Any, str, int]]:
        """``(thread, checkpoints, last step, last id, bytes)`` of each thread."""
        sizes, counted = _sizes(saver), []
        for thread in list(saver.storage):
            rows = _rows(saver, thread)
            if rows:
                last = max([row for row in rows if not row.ns] or rows, key=lambda row: row.id)
                step = saver._packed.using(saver.serde).meta_of(last).get("step")
                counted.append((thread, len(rows), step, last.id, sizes.get(thread, 0)))
        return counted

    @on_connection
    def survey(self, saver: ThreadsInMemory, thread: str, hold: bool = True) -> MemorySurvey:
        """All of a thread but its values."""
        return MemorySurvey(saver, thread)

    @on_connection
    def labels(self, saver: ThreadsInMemory, thread: str) -> dict[tuple[str, str], str]:
        """Labels by namespace and checkpoint."""
        return {key[1:]: label for key, label in _items(saver._names) if key[0] == thread}

    @on_connection
    def remove_thread(self, saver: ThreadsInMemory, thread: str) -> None:
        """Remove everything of a thread."""
        saver.storage.pop(thread, None)
        _forget_times(saver, [place for place in list(saver.writes) if place[0] == thread])
        for kept in (saver.writes, saver.blobs, saver._names):
            for key in [key for key in list(kept) if key[0] == thread]:
                kept.pop(key, None)

    @on_connection
    def edit(self, saver: ThreadsInMemory, edit: Edit) -> set[BlobKey]:
        """Label checkpoints, or remove some.

        Raises:
            BaseGone: the checkpoint to label is not there.
        """
        thread, spaces = edit.thread, saver.storage.get(edit.thread, {})
        if edit.needs_row is not None and edit.needs_row[1] not in spaces.get(
            edit.needs_row[0], ()
        ):
            raise BaseGone(thread)
        for place, label in edit.labels.items():
            if label is None:
                saver._names.pop((thread, *place), None)
            else:
                saver._names[(thread, *place)] = label
        for ns, (ids, keys) in edit.drops().items():
            rows, gone = spaces[ns], {key[1:] for key in keys}
            keep = [id_ for id_ in list(rows) if id_ not in set(ids)]
            own = {key[2:] for key in list(saver.blobs) if key[:2] == (thread, ns)}
            saver._packed.stand_alone(thread, ns, keep, own - gone)
            _forget_times(saver, [(thread, ns, id_) for id_ in ids])
            for id_ in ids:
                rows.pop(id_, None)
                saver.writes.pop((thread, ns, id_), None)
                saver._names.pop((thread, ns, id_), None)
            for place in gone:
                saver.blobs.pop((thread, ns, *place), None)
        return set()

    @on_connection
    def copy(self, saver: ThreadsInMemory, source: str, target: str) -> None:
        """Give another thread all that a thread has."""
        moved = saver._packed.moved
        for row in _rows(saver, source):
            body = moved(row.body, source, target, row.ns, row.id)
            meta = moved(row.meta, source, target, row.ns, row.id, "metadata")
            saver.storage[target][row.ns][row.id] = body, meta, row.parent
        for (thread, ns, id_), rows in _items(saver.writes):
            for key, (task, channel, typed, path) in _items(rows) if thread == source else ():
                told = moved(typed, source, target, ns, id_, *key)
                saver.writes[target, ns, id_][key] = task, channel, told, path
        for (thread, *place), typed in _items(saver.blobs):
            if thread == source:
                told = moved(typed, source, target, *place)
                saver.blobs.setdefault((target, *place), told)
        for (thread, *place), label in _items(saver._names):
            if thread == source:
                saver._names[(target, *place)] = label

    @on_connection
    def compact(self, saver: ThreadsInMemory, dry_run: bool) -> dict[str, int]:
        """Nothing to give back: what was removed is gone already."""
        size = sum(_sizes(saver).values())
        return {"before": size, "after": size}


def _forget_times(saver: ThreadsInMemory, places: Sequence[tuple[str, str, str]]) -> None:
    """Forget when the tasks ran whose writes go, unless a copy of their thread has them too."""
    tasks = {task for place in places for task, _ in saver.writes.get(place, ())}
    tasks &= saver.noted.keys()
    if tasks:
        going = set(places)
        for place, rows in _items(saver.writes):
            if place not in going:
                tasks.difference_update(task for task, _ in list(rows))
    for task in tasks:
        saver.noted.pop(task, None)


class MemoryUpkeep(Upkeep):
    """The scripts over whole threads, of which a copy is made as it lies."""

    rows: MemoryRows

    def copy(self, source: str, target: str) -> Script[None]:
        """Give another thread all that one has; what is encrypted is bound to the new one."""
        return self.rows.copy(source, target)


class MemorySurvey:
    """A thread, of which values and writes are looked at when somebody asks."""

    mark = bases = None
    rest = 0

    def __init__(self, saver: ThreadsInMemory, thread: str) -> None:
        self._saver = saver
        self._thread = thread
        self.rows = _rows(saver, thread)
        self.labels = {k[1:]: name for k, name in _items(saver._names) if k[0] == thread}

    @cached_property
    def blobs(self) -> dict[BlobKey, Size]:
        """The sizes of values."""
        return {
            BlobKey(*place): Size(len(data), None, tag, place[1])
            for (thread, *place), (tag, data) in _items(self._saver.blobs)
            if thread == self._thread
        }

    @cached_property
    def writes(self) -> dict[tuple[str, str, str, int], Size]:
        """The sizes of writes."""
        return {
            (ns, id_, *key): Size(len(data), None, tag, channel)
            for (thread, ns, id_), rows in _items(self._saver.writes)
            if thread == self._thread
            for key, (_, channel, (tag, data), _) in _items(rows)
        }


def _rows(saver: ThreadsInMemory, thread: str) -> list[Row]:
    return [
        Row(thread, ns, id_, parent, None, body, meta, size=len(body[1]) + len(meta[1]))
        for ns, rows in _items(saver.storage.get(thread, {}))
        for id_, (body, meta, parent) in _items(rows)
    ]


def _sizes(saver: ThreadsInMemory) -> dict[str, int]:
    """Packed bytes by thread."""
    sizes = {
        thread: sum(row.size for row in _rows(saver, thread)) for thread in list(saver.storage)
    }
    for (thread, *_), rows in _items(saver.writes):
        size = sum(len(row[2][1]) for _, row in _items(rows))
        sizes[thread] = sizes.get(thread, 0) + size
    for (thread, *_), typed in _items(saver.blobs):
        sizes[thread] = sizes.get(thread, 0) + len(typed[1])
    return sizes


def _items(kept: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    while True:
        try:
            return list(kept.items())
        except RuntimeError:  # a run in another thread put something meanwhile: look again
            continue
