"""The SQLite store: which connection it uses. Its tables and statements are in `rows`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any, Self

from ckpt_viz.checkpoint.sqlite.opening import Opening
from ckpt_viz.checkpoint.sqlite.runner import SqliteColours
from ckpt_viz.store.meaning import IndexConfig
from ckpt_viz.store.nearest import HAS_NUMPY
from ckpt_viz.store.records import TTLConfig
from ckpt_viz.store.scripted import ScriptedStore
from ckpt_viz.store.sqlite.rows import SqliteRows, create, load_vectors


class SqliteIndexConfig(IndexConfig, total=False):
    """`IndexConfig`, with names that SQLite's users know.

    ``text_fields`` is another name of ``fields``. ``engine`` is what reckons: ``"numpy"``, which
    is the default where it is installed, or ``"sqlite-vec"``, where that loads; the results are
    the same.
    """

    text_fields: list[str] | None
    distance_type: str
    engine: str


class SqliteStore(ScriptedStore):
    """Remembers items in a SQLite database. Each method has an async twin on the same object.

    Args:
        conn: a ``sqlite3`` connection, or one of ``aiosqlite``; the caller closes it.
        deserializer: makes a value of its JSON, as bytes; of values that are plain JSON.
        index: settings for search by meaning.
        ttl: how long items live, in minutes; they live for ever if nobody says so.

    `from_conn_string` opens a file by itself, which is the usual way.
    """

    def __init__(
        self,
        conn: Any,
        *,
        deserializer: Callable[[bytes], dict[str, Any]] | None = None,
        index: SqliteIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._opening = opening = Opening(type(self).__name__, conn, self._prepare)
        super().__init__(SqliteRows(), SqliteColours(opening.runner, opening.finish), index, ttl)
        self._searcher.deserializer = deserializer

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str | PathLike[str],
        *,
        index: SqliteIndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> Self:
        """The store of a file (or ``:memory:``), opened at first use.

        Use it directly, or with ``with`` / ``async with``, which close the file.
        """
        store = cls(None, index=index, ttl=ttl)
        store._opening.path = fspath(conn_string)
        return store

    @property
    def conn(self) -> Any:
        """The connection; opened now if it was not yet."""
        return self._opening.conn

    def _prepare(self, conn: sqlite3.Connection, ours: bool) -> None:
        create(conn, ours=ours)
        if self.index_config:
            engine = self.index_config.get("engine", "numpy" if HAS_NUMPY else "sqlite-vec")
            self._rows.ranks = engine == "sqlite-vec" and load_vectors(conn)


__all__ = ["SqliteIndexConfig", "SqliteStore"]
