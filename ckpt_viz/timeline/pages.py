"""The rows of one (thread, namespace), read page by page: the newest first, older ones as wanted.

Owns the cache of `Light` records. The saver is asked for what is newer than the newest known
checkpoint, and for what is older than the oldest; a checkpoint is never read twice for its row.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ckpt_viz.timeline.book import Book
from ckpt_viz.timeline.damage import Damaged
from ckpt_viz.timeline.records import Reference, Row
from ckpt_viz.timeline.rows import Light, config_id, unreadable_light

TAIL = 8
PAGE = 2_000


def _told(light: Light | None) -> Any:
    """What may still change in a checkpoint that was read: its tasks. Compares no user values."""
    if light is None:
        return None
    return [(task, n.state, n.text, len(n.resumes)) for task, n in sorted(light.news.items())]


def _id_of(tup: Any) -> str:
    return tup.id if isinstance(tup, Damaged) else str(config_id(tup.config))


class PagedRows:
    """The part of a reader that keeps rows. What it asks of the saver is the reader's."""

    thread_id: str | None

    def __init__(self) -> None:
        """Has read nothing yet."""
        self._book = Book()
        self._all = False
        self._lock = threading.RLock()

    def _listed(self, before: str | None, limit: int) -> list[Any]:
        raise NotImplementedError

    def _reference(self, checkpoint_id: str | None) -> Reference:
        raise NotImplementedError

    def _lighten(self, tup: Any) -> Light:
        raise NotImplementedError

    def require(self, checkpoint_id: str | None) -> Any:
        """The checkpoint tuple. Raises `CheckpointNotFoundError` when there is none."""
        raise NotImplementedError

    @property
    def _lights(self) -> dict[str, Light]:
        return self._book.lights

    def rows(self) -> list[Row]:
        """All rows, oldest first."""
        self.refresh()
        while self.more:
            self.older()
        return self.known()

    def known(self, limit: int | None = None) -> list[Row]:
        """The rows that have been read (or the newest `limit` of them), oldest first."""
        with self._lock:
            ids = self._book.order()
            return [self._book.rows[i] for i in (ids if limit is None else ids[-limit:])]

    @property
    def more(self) -> bool:
        """Whether there may be checkpoints older than those that have been read."""
        return not self._all and self.thread_id is not None

    def newest_first(self, after: str | None = None) -> Iterator[Row]:
        """All rows (or those older than `after`), newest first; read as they are wanted."""
        if after is None:
            self.refresh()
        told = after
        while True:
            with self._lock:
                ids = self._book.order()
                end = len(ids) if told is None else bisect_left(ids, told)
                rows = [self._book.rows[i] for i in ids[max(0, end - PAGE) : end]]
            yield from reversed(rows)
            if rows:
                told = rows[0].id
            elif self.more:
                self.older()
            else:
                return

    def page(self, before: str, limit: int = PAGE) -> tuple[list[Row], bool]:
        """The `limit` rows older than one, oldest first, and whether there are more.

        With them come their children that are newer: their rows tell what changed since the parent.
        """
        rows = list(islice(self.newest_first(before), limit))
        if not rows:
            return [], False
        with self._lock:
            ids = self._book.order()
            more = self.more or ids[0] < rows[-1].id
            kids = self._book.children(row.id for row in rows)
            later = [self._book.rows[i] for i in kids if i >= before]
            return [*(self._book.rows[row.id] for row in reversed(rows)), *later], more

    def known_lights(self) -> list[Light]:
        """The light records that have been read; the newest page, where none was."""
        if not self._lights:
            self.refresh()
        with self._lock:
            return [self._lights[i] for i in self._book.order()]

    @property
    def head(self) -> str | None:
        """The id of the newest checkpoint that has been read."""
        with self._lock:
            return self._book.head

    def refresh(self) -> list[Row]:
        """Reads what is new and gives the rows that are new or have changed, oldest first.

        Of a history that was not read yet it reads the newest `PAGE` checkpoints; `older` reads on.
        """
        if self.thread_id is None:
            return []
        with self._lock:
            fresh = [self._light_of(tup) for tup in self._newest()]
            if self._lights and all(_told(x) == _told(self._lights.get(x.id)) for x in fresh):
                return []
            return self._book.add(reversed(fresh))

    def older(self, limit: int = PAGE) -> list[Row]:
        """Reads the next older checkpoints; the rows that are new or have changed by it."""
        with self._lock:
            ids = self._book.order()
            if not ids or not self.more:
                return self.refresh() if self.more else []
            tuples = self._listed(ids[0], limit)
            fresh = [self._light_of(tup) for tup in tuples]
            fresh = [light for light in fresh if light.id not in self._lights]
            self._all = len(tuples) < limit or not fresh
            return self._book.add(reversed(fresh))

    def forget(self) -> None:
        """Reads everything anew: something was removed."""
        with self._lock:
            self._book = Book()
            self._all = False

    def _newest(self) -> list[Any]:
        limit = TAIL
        while self._lights:
            tuples = self._listed(None, limit)
            ids = [_id_of(t) for t in tuples]
            if len(tuples) < limit or sum(i in self._lights for i in ids) >= TAIL // 2:
                return tuples
            limit *= 4
        tuples = self._listed(None, PAGE)
        self._all = len(tuples) < PAGE
        return tuples

    def ancestors(self, checkpoint_id: str, limit: int | None = None) -> list[str]:
        """The ids from this checkpoint to its root (or `limit` of them); reads on where it must.

        A dict keeps the order, and ends a chain that a broken store closed to a ring.
        """
        with self._lock:
            out: dict[str, None] = {}
            at: str | None = checkpoint_id
            while at is not None and at not in out and len(out) != limit:
                while at not in self._lights and self.more:
                    self.older()
                if at not in self._lights:
                    break
                out[at] = None
                at = self._lights[at].parent_id
            return list(out)

    def _light_of(self, tup: Any) -> Light:
        return unreadable_light(tup) if isinstance(tup, Damaged) else self._lighten(tup)

    def light(self, checkpoint_id: str) -> Light:
        """The light record of one checkpoint."""
        with self._lock:
            if checkpoint_id in self._lights:
                return self._lights[checkpoint_id]
        return self._lighten(self.require(checkpoint_id))

    def row(self, checkpoint_id: str) -> Row | None:
        """The row of a checkpoint, reading what is new when it is not known yet."""
        with self._lock:
            if checkpoint_id not in self._book.rows:
                self.refresh()
            return self._book.rows.get(checkpoint_id)

    def copy_of(self, checkpoint_id: str) -> str | None:
        """The checkpoint that this one is a copy of, if it is one."""
        with self._lock:
            row = self._book.rows.get(checkpoint_id)
            return row.copy_of if row else None

    def ids(self) -> list[str]:
        """All ids that have been read, oldest first."""
        with self._lock:
            return list(self._book.order())
