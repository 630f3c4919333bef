"""The PostgreSQL saver: which SQL reads and writes the rows of the contract in `scripted`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ckpt_viz.checkpoint.colours import Colours, Script
from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.postgres.door import SNAPSHOT, Batch, PostgresDoor, Statement, set_up
from ckpt_viz.checkpoint.scripted import BlobKey, NewRow, Query, Row, ScriptedSaver, Write
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed

_K = "(SELECT k FROM ckpt_threads WHERE thread = %s AND ns = %s)"
_HOLD = """INSERT INTO ckpt_threads(thread, ns) VALUES(%s, %s)
    ON CONFLICT (thread, ns) DO UPDATE SET ns = excluded.ns WHERE false"""
"""Makes the row of a thread, or locks it, so that nobody deletes it before we commit."""
_PUT = f"""INSERT INTO ckpt_checkpoints VALUES({_K}, %s, %s, %s, %s, %s, %s, %b, %s, %b)
    ON CONFLICT (k, id) DO UPDATE SET parent = excluded.parent, source = excluded.source,
    step = excluded.step, tokens = excluded.tokens, tag = excluded.tag, body = excluded.body,
    mtag = excluded.mtag, meta = excluded.meta"""
_PUT_BLOBS = f"""INSERT INTO ckpt_blobs SELECT {_K}, u.* FROM
    unnest(%s::text[], %s::text[], %s::text[], %b::bytea[]) AS u ON CONFLICT DO NOTHING"""
_PUT_WRITES = f"""INSERT INTO ckpt_writes SELECT {_K}, %s, %s, u.idx, %s, u.channel, u.tag, u.data
    FROM unnest(%s::int[], %s::text[], %s::text[], %b::bytea[]) AS u(idx, channel, tag, data)
    ON CONFLICT (k, id, task, idx) DO UPDATE SET path = excluded.path,
    channel = excluded.channel, tag = excluded.tag, data = excluded.data
    WHERE excluded.idx < 0"""
_ROWS = """SELECT c.k, t.thread, t.ns, c.id, c.parent, c.tag, c.body, c.mtag, c.meta
    FROM ckpt_checkpoints c JOIN ckpt_threads t USING (k)"""
_BLOBS = """SELECT k, channel, version, tag, data FROM ckpt_blobs JOIN
    unnest(%s::bigint[], %s::text[], %s::text[]) AS u(k, channel, version)
    USING (k, channel, version)"""
_WRITES = """SELECT k, id, task, idx, path, channel, tag, data FROM ckpt_writes JOIN
    unnest(%s::bigint[], %s::text[]) AS u(k, id) USING (k, id)"""
_THREADS = """SELECT thread, sum(n)::bigint, (array_agg(step ORDER BY ns <> '', id DESC))[1],
    (array_agg(id ORDER BY ns <> '', id DESC))[1]
    FROM (SELECT t.thread, t.ns, count(*) AS n, max(c.id) AS id,
        (array_agg(c.step ORDER BY c.id DESC))[1] AS step
        FROM ckpt_threads t JOIN ckpt_checkpoints c USING (k) GROUP BY t.k) AS s
    GROUP BY thread"""
_TABLES = ("ckpt_checkpoints", "ckpt_blobs", "ckpt_writes")
_MOST = 2**63


class PostgresSaver(ScriptedSaver):
    """Keeps threads in PostgreSQL. Each method has an async twin on the same object.

    Args:
        conn: a psycopg connection or pool, sync or async; the caller closes it.
        pipe: a pipeline of that connection; it is not needed, since statements travel together.
        serde: turns values into typed bytes.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self, conn: Any, pipe: Any = None, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(serde=serde)
        is_async = isinstance(conn, AsyncConnection | AsyncConnectionPool)
        if not is_async and not isinstance(conn, Connection | ConnectionPool):
            raise TypeError(
                f"PostgresSaver needs a psycopg connection or pool, not {type(conn)!r}. "
                "For an address use PostgresSaver.from_conn_string(address)."
            )
        door = PostgresDoor("", pipeline=pipe is None, pool_size=1)
        self._colours = Colours(door, conn, is_async=is_async)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = True,
        serde: SerializerProtocol | None = None,
        pool_size: int = 10,
    ) -> PostgresSaver:
        """The saver of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: as libpq takes it: ``postgresql://user@host/database``.
            pipeline: whether statements travel together; False if something between does not
                know libpq's pipeline mode.
            serde: turns values into typed bytes.
            pool_size: connections open at the same time, at most.
        """
        saver = cls.__new__(cls)
        ScriptedSaver.__init__(saver, serde=serde)
        saver._colours = Colours(PostgresDoor(conn_string, pipeline=pipeline, pool_size=pool_size))
        return saver

    def _setup(self) -> Script[None]:
        return set_up()

    # -- writing -------------------------------------------------------------------------------

    def _insert(self, new: NewRow) -> Script[None]:
        row = new.row
        place = (escape(row.thread), escape(row.ns))
        source, step = new.source, new.step
        values = (
            *place,
            escape(row.id),
            None if row.parent is None else escape(row.parent),
            escape(source) if isinstance(source, str) else None,
            step if isinstance(step, int) and -_MOST <= step < _MOST else None,
            new.tokens,
            row.body[0],
            row.body[1],
            *row.meta,
        )
        asks: list[Statement] = [(_HOLD, place), (_PUT, values)]
        if new.blobs:
            channels, versions, typed = zip(*new.blobs, strict=True)
            tags, data = zip(*typed, strict=True)
            names = [escape(channel) for channel in channels]
            asks.insert(1, (_PUT_BLOBS, (*place, names, list(versions), list(tags), list(data))))
        yield Batch(*asks, answered=False)

    def _insert_writes(
        self, thread: str, ns: str, id_: str, writes: Sequence[Write]
    ) -> Script[None]:
        if not writes:
            return
        place = (escape(thread), escape(ns))
        columns = (
            [w.idx for w in writes],
            [escape(w.channel) for w in writes],
            [w.typed[0] for w in writes],
            [w.typed[1] for w in writes],
        )
        head = (*place, escape(id_), escape(writes[0].task), escape(writes[0].path))
        yield Batch((_HOLD, place), (_PUT_WRITES, (*head, *columns)), answered=False)

    # -- reading -------------------------------------------------------------------------------

    def _read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        where, values = _conditions(query)
        clause = f" WHERE {' AND '.join(where)}" if where else ""
        sql = f"{_ROWS}{clause} ORDER BY c.id DESC, c.k DESC LIMIT %s"
        _, found = yield Batch(SNAPSHOT, (sql, (*values, size)))
        return [
            Row(
                k,
                unescape(thread),
                unescape(ns),
                unescape(id_),
                None if parent is None else unescape(parent),
                (tag, body),
                (mtag, meta),
            )
            for k, thread, ns, id_, parent, tag, body, mtag, meta in found
        ]

    def _read_parts(
        self, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Typed], list[list[Write]]]]:
        if not rows:
            return {}, []
        wanted = [[], [], []] if not keys else [list(column) for column in zip(*keys, strict=True)]
        wanted[1] = [escape(channel) for channel in wanted[1]]
        ids = [row.place for row in rows], [escape(row.id) for row in rows]
        blobs, writes = yield Batch((_BLOBS, wanted), (_WRITES, ids))
        values = {
            BlobKey(k, unescape(channel), version): (tag, data)
            for k, channel, version, tag, data in blobs
        }
        kept: dict[tuple[int, str], list[Write]] = {}
        for k, id_, task, idx, path, channel, tag, data in writes:
            write = Write(unescape(task), idx, unescape(path), unescape(channel), (tag, data))
            kept.setdefault((k, id_), []).append(write)
        return values, [kept.get((row.place, escape(row.id)), []) for row in rows]

    # -- threads -------------------------------------------------------------------------------

    def _count_threads(self) -> Script[list[tuple[str, int, Any, str]]]:
        (found,) = yield Batch((_THREADS, ()))
        return [(unescape(thread), n, step, unescape(id_)) for thread, n, step, id_ in found]

    def _remove_thread(self, thread: str) -> Script[None]:
        gone = "DELETE FROM ckpt_threads WHERE thread = %s RETURNING k"
        (found,) = yield Batch((gone, (escape(thread),)))
        keys = [k for (k,) in found]
        yield Batch(*((f"DELETE FROM {table} WHERE k = ANY(%s)", (keys,)) for table in _TABLES))


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(clause: str, *more: Any) -> None:
        where.append(clause)
        values.extend(more)

    if query.thread is not None and query.ns is not None:
        add(f"c.k = {_K}", escape(query.thread), escape(query.ns))
    elif query.thread is not None:
        add("c.k IN (SELECT k FROM ckpt_threads WHERE thread = %s)", escape(query.thread))
    if query.id is not None:
        add("c.id = %s", escape(query.id))
    if query.before is not None:
        add("c.id < %s", escape(query.before))
    for alternatives in query.tokens:
        add("c.tokens && %s::bigint[]", alternatives)
    if query.after is not None:
        add("(c.id, c.k) < (%s, %s)", escape(query.after.id), query.after.place)
    return where, values
