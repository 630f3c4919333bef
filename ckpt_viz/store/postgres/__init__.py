"""The store in PostgreSQL (needs psycopg: ``pip install 'ckpt-viz[postgres]'``)."""

from ckpt_viz.store.postgres.aio import AsyncPostgresStore
from ckpt_viz.store.postgres.base import PostgresStore

__all__ = ["AsyncPostgresStore", "PostgresStore"]
