"""Reading pages of checkpoints: one query for the rows, one for values, one for writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.checkpoint.base import (
    CheckpointTuple,
    Config,
    PendingWrite,
    address,
    config_of,
    get_checkpoint_id,
    matches,
    parent_of,
)
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed

_PAGE = 200
_MANY = 400
_COLUMNS = (
    "t.thread, t.ns, c.k, c.id, c.parent, c.tag, c.body, c.mtag, c.meta "
    "FROM ckpt_checkpoints c JOIN ckpt_threads t ON t.k = c.k"
)
_IN_SQL: dict[str, type] = {"source": str, "step": int}
"""Metadata with a column of its own, and the type for which SQL compares as Python does."""
_MAX_INT = 2**63

Row = tuple[Any, ...]
BlobKey = tuple[int, Any, str]


@dataclass(slots=True)
class Query:
    """Which checkpoints are wanted. ``rest`` is the part of a filter that SQL cannot tell."""

    where: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None

    def add(self, clause: str, value: Any) -> None:
        """One more condition."""
        self.where.append(clause)
        self.values.append(value)

    @classmethod
    def one(cls, thread: str, ns: str, id_: str | None) -> Query:
        """The addressed checkpoint, or the newest."""
        query = cls(limit=1)
        query.add("t.thread = ?", thread)
        query.add("t.ns = ?", ns)
        if id_ is not None:
            query.add("c.id = ?", id_)
        return query

    @classmethod
    def many(
        cls,
        config: Config | None,
        filter: dict[str, Any],
        before: Config | None,
        limit: int | None,
    ) -> Query:
        """The checkpoints that a call to ``list`` is about."""
        query = cls(limit=limit)
        if config is not None:
            thread, ns, id_ = address(config)
            query.add("t.thread = ?", thread)
            if config["configurable"].get("checkpoint_ns") is not None:
                query.add("t.ns = ?", ns)
            if id_ is not None:
                query.add("c.id = ?", id_)
        end = get_checkpoint_id(before) if before else None
        if end:
            query.add("c.id < ?", end)
        for key, value in filter.items():
            if type(value) is _IN_SQL.get(key) and _storable(value):
                query.add(f"c.{key} = ?", value)
            else:
                query.rest[key] = value
        return query


class Reader:
    """Reads page after page; between pages no cursor stays open and no lock is held."""

    def __init__(self, serde: SerializerProtocol, query: Query) -> None:
        self._loads = serde.loads_typed
        self._query = query
        self._left = query.limit
        self._last: tuple[str, int] | None = None
        self._size = _PAGE
        self._blobs: dict[BlobKey, Typed] = {}
        self.done = query.limit is not None and query.limit <= 0

    def page(self, conn: sqlite3.Connection) -> list[CheckpointTuple]:
        """The next checkpoints; `done` tells whether there may be more."""
        size = self._size
        if self._left is not None and not self._query.rest:
            size = min(size, self._left)
        rows = self._rows(conn, size)
        self.done = len(rows) < size
        if rows:
            self._last = (rows[-1][3], rows[-1][2])
        if self._query.rest:
            rows = [r for r in rows if matches(self._loads((r[7], r[8])), self._query.rest)]
        if self._left is not None:
            rows = rows[: self._left]
            self._left -= len(rows)
            self.done = self.done or self._left == 0
        return self._tuples(conn, rows)

    def _rows(self, conn: sqlite3.Connection, size: int) -> list[Row]:
        where, values = list(self._query.where), list(self._query.values)
        if self._last is not None:
            where.append("(c.id, c.k) < (?, ?)")
            values.extend(self._last)
        clause = f" WHERE {' AND '.join(where)}" if where else ""
        sql = f"SELECT {_COLUMNS}{clause} ORDER BY c.id DESC, c.k DESC LIMIT ?"
        return conn.execute(sql, (*values, size)).fetchall()

    def _tuples(self, conn: sqlite3.Connection, rows: list[Row]) -> list[CheckpointTuple]:
        loads = self._loads
        bodies = [loads((row[5], row[6])) for row in rows]
        needed = {
            (row[2], version, channel)
            for row, body in zip(rows, bodies, strict=True)
            for channel, version in body["channel_versions"].items()
        }
        self._blobs = self._read_blobs(conn, needed)
        writes = self._read_writes(conn, rows)
        made = []
        for row, body in zip(rows, bodies, strict=True):
            thread, ns, k, id_, parent = row[:5]
            body["channel_values"] = self._values(k, body["channel_versions"])
            made.append(
                CheckpointTuple(
                    config_of(thread, ns, id_),
                    body,
                    loads((row[7], row[8])),
                    parent_of(thread, ns, parent),
                    writes.get((k, id_), []),
                )
            )
        return made

    def _values(self, k: int, versions: dict[str, Any]) -> dict[str, Any]:
        values = {}
        for channel, version in versions.items():
            typed = self._blobs.get((k, version, channel))
            if typed is not None and typed[0] != "empty":
                values[channel] = self._loads(typed)
        return values

    def _read_blobs(self, conn: sqlite3.Connection, needed: set[BlobKey]) -> dict[BlobKey, Typed]:
        """The needed values; those of the page before are kept, not read again."""
        found = {key: typed for key, typed in self._blobs.items() if key in needed}
        missing = [key for key in needed if key not in found]
        groups: dict[int, set[Any]] = {}
        for k, version, _ in missing:
            groups.setdefault(k, set()).add(version)
        for k, versions in groups.items():
            for chunk in _chunks(versions):
                marks = ",".join("?" * len(chunk))
                sql = (
                    "SELECT version, channel, tag, data FROM ckpt_blobs "
                    f"WHERE k = ? AND version IN ({marks})"
                )
                for version, channel, tag, data in conn.execute(sql, (k, *chunk)):
                    if (k, version, channel) in needed:
                        found[k, version, channel] = (tag, data)
        return found

    def _read_writes(
        self, conn: sqlite3.Connection, rows: list[Row]
    ) -> dict[tuple[int, str], list[PendingWrite]]:
        groups: dict[int, set[str]] = {}
        for row in rows:
            groups.setdefault(row[2], set()).add(row[3])
        found: dict[tuple[int, str], list[PendingWrite]] = {}
        for k, ids in groups.items():
            for chunk in _chunks(ids):
                marks = ",".join("?" * len(chunk))
                sql = (
                    "SELECT id, task, channel, tag, data FROM ckpt_writes "
                    f"WHERE k = ? AND id IN ({marks}) ORDER BY path, task, idx"
                )
                for id_, task, channel, tag, data in conn.execute(sql, (k, *chunk)):
                    write = (task, channel, self._loads((tag, data)))
                    found.setdefault((k, id_), []).append(write)
        return found


def _storable(value: Any) -> bool:
    """Whether SQLite can hold this text or number, so that it may be asked for."""
    return value.isascii() if isinstance(value, str) else -_MAX_INT <= value < _MAX_INT


def _chunks(items: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    ordered = sorted(items, key=str)
    return (tuple(ordered[at : at + _MANY]) for at in range(0, len(ordered), _MANY))
