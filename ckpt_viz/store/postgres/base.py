"""The PostgreSQL store: which connections it uses. Its tables and statements are in `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ckpt_viz.checkpoint.colours import Colours
from ckpt_viz.checkpoint.postgres.door import PostgresDoor
from ckpt_viz.store.meaning import IndexConfig
from ckpt_viz.store.postgres.rows import PostgresRows
from ckpt_viz.store.records import TTLConfig
from ckpt_viz.store.scripted import ScriptedStore


class PostgresIndexConfig(IndexConfig, total=False):
    """`IndexConfig`, with what reckons.

    ``engine`` is ``"pgvector"``, the default where the server has it, or ``"numpy"``; the results
    are the same.
    """

    distance_type: str
    engine: str


class PostgresStore(ScriptedStore):
    """Remembers items in PostgreSQL. Each method has an async twin on the same object.

    Args:
        conn: a psycopg connection or pool, sync or async; the caller closes it.
        pipe: a pipeline of that connection. It is not needed: statements travel together anyway.
        deserializer: makes a value of its JSON, as bytes; of values that are plain JSON.
        index: settings for search by meaning.
        ttl: how long items live, in minutes; they live for ever if nobody says so.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self,
        conn: Any,
        *,
        pipe: Any = None,
        deserializer: Callable[[bytes], dict[str, Any]] | None = None,
        index: PostgresIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        is_async = isinstance(conn, AsyncConnection | AsyncConnectionPool)
        if not is_async and not isinstance(conn, Connection | ConnectionPool):
            raise TypeError(
                f"{type(self).__name__} needs a psycopg connection or pool, not {type(conn)!r}. "
                f"For an address use {type(self).__name__}.from_conn_string(address)."
            )
        rows = _rows(index)
        door = PostgresDoor("", pipeline=pipe is None, tables=rows.tables)
        super().__init__(rows, Colours(door, conn, is_async=is_async), index, ttl)
        self._searcher.deserializer = deserializer

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = True,
        index: PostgresIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        pool_size: int = 10,
        timeout: float = 10.0,
    ) -> Self:
        """The store of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: as libpq takes it: ``postgresql://user@host/database``.
            pipeline: whether statements travel together; False if something between does not
                know libpq's pipeline mode.
            index: settings for search by meaning.
            ttl: how long items live.
            pool_size: connections open at the same time, at most.
            timeout: seconds to wait for a connection before that is an error.
        """
        rows = _rows(index)
        door = PostgresDoor(
            conn_string, pipeline=pipeline, size=pool_size, timeout=timeout, tables=rows.tables
        )
        store = cls.__new__(cls)
        store._begin(rows, Colours(door), index, ttl)
        return store


def _rows(index: PostgresIndexConfig | None) -> PostgresRows:
    return PostgresRows(bool(index) and (index or {}).get("engine") != "numpy")


__all__ = ["PostgresIndexConfig", "PostgresStore"]
