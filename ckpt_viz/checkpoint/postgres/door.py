"""How scripts reach PostgreSQL: a pool of either colour, one transaction a script, pipelined.

A script yields a `Batch` of statements and receives the rows of each. All statements of a batch
travel together where libpq can do that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any, TypeVar

from psycopg import AsyncConnection, Connection, Pipeline
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ckpt_viz.checkpoint.colours import Script
from ckpt_viz.checkpoint.postgres.schema import LOCK, MIGRATIONS, VERSIONS

T = TypeVar("T")
Statement = tuple[str, Sequence[Any]]
Rows = list[tuple[Any, ...]]

SNAPSHOT: Statement = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", ())
"""First in a script that only reads: all its batches see one moment."""


class Batch:
    """Statements to run together. ``answered`` tells whether the script needs their rows."""

    __slots__ = ("answered", "statements")

    def __init__(self, *statements: Statement, answered: bool = True) -> None:
        self.statements = statements
        self.answered = answered

    def asks(self, outermost: bool) -> Iterator[Statement]:
        """The statements; inside of a caller's transaction its isolation stays as it is."""
        return (ask for ask in self.statements if outermost or ask is not SNAPSHOT)


class PostgresDoor:
    """Opens and uses pools for an address; uses connections that were given.

    Args:
        url: where the database is; empty if connections are given.
        pipeline: whether statements may travel together.
        pool_size: connections of a pool at most.
    """

    def __init__(self, url: str, *, pipeline: bool, pool_size: int) -> None:
        self._url = url
        self._pipeline = pipeline and Pipeline.is_supported()
        self._options: dict[str, Any] = {
            "min_size": 1,
            "max_size": pool_size,
            "open": False,
            "kwargs": {"autocommit": True},
            "name": "ckpt_viz",
        }
        self._lock = threading.RLock()
        self._alock = asyncio.Lock()
        self._is_setup = False

    def open(self) -> Any:
        """A pool whose dead connections are found and replaced before use."""
        pool = ConnectionPool(self._url, check=ConnectionPool.check_connection, **self._options)
        pool.open()
        return pool

    async def aopen(self) -> Any:
        """As `open`."""
        check = AsyncConnectionPool.check_connection
        pool = AsyncConnectionPool(self._url, check=check, **self._options)
        await pool.open()
        return pool

    def close(self, client: Any) -> None:
        """Close a pool."""
        client.close()

    async def aclose(self, client: Any) -> None:
        """As `close`."""
        await client.close()

    def run(self, client: Any, script: Script[T]) -> T:
        """Run a script in one transaction."""
        with self._connection(client) as conn:
            if not self._is_setup:
                self._transact(conn, set_up())
                self._is_setup = True
            return self._transact(conn, script)

    async def arun(self, client: Any, script: Script[T]) -> T:
        """As `run`."""
        async with self._aconnection(client) as conn:
            if not self._is_setup:
                await self._atransact(conn, set_up())
                self._is_setup = True
            return await self._atransact(conn, script)

    @contextmanager
    def _connection(self, client: Any) -> Iterator[Any]:
        if isinstance(client, Connection):
            with self._lock:
                yield client
        else:
            with client.connection() as conn:
                yield conn

    @asynccontextmanager
    async def _aconnection(self, client: Any) -> AsyncIterator[Any]:
        if isinstance(client, AsyncConnection):
            async with self._alock:
                yield client
        else:
            async with client.connection() as conn:
                yield conn

    def _transact(self, conn: Any, script: Script[T]) -> T:
        outermost = conn.info.transaction_status == TransactionStatus.IDLE
        piped = conn.pipeline() if self._pipeline else nullcontext()
        with piped as pipe, conn.transaction():
            rows: list[Rows] | None = None
            try:
                while True:
                    batch = script.send(rows)
                    cursors = [(_cursor(conn), *ask) for ask in batch.asks(outermost)]
                    for cursor, sql, values in cursors:
                        cursor.execute(sql, values or None)
                    if pipe is not None and batch.answered:
                        pipe.sync()
                    rows = [c.fetchall() if c.description else [] for c, *_ in cursors]
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]

    async def _atransact(self, conn: Any, script: Script[T]) -> T:
        outermost = conn.info.transaction_status == TransactionStatus.IDLE
        piped = conn.pipeline() if self._pipeline else nullcontext()
        async with piped as pipe, conn.transaction():
            rows: list[Rows] | None = None
            try:
                while True:
                    batch = script.send(rows)
                    cursors = [(_cursor(conn), *ask) for ask in batch.asks(outermost)]
                    for cursor, sql, values in cursors:
                        await cursor.execute(sql, values or None)
                    if pipe is not None and batch.answered:
                        await pipe.sync()
                    rows = [await c.fetchall() if c.description else [] for c, *_ in cursors]
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]


def _cursor(conn: Any) -> Any:
    """A cursor of plain rows and binary values, whatever the connection was made with."""
    return conn.cursor(row_factory=tuple_row, binary=True)


def set_up() -> Script[None]:
    """Bring the tables to this version; asks first, so that a reader needs no right to make any.

    Raises:
        RuntimeError: a newer version of this package made them.
    """
    version = yield from _version()
    if version < len(MIGRATIONS):
        yield Batch(("SELECT pg_advisory_xact_lock(%s)", (LOCK,)), (VERSIONS, ()))
        version = yield from _version()
        for at in range(version, len(MIGRATIONS)):
            steps = [(sql, ()) for sql in MIGRATIONS[at].split(";")]
            yield Batch(*steps, ("INSERT INTO ckpt_migrations VALUES(%s)", (at + 1,)))
    if version > len(MIGRATIONS):
        raise RuntimeError(
            f"This database has schema {version}, made by a newer ckpt_viz; this one knows "
            f"{len(MIGRATIONS)}. Upgrade ckpt_viz."
        )


def _version() -> Script[int]:
    there = yield Batch(("SELECT to_regclass('ckpt_migrations') IS NOT NULL", ()))
    if not there[0][0][0]:
        return 0
    found = yield Batch(("SELECT coalesce(max(v), 0) FROM ckpt_migrations", ()))
    return int(found[0][0][0])
