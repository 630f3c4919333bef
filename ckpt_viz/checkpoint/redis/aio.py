"""The name that async programs import; it is the same saver."""

from ckpt_viz.checkpoint.redis.saver import RedisSaver

AsyncRedisSaver = RedisSaver

__all__ = ["AsyncRedisSaver"]
