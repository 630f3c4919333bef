"""Whole threads in SQLite: the scripts that `scripted.upkeep` needs, by SQL.

Each asks for the connection once. Before something goes, whatever of the rest is told as a change
of it is stored anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from functools import cached_property, partial
from sqlite3 import Connection
from typing import Any

from ormsgpack import packb, unpackb

from ckpt_viz.checkpoint import chains
from ckpt_viz.checkpoint.delta import long, short
from ckpt_viz.checkpoint.kept import Spot
from ckpt_viz.checkpoint.plans import Script, on_connection
from ckpt_viz.checkpoint.scripted.rows import BaseGone, BlobKey, Edit, Row, Size
from ckpt_viz.checkpoint.scripted.upkeep import Upkeep
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.compress import expand, squeeze
from ckpt_viz.checkpoint.sqlite.reading import COLUMNS, Source
from ckpt_viz.checkpoint.sqlite.rows import (
    Cell,
    pack_cells,
    pack_writes,
    read_cells,
    read_writes,
    typed_of,
)
from ckpt_viz.checkpoint.sqlite.writing import Put, Writer
from ckpt_viz.checkpoint.telling import DAMAGE
from ckpt_viz.errors import SerializationError

_OF_CHAINS = "at BETWEEN chain << 20 AND (chain << 20) + 0xFFFFF"
_SIZES = f"""(SELECT ifnull(sum(length(data)), 0) FROM ckpt_values v WHERE v.k=t.k)
    + (SELECT ifnull(sum(length(data)), 0) FROM ckpt_writes w WHERE w.k=t.k)
    + (SELECT ifnull(sum(length(data)), 0) FROM ckpt_chains h JOIN ckpt_big ON {_OF_CHAINS}
       WHERE h.k=t.k)"""
_THREADS = f"""SELECT thread, sum(n), step, max(id), sum(bytes) FROM (
    SELECT t.thread, t.ns, count(*) AS n, c.step, max(c.id) AS id,
        sum(length(body) + length(meta)) + {_SIZES} AS bytes
    FROM ckpt_threads t JOIN ckpt_checkpoints c ON c.k = t.k GROUP BY t.k) GROUP BY thread"""
_HEADS = """SELECT thread, (SELECT max(c.id) FROM ckpt_checkpoints c WHERE c.k=t.k) AS head
    FROM ckpt_threads t WHERE ns='' AND head IS NOT NULL ORDER BY head DESC"""
_ROOTS = """SELECT count(*) FROM ckpt_checkpoints
    WHERE k=(SELECT k FROM ckpt_threads WHERE thread=? AND ns='')"""
_FILLED = "EXISTS (SELECT 1 FROM ckpt_checkpoints c WHERE c.k=t.k)"
_BY_K = ("ckpt_checkpoints", "ckpt_values", "ckpt_writes", "ckpt_labels", "ckpt_chains")


class SqliteRows:
    """The threads of a database, for a saver's writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @on_connection
    def count(self, conn: Connection) -> list[tuple[str, int, Any, str, int]]:
        """``(thread, checkpoints, last step, last id, bytes)`` of each thread."""
        return conn.execute(_THREADS).fetchall()

    @on_connection
    def heads(self, conn: Connection) -> list[tuple[str, str]]:
        """``(thread, newest root checkpoint)``, newest first: a jump along the key for each."""
        return conn.execute(_HEADS).fetchall()

    @on_connection
    def count_roots(self, conn: Connection, threads: Sequence[str]) -> dict[str, int]:
        """How many checkpoints each of these threads has in its root namespace."""
        return {thread: conn.execute(_ROOTS, (thread,)).fetchone()[0] for thread in threads}

    @on_connection
    def threads(self, conn: Connection, tokens: Sequence[int] | None) -> list[str]:
        """All threads; the tokens make no difference."""
        sql = f"SELECT DISTINCT thread FROM ckpt_threads t WHERE {_FILLED}"
        return [thread for (thread,) in conn.execute(sql)]

    @on_connection
    def namespaces(self, conn: Connection, thread: str) -> list[str]:
        """The namespaces that hold checkpoints."""
        sql = f"SELECT ns FROM ckpt_threads t WHERE thread=? AND {_FILLED}"
        return [ns for (ns,) in conn.execute(sql, (thread,))]

    @on_connection
    def labels(self, conn: Connection, thread: str) -> dict[tuple[str, str], str]:
        """Labels by namespace and checkpoint."""
        return _labels(conn, thread)

    @on_connection
    def survey(self, conn: Connection, thread: str, hold: bool = True) -> SqliteSurvey:
        """All of a thread but its values."""
        return SqliteSurvey(conn, thread, Source(self._writer.codec))

    @on_connection
    def remove_thread(self, conn: Connection, thread: str) -> None:
        """Remove everything of a thread, its name included."""
        keys = "(SELECT k FROM ckpt_threads WHERE thread=?)"
        sql = f"SELECT chain FROM ckpt_chains WHERE k IN {keys}"
        _delete_big(conn, [chain for (chain,) in conn.execute(sql, (thread,))])
        for table in _BY_K:
            conn.execute(f"DELETE FROM {table} WHERE k IN {keys}", (thread,))
        conn.execute("DELETE FROM ckpt_threads WHERE thread=?", (thread,))

    @on_connection
    def edit(self, conn: Connection, edit: Edit) -> set[BlobKey]:
        """Label checkpoints, or remove some; of what stays the given rows are told in full.

        Raises:
            BaseGone: the checkpoint to label is not there.
        """
        spaces = dict(_spaces(conn, edit.thread))
        if edit.needs_row is not None:
            ns, id_ = edit.needs_row
            sql = "SELECT 1 FROM ckpt_checkpoints WHERE k=? AND id=?"
            if not conn.execute(sql, (spaces.get(ns), id_)).fetchone():
                raise BaseGone(edit.thread)
        for (ns, id_), label in edit.labels.items():
            if label is None:
                conn.execute("DELETE FROM ckpt_labels WHERE k=? AND id=?", (spaces[ns], id_))
            else:
                sql = "INSERT OR REPLACE INTO ckpt_labels VALUES(?,?,?)"
                conn.execute(sql, (spaces[ns], id_, label))
        for row in edit.rows:
            sql = "UPDATE ckpt_checkpoints SET tag=?, body=? WHERE k=? AND id=?"
            conn.execute(sql, (*row.body, row.key, row.id))
        for ns, (ids, keys) in edit.drops().items():
            shrinking = _Shrinking(self._writer, conn, (edit.thread, ns), spaces[ns])
            shrinking.run(ids, {key[1:] for key in keys})
        return set()

    @on_connection
    def copy(self, conn: Connection, source: str, target: str) -> None:
        """Give another thread all that a thread has."""
        for ns, k in _spaces(conn, source):
            new = self._writer.key(conn, target, ns)
            _Copy(conn, self._writer, (source, target, ns), (k, new)).run()

    @on_connection
    def compact(self, conn: Connection, dry_run: bool) -> dict[str, int]:
        """Give the room of what was removed back to the disk."""

        def pragma(name: str) -> int:
            found: int = conn.execute(f"PRAGMA {name}").fetchone()[0]
            return found

        size = pragma("page_size")
        before = size * pragma("page_count")
        if dry_run:
            return {"before": before, "after": before - size * pragma("freelist_count")}
        for sql in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            conn.execute(sql).fetchall()
        return {"before": before, "after": size * pragma("page_count")}


class SqliteUpkeep(Upkeep):
    """The scripts over whole threads, of which a copy is made as it lies."""

    rows: SqliteRows

    def copy(self, source: str, target: str) -> Script[None]:
        """Give another thread all that one has; what is encrypted is bound to the new one."""
        return self.rows.copy(source, target)


def _spaces(conn: Connection, thread: str) -> list[tuple[str, int]]:
    return conn.execute("SELECT ns, k FROM ckpt_threads WHERE thread=?", (thread,)).fetchall()


def _labels(conn: Connection, thread: str) -> dict[tuple[str, str], str]:
    sql = (
        "SELECT t.ns, l.id, l.label FROM ckpt_threads t JOIN ckpt_labels l ON l.k=t.k "
        "WHERE t.thread=?"
    )
    return {(ns, id_): label for ns, id_, label in conn.execute(sql, (thread,))}


def _delete_big(conn: Connection, numbers: Iterable[int]) -> None:
    for chain in numbers:
        at = chains.head_of(chain)
        conn.execute("DELETE FROM ckpt_big WHERE at>=? AND at<?", (at, chains.after(at)))


def _chains_of(conn: Connection, k: int) -> list[int]:
    return [c for (c,) in conn.execute("SELECT chain FROM ckpt_chains WHERE k=?", (k,))]


class SqliteSurvey:
    """A thread, of which values and writes are looked at when somebody asks."""

    mark = None

    def __init__(self, conn: Connection, thread: str, source: Source) -> None:
        self._conn = conn
        self._thread = thread
        self._spaces = _spaces(conn, thread)
        source.places.update({k: (thread, ns) for ns, k in self._spaces})
        self.rows: list[Row] = []
        for _, k in self._spaces:
            self.rows += source.rows(conn, k, "true ORDER BY id")
        self.labels = _labels(conn, thread)
        self.bases = partial(source.body, conn)

    @property
    def blobs(self) -> dict[BlobKey, Size]:
        """The sizes of values."""
        return self._sizes[0]

    @property
    def writes(self) -> dict[tuple[str, str, str, int], Size]:
        """The sizes of writes."""
        return self._sizes[1]

    @property
    def rest(self) -> int:
        """What is neither a value nor a write: names of channels, values that lost a race."""
        return self._sizes[2]

    @cached_property
    def _sizes(self) -> tuple[dict[BlobKey, Size], dict[Any, Size], int]:
        blobs: dict[BlobKey, Size] = {}
        writes: dict[Any, Size] = {}
        total = 0
        for ns, k in self._spaces:
            try:
                total += _sizes(self._conn, k, ns, blobs, writes)
            except DAMAGE as error:
                text = f"Thread {self._thread!r}, namespace {ns!r}, is damaged: {error}"
                raise SerializationError(text) from error
        told = sum(size.bytes for size in (*blobs.values(), *writes.values()))
        return blobs, writes, total - told


def _sizes(
    conn: Connection, k: int, ns: str, blobs: dict[BlobKey, Size], writes: dict[Any, Size]
) -> int:
    """Find the sizes of a namespace's values and writes; returns the bytes of all their rows."""
    total, cells, found = 0, list[tuple[BlobKey, Cell]](), list[tuple[Any, str, Cell, int]]()
    for version, data in conn.execute("SELECT version, data FROM ckpt_values WHERE k=?", (k,)):
        total += len(data)
        own = read_cells(data)
        cells += [(BlobKey(ns, channel, version), cell) for channel, cell in own.items()]
    for id_, task, data in conn.execute("SELECT id, task, data FROM ckpt_writes WHERE k=?", (k,)):
        total += len(data)
        told = read_writes(data)
        more = len(data) - sum(len(packb(cell)) for *_, cell in told)
        for index, channel, cell in told:
            found.append(((ns, long(id_), long(task), index), channel, cell, more))
            more = 0
    ints = [cell for *_, cell in cells] + [cell for _, _, cell, _ in found]
    big, in_big = _big_sizes(conn, k, sorted({at for at in ints if at.__class__ is int}))

    def size(channel: str, cell: Cell, more: int = 0) -> Size:
        own = big.pop(cell, 0) if cell.__class__ is int else 0
        return Size(len(packb(cell)) + more + own, None, "empty" if cell is False else "", channel)

    blobs.update((key, size(key.channel, cell)) for key, cell in cells)
    writes.update((key, size(*told)) for key, *told in found)
    return total + in_big


def _big_sizes(conn: Connection, k: int, ats: list[int]) -> tuple[dict[int, int], int]:
    """How much the big value at a place adds to those before it; and what all take."""
    sizes, total = dict.fromkeys(ats, 0), 0
    sql = f"SELECT at, length(data) FROM ckpt_chains JOIN ckpt_big ON {_OF_CHAINS} WHERE k=?"
    for at, size in conn.execute(sql, (k,)):
        total += size
        if (i := bisect_left(ats, at)) < len(ats):
            sizes[ats[i]] += size
    return sizes, total


class _Moving:
    """The cells of a namespace on their way into its rows, or into those of another thread."""

    def __init__(self, conn: Connection, k: int, new: int) -> None:
        self._conn = conn
        self._k = k
        self._new = new

    def _cell(self, cell: Cell, channel: str, *place: Any) -> Cell:
        """A cell as it lies there; ``place`` is what its encryption is bound to."""
        raise NotImplementedError

    def _move(self, gone: Set[tuple[str, Any]] = frozenset()) -> None:
        """Write all rows anew that are others there, the older versions first; without some."""
        conn = self._conn
        put = "INSERT OR REPLACE INTO ckpt_values VALUES(?,?,?)"
        sql = "SELECT version, data FROM ckpt_values WHERE k=?"
        rows = conn.execute(sql, (self._k,)).fetchall()
        for version, data in sorted(rows, key=lambda row: str(long(row[0]))):
            cells, at = read_cells(data), long(version)
            told = {
                channel: self._cell(cell, channel, channel, at)
                for channel, cell in cells.items()
                if (channel, version) not in gone
            }
            if not told:
                sql = "DELETE FROM ckpt_values WHERE k=? AND version=?"
                conn.execute(sql, (self._new, version))
            elif told != cells or self._new != self._k:
                conn.execute(put, (self._new, version, pack_cells(told)))
        put = "INSERT OR REPLACE INTO ckpt_writes VALUES(?,?,?,?,?)"
        sql = "SELECT id, task, path, data FROM ckpt_writes WHERE k=?"
        for id_, task, path, data in conn.execute(sql, (self._k,)).fetchall():
            writes, under = read_writes(data), (long(id_), long(task))
            moved = [(i, channel, self._cell(cell, "", *under, i)) for i, channel, cell in writes]
            if moved != writes or self._new != self._k:
                conn.execute(put, (self._new, id_, task, path, pack_writes(moved)))


class _Shrinking(_Moving):
    """A namespace of which something goes: big values that stay get chains of their own."""

    def __init__(self, writer: Writer, conn: Connection, place: tuple[str, str], k: int) -> None:
        super().__init__(conn, k, k)
        self._source = Source(writer.codec)
        self._source.places[k] = place
        self._put = Put(writer, writer.codec, (*place, "", None))
        self._put.renew(conn, k, Spot())
        self._moved: dict[int, int] = {}

    def run(self, ids: Sequence[str], values: set[tuple[str, Any]]) -> None:
        """Remove checkpoints with their writes and labels, and these values."""
        conn, k = self._conn, self._k
        for id_ in ids:
            for table, name in (
                ("ckpt_checkpoints", id_),
                ("ckpt_labels", id_),
                ("ckpt_writes", short(id_)),
            ):
                conn.execute(f"DELETE FROM {table} WHERE k=? AND id=?", (k, name))
        old = _chains_of(conn, k)
        self._move(values)
        _delete_big(conn, old)
        conn.executemany("DELETE FROM ckpt_chains WHERE chain=?", [(c,) for c in old])

    def _cell(self, cell: Cell, channel: str, *place: Any) -> Cell:
        if cell.__class__ is not int:
            return cell
        if cell not in self._moved:
            self._source.read_chains(self._conn, [(self._k, cell)])
            value = chains.value(cell, self._source.chain)[0]
            self._moved[cell] = self._put.again(channel, place[-1], value)
        return self._moved[cell]


class _Copy(_Moving):
    """A namespace on its way to another thread; what is encrypted is bound to that."""

    def __init__(
        self, conn: Connection, writer: Writer, names: tuple[str, str, str], keys: tuple[int, int]
    ) -> None:
        super().__init__(conn, *keys)
        self._writer = writer
        self._source, self._target, self._ns = names
        self._chains: dict[int, int] = {}

    def run(self) -> None:
        conn, k, new = self._conn, self._k, self._new
        for chain in _chains_of(conn, k):
            made = conn.execute("INSERT INTO ckpt_chains(k) VALUES(?)", (new,)).lastrowid
            self._chains[chain] = made or 0
        for chain in self._chains:
            self._copy_chain(chain)
        self._move()
        put = "INSERT OR REPLACE INTO ckpt_checkpoints VALUES(?,?,?,?,?,?,?,?,?)"
        sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=?"
        for _, id_, *row, tag, body, mtag, meta in conn.execute(sql, (k,)).fetchall():
            told = self._bound((tag, body), id_) if tag else (tag, body)
            meta_told = self._bound((mtag, meta), id_, "metadata") if mtag else (mtag, meta)
            conn.execute(put, (new, id_, *row, *told, *meta_told))
        sql = "INSERT OR REPLACE INTO ckpt_labels SELECT ?, id, label FROM ckpt_labels WHERE k=?"
        conn.execute(sql, (new, k))

    def _copy_chain(self, chain: int) -> None:
        at, codec = chains.head_of(chain), self._writer.codec
        sql = "SELECT at, tag, data FROM ckpt_big WHERE at>=? AND at<?"
        for own, tag, data in self._conn.execute(sql, (at, chains.after(at))).fetchall():
            place = self._at(own)
            typed = expand(codec.unseal((tag, data), self._source, self._ns, own))
            if typed[0] == "base":
                typed = chains.base_row(self._at(unpackb(typed[1])))
            elif typed[0] == "part":
                base, *piece = unpackb(typed[1])
                typed = "part", packb([self._at(base), *piece])
            stored = codec.seal(squeeze(typed), self._target, self._ns, place)
            self._conn.execute("INSERT INTO ckpt_big VALUES(?,?,?)", (place, *stored))

    def _at(self, at: int) -> int:
        return chains.head_of(self._chains[at >> chains.SHIFT]) + (at & chains.LAST)

    def _cell(self, cell: Cell, channel: str, *place: Any) -> Cell:
        if cell.__class__ is int:
            return self._at(cell)
        return list(self._bound(typed_of(cell), *place)) if cell.__class__ is list else cell

    def _bound(self, typed: Typed, *place: Any) -> Typed:
        return self._writer.moved(typed, self._source, self._target, self._ns, *place)
