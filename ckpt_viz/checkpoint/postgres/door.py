"""How scripts reach PostgreSQL: a pool of either colour, one transaction a script, pipelined.

A script yields a `Batch` of statements and receives the rows of each. All statements of a batch
travel together where libpq can do that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any, TypeVar

from psycopg import AsyncConnection, Connection, Pipeline
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ckpt_viz.checkpoint.batches import Batch, Rows, Statement
from ckpt_viz.checkpoint.plans import BARE, READ, Script
from ckpt_viz.checkpoint.postgres.schema import LOCK, TABLES, Tables

T = TypeVar("T")

_SNAPSHOT: Statement = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", ())

_SETUP = "setup"
_ALONE = (BARE, _SETUP)
"""Modes that are not pipelined; making tables throws away what was prepared for a pipeline."""


class PostgresDoor:
    """Opens and uses pools for an address; uses connections that were given.

    Args:
        url: where the database is; empty if connections are given.
        pipeline: whether statements may travel together.
        size: connections of a pool at most.
        timeout: seconds to wait for one.
        tables: the steps that make the tables.
    """

    def __init__(
        self,
        url: str,
        *,
        pipeline: bool,
        size: int = 1,
        timeout: float = 10.0,
        tables: Tables = TABLES,
    ) -> None:
        self._url = url
        self._tables = tables
        self._pipeline = pipeline and Pipeline.is_supported()
        self._options: dict[str, Any] = {
            "min_size": 1,
            "max_size": size,
            "timeout": timeout,
            "open": False,
            "kwargs": {"autocommit": True, "fallback_application_name": "ckpt_viz"},
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

    def run(self, client: Any, script: Script[T], mode: str) -> T:
        """Run a script in one transaction, or bare of any."""
        with self._connection(client) as conn:
            if not self._is_setup:
                self._transact(conn, set_up(self._tables), _SETUP)
                self._is_setup = True
            return self._transact(conn, script, mode)

    async def arun(self, client: Any, script: Script[T], mode: str) -> T:
        """As `run`."""
        async with self._aconnection(client) as conn:
            if not self._is_setup:
                await self._atransact(conn, set_up(self._tables), _SETUP)
                self._is_setup = True
            return await self._atransact(conn, script, mode)

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

    def _transact(self, conn: Any, script: Script[T], mode: str) -> T:
        plain, autocommit = _is_plain(conn, mode), conn.autocommit
        script = _framed(script, conn, mode)
        piped = conn.pipeline() if self._pipeline and mode not in _ALONE else nullcontext()
        nested = nullcontext() if plain or mode == BARE else conn.transaction()
        try:
            if mode == BARE and not autocommit:
                conn.set_autocommit(True)
            with piped as pipe, nested:
                rows: list[Rows] | None = None
                while True:
                    try:
                        batch = script.send(rows)
                    except StopIteration as done:
                        return done.value  # type: ignore[no-any-return]
                    cursors = [(_cursor(conn), *ask) for ask in batch.statements]
                    for cursor, sql, values in cursors:
                        cursor.execute(sql, values or None)
                    if pipe is not None and batch.answered:
                        pipe.sync()
                    rows = [c.fetchall() if c.description else [] for c, *_ in cursors]
        finally:
            if plain:  # after a COMMIT there is nothing left to roll back
                conn.rollback()
            if mode == BARE and not autocommit:
                conn.set_autocommit(False)

    async def _atransact(self, conn: Any, script: Script[T], mode: str) -> T:
        plain, autocommit = _is_plain(conn, mode), conn.autocommit
        script = _framed(script, conn, mode)
        piped = conn.pipeline() if self._pipeline and mode not in _ALONE else nullcontext()
        nested = nullcontext() if plain or mode == BARE else conn.transaction()
        try:
            if mode == BARE and not autocommit:
                await conn.set_autocommit(True)
            async with piped as pipe, nested:
                rows: list[Rows] | None = None
                while True:
                    try:
                        batch = script.send(rows)
                    except StopIteration as done:
                        return done.value  # type: ignore[no-any-return]
                    cursors = [(_cursor(conn), *ask) for ask in batch.statements]
                    for cursor, sql, values in cursors:
                        await cursor.execute(sql, values or None)
                    if pipe is not None and batch.answered:
                        await pipe.sync()
                    rows = [await c.fetchall() if c.description else [] for c, *_ in cursors]
        finally:
            if plain:  # after a COMMIT there is nothing left to roll back
                await conn.rollback()
            if mode == BARE and not autocommit:
                await conn.set_autocommit(False)


def _is_plain(conn: Any, mode: str) -> bool:
    """Whether the transaction is ours to begin and end, by statements that travel with others."""
    idle = conn.info.transaction_status == TransactionStatus.IDLE
    return bool(conn.autocommit and idle and mode != BARE)


def _framed(script: Script[T], conn: Any, mode: str) -> Script[T]:
    """A script whose first batch begins a transaction and which ends with a commit of it.

    One that reads sees one moment, unless a transaction of the caller's goes on.
    """
    plain = _is_plain(conn, mode)
    first: list[Statement] = [("BEGIN", ())] if plain else []
    if mode == READ and conn.info.transaction_status == TransactionStatus.IDLE:
        first.append(_SNAPSHOT)
    rows: list[Rows] | None = None
    begun = False
    while True:
        try:
            batch = script.send(rows)
        except StopIteration as done:
            if plain and begun:
                yield Batch(("COMMIT", ()), answered=False)
            return done.value  # type: ignore[no-any-return]
        rows = (yield Batch(*first, *batch.statements, answered=batch.answered))[len(first) :]
        first, begun = [], True


def _cursor(conn: Any) -> Any:
    """A cursor of plain rows and binary values, whatever the connection was made with."""
    return conn.cursor(row_factory=tuple_row, binary=True)


def set_up(tables: Tables = TABLES) -> Script[None]:
    """Bring the tables to this version; asks first, so that a reader needs no right to make any.

    Raises:
        RuntimeError: a newer version of this package made them.
    """
    known = len(tables.steps)
    version = yield from _version(tables.versions)
    if version < known:
        make = f"CREATE TABLE IF NOT EXISTS {tables.versions}(v int PRIMARY KEY)"
        yield Batch(("SELECT pg_advisory_xact_lock(%s)", (LOCK,)), (make, ()))
        version = yield from _version(tables.versions)
        for at in range(version, known):
            steps = [(sql, ()) for sql in tables.steps[at].split(";")]
            yield Batch(*steps, (f"INSERT INTO {tables.versions} VALUES(%s)", (at + 1,)))
    if version > known:
        raise RuntimeError(
            f"This database has schema {version}, made by a newer ckpt_viz; this one knows "
            f"{known}. Upgrade ckpt_viz."
        )
    if tables.after is not None:
        yield from tables.after()


def _version(versions: str) -> Script[int]:
    there = yield Batch((f"SELECT to_regclass('{versions}') IS NOT NULL", ()))
    if not there[0][0][0]:
        return 0
    found = yield Batch((f"SELECT coalesce(max(v), 0) FROM {versions}", ()))
    return int(found[0][0][0])
