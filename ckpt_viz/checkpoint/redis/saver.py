"""The Redis saver; its records are in `rows`, its scripts in `lua`, its clients in `door`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import redis
from redis import asyncio as aredis

from ckpt_viz.checkpoint.colours import Colours
from ckpt_viz.checkpoint.redis.door import RedisDoor
from ckpt_viz.checkpoint.redis.rows import RedisRows
from ckpt_viz.checkpoint.scripted.saver import ScriptedSaver
from ckpt_viz.checkpoint.serde.base import SerializerProtocol

Ttl = float | Mapping[str, Any] | None


class RedisSaver(ScriptedSaver):
    """Keeps threads in Redis. Each method has an async twin on the same object.

    Args:
        client: a client of redis-py, sync or async, without ``decode_responses``; the caller
            closes it.
        ttl: seconds that a thread lives after its last write, all of it together; None for ever.
            A mapping ``{"default_ttl": minutes}`` is understood too.
        prefix: how the names of all keys begin.
        serde: turns values into typed bytes.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self,
        client: Any,
        *,
        ttl: Ttl = None,
        prefix: str = "ckpt",
        serde: SerializerProtocol | None = None,
    ) -> None:
        if not isinstance(client, redis.Redis | aredis.Redis):
            raise TypeError(
                f"RedisSaver needs a client of redis-py, not {type(client)!r}. "
                "For an address use RedisSaver.from_conn_string(address)."
            )
        if client.connection_pool.connection_kwargs.get("decode_responses"):
            raise ValueError(
                "This Redis client turns all answers into text (decode_responses=True), but "
                "checkpoints are bytes. Pass a client without that option."
            )
        colours = Colours(RedisDoor(""), client, is_async=isinstance(client, aredis.Redis))
        super().__init__(RedisRows(prefix, _milliseconds(ttl)), colours, serde)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        ttl: Ttl = None,
        prefix: str = "ckpt",
        serde: SerializerProtocol | None = None,
        pool_size: int = 10,
        timeout: float = 10.0,
    ) -> RedisSaver:
        """The saver of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: ``redis://host:port/number``.
            ttl: see the class.
            prefix: how the names of all keys begin.
            serde: turns values into typed bytes.
            pool_size: connections open at the same time, at most.
            timeout: seconds to wait for a connection before that is an error.
        """
        saver = cls.__new__(cls)
        rows = RedisRows(prefix, _milliseconds(ttl))
        ScriptedSaver.__init__(
            saver, rows, Colours(RedisDoor(conn_string, pool_size, timeout)), serde
        )
        saver.identity = "redis", conn_string
        return saver


def _milliseconds(ttl: Ttl) -> int:
    if isinstance(ttl, Mapping):
        minutes = ttl.get("default_ttl")
        ttl = None if minutes is None else minutes * 60
    if ttl is not None and ttl <= 0:
        raise ValueError(f"A thread cannot live {ttl} seconds. Pass None for no end.")
    return 0 if ttl is None else max(1, round(ttl * 1000))
