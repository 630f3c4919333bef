"""Reading pages of checkpoints: one query for the rows, one for values, one for writes.

Between pages no cursor stays open and no lock is held.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from ckpt_viz.checkpoint import chains, times
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    PendingWrite,
    config_of,
    parent_of,
)
from ckpt_viz.checkpoint.delta import long
from ckpt_viz.checkpoint.packing import Packer, Packing
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.scripted.reading import Listing
from ckpt_viz.checkpoint.scripted.rows import Query, Row
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

_MANY = 400
COLUMNS = "k, id, parent, source, step, tag, body, mtag, meta"
_IN_SQL: dict[str, type] = {"source": str, "step": int}
"""Metadata with a column of its own, and the type for which SQL compares as Python does."""
_MAX_INT = 2**63
_END = "\U0010ffff"
_ORDER = itemgetter(1, 0, 2)
"""Writes by the path of their task, the task, and their place."""

_CHANGED = 0x96
"""How a body begins whose maps tell a change (see `rows`): as a list of six."""

Stored = tuple[Any, ...]


class Source:
    """Reads values, maps and writes of checkpoints from a connection; keeps what it read last."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.places: dict[int, tuple[str, str]] = {}
        self.cells: dict[tuple[int, Any], dict[str, Cell]] = {}
        self._chains: dict[int, chains.Chain] = {}
        self._reach: dict[int, int] = {}
        self._maps: dict[tuple[int, str], Checkpoint] = {}
        self._has_big = False  # whether any of the cells tells the place of a big value

    # -- checkpoints ---------------------------------------------------------------------------

    def body(self, conn: sqlite3.Connection, row: Row) -> Checkpoint:
        """The checkpoint of a row, with its maps in full, without its values."""
        k, (tag, data) = row.key, row.body
        if tag:
            typed = expand(self.packing.unseal((tag, data), *self.places[k], row.id))
            return self.packing.loads(typed)  # type: ignore[no-any-return]
        made, whole = read_body(row.id, data)
        if whole is None:
            self._note(k, row.id, made)
            return made
        return self._filled(conn, k, row.parent or "", made, whole)

    def _note(self, k: int, id_: str, made: Checkpoint) -> None:
        if len(made["channel_versions"]) > _MANY // 25:
            self._maps[k, id_] = made

    def _filled(
        self, conn: sqlite3.Connection, k: int, parent: str, made: Checkpoint, whole: str | None
    ) -> Checkpoint:
        """A checkpoint whose maps tell a change, filled from its ancestors'."""
        path, at = [made], parent
        rows: dict[str, Row] = {}
        base = self._maps.get((k, at))
        if base is None:
            rows = {row.id: row for row in self.rows(conn, k, "id>=? AND id<=?", whole, parent)}
        while base is None:
            row = rows.get(at) or self.rows(conn, k, "id=?", at)[0]
            if row.body[0]:
                base = self.body(conn, row)
                break
            found, more = read_body(at, row.body[1])
            if more is None:
                base = found
                break
            path.append(found)
            at = row.parent or ""
            base = self._maps.get((k, at))
        versions, seen = dict(base["channel_versions"]), dict(base["versions_seen"])
        for one in reversed(path):
            versions.update(one["channel_versions"])
            seen.update(one["versions_seen"])
        made["channel_versions"] = versions
        made["versions_seen"] = {name: dict(one) for name, one in seen.items()}
        self._note(k, made["id"], made)
        return made

    def rows(self, conn: sqlite3.Connection, k: int, where: str, *values: Any) -> list[Row]:
        """The rows of a namespace that a clause tells, as they lie there unless it says how."""
        sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=? AND {where}"
        place, found = self.places[k], conn.execute(sql, (k, *values)).fetchall()
        names = {SHORT[one[1]]: one[1] for one in found}
        return [_row(place, one, names) for one in found]

    # -- values --------------------------------------------------------------------------------

    def read_values(
        self, conn: sqlite3.Connection, needed: Iterable[tuple[int, dict[str, Any]]]
    ) -> None:
        """Read the rows of all values that these version maps name."""
        versions: dict[int, set[Any]] = {}
        for k, own in needed:
            versions.setdefault(k, set()).update(map(SHORT.__getitem__, own.values()))
        known, self.cells = self.cells, {}
        for k, wanted in versions.items():
            kept = {v for v in wanted if (k, v) in known}
            self.cells.update({(k, v): known[k, v] for v in kept})
            for chunk in _chunks(wanted - kept):
                marks = ",".join("?" * len(chunk))
                sql = f"SELECT version, data FROM ckpt_values WHERE k=? AND version IN ({marks})"
                for version, data in conn.execute(sql, (k, *chunk)):
                    self.cells[k, version] = found = read_cells(data)
                    if int in map(type, found.values()):
                        self._has_big = True

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
        cells = self.cells
        for channel, version in versions.items():
            own = cells.get((k, SHORT[version]))
            if own is not None and channel in own:
                found[channel] = version, own[channel]
        return found

    def big_cells(self, k: int, versions: dict[str, Any]) -> list[tuple[int, int]]:
        """Where the big values of channels are, as ``(k, at)``."""
        if not self._has_big:
            return []
        own = self.cells_of(k, versions).values()
        return [(k, cell) for _, cell in own if cell.__class__ is int]

    def typed(self, cell: Cell, *place: Any) -> Typed:
        """The packed value of a cell whose chain was read."""
        if cell.__class__ is bytes:
            return "msgpack", cell
        if cell.__class__ is int:
            return chains.value(cell, self.chain)[0]
        if cell.__class__ is list:
            return expand(self.packing.unseal(typed_of(cell), *place))
        return typed_of(cell)

    # -- writes --------------------------------------------------------------------------------

    def writes(
        self, conn: sqlite3.Connection, ids: Iterable[tuple[int, Any]]
    ) -> dict[tuple[int, Any], list[Stored]]:
        """``(task, path, index, channel, cell)`` of all writes under these short ids."""
        groups: dict[int, set[Any]] = {}
        for k, id_ in ids:
            groups.setdefault(k, set()).add(id_)
        found: dict[tuple[int, Any], list[Stored]] = {}
        for k, own in groups.items():
            for chunk in _chunks(own):
                marks = ",".join("?" * len(chunk))
                sql = f"SELECT id, task, path, data FROM ckpt_writes WHERE k=? AND id IN ({marks})"
                for id_, task, path, data in conn.execute(sql, (k, *chunk)):
                    name, rows = long(task), found.setdefault((k, id_), [])
                    rows += [(name, path, *write) for write in read_writes(data)]
        return found


class Reader(Listing):
    """Reads page after page."""

    _most = 200

    def __init__(
        self,
        packer: Packer,
        query: Query,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(None, packer, query, filter, limit)
        self.source = Source(packer.codec)
        self._keys: list[int] | None = None

    def _find(self, size: int) -> Script[list[Row]]:
        conn = yield
        if self._keys is None:
            self._keys = self._find_keys(conn)
        if len(self._keys) == 1:
            return self._of_one(conn, self._keys[0], size)
        return self._of_many(conn, size) if self._keys else []

    def one(self, conn: sqlite3.Connection) -> CheckpointTuple | None:
        """The addressed checkpoint of one namespace, or its newest."""
        keys = self._find_keys(conn)
        rows = self._of_one(conn, keys[0], 1) if keys else []
        return self._told(rows, conn)[0] if rows else None

    def _read(self, rows: Sequence[Row]) -> Script[list[CheckpointTuple]]:
        return self._told(rows, (yield))

    @property
    def _last(self) -> tuple[str, int]:
        """Below which checkpoint the next page begins, and of which namespace it was."""
        after = self._query.after
        return (self._query.before or _END, -1) if after is None else (after.id, after.key)

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

    def _of_one(self, conn: sqlite3.Connection, k: int, size: int) -> list[Row]:
        """A page of one thread and namespace, by the primary key."""
        where: list[str] = ["id<?"]
        values: list[Any] = [self._last[0]]
        if self._query.id is not None:
            where.append("id=?")
            values.append(self._query.id)
        for key, value in (self._filter or {}).items():
            if type(value) is _IN_SQL.get(key) and _storable(value):
                where.append(f"{key}=?")
                values.append(value)
        clause = f"{' AND '.join(where)} ORDER BY id DESC LIMIT ?"
        return self.source.rows(conn, k, clause, *values, size)

    def _of_many(self, conn: sqlite3.Connection, size: int) -> list[Row]:
        """A page over several: first the newest of each, then of those only what is newer."""
        query = self._query
        (id_, k), thread = self._last, query.thread
        below = f"{id_} " if k >= 0 else id_
        wanted = "" if thread is None else " AND t.thread=?"
        found = conn.execute(
            "SELECT t.k, t.thread, t.ns, (SELECT max(c.id) FROM ckpt_checkpoints c WHERE c.k=t.k "
            "AND c.id < CASE WHEN t.k<? THEN ? ELSE ? END) AS head "
            f"FROM ckpt_threads t WHERE head IS NOT NULL{wanted} "
            "ORDER BY head DESC, t.k DESC LIMIT ?",
            (k, below, id_, *([] if thread is None else [thread]), size),
        ).fetchall()
        # also of a thread that came after the first page was read
        self.source.places.update({key: (name, ns) for key, name, ns, _ in found})
        heads = [(key, head) for key, _, _, head in found]
        if query.id is not None:
            heads = [(k, query.id) for k, _ in heads]
        lowest = heads[-1][1] if len(heads) == size or query.id is not None else ""
        own = [] if query.id is None else [query.id]
        clause = f"id<? AND id>=? {'AND id=? ' if own else ''}ORDER BY id DESC LIMIT ?"
        rows: list[Row] = []
        for key, _ in heads:
            end = below if key < k else id_
            rows += self.source.rows(conn, key, clause, end, lowest, *own, size)
        rows.sort(key=lambda row: (row.id, row.key), reverse=True)
        return rows[:size]

    def _told(self, rows: Sequence[Row], conn: sqlite3.Connection) -> list[CheckpointTuple]:
        try:
            return self._together(rows, conn)
        except DAMAGE as error:
            if len(rows) > 1:
                for row in rows:  # to find the one that is damaged
                    self._told([row], conn)
            told = unreadable(error, *rows[0][:3], "its rows")
            told.parent_id = rows[0].parent
            raise told from error

    def _together(self, rows: Sequence[Row], conn: sqlite3.Connection) -> list[CheckpointTuple]:
        source = self.source
        source.forget_maps()
        # a parent first: its maps help to fill the child's
        bodies = [source.body(conn, row) for row in reversed(rows)][::-1]
        maps = [(row.key, b["channel_versions"]) for row, b in zip(rows, bodies, strict=True)]
        source.read_values(conn, maps)
        keys = [(row.key, SHORT[row.id]) for row in rows]
        writes = source.writes(conn, keys)
        big = [at for k, versions in maps for at in source.big_cells(k, versions)]
        for (k, _), own in writes.items():
            big += [(k, write[4]) for write in own if write[4].__class__ is int]
        source.read_chains(conn, big)
        found = zip(rows, bodies, map(writes.get, keys), strict=True)
        made = [self._tuple(*one) for one in found]
        source.forget_chains(self._most)
        return made

    def _tuple(self, row: Row, body: Checkpoint, writes: list[Stored] | None) -> CheckpointTuple:
        source, loads = self.source, self.source.packing.loads
        thread, ns, id_, parent = row[:4]
        k, cells, told = row.key, source.cells, SHORT
        values: dict[str, Any] = {}
        body["channel_values"] = values
        what, channel = "channel", ""
        pending: list[PendingWrite] = []
        spans: dict[str, times.Span] = {}
        try:
            for channel, version in body["channel_versions"].items():
                own = cells.get((k, told[version]))
                cell = False if own is None else own.get(channel, False)
                if cell is None:
                    values[channel] = None
                elif cell is not False:
                    values[channel] = loads(source.typed(cell, thread, ns, channel, version))
            what = "a write to"
            for task, _, index, channel, cell in sorted(writes, key=_ORDER) if writes else ():
                typed = source.typed(cell, thread, ns, id_, task, index)
                if index == times.INDEX:
                    spans[task] = times.unpack(typed[1])
                else:
                    pending.append((task, channel, loads(typed)))
            what, channel = "its", "metadata"
            metadata = self._values.meta_of(row)
        except DAMAGE as error:
            raise unreadable(error, thread, ns, id_, f"{what} {channel!r}") from error
        return CheckpointTuple(
            config_of(thread, ns, id_),
            body,
            metadata,
            parent_of(thread, ns, parent),
            times.timed(pending, spans),
        )


def _row(place: tuple[str, str], found: Any, names: Mapping[Any, str]) -> Row:
    """A stored row as the scripts know it; ``names`` are those of other rows, by their short form.

    Most parents are among them.
    """
    k, id_, parent, source, step, tag, body, mtag, meta = found
    parent = names.get(parent) or long(parent)
    try:
        size = len(body) + len(meta)
        base = parent if not tag and body[0] == _CHANGED else None
    except DAMAGE as error:
        raise unreadable(error, *place, str(id_), "its row") from error
    told = id_, parent, base, (tag, body), (mtag, meta), source, step, (), k, size
    return tuple.__new__(Row, (*place, *told))


def _storable(value: Any) -> bool:
    """Whether SQLite can hold this text or number, so that it may be asked for."""
    return value.isascii() if isinstance(value, str) else -_MAX_INT <= value < _MAX_INT


def _chunks(items: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    ordered = list(items)
    return (tuple(ordered[at : at + _MANY]) for at in range(0, len(ordered), _MANY))
