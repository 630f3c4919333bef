"""The async name of the Redis store."""

from __future__ import annotations

from ckpt_viz.store.redis.base import RedisStore
from ckpt_viz.store.scripted.awaited import AwaitedStore


class AsyncRedisStore(AwaitedStore, RedisStore):
    """`RedisStore` for async programs: `setup` and the sweeper's methods are awaited.

    Its sync methods serve other threads.
    """


__all__ = ["AsyncRedisStore"]
