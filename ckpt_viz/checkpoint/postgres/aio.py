"""The name that async programs import; it is the same saver."""

from ckpt_viz.checkpoint.postgres.saver import PostgresSaver

AsyncPostgresSaver = PostgresSaver

__all__ = ["AsyncPostgresSaver"]
