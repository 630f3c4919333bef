"""The store that keeps items in a SQLite file; sync and async in one class."""

from ckpt_viz.store.sqlite.aio import AsyncSqliteStore
from ckpt_viz.store.sqlite.base import SqliteStore

__all__ = ["AsyncSqliteStore", "SqliteStore"]
