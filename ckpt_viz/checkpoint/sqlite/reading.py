"""Reading pages of checkpoints: one query for the rows, one for values, one for writes.

Between pages no cursor stays open and no lock is held.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.checkpoint import chains
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    Config,
    Metadata,
    PendingWrite,
    address,
    config_of,
    get_checkpoint_id,
    matches,
    parent_of,
)
from ckpt_viz.checkpoint.delta import long, short
from ckpt_viz.checkpoint.packing import Packing
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.compress import expand
from ckpt_viz.checkpoint.sqlite.rows import (
    SHORT,
    Cell,
    read_body,
    read_cells,
    read_writes,
    typed_of,
)
from ckpt_viz.checkpoint.telling import DAMAGE, unreadable
from ckpt_viz.errors import damaged

_PAGE = 200
_MANY = 400
COLUMNS = "k, id, parent, source, step, tag, body, mtag, meta"
_IN_SQL: dict[str, type] = {"source": str, "step": int}
"""Metadata with a column of its own, and the type for which SQL compares as Python does."""
_MAX_INT = 2**63
_END = "\U0010ffff"

Row = tuple[Any, ...]


@dataclass(slots=True)
class Query:
    """Which checkpoints are wanted. ``rest`` is the part of a filter that SQL cannot tell."""

    thread: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str = _END
    filter: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None

    @classmethod
    def one(cls, thread: str, ns: str, id_: str | None) -> Query:
        """The addressed checkpoint, or the newest."""
        return cls(thread, ns, id_, limit=1)

    @classmethod
    def many(
        cls,
        config: Config | None,
        filter: dict[str, Any],
        before: Config | None,
        limit: int | None,
    ) -> Query:
        """The checkpoints that a call to ``list`` is about."""
        query = cls(filter=filter, limit=limit)
        if config is not None:
            query.thread, ns, query.id = address(config)
            if config["configurable"].get("checkpoint_ns") is not None:
                query.ns = ns
        query.before = (get_checkpoint_id(before) if before else None) or _END
        return query


class Source:
    """Reads values, maps and writes of checkpoints from a connection; keeps what it read last."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.places: dict[int, tuple[str, str]] = {}
        self._cells: dict[tuple[int, Any], dict[str, Cell]] = {}
        self._chains: dict[int, chains.Chain] = {}
        self._reach: dict[int, int] = {}
        self._maps: dict[tuple[int, str], Checkpoint] = {}

    # -- checkpoints ---------------------------------------------------------------------------

    def body(self, conn: sqlite3.Connection, row: Row) -> Checkpoint:
        """The checkpoint of a row, with its maps in full, without its values."""
        k, id_, parent, _, _, tag, data = row[:7]
        if tag:
            typed = expand(self.packing.unseal((tag, data), *self.places[k], id_))
            return self.packing.loads(typed)  # type: ignore[no-any-return]
        made, whole = read_body(id_, data)
        if whole is None:
            self._note(k, id_, made)
            return made
        return self._filled(conn, k, long(parent), made, whole)

    def _note(self, k: int, id_: str, made: Checkpoint) -> None:
        if len(made["channel_versions"]) > _MANY // 25:
            self._maps[k, id_] = made

    def _filled(
        self, conn: sqlite3.Connection, k: int, parent: str, made: Checkpoint, whole: str | None
    ) -> Checkpoint:
        """A checkpoint whose maps tell a change, filled from its ancestors'."""
        path, at = [made], parent
        sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=? AND id>=? AND id<=?"
        rows: dict[str, Row] = {}
        base = self._maps.get((k, at))
        if base is None:
            rows = {row[1]: row for row in conn.execute(sql, (k, whole, parent))}
        while base is None:
            row = rows.get(at) or conn.execute(sql, (k, at, at)).fetchone()
            if row[5]:
                base = self.body(conn, row)
                break
            found, more = read_body(at, row[6])
            if more is None:
                base = found
                break
            path.append(found)
            at = long(row[2])
            base = self._maps.get((k, at))
        versions, seen = dict(base["channel_versions"]), dict(base["versions_seen"])
        for one in reversed(path):
            versions.update(one["channel_versions"])
            seen.update(one["versions_seen"])
        made["channel_versions"] = versions
        made["versions_seen"] = {name: dict(one) for name, one in seen.items()}
        self._note(k, made["id"], made)
        return made

    def metadata(self, row: Row) -> Metadata:
        """The metadata of a row."""
        k, id_, _, source, step, _, _, tag, data = row
        if not tag:
            if step.__class__ is not int:
                raise damaged("step", repr(step))
            return {"source": source, "step": step, "parents": {}}
        typed = expand(self.packing.unseal((tag, data), *self.places[k], id_, "metadata"))
        return self.packing.loads(typed)  # type: ignore[no-any-return]

    # -- values --------------------------------------------------------------------------------

    def read_values(
        self, conn: sqlite3.Connection, needed: Iterable[tuple[int, dict[str, Any]]]
    ) -> None:
        """Read the rows of all values that these version maps name."""
        versions: dict[int, set[Any]] = {}
        for k, own in needed:
            versions.setdefault(k, set()).update(map(SHORT.__getitem__, own.values()))
        known, self._cells = self._cells, {}
        for k, wanted in versions.items():
            kept = {v for v in wanted if (k, v) in known}
            self._cells.update({(k, v): known[k, v] for v in kept})
            for chunk in _chunks(wanted - kept):
                marks = ",".join("?" * len(chunk))
                sql = f"SELECT version, data FROM ckpt_values WHERE k=? AND version IN ({marks})"
                for version, data in conn.execute(sql, (k, *chunk)):
                    self._cells[k, version] = read_cells(data)

    def read_chains(self, conn: sqlite3.Connection, ats: Iterable[tuple[int, int]]) -> None:
        """Read the chains of ``(k, at)`` as far as needed, and what they go on from."""
        far: dict[int, tuple[int, int]] = {}
        for k, at in ats:
            head = chains.first(at)
            far[head] = max(far.get(head, (at, k)), (at, k))
        while far:
            more: dict[int, tuple[int, int]] = {}
            for head, (at, k) in far.items():
                if self._reach.get(head, -1) < at:
                    self._chains[head] = chains.Chain(self._rows(conn, k, head, at))
                    self._reach[head] = at
                base = self._chains[head].base
                if base is not None:
                    own = chains.first(base)
                    more[own] = max(more.get(own, (base, k)), (base, k))
            far = more

    def _rows(self, conn: sqlite3.Connection, k: int, head: int, at: int) -> list[chains.Row]:
        sql = (
            "SELECT at, tag, data FROM ckpt_big WHERE at>=? AND at<=ifnull("
            "(SELECT min(at) FROM ckpt_big WHERE at>=? AND at<?), ?) ORDER BY at"
        )
        found = conn.execute(sql, (head, at, chains.after(at), at))
        return [
            (own, *expand(self.packing.unseal((tag, data), *self.places[k], own)))
            for own, tag, data in found
        ]

    def chain(self, at: int) -> chains.Chain:
        """A chain that was read."""
        return self._chains[chains.first(at)]

    def forget_chains(self, most: int) -> None:
        """Keep what was read last, unless it is much."""
        if len(self._chains) > most:
            self._chains.clear()
            self._reach.clear()

    def forget_maps(self) -> None:
        """A page's maps are of no use to the next."""
        self._maps.clear()

    def cells_of(self, k: int, versions: dict[str, Any]) -> dict[str, tuple[Any, Cell]]:
        """The cells of channels that were stored: ``(version, cell)`` by channel."""
        found = {}
        cells = self._cells
        for channel, version in versions.items():
            own = cells.get((k, SHORT[version]))
            if own is not None and channel in own:
                found[channel] = version, own[channel]
        return found

    def typed(self, cell: Cell, *place: Any) -> Typed:
        """The packed value of a cell whose chain was read."""
        if cell.__class__ is int:
            return chains.value(cell, self.chain)[0]
        if cell.__class__ is list:
            return expand(self.packing.unseal(typed_of(cell), *place))
        return typed_of(cell)

    # -- writes --------------------------------------------------------------------------------

    def writes(
        self, conn: sqlite3.Connection, ids: Iterable[tuple[int, str]]
    ) -> dict[tuple[int, Any], list[Row]]:
        """``(task, path, index, channel, cell)`` of all writes under these checkpoints."""
        groups: dict[int, set[Any]] = {}
        for k, id_ in ids:
            groups.setdefault(k, set()).add(short(id_))
        found: dict[tuple[int, Any], list[Row]] = {}
        for k, own in groups.items():
            for chunk in _chunks(own):
                marks = ",".join("?" * len(chunk))
                sql = f"SELECT id, task, path, data FROM ckpt_writes WHERE k=? AND id IN ({marks})"
                for id_, task, path, data in conn.execute(sql, (k, *chunk)):
                    rows = found.setdefault((k, id_), [])
                    rows += [(long(task), path, *write) for write in read_writes(data)]
        return found


class Reader:
    """Reads page after page."""

    def __init__(self, packing: Packing, query: Query) -> None:
        self.source = Source(packing)
        self._query = query
        self._left = query.limit
        self._last = (query.before, -1)
        self._keys: list[int] | None = None
        self.done = query.limit is not None and query.limit <= 0

    def page(self, conn: sqlite3.Connection) -> list[CheckpointTuple]:
        """The next checkpoints; `done` tells whether there may be more."""
        query, size = self._query, _PAGE
        if self._keys is None:
            self._keys = self._find_keys(conn)
        if not self._keys:
            self.done = True
            return []
        if len(self._keys) == 1:
            rows, rest, size = self._of_one(conn, self._keys[0])
        else:
            rows, rest = self._of_many(conn, size), query.filter
        self.done = len(rows) < size or query.id is not None
        if rows:
            self._last = (rows[-1][1], rows[-1][0])
        if rest:
            rows = [row for row in rows if matches(self.source.metadata(row), rest)]
        if self._left is not None:
            rows = rows[: self._left]
            self._left -= len(rows)
            self.done = self.done or self._left == 0
        return self._tuples(conn, rows) if rows else []

    def _find_keys(self, conn: sqlite3.Connection) -> list[int]:
        query, where, values = self._query, [], []
        for name, value in (("thread", query.thread), ("ns", query.ns)):
            if value is not None:
                where.append(f"{name}=?")
                values.append(value)
        clause = f" WHERE {' AND '.join(where)}" if where else ""
        found = conn.execute(f"SELECT k, thread, ns FROM ckpt_threads{clause}", values).fetchall()
        self.source.places = {k: (thread, ns) for k, thread, ns in found}
        return list(self.source.places)

    def _of_one(self, conn: sqlite3.Connection, k: int) -> tuple[list[Row], dict[str, Any], int]:
        """A page of one thread and namespace, by the primary key."""
        query, rest = self._query, {}
        where, values = ["k=?", "id<?"], [k, self._last[0]]
        if query.id is not None:
            where.append("id=?")
            values.append(query.id)
        for key, value in query.filter.items():
            if type(value) is _IN_SQL.get(key) and _storable(value):
                where.append(f"{key}=?")
                values.append(value)
            else:
                rest[key] = value
        size = _PAGE if self._left is None or rest else min(_PAGE, self._left)
        sql = (
            f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE {' AND '.join(where)} "
            "ORDER BY id DESC LIMIT ?"
        )
        return conn.execute(sql, (*values, size)).fetchall(), rest, size

    def _of_many(self, conn: sqlite3.Connection, size: int) -> list[Row]:
        """A page over several: first the newest of each, then of those only what is newer."""
        query = self._query
        (id_, k), thread = self._last, query.thread
        below = f"{id_} " if k >= 0 else id_
        heads = conn.execute(
            "SELECT t.k, (SELECT max(c.id) FROM ckpt_checkpoints c WHERE c.k=t.k "
            "AND c.id < CASE WHEN t.k<? THEN ? ELSE ? END) AS head "
            f"FROM ckpt_threads t WHERE head IS NOT NULL{' AND t.thread=?' if thread else ''} "
            "ORDER BY head DESC, t.k DESC LIMIT ?",
            (k, below, id_, *([thread] if thread else []), size),
        ).fetchall()
        if query.id is not None:
            heads = [(k, query.id) for k, _ in heads]
        lowest = heads[-1][1] if len(heads) == size or query.id is not None else ""
        sql = (
            f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=? AND id<? AND id>=? "
            f"{'AND id=? ' if query.id is not None else ''}ORDER BY id DESC LIMIT ?"
        )
        own = [] if query.id is None else [query.id]
        rows: list[Row] = []
        for key, _ in heads:
            end = below if key < k else id_
            rows += conn.execute(sql, (key, end, lowest, *own, size)).fetchall()
        rows.sort(key=lambda row: (row[1], row[0]), reverse=True)
        return rows[:size]

    def _tuples(self, conn: sqlite3.Connection, rows: list[Row]) -> list[CheckpointTuple]:
        try:
            return self._read(conn, rows)
        except DAMAGE as error:
            if len(rows) > 1:
                for row in rows:  # to find the one that is damaged
                    self._tuples(conn, [row])
            k, id_ = rows[0][:2]
            raise unreadable(error, *self.source.places[k], id_, "its rows") from error

    def _read(self, conn: sqlite3.Connection, rows: list[Row]) -> list[CheckpointTuple]:
        source = self.source
        source.forget_maps()
        bodies: dict[tuple[int, str], Checkpoint] = {}
        for row in reversed(rows):  # a parent first: its maps help to fill the child's
            bodies[row[0], row[1]] = source.body(conn, row)
        source.read_values(conn, ((k, body["channel_versions"]) for (k, _), body in bodies.items()))
        cells = {
            key: source.cells_of(key[0], body["channel_versions"]) for key, body in bodies.items()
        }
        writes = source.writes(conn, bodies)
        big = [(k, cell) for (k, _), own in cells.items() for _, cell in own.values()]
        big += [(k, row[4]) for (k, _), own in writes.items() for row in own]
        source.read_chains(conn, [(k, cell) for k, cell in big if cell.__class__ is int])
        made = [
            self._tuple(
                row,
                bodies[row[0], row[1]],
                cells[row[0], row[1]],
                writes.get((row[0], short(row[1]))),
            )
            for row in rows
        ]
        source.forget_chains(_PAGE)
        return made

    def _tuple(
        self, row: Row, body: Checkpoint, cells: dict[str, Any], writes: list[Row] | None
    ) -> CheckpointTuple:
        source, loads = self.source, self.source.packing.loads
        k, id_, parent = row[:3]
        thread, ns = source.places[k]
        body["channel_values"] = values = {}
        what, channel = "channel", ""
        pending: list[PendingWrite] = []
        try:
            for channel, (version, cell) in cells.items():
                if cell is not False:
                    values[channel] = loads(source.typed(cell, thread, ns, channel, version))
            what = "a write to"
            for task, _, index, channel, cell in sorted(
                writes or (), key=lambda write: (write[1], write[0], write[2])
            ):
                typed = source.typed(cell, thread, ns, id_, task, index)
                pending.append((task, channel, loads(typed)))
        except DAMAGE as error:
            raise unreadable(error, thread, ns, id_, f"{what} {channel!r}") from error
        return CheckpointTuple(
            config_of(thread, ns, id_),
            body,
            source.metadata(row),
            parent_of(thread, ns, long(parent)),
            pending,
        )


def _storable(value: Any) -> bool:
    """Whether SQLite can hold this text or number, so that it may be asked for."""
    return value.isascii() if isinstance(value, str) else -_MAX_INT <= value < _MAX_INT


def _chunks(items: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    ordered = list(items)
    return (tuple(ordered[at : at + _MANY]) for at in range(0, len(ordered), _MANY))
