"""Threads in PostgreSQL (needs psycopg: ``pip install 'ckpt-viz[postgres]'``)."""

from ckpt_viz.checkpoint.postgres.saver import PostgresSaver

__all__ = ["PostgresSaver"]
