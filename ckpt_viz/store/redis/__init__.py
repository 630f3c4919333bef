"""The store in Redis (needs redis-py: ``pip install 'ckpt-viz[redis]'``)."""

from ckpt_viz.store.redis.aio import AsyncRedisStore
from ckpt_viz.store.redis.base import RedisStore

__all__ = ["AsyncRedisStore", "RedisStore"]
