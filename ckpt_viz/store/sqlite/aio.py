"""The async name of the SQLite store."""

from __future__ import annotations

from ckpt_viz.store.scripted.awaited import AwaitedStore
from ckpt_viz.store.sqlite.base import SqliteStore


class AsyncSqliteStore(AwaitedStore, SqliteStore):
    """`SqliteStore` for async programs: `setup` and the sweeper's methods are awaited.

    Its sync methods serve other threads.
    """


__all__ = ["AsyncSqliteStore"]
