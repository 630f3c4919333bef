"""The PostgreSQL saver; its tables are in `schema`, its SQL in `rows`, its pools in `door`."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from ckpt_viz.checkpoint.colours import Colours
from ckpt_viz.checkpoint.postgres.door import PostgresDoor
from ckpt_viz.checkpoint.postgres.rows import PostgresRows
from ckpt_viz.checkpoint.scripted.saver import ScriptedSaver
from ckpt_viz.checkpoint.serde.base import SerializerProtocol


class PostgresSaver(ScriptedSaver):
    """Keeps threads in PostgreSQL. Each method has an async twin on the same object.

    Args:
        conn: a psycopg connection or pool, sync or async; the caller closes it.
        pipe: a pipeline of that connection. It is not needed: statements travel together anyway.
        serde: turns values into typed bytes.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self, conn: Any, pipe: Any = None, serde: SerializerProtocol | None = None
    ) -> None:
        is_async = isinstance(conn, AsyncConnection | AsyncConnectionPool)
        if not is_async and not isinstance(conn, Connection | ConnectionPool):
            raise TypeError(
                f"PostgresSaver needs a psycopg connection or pool, not {type(conn)!r}. "
                "For an address use PostgresSaver.from_conn_string(address)."
            )
        door = PostgresDoor("", pipeline=pipe is None)
        super().__init__(PostgresRows(), Colours(door, conn, is_async=is_async), serde)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = True,
        serde: SerializerProtocol | None = None,
        pool_size: int = 10,
        timeout: float = 10.0,
    ) -> PostgresSaver:
        """The saver of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: as libpq takes it: ``postgresql://user@host/database``.
            pipeline: whether statements travel together; False if something between does not
                know libpq's pipeline mode.
            serde: turns values into typed bytes.
            pool_size: connections open at the same time, at most.
            timeout: seconds to wait for a connection before that is an error.
        """
        door = PostgresDoor(conn_string, pipeline=pipeline, size=pool_size, timeout=timeout)
        saver = cls.__new__(cls)
        ScriptedSaver.__init__(saver, PostgresRows(), Colours(door), serde)
        saver.identity = "postgres", conn_string
        return saver
