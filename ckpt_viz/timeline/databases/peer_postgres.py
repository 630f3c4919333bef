"""LangGraph's PostgreSQL schema, of its savers 1.0 to today's, read without LangGraph.

Values are kept by version in ``checkpoint_blobs``; plain ones stand inside of the checkpoint's JSON
in later versions. Columns are asked for by name, so that a newer schema with more is read too.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar
from weakref import finalize

import psycopg
from psycopg.rows import tuple_row

from ckpt_viz.checkpoint.base import CheckpointTuple
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.constants import TASKS
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.databases.peer import SENDS_INSIDE, PeerRow, PeerWrite, made
from ckpt_viz.timeline.databases.reader import HistoryReader, Wanted, holds

T = TypeVar("T")
PATIENCE = 4
_COLUMNS = """SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""
_THREADS = """WITH RECURSIVE t(id) AS (
    (SELECT thread_id FROM checkpoints ORDER BY thread_id LIMIT 1) UNION ALL
    SELECT (SELECT thread_id FROM checkpoints WHERE thread_id > t.id ORDER BY thread_id LIMIT 1)
        FROM t WHERE t.id IS NOT NULL)
    SELECT id, (SELECT max(checkpoint_id) FROM checkpoints c
        WHERE c.thread_id = t.id AND c.checkpoint_ns = '') AS head
    FROM t WHERE id IS NOT NULL ORDER BY head DESC NULLS LAST"""
_BLOBS = """SELECT b.thread_id, b.checkpoint_ns, b.channel, b.version, b.type, b.blob
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS u(thread, ns, channel, version)
    JOIN checkpoint_blobs b ON b.thread_id = u.thread AND b.checkpoint_ns = u.ns
        AND b.channel = u.channel AND b.version = u.version"""
_WRITES = """SELECT w.thread_id, w.checkpoint_ns, w.checkpoint_id, w.task_id, {path}, w.idx,
    w.channel, w.type, w.blob FROM unnest(%s::text[], %s::text[], %s::text[]) AS u(thread, ns, id)
    JOIN checkpoint_writes w ON w.thread_id = u.thread AND w.checkpoint_ns = u.ns
        AND w.checkpoint_id = u.id"""


class PostgresPlace:
    """A database that is looked at: one connection, read-only by the server's own rule.

    Raises `SourceError` where it can't be reached. Waits at most `PATIENCE` seconds for anything.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.RLock()
        self._conn: psycopg.Connection[Any] | None = None

    def read(self, *statements: tuple[str, Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement, all of them of one moment."""
        with self._lock:
            try:
                return self._run(statements)
            except psycopg.Error as error:
                if self._conn is None or not self._conn.closed:
                    raise self._told(error) from error
            try:
                return self._run(statements)  # the connection was lost: once more on a new one
            except psycopg.Error as error:
                raise self._told(error) from error

    def columns(self, table: str) -> list[str]:
        """The columns of a table on the search path; none where there is no such table."""
        return [name for (name,) in self.read((_COLUMNS, (table,)))[0]]

    def _run(self, statements: Any) -> list[list[tuple[Any, ...]]]:
        conn = self._open()
        with conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return [conn.execute(sql, values or None).fetchall() for sql, values in statements]

    def _open(self) -> psycopg.Connection[Any]:
        if self._conn is None or self._conn.closed:
            self._conn = psycopg.connect(
                read_only_address(self.url), autocommit=True, row_factory=tuple_row
            )
            finalize(self, _close, self._conn)
        return self._conn

    def _told(self, error: psycopg.Error) -> SourceError:
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return SourceError(
                "The PostgreSQL database is locked by another transaction. Try again when it is "
                "done; nothing was changed."
            )
        return SourceError(f"The PostgreSQL database can't be read: {str(error).strip()}")


def _close(conn: psycopg.Connection[Any]) -> None:
    with suppress(psycopg.Error):
        conn.close()


def read_only_address(url: str) -> str:
    """The address with options by which the server itself refuses every write and long wait.

    Raises `SourceError` for what libpq does not understand.
    """
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise SourceError(f"This is no address of a PostgreSQL database: {error}") from error
    rules = (
        "-c default_transaction_read_only=on "
        f"-c statement_timeout={PATIENCE * 1000} -c lock_timeout={PATIENCE * 500}"
    )
    parts["options"] = f"{parts.get('options') or ''} {rules}".strip()
    parts.setdefault("connect_timeout", PATIENCE)
    parts.setdefault("fallback_application_name", "ckpt_viz (reads)")
    return psycopg.conninfo.make_conninfo("", **parts)


class PeerPostgres(HistoryReader):
    """Reads threads from a database that LangGraph's PostgreSQL saver wrote."""

    def __init__(self, there: PostgresPlace, serde: SerializerProtocol) -> None:
        super().__init__(serde)
        self._there = there
        writes = there.columns("checkpoint_writes")
        blobs = there.columns("checkpoint_blobs")
        if not writes or not blobs:
            raise SourceError(
                "The table checkpoints is there, but not checkpoint_blobs and checkpoint_writes: "
                "no schema of LangGraph's that this version knows. Upgrade ckpt_viz."
            )
        self._writes = _WRITES.format(path="w.task_path" if "task_path" in writes else "''")

    # -- threads -------------------------------------------------------------------------------

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        wanted = holds(query)
        (found,) = self._there.read((_THREADS, ()))
        return [(thread, id_) for thread, id_ in found if id_ is not None and wanted(thread)]

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        sql = """SELECT thread_id, count(*) FROM checkpoints
            WHERE thread_id = ANY(%s) AND checkpoint_ns = '' GROUP BY thread_id"""
        return dict(self._there.read((sql, (list(threads),)))[0])

    def namespaces(self, thread_id: str) -> list[str]:
        sql = "SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = %s ORDER BY 1"
        return [ns for (ns,) in self._there.read((sql, (thread_id,)))[0]]

    def task_paths(self, thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> dict[str, str]:
        """Task id -> path, of the tasks that wrote from a checkpoint; empty where none is kept."""
        ask = ([thread_id], [checkpoint_ns], [checkpoint_id])
        return {row[3]: row[4] for row in self._there.read((self._writes, ask))[0] if row[4]}

    # -- checkpoints ---------------------------------------------------------------------------

    def _page(self, wanted: Wanted) -> list[CheckpointTuple]:
        (found,) = self._there.read(_rows(wanted))
        if not found:
            return []
        spots = [(row[0], row[1], row[2]) for row in found]
        parents = [
            (row[0], row[1], row[3])
            for row in found
            if row[3] and int(row[4].get("v") or 1) < SENDS_INSIDE
        ]
        blobs, writes, sends = self._there.read(
            (_BLOBS, _columns(_versions(found), 4)),
            (self._writes, _columns(spots, 3)),
            (f"{self._writes} WHERE w.channel = '{TASKS}'", _columns(parents, 3)),
        )
        kept = {tuple(row[:4]): (row[4], row[5]) for row in blobs}
        own, waiting = _by_checkpoint(writes), _by_checkpoint(sends)
        out = []
        for thread, ns, id_, parent, checkpoint, metadata in found:
            versions = checkpoint.get("channel_versions") or {}
            values = {
                channel: kept[thread, ns, channel, str(version)]
                for channel, version in versions.items()
                if (thread, ns, channel, str(version)) in kept
            }
            row = PeerRow(thread, ns, id_, parent or None, checkpoint, metadata, values)
            spot, before = (thread, ns, id_), (thread, ns, parent)
            out.append(made(self.serde, row, own.get(spot, ()), waiting.get(before, ())))
        return out


def _rows(wanted: Wanted) -> tuple[str, list[Any]]:
    where, values = ["true"], []
    asked = [("thread_id", "=", wanted.thread), ("checkpoint_ns", "=", wanted.ns)]
    asked += [("checkpoint_id", "=", wanted.id), ("checkpoint_id", "<", wanted.before)]
    for column, sign, value in asked:
        if value is not None:
            where.append(f"{column} {sign} %s")
            values.append(value)
    if wanted.after is not None:
        where.append("(checkpoint_id, thread_id, checkpoint_ns) < (%s, %s, %s)")
        values += wanted.after
    sql = (
        "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, "
        f"metadata FROM checkpoints WHERE {' AND '.join(where)} "
        "ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC LIMIT %s"
    )
    return sql, [*values, wanted.size]


def _versions(rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """What addresses the values of these checkpoints, each once."""
    return list(
        {
            (row[0], row[1], channel, str(version)): None
            for row in rows
            for channel, version in (row[4].get("channel_versions") or {}).items()
        }
    )


def _columns(rows: Sequence[tuple[str, ...]], width: int) -> list[list[str]]:
    return [[row[i] for row in rows] for i in range(width)]


def _by_checkpoint(
    rows: Sequence[tuple[Any, ...]],
) -> dict[tuple[str, str, str], list[PeerWrite]]:
    found: dict[tuple[str, str, str], list[PeerWrite]] = {}
    for thread, ns, id_, *rest in rows:
        found.setdefault((thread, ns, id_), []).append(PeerWrite(*rest))
    return found
