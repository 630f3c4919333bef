"""Writing: values are packed in the caller, at once; what changed is told in the transaction.

There the file tells what is still stored, whoever else works on it: a change is told only
against a value that is there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ckpt_viz.checkpoint import chains, times
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    Config,
    Extending,
    Metadata,
    address,
    check_head,
    config_of,
    pack_pending,
    pack_values,
    without_values,
)
from ckpt_viz.checkpoint.delta import long, short
from ckpt_viz.checkpoint.kept import FEW, Grown, Maps, Spot
from ckpt_viz.checkpoint.packing import Packer, Packing
from ckpt_viz.checkpoint.scripted.rows import Row
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.compress import expand, squeeze
from ckpt_viz.checkpoint.serde.jsonplus import EMPTY
from ckpt_viz.checkpoint.sqlite import schema
from ckpt_viz.checkpoint.sqlite.reading import Source
from ckpt_viz.checkpoint.sqlite.rows import (
    SHORT,
    Cell,
    cell_of,
    is_plain,
    pack_body,
    pack_cells,
    pack_writes,
    read_body,
    read_cells,
    read_writes,
)
from ckpt_viz.errors import CheckpointNotFoundError, SerializationError, ThreadBusyError, damaged

_PUT = "INSERT OR REPLACE INTO ckpt_checkpoints VALUES(?,?,?,?,?,?,?,?,?)"
_PUT_VALUES = "INSERT OR IGNORE INTO ckpt_values VALUES(?,?,?)"
_PUT_BIG = "INSERT INTO ckpt_big VALUES(?,?,?)"
_PUT_WRITES = "INSERT OR IGNORE INTO ckpt_writes VALUES(?,?,?,?,?)"
_NEWEST = "SELECT max(id) FROM ckpt_checkpoints WHERE k=? AND id>?"
_TIP = "SELECT max(at) FROM ckpt_big WHERE at>=? AND at<?"
_PLAIN_METADATA = {"source", "step", "parents"}
_MAX_STEP = 2**62


class Writer(Packer):
    """Packs and writes for one saver. What it does with a connection is done under its lock."""

    name_of = SHORT.__getitem__
    version_of = staticmethod(long)

    def __init__(self) -> None:
        super().__init__()
        self.heads: dict[int, str] = {}  # as long as no other program has written
        self._keys: dict[tuple[str, str], int] = {}
        self._seen: int | None = None

    def body_of(self, row: Row, bases: Callable[[Row], Checkpoint]) -> Checkpoint:
        """The checkpoint of a row; ``bases`` reads it."""
        return bases(row)

    def whole_body(self, body: Checkpoint) -> Typed:
        """A checkpoint whose maps told a change, told in full."""
        return "", pack_body(body, body["channel_versions"], body["versions_seen"])

    def close(self, typed: Typed, *place: Any) -> Typed:
        """Packed bytes as a row holds them."""
        return self.codec.seal(squeeze(typed), *place) if typed[0] else typed

    def meta_of(self, row: Row) -> Metadata:
        """The metadata of a row."""
        if row.meta[0]:
            return super().meta_of(row)
        if row.step.__class__ is not int:
            raise damaged("step", repr(row.step))
        return {"source": row.source, "step": row.step, "parents": {}}

    def forget(self) -> None:
        """Forget all that was read or written: something else was done to the file."""
        self.kept.drop()
        self._keys.clear()
        self.heads.clear()

    def look(self, conn: sqlite3.Connection) -> None:
        """Forget numbers and heads of threads if another program has written."""
        found = conn.execute("PRAGMA data_version").fetchone()[0]
        if found != self._seen:
            self._seen = found
            self._keys.clear()
            self.heads.clear()

    def save(self, conn: sqlite3.Connection, *puts: _Saving) -> None:
        """Write these in one transaction."""
        schema.begin(conn)
        try:
            self.look(conn)
            for put in puts:
                put.write(conn)
        except BaseException:
            conn.rollback()
            self.forget()
            raise
        conn.commit()
        for put in puts:
            put.note()

    def step(
        self, serde: SerializerProtocol, writes: Any, put: Any
    ) -> Callable[[sqlite3.Connection], Config]:
        """A task's writes and the checkpoint that they led to, ready to be saved together.

        If the checkpoint cannot be stored, the writes are.
        """
        first = self.packed_writes(serde, *writes)
        try:
            second = self.packed(serde, *put)
        except SerializationError as error:
            return partial(_save_and_fail, first, error)

        def work(conn: sqlite3.Connection) -> Config:
            try:
                self.save(conn, first, second)
            except ThreadBusyError:
                first.save(conn)
                raise
            return second.config

        return work

    def key(self, conn: sqlite3.Connection, thread: str, ns: str) -> int:
        """The number of a thread and namespace, made at the first write."""
        k = self._keys.get((thread, ns))
        if k is None:
            conn.execute("INSERT OR IGNORE INTO ckpt_threads(thread, ns) VALUES(?,?)", (thread, ns))
            found = conn.execute(
                "SELECT k FROM ckpt_threads WHERE thread=? AND ns=?", (thread, ns)
            ).fetchone()
            k = self._keys[thread, ns] = found[0]
        return k

    def packed(
        self,
        serde: SerializerProtocol,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Put:
        """A put, ready to be saved.

        Raises:
            SerializationError: a value cannot be saved.
        """
        thread, ns, parent = address(config)
        packing = self.using(serde).codec
        put = Put(self, packing, (thread, ns, checkpoint["id"], parent))
        put.extending = config if config.__class__ is Extending else None
        put.values = pack_values(packing.dumps, checkpoint["channel_values"], new_versions)
        put.meta = put.pack_metadata(metadata)
        put.spot.move(parent, put.id)
        put.body = put.pack_body(checkpoint, new_versions)
        return put

    def packed_writes(
        self,
        serde: SerializerProtocol,
        config: Config,
        writes: Sequence[tuple[str, Any]],
        task: str,
        path: str,
    ) -> PutWrites:
        """A task's writes, ready to be saved.

        Raises:
            SerializationError: a value cannot be saved.
        """
        thread, ns, id_ = address(config)
        packing = self.using(serde).codec
        put = PutWrites(self, packing, (thread, ns, id_ or "", None))
        put.task, put.path = task, path
        put.writes = pack_pending(packing.dumps, writes)
        span = self.noted.pop(task, None)
        if span is not None:
            put.writes.append((times.INDEX, "", ("msgpack", times.pack(*span))))
        return put


def _save_and_fail(first: PutWrites, error: Exception, conn: sqlite3.Connection) -> Any:
    first.save(conn)
    raise error


class _Saving:
    """What both kinds of puts do in their transaction."""

    __slots__ = (
        "_notes",
        "_packing",
        "_writer",
        "conn",
        "id",
        "k",
        "ns",
        "parent",
        "spot",
        "thread",
    )

    def __init__(
        self, writer: Writer, packing: Packing, place: tuple[str, str, str, str | None]
    ) -> None:
        self._writer = writer
        self._packing = packing
        self.thread, self.ns, self.id, self.parent = place
        self.spot: Spot = writer.kept.spot(self.thread, self.ns)

    def write(self, conn: sqlite3.Connection) -> None:
        """Write it within a transaction."""
        self._notes: list[tuple[str, Grown]] = []
        self.conn = conn
        self.k = self._writer.key(conn, self.thread, self.ns)
        self._save(conn)

    def note(self) -> None:
        """It is committed: remember what was written."""
        for channel, grown in self._notes:
            if channel:
                self._writer.kept.note(self.spot, channel, grown)
            else:
                self.spot.wrote.append(grown)

    def _save(self, conn: sqlite3.Connection) -> None:
        raise NotImplementedError

    def _cell(self, typed: Typed, *place: Any) -> Cell:
        """A small value."""
        if self._packing.sealed and typed != EMPTY:
            return list(self._packing.seal(typed, self.thread, self.ns, *place))
        return cell_of(typed)

    def _found(self, typed: Typed) -> int | None:
        """The place of the same big value, or of a pointer to one that it is a piece of."""
        found = self.spot.find(typed) if self._packing.deltas else None
        if found is None or found[0].at is None or self._tip(found[0].at) is None:
            return None
        grown, _, start = found
        if len(grown.typed[1]) == len(typed[1]):
            at: int = grown.at
            return at
        return self._chain(chains.part_row(grown.at, start, len(typed[1])))

    def _whole(self, typed: Typed) -> int:
        found = self._found(typed)
        return found if found is not None else self._chain(typed)

    def _chain(self, head: Typed) -> int:
        """Begin a chain."""
        sql = "INSERT INTO ckpt_chains(k) VALUES(?)"
        at = chains.head_of(self.conn.execute(sql, (self.k,)).lastrowid or 0)
        self._put_big(at, head)
        return at

    def _put_big(self, at: int, typed: Typed) -> None:
        stored = self._packing.seal(squeeze(typed), self.thread, self.ns, at)
        self.conn.execute(_PUT_BIG, (at, *stored))

    def _tip(self, at: int) -> int | None:
        """The last place of a chain; None if the chain is gone."""
        tip: int | None
        (tip,) = self.conn.execute(_TIP, (chains.first(at), chains.after(at))).fetchone()
        return tip


class Put(_Saving):
    """A checkpoint on its way into the file."""

    __slots__ = ("body", "extending", "maps", "meta", "values")

    extending: Config | None
    maps: Maps | None
    values: list[tuple[str, Any, Typed]]
    body: tuple[str, bytes]
    meta: tuple[Any, Any, str, bytes]

    def save(self, conn: sqlite3.Connection) -> Config:
        """Write it, all or nothing."""
        self._writer.save(conn, self)
        return self.config

    @property
    def config(self) -> Config:
        """What addresses the checkpoint."""
        return config_of(self.thread, self.ns, self.id)

    def pack_metadata(self, metadata: Metadata) -> tuple[Any, Any, str, bytes]:
        """Source, step, and the metadata if these two do not tell all of it."""
        source, step = metadata.get("source"), metadata.get("step")
        known = type(source) is str and type(step) is int and -_MAX_STEP < step < _MAX_STEP
        if known and metadata.keys() == _PLAIN_METADATA and metadata["parents"] == {}:
            return source, step, "", b""
        typed = squeeze(self._packing.dumps(metadata))
        typed = self._packing.seal(typed, self.thread, self.ns, self.id, "metadata")
        told = (source if isinstance(source, str) else None, step if known else None)
        return *told, *typed

    def pack_body(self, checkpoint: Checkpoint, new: Mapping[str, Any]) -> tuple[str, bytes]:
        """The checkpoint without its values; of long version maps only what changed."""
        versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
        spot, self.maps = self.spot, None
        if not is_plain(checkpoint):
            spot.maps = None
            typed = squeeze(self._packing.dumps(without_values(checkpoint)))
            return self._packing.seal(typed, self.thread, self.ns, self.id)
        if len(versions) <= FEW and len(seen) <= FEW:
            spot.maps = None
            return "", pack_body(checkpoint, versions, seen)
        maps = spot.maps
        if maps is not None and (change := maps.change(checkpoint, new)) is not None:
            data = pack_body(checkpoint, *change, maps.whole)
            maps.cost += len(data)
            if maps.cost <= maps.full:
                self.maps = maps
                return "", data
        data = pack_body(checkpoint, versions, seen)
        spot.maps = Maps(checkpoint, len(data))
        return "", data

    def _save(self, conn: sqlite3.Connection) -> None:
        heads = self._writer.heads
        if self.extending is not None:
            if self.parent is None or heads.get(self.k) != self.parent:
                newest = conn.execute(_NEWEST, (self.k, self.parent or "")).fetchone()[0]
                check_head(self.extending, newest)
            heads[self.k] = self.id
        elif self.k in heads:
            heads[self.k] = max(heads[self.k], self.id)
        by_version: dict[Any, dict[str, Cell]] = {}
        for channel, version, typed in self.values:
            if len(typed[1]) < chains.BIG:
                cell = self._cell(typed, channel, version)
            elif (cell := self._cells(conn, SHORT[version]).get(channel)) is None:
                cell = self._big(conn, channel, version, typed)
            by_version.setdefault(SHORT[version], {})[channel] = cell
        for told, cells in by_version.items():
            row = (self.k, told, pack_cells(cells))
            if conn.execute(_PUT_VALUES, row).rowcount == 0:
                self._add_cells(conn, told, cells)
        source, step, mtag, meta = self.meta
        parent = SHORT[self.parent]
        if self.maps is not None and not self._is_there(conn):
            self.body = "", self._whole_body()
        conn.execute(_PUT, (self.k, self.id, parent, source, step, *self.body, mtag, meta))

    def renew(self, conn: sqlite3.Connection, k: int, spot: Spot) -> None:
        """Make this the way to store again what is stored already, remembered by ``spot``."""
        self.conn, self.k, self.spot, self._notes = conn, k, spot, []

    def again(self, channel: str, version: Any, typed: Typed) -> int:
        """Store a big value again, as a change of the one before of its channel; its place."""
        if not channel:
            return self._whole(typed)
        at = self._big(self.conn, channel, version, typed)
        self.spot.grown[channel] = self._notes.pop()[1]
        return at

    def _is_there(self, conn: sqlite3.Connection) -> bool:
        """Whether the parent, against which the maps are told, is in the file."""
        sql = "SELECT 1 FROM ckpt_checkpoints WHERE k=? AND id=?"
        return conn.execute(sql, (self.k, self.parent)).fetchone() is not None

    def _whole_body(self) -> bytes:
        """The body, when another program has removed what its change is told against."""
        made, _ = read_body(self.id, self.body[1])
        maps = self.maps
        if maps is None or maps.last != self.id:
            raise CheckpointNotFoundError(
                f"The parent {self.parent!r} of checkpoint {self.id!r} (thread {self.thread!r}) "
                "was removed while it was being extended. Run again from the newest checkpoint."
            )
        self.spot.maps = None
        return pack_body(made, maps.versions, maps.seen)

    def _cells(self, conn: sqlite3.Connection, told: Any) -> dict[str, Cell]:
        """The values that a version has already."""
        sql = "SELECT data FROM ckpt_values WHERE k=? AND version=?"
        found = conn.execute(sql, (self.k, told)).fetchone()
        return read_cells(found[0]) if found else {}

    def _add_cells(self, conn: sqlite3.Connection, told: Any, cells: dict[str, Cell]) -> None:
        """A version that has values already: they stay, and others come to them."""
        old = self._cells(conn, told)
        if not cells.keys() <= old.keys():
            sql = "UPDATE ckpt_values SET data=? WHERE k=? AND version=?"
            conn.execute(sql, (pack_cells({**cells, **old}), self.k, told))

    def _big(self, conn: sqlite3.Connection, channel: str, version: Any, typed: Typed) -> int:
        """Store a big value as a change of its parent's, if that is there; its place."""
        base = self.spot.grown.get(channel)
        if base is None and self._packing.deltas:
            base = self._of_parent(conn, channel)
        at, cost = None, len(typed[1])
        if base is not None and base.at is not None and self._packing.deltas:
            change, cost = base.grow(typed)
            if change is not None:
                at, cost = self._append(base, change, cost)
        if at is None:
            at, cost = self._whole(typed), len(typed[1])
        self._notes.append((channel, Grown(version, typed, cost, at)))
        return at

    def _append(self, base: Grown, change: Any, cost: int) -> tuple[int | None, int]:
        at, tip = base.at, self._tip(base.at)
        if tip is None or tip & chains.LAST >= chains.LAST - 1:
            return None, 0
        if not change[1] and not change[3]:
            return at, cost
        if tip != at:  # another branch has gone on from there
            at = self._chain(chains.base_row(at))
            cost += len(base.typed[1]) // 4
        at += 1
        self._put_big(at, chains.change_row(change))
        if chains.is_due(at):
            self._merge(at)
        return at, cost

    def _merge(self, at: int) -> None:
        """The single changes up to a place become one row."""
        sql = "SELECT at, tag, data FROM ckpt_big WHERE at>? AND at<=? ORDER BY at"
        place = (at - chains.SEGMENT, at)
        rows = self.conn.execute(sql, place).fetchall()
        unseal = self._packing.unseal
        plain = [expand(unseal((tag, data), self.thread, self.ns, own)) for own, tag, data in rows]
        if len(plain) == chains.SEGMENT and all(tag == "delta" for tag, _ in plain):
            self.conn.execute("DELETE FROM ckpt_big WHERE at>? AND at<=?", place)
            self._put_big(at, chains.segment_row([data for _, data in plain]))

    def _of_parent(self, conn: sqlite3.Connection, channel: str) -> Grown | None:
        """The parent's version of a channel, read from the file."""
        if self.parent is None:
            return None
        source = Source(self._packing)
        source.places[self.k] = (self.thread, self.ns)
        found = source.rows(conn, self.k, "id=?", self.parent)
        version = source.body(conn, found[0])["channel_versions"].get(channel) if found else None
        if version is None:
            return None
        source.read_values(conn, [(self.k, {channel: version})])
        _, cell = source.cells_of(self.k, {channel: version}).get(channel, (None, None))
        if cell.__class__ is not int:
            return None
        source.read_chains(conn, [(self.k, cell)])
        typed, cost = chains.value(cell, source.chain)
        return Grown(version, typed, cost, cell)


class PutWrites(_Saving):
    """What a task wrote, on its way into the file."""

    __slots__ = ("path", "task", "writes")

    def __init__(
        self, writer: Writer, packing: Packing, place: tuple[str, str, str, str | None]
    ) -> None:
        super().__init__(writer, packing, place)
        self.writes: list[tuple[int, str, Typed]] = []
        self.task = self.path = ""

    def save(self, conn: sqlite3.Connection) -> None:
        """Write it, all or nothing."""
        self._writer.save(conn, self)

    def _save(self, conn: sqlite3.Connection) -> None:
        rows: dict[int, Any] = {}  # of writes that steer the last counts, in one call too
        for index, channel, typed in self.writes:
            if len(typed[1]) < chains.BIG:
                cell = self._cell(typed, self.id, self.task, index)
            else:
                cell = self._whole(typed)
                self._notes.append(("", Grown(None, typed, 0, cell)))
            rows[index] = index, channel, cell
        key = (self.k, SHORT[self.id], short(self.task))
        row = (*key, self.path, pack_writes(rows.values()))
        if conn.execute(_PUT_WRITES, row).rowcount == 0:
            self._add_writes(conn, key, rows.values())

    def _add_writes(self, conn: sqlite3.Connection, key: Any, rows: Iterable[Any]) -> None:
        """More writes of a task: of the plain ones the first stays, of the others the last."""
        sql = "SELECT data FROM ckpt_writes WHERE k=? AND id=? AND task=?"
        kept = {row[0]: row for row in read_writes(conn.execute(sql, key).fetchone()[0])}
        for row in rows:
            if row[0] < 0 or row[0] not in kept:
                kept[row[0]] = row
        sql = "UPDATE ckpt_writes SET data=? WHERE k=? AND id=? AND task=?"
        conn.execute(sql, (pack_writes(kept.values()), *key))
