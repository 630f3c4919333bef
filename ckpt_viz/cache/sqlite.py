"""A cache in one SQLite file, which outlives the process."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence

from ckpt_viz.cache.base import BaseCache, FullKey, Namespace, ValueT, ends_at
from ckpt_viz.checkpoint.serde.base import SerializerProtocol

__all__ = ["SqliteCache"]

_TABLE = """CREATE TABLE IF NOT EXISTS cache (
    ns TEXT, key TEXT, expiry REAL, encoding TEXT NOT NULL, val BLOB NOT NULL, PRIMARY KEY (ns, key)
)"""


class SqliteCache(BaseCache[ValueT]):
    """Keeps results in the SQLite database at ``path``. Safe to use from several threads."""

    def __init__(self, *, path: str, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._lock = threading.RLock()
        self._conn = sqlite3.connect(path, check_same_thread=False)
        self._conn.execute("PRAGMA journal_mode=WAL")
        self._conn.execute(_TABLE)
        self._conn.commit()

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        found: dict[FullKey, ValueT] = {}
        now = time.time()
        with self._lock, self._conn:
            for namespace, key in keys:
                where = (_text(namespace), key)
                row = self._conn.execute(
                    "SELECT expiry, encoding, val FROM cache WHERE ns = ? AND key = ?", where
                ).fetchone()
                if row is None:
                    continue
                if row[0] is not None and now >= row[0]:
                    self._conn.execute("DELETE FROM cache WHERE ns = ? AND key = ?", where)
                else:
                    found[namespace, key] = self.serde.loads_typed((row[1], row[2]))
        return found

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return self.get(keys)

    def set(self, mapping: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        now = time.time()
        rows = [
            (_text(ns), key, ends_at(ttl, now), *self.serde.dumps_typed(value))
            for (ns, key), (value, ttl) in mapping.items()
        ]
        with self._lock, self._conn:
            self._conn.executemany("INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?)", rows)

    async def aset(self, mapping: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        self.set(mapping)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        with self._lock, self._conn:
            if namespaces is None:
                self._conn.execute("DELETE FROM cache")
            else:
                names = [(_text(n),) for n in namespaces]
                self._conn.executemany("DELETE FROM cache WHERE ns = ?", names)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self.clear(namespaces)

    def __del__(self) -> None:
        conn = getattr(self, "_conn", None)
        if conn is not None:
            conn.close()


def _text(namespace: Namespace) -> str:
    return ",".join(namespace)
