"""The async name of the PostgreSQL store."""

from __future__ import annotations

from ckpt_viz.store.postgres.base import PostgresStore
from ckpt_viz.store.scripted.awaited import AwaitedStore


class AsyncPostgresStore(AwaitedStore, PostgresStore):
    """`PostgresStore` for async programs: `setup` and the sweeper's methods are awaited.

    Its sync methods serve other threads.
    """


__all__ = ["AsyncPostgresStore"]
