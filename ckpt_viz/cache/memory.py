"""A cache in memory: it ends with the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from ckpt_viz.cache.base import BaseCache, FullKey, Namespace, ValueT, ends_at
from ckpt_viz.checkpoint.serde.base import SerializerProtocol

__all__ = ["InMemoryCache"]


class InMemoryCache(BaseCache[ValueT]):
    """Keeps results in a dictionary. Safe to use from several threads."""

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._cache: dict[Namespace, dict[str, tuple[str, bytes, float | None]]] = {}
        self._lock = threading.RLock()

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        found: dict[FullKey, ValueT] = {}
        now = time.time()
        with self._lock:
            for namespace, key in keys:
                entries = self._cache.get(namespace, {})
                if key not in entries:
                    continue
                tag, data, end = entries[key]
                if end is not None and now >= end:
                    del entries[key]
                else:
                    found[namespace, key] = self.serde.loads_typed((tag, data))
        return found

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return self.get(keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        now = time.time()
        with self._lock:
            for (namespace, key), (value, ttl) in pairs.items():
                entry = (*self.serde.dumps_typed(value), ends_at(ttl, now))
                self._cache.setdefault(namespace, {})[key] = entry

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        self.set(pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        with self._lock:
            if namespaces is None:
                self._cache.clear()
            else:
                for namespace in namespaces:
                    self._cache.pop(namespace, None)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self.clear(namespaces)
