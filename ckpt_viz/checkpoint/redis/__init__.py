"""Threads in Redis (needs redis-py: ``pip install 'ckpt-viz[redis]'``)."""

from ckpt_viz.checkpoint.redis.saver import RedisSaver

__all__ = ["RedisSaver"]
