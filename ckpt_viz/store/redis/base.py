"""The Redis store: which clients it uses. Its keys are in `rows`, its scripts in `lua`."""

from __future__ import annotations

from typing import Any, Self

import redis
from redis import asyncio as aredis

from ckpt_viz.checkpoint.colours import Colours
from ckpt_viz.checkpoint.redis.door import RedisDoor
from ckpt_viz.store.meaning import IndexConfig
from ckpt_viz.store.records import TTLConfig
from ckpt_viz.store.redis.rows import RedisRows
from ckpt_viz.store.scripted import ScriptedStore


class RedisStore(ScriptedStore):
    """Remembers items in Redis. Each method has an async twin on the same object.

    Args:
        conn: a client of redis-py, sync or async, without ``decode_responses``; the caller
            closes it.
        index: settings for search by meaning.
        ttl: how long items live, in minutes; they live for ever if nobody says so.
        prefix: how the names of all keys begin.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self,
        conn: Any,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        prefix: str = "ckpt",
    ) -> None:
        if not isinstance(conn, redis.Redis | aredis.Redis):
            raise TypeError(
                f"{type(self).__name__} needs a client of redis-py, not {type(conn)!r}. "
                f"For an address use {type(self).__name__}.from_conn_string(address)."
            )
        if conn.connection_pool.connection_kwargs.get("decode_responses"):
            raise ValueError(
                "This Redis client turns all answers into text (decode_responses=True), but "
                "vectors are bytes. Pass a client without that option."
            )
        colours = Colours(RedisDoor(""), conn, is_async=isinstance(conn, aredis.Redis))
        super().__init__(RedisRows(prefix), colours, index, ttl)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        prefix: str = "ckpt",
        pool_size: int = 10,
        timeout: float = 10.0,
    ) -> Self:
        """The store of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: ``redis://host:port/number``.
            index: settings for search by meaning.
            ttl: how long items live.
            prefix: how the names of all keys begin.
            pool_size: connections open at the same time, at most.
            timeout: seconds to wait for a connection before that is an error.
        """
        store = cls.__new__(cls)
        colours = Colours(RedisDoor(conn_string, pool_size, timeout))
        store._begin(RedisRows(prefix), colours, index, ttl)
        return store


__all__ = ["RedisStore"]
