"""What a cache of node results can do.

A full key is a namespace (a tuple of words) and a key. Values are stored as bytes, so what is read
is never the object that was put. A time to live is in seconds; None lives for ever.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from ckpt_viz.checkpoint.serde import JsonPlusSerializer
from ckpt_viz.checkpoint.serde.base import SerializerProtocol

ValueT = TypeVar("ValueT")
Namespace = tuple[str, ...]
FullKey = tuple[Namespace, str]


class BaseCache(ABC, Generic[ValueT]):
    """Base of the caches. ``serde`` turns values into bytes."""

    serde: SerializerProtocol = JsonPlusSerializer()

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        self.serde = serde or self.serde

    @abstractmethod
    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """The values of the keys that are there and have not run out."""

    @abstractmethod
    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """Like `get`, awaiting."""

    @abstractmethod
    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Store values, each with its time to live."""

    @abstractmethod
    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Like `set`, awaiting."""

    @abstractmethod
    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget the values of the namespaces, or all."""

    @abstractmethod
    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Like `clear`, awaiting."""


def ends_at(ttl: int | None, now: float) -> float | None:
    """The moment, in seconds since the epoch, at which an entry runs out."""
    return None if ttl is None else now + ttl
