"""What the SQLite saver does with whole threads: count, copy, prune, name, compact.

Each is one function of a connection, which both colours run. Before something goes, whatever of
the rest is told as a change of it is stored anew; all in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ormsgpack import packb, unpackb

from ckpt_viz.checkpoint import chains
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    Config,
    Removal,
    address,
    config_of,
    no_checkpoint,
    time_of,
)
from ckpt_viz.checkpoint.delta import long, short
from ckpt_viz.checkpoint.kept import Spot
from ckpt_viz.checkpoint.packing import Packing
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.compress import expand, squeeze
from ckpt_viz.checkpoint.sqlite import schema
from ckpt_viz.checkpoint.sqlite.reading import COLUMNS, Row, Source
from ckpt_viz.checkpoint.sqlite.rows import (
    SHORT,
    Cell,
    pack_body,
    pack_cells,
    pack_writes,
    read_body,
    read_cells,
    read_writes,
    typed_of,
)
from ckpt_viz.checkpoint.sqlite.writing import Put, Writer
from ckpt_viz.checkpoint.telling import DAMAGE
from ckpt_viz.checkpoint.upkeep import check_strategy, farthest_needed, path_of, to_keep
from ckpt_viz.errors import SerializationError

_OF_CHAINS = "at BETWEEN chain << 20 AND (chain << 20) + 0xFFFFF"
_SIZES = f"""(SELECT ifnull(sum(length(data)), 0) FROM ckpt_values v WHERE v.k=t.k)
    + (SELECT ifnull(sum(length(data)), 0) FROM ckpt_writes w WHERE w.k=t.k)
    + (SELECT ifnull(sum(length(data)), 0) FROM ckpt_chains h JOIN ckpt_big ON {_OF_CHAINS}
       WHERE h.k=t.k)"""
_THREADS = f"""SELECT thread, sum(n), step, max(id), sum(bytes) FROM (
    SELECT t.thread, t.ns, count(*) AS n, c.step, max(c.id) AS id,
        sum(length(body) + length(meta)) + {_SIZES} AS bytes
    FROM ckpt_threads t JOIN ckpt_checkpoints c ON c.k = t.k GROUP BY t.k)
    GROUP BY thread ORDER BY max(id) DESC"""
_BY_K = ("ckpt_checkpoints", "ckpt_values", "ckpt_writes", "ckpt_labels", "ckpt_chains")
_STEP = 500

Connection = sqlite3.Connection


def threads(conn: Connection) -> list[dict[str, Any]]:
    """One row a thread, last used first."""
    names = ("thread_id", "checkpoints", "last_step", "last_time", "bytes")
    return [
        dict(zip(names, (thread, n, step, time_of(id_), size), strict=True))
        for thread, n, step, id_, size in conn.execute(_THREADS)
    ]


def thread_heads(conn: Connection) -> list[tuple[str, str]]:
    """``(thread, newest root checkpoint)``, newest first: a jump along the key for each thread."""
    sql = (
        "SELECT thread, (SELECT max(c.id) FROM ckpt_checkpoints c WHERE c.k=t.k) AS head "
        "FROM ckpt_threads t WHERE ns='' AND head IS NOT NULL ORDER BY head DESC"
    )
    return conn.execute(sql).fetchall()


def count_checkpoints(conn: Connection, threads: Sequence[str]) -> dict[str, int]:
    """How many root checkpoints each of these threads has."""
    sql = (
        "SELECT count(*) FROM ckpt_checkpoints WHERE k=("
        "SELECT k FROM ckpt_threads WHERE thread=? AND ns='')"
    )
    return {thread: conn.execute(sql, (thread,)).fetchone()[0] for thread in threads}


def namespaces(conn: Connection, thread: str) -> list[str]:
    """The namespaces in which a thread has checkpoints, sorted."""
    return [ns for _, ns in _spaces(conn, thread)]


def _spaces(conn: Connection, thread: str) -> list[tuple[int, str]]:
    sql = (
        "SELECT k, ns FROM ckpt_threads t WHERE thread=? "
        "AND EXISTS (SELECT 1 FROM ckpt_checkpoints c WHERE c.k=t.k) ORDER BY ns"
    )
    return conn.execute(sql, (thread,)).fetchall()


def whole(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a writer and a connection, made one transaction."""

    def run(writer: Writer, *args: Any) -> Callable[[Connection], Any]:
        def transaction(conn: Connection) -> Any:
            schema.begin(conn)
            try:
                made = work(writer, conn, *args)
            except BaseException:
                conn.rollback()
                raise
            finally:
                writer.forget()
            conn.commit()
            return made

        return transaction

    return run


@whole
def delete_thread(_: Writer, conn: Connection, thread: str) -> None:
    """Remove everything of a thread, its name included."""
    keys = "(SELECT k FROM ckpt_threads WHERE thread=?)"
    sql = f"SELECT chain FROM ckpt_chains WHERE k IN {keys}"
    _delete_big(conn, [chain for (chain,) in conn.execute(sql, (thread,))])
    for table in _BY_K:
        conn.execute(f"DELETE FROM {table} WHERE k IN {keys}", (thread,))
    conn.execute("DELETE FROM ckpt_threads WHERE thread=?", (thread,))


def _delete_big(conn: Connection, numbers: Iterable[int]) -> None:
    for chain in numbers:
        at = chains.head_of(chain)
        conn.execute("DELETE FROM ckpt_big WHERE at>=? AND at<?", (at, chains.after(at)))


@whole
def delete_for_runs(
    writer: Writer, conn: Connection, packing: Packing, run_ids: Sequence[str], dry_run: bool
) -> Removal:
    """Remove the checkpoints of these runs."""
    wanted = {str(run) for run in run_ids}
    gone = Removal([], 0, 0)
    for k, thread, ns in conn.execute("SELECT k, thread, ns FROM ckpt_threads").fetchall():
        space = Space(writer, conn, packing, (k, thread, ns))
        drop = {
            row[1]
            for row in space.rows()
            if row[7] and str(space.source.metadata(row).get("run_id")) in wanted
        }
        gone = space.drop(gone, drop, dry_run)
    return gone


@whole
def prune(
    writer: Writer,
    conn: Connection,
    packing: Packing,
    thread_ids: Sequence[str],
    options: tuple[str, bool, bool],
) -> Removal:
    """Remove old checkpoints; ``options`` are strategy, dry_run, keep_labelled."""
    strategy, dry_run, keep_labelled = options
    check_strategy(strategy)
    gone = Removal([], 0, 0)
    for thread in thread_ids:
        for k, ns in _spaces(conn, str(thread)):
            space = Space(writer, conn, packing, (k, str(thread), ns))
            parents = {row[1]: long(row[2]) for row in space.rows()}
            keep: set[str] = set()
            if strategy == "keep_latest":
                sql = "SELECT id FROM ckpt_labels WHERE k=?"
                named = [id_ for (id_,) in conn.execute(sql, (k,))] if keep_labelled else []
                keep = to_keep(
                    parents,
                    named,
                    lambda id_, s=space, p=parents: s.rebuilt_from(id_, p),  # type: ignore[misc]
                )
            gone = space.drop(gone, set(parents) - keep, dry_run)
    return gone


class Space:
    """One namespace of one thread, of which something is to go."""

    def __init__(
        self, writer: Writer, conn: Connection, packing: Packing, place: tuple[int, str, str]
    ) -> None:
        self._writer = writer
        self._conn = conn
        self._packing = packing
        self.k, self._thread, self._ns = place
        self.source = Source(packing)
        self.source.places[self.k] = place[1:]

    def rows(self, ids: Iterable[str] | None = None) -> Iterator[Row]:
        """The rows of all checkpoints, oldest first; or of these."""
        sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=?"
        if ids is None:
            yield from self._conn.execute(f"{sql} ORDER BY id", (self.k,)).fetchall()
            return
        for id_ in ids:
            yield from self._conn.execute(f"{sql} AND id=?", (self.k, id_)).fetchall()

    def _cells(self) -> dict[Any, dict[str, Cell]]:
        sql = "SELECT version, data FROM ckpt_values WHERE k=? ORDER BY version"
        return {v: read_cells(data) for v, data in self._conn.execute(sql, (self.k,))}

    def rebuilt_from(self, id_: str, parents: dict[str, str | None]) -> str | None:
        """The farthest ancestor whose writes this checkpoint's values are rebuilt from."""

        def split(id_: str) -> tuple[set[str], set[str]]:
            (row,) = self.rows([id_])
            versions = self.source.body(self._conn, row)["channel_versions"]
            self.source.read_values(self._conn, [(self.k, versions)])
            cells = self.source.cells_of(self.k, versions)
            full = {channel for channel, (_, cell) in cells.items() if cell is not False}
            return full, set(versions) - full

        def wrote(id_: str) -> set[str]:
            found = self.source.writes(self._conn, [(self.k, id_)])
            return {row[3] for rows in found.values() for row in rows}

        return farthest_needed(
            path_of(parents, id_), split(id_)[1], wrote, lambda id_: split(id_)[0]
        )

    def drop(self, gone: Removal, drop: set[str], dry_run: bool) -> Removal:
        """Remove checkpoints with their writes, and the values that no other one uses."""
        if not drop:
            return gone
        used: set[tuple[str, Any]] = set()
        maps: dict[str, Checkpoint] = {}
        for row in self.rows():
            if row[1] in drop:
                continue
            body = self.source.body(self._conn, row)
            used.update((c, SHORT[v]) for c, v in body["channel_versions"].items())
            if not row[5] and long(row[2]) in drop and read_body(row[1], row[6])[1] is not None:
                maps[row[1]] = body
        cells = self._cells()
        left = {
            version: {c: cell for c, cell in own.items() if (c, version) in used}
            for version, own in cells.items()
        }
        writes = self.source.writes(self._conn, [(self.k, id_) for id_ in drop])
        if not dry_run:
            for id_, body in maps.items():
                self._store_whole(id_, body)
            self._remove(drop, cells, left)
        configs = [config_of(self._thread, self._ns, id_) for id_ in sorted(drop, reverse=True)]
        return Removal(
            [*gone.checkpoints, *configs],
            gone.writes + sum(map(len, writes.values())),
            gone.values + sum(map(len, cells.values())) - sum(map(len, left.values())),
        )

    def _store_whole(self, id_: str, body: Checkpoint) -> None:
        data = pack_body(body, body["channel_versions"], body["versions_seen"])
        sql = "UPDATE ckpt_checkpoints SET body=? WHERE k=? AND id=?"
        self._conn.execute(sql, (data, self.k, id_))

    def _remove(self, drop: set[str], cells: Any, left: Any) -> None:
        conn, k = self._conn, self.k
        for id_ in drop:
            for table, name in (
                ("ckpt_checkpoints", id_),
                ("ckpt_labels", id_),
                ("ckpt_writes", short(id_)),
            ):
                conn.execute(f"DELETE FROM {table} WHERE k=? AND id=?", (k, name))
        if any(cell.__class__ is int for own in cells.values() for cell in own.values()) or (
            conn.execute("SELECT 1 FROM ckpt_chains WHERE k=?", (k,)).fetchone()
        ):
            self._tell_anew(left)
        for version, own in left.items():
            if not own:
                conn.execute("DELETE FROM ckpt_values WHERE k=? AND version=?", (k, version))
            elif own != cells[version] or any(cell.__class__ is int for cell in own.values()):
                sql = "UPDATE ckpt_values SET data=? WHERE k=? AND version=?"
                conn.execute(sql, (pack_cells(own), k, version))

    def _tell_anew(self, left: dict[Any, dict[str, Cell]]) -> None:
        """Big values that stay get chains of their own, without what goes."""
        conn, k = self._conn, self.k
        old = [c for (c,) in conn.execute("SELECT chain FROM ckpt_chains WHERE k=?", (k,))]
        put = Put(self._writer, self._packing, (self._thread, self._ns, "", None))
        put.renew(conn, k, Spot())
        moved: dict[int, int] = {}
        order = sorted(
            (channel, str(long(version)), version)
            for version, own in left.items()
            for channel in own
        )
        for channel, _, version in order:
            cell = left[version][channel]
            if cell.__class__ is int:
                if cell not in moved:
                    moved[cell] = put.again(channel, version, self._value(cell))
                left[version][channel] = moved[cell]
        sql = "SELECT id, task, data FROM ckpt_writes WHERE k=?"
        for id_, task, data in conn.execute(sql, (k,)).fetchall():
            writes = read_writes(data)
            if any(cell.__class__ is int for _, _, cell in writes):
                for at, (index, channel, cell) in enumerate(writes):
                    if cell.__class__ is int:
                        if cell not in moved:
                            moved[cell] = put.again("", None, self._value(cell))
                        writes[at] = index, channel, moved[cell]
                sql = "UPDATE ckpt_writes SET data=? WHERE k=? AND id=? AND task=?"
                conn.execute(sql, (pack_writes(writes), k, id_, task))
        _delete_big(conn, old)
        conn.executemany("DELETE FROM ckpt_chains WHERE chain=?", [(chain,) for chain in old])

    def _value(self, at: int) -> Typed:
        self.source.read_chains(self._conn, [(self.k, at)])
        return chains.value(at, self.source.chain)[0]


@whole
def copy_thread(
    writer: Writer, conn: Connection, packing: Packing, source: str, target: str
) -> None:
    """Give another thread all that a thread has."""
    if source == target:
        return
    sql = "SELECT k, ns FROM ckpt_threads WHERE thread=?"
    spaces = [
        (k, ns, writer.key(conn, target, ns)) for k, ns in conn.execute(sql, (source,)).fetchall()
    ]
    for k, ns, new in spaces:
        _Copy(conn, packing, (source, target, ns), (k, new)).run()


class _Copy:
    """A namespace on its way to another thread."""

    def __init__(
        self, conn: Connection, packing: Packing, names: tuple[str, str, str], keys: tuple[int, int]
    ) -> None:
        self._conn = conn
        self._packing = packing
        self._source, self._target, self._ns = names
        self._k, self._new = keys
        self._chains: dict[int, int] = {}

    def run(self) -> None:
        conn, k, new = self._conn, self._k, self._new
        sql = "SELECT chain FROM ckpt_chains WHERE k=?"
        for (chain,) in conn.execute(sql, (k,)).fetchall():
            made = conn.execute("INSERT INTO ckpt_chains(k) VALUES(?)", (new,)).lastrowid
            self._chains[chain] = made or 0
        for chain in self._chains:
            self._copy_chain(chain)
        sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=?"
        for row in conn.execute(sql, (k,)).fetchall():
            id_ = row[1]
            body = self._moved((row[5], row[6]), id_) if row[5] else row[5:7]
            meta = self._moved((row[7], row[8]), id_, "metadata") if row[7] else row[7:9]
            conn.execute(
                "INSERT OR REPLACE INTO ckpt_checkpoints VALUES(?,?,?,?,?,?,?,?,?)",
                (new, *row[1:5], *body, *meta),
            )
        for version, data in conn.execute(
            "SELECT version, data FROM ckpt_values WHERE k=?", (k,)
        ).fetchall():
            cells = {
                channel: self._cell(cell, channel, long(version))
                for channel, cell in read_cells(data).items()
            }
            sql = "INSERT OR REPLACE INTO ckpt_values VALUES(?,?,?)"
            conn.execute(sql, (new, version, pack_cells(cells)))
        self._copy_writes()
        conn.execute(
            "INSERT OR REPLACE INTO ckpt_labels SELECT ?, id, label FROM ckpt_labels WHERE k=?",
            (new, k),
        )

    def _copy_writes(self) -> None:
        sql = "SELECT id, task, path, data FROM ckpt_writes WHERE k=?"
        for id_, task, path, data in self._conn.execute(sql, (self._k,)).fetchall():
            writes = [
                (index, channel, self._cell(cell, long(id_), long(task), index))
                for index, channel, cell in read_writes(data)
            ]
            sql = "INSERT OR REPLACE INTO ckpt_writes VALUES(?,?,?,?,?)"
            self._conn.execute(sql, (self._new, id_, task, path, pack_writes(writes)))

    def _copy_chain(self, chain: int) -> None:
        at = chains.head_of(chain)
        sql = "SELECT at, tag, data FROM ckpt_big WHERE at>=? AND at<?"
        for own, tag, data in self._conn.execute(sql, (at, chains.after(at))).fetchall():
            place = self._at(own)
            typed = expand(self._packing.unseal((tag, data), self._source, self._ns, own))
            if typed[0] == "base":
                typed = chains.base_row(self._at(unpackb(typed[1])))
            elif typed[0] == "part":
                base, *piece = unpackb(typed[1])
                typed = "part", packb([self._at(base), *piece])
            stored = self._packing.seal(squeeze(typed), self._target, self._ns, place)
            self._conn.execute("INSERT INTO ckpt_big VALUES(?,?,?)", (place, *stored))

    def _at(self, at: int) -> int:
        return chains.head_of(self._chains[at >> chains.SHIFT]) + (at & chains.LAST)

    def _cell(self, cell: Cell, *place: Any) -> Cell:
        if cell.__class__ is int:
            return self._at(cell)
        return list(self._moved(typed_of(cell), *place)) if cell.__class__ is list else cell

    def _moved(self, typed: Typed, *place: Any) -> Typed:
        plain = self._packing.unseal(typed, self._source, self._ns, *place)
        return self._packing.seal(plain, self._target, self._ns, *place)


# -- labels and sizes ----------------------------------------------------------------------------


@whole
def set_label(_: Writer, conn: Connection, config: Config, label: str | None) -> None:
    """Name a checkpoint."""
    thread, ns, id_ = address(config)
    sql = (
        "SELECT c.k FROM ckpt_threads t JOIN ckpt_checkpoints c ON c.k=t.k "
        "WHERE t.thread=? AND t.ns=? AND c.id=?"
    )
    found = conn.execute(sql, (thread, ns, id_)).fetchone()
    if found is None:
        raise no_checkpoint(config)
    if label is None:
        conn.execute("DELETE FROM ckpt_labels WHERE k=? AND id=?", (found[0], id_))
    else:
        conn.execute("INSERT OR REPLACE INTO ckpt_labels VALUES(?,?,?)", (found[0], id_, label))


def labels(conn: Connection, thread: str) -> list[dict[str, Any]]:
    """The named checkpoints of a thread, newest first."""
    sql = (
        "SELECT t.ns, l.id, l.label FROM ckpt_threads t JOIN ckpt_labels l ON l.k=t.k "
        "WHERE t.thread=? ORDER BY l.id DESC, t.ns DESC"
    )
    return [
        {"checkpoint_ns": ns, "checkpoint_id": id_, "label": label}
        for ns, id_, label in conn.execute(sql, (thread,))
    ]


def compact(conn: Connection, dry_run: bool) -> dict[str, int]:
    """Give the room of what was removed back to the disk."""

    def pragma(name: str) -> int:
        found: int = conn.execute(f"PRAGMA {name}").fetchone()[0]
        return found

    size = pragma("page_size")
    before = size * pragma("page_count")
    if dry_run:
        return {"before": before, "after": before - size * pragma("freelist_count")}
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    conn.execute("VACUUM")
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return {"before": before, "after": size * pragma("page_count")}


def storage_report(conn: Connection, packing: Packing) -> dict[str, Any]:
    """What takes how many bytes."""
    made = []
    for row in threads(conn):
        values: list[dict[str, Any]] = []
        written = 0
        for k, ns in _spaces(conn, row["thread_id"]):
            try:
                own, wrote = _sizes(conn, packing, (k, row["thread_id"], ns))
            except DAMAGE as error:
                text = f"Thread {row['thread_id']!r}, namespace {ns!r}, is damaged: {error}"
                raise SerializationError(text) from error
            values += own
            written += wrote
        total = sum(value["bytes"] for value in values)
        shared = sum(value["bytes"] for value in values if value["used_by"] > 1)
        made.append(
            {
                "thread_id": row["thread_id"],
                "bytes": row["bytes"],
                "checkpoints": row["bytes"] - written - total,
                "writes": written,
                "shared": shared,
                "unique": total - shared,
                "values": values,
            }
        )
    return {"bytes": sum(thread["bytes"] for thread in made), "threads": made}


def _sizes(
    conn: Connection, packing: Packing, place: tuple[int, str, str]
) -> tuple[list[dict[str, Any]], int]:
    """The values of a namespace with their sizes, and the bytes of its writes."""
    k, _, ns = place
    source = Source(packing)
    source.places[k] = place[1:]
    used: dict[tuple[str, Any], int] = {}
    sql = f"SELECT {COLUMNS} FROM ckpt_checkpoints WHERE k=? ORDER BY id"
    for row in conn.execute(sql, (k,)).fetchall():
        for channel, version in source.body(conn, row)["channel_versions"].items():
            used[channel, version] = used.get((channel, version), 0) + 1
    sql = f"SELECT at, tag, length(data) FROM ckpt_chains JOIN ckpt_big ON {_OF_CHAINS} WHERE k=?"
    big = {at: size for at, _, size in conn.execute(sql, (k,))}
    values = []
    for version, data in conn.execute("SELECT version, data FROM ckpt_values WHERE k=?", (k,)):
        for channel, cell in read_cells(data).items():
            own = len(packb(cell))
            size = big.pop(cell, 0) if cell.__class__ is int else 0
            values.append(
                {
                    "checkpoint_ns": ns,
                    "channel": channel,
                    "version": long(version),
                    "bytes": own + size,
                    "used_by": used.get((channel, long(version)), 0),
                }
            )
    written = 0
    for (data,) in conn.execute("SELECT data FROM ckpt_writes WHERE k=?", (k,)):
        cells = [cell for _, _, cell in read_writes(data)]
        written += len(data) + sum(big.pop(cell, 0) for cell in cells if cell.__class__ is int)
    return values, written
