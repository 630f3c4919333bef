"""The documented interface of a store. Each method is one operation, given to `batch`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ckpt_viz.store.namespaces import checked
from ckpt_viz.store.records import (
    NOT_PROVIDED,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Namespace,
    NotProvided,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)

Index = Literal[False] | list[str] | None


class BaseStore(ABC):
    """What a store offers; a sub-class implements `batch` and `abatch`, the rest comes from them.

    Times to live are in minutes. ``refresh_ttl`` tells whether a read starts an item's time anew;
    left out, the store's own setting does.
    """

    supports_ttl: bool = False
    ttl_config: TTLConfig | None = None
    __slots__ = ("__weakref__",)

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations; one result each. Reads see what was there before the writes."""

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """As `batch`."""

    def _one(self, op: Op) -> Any:
        return self.batch([op])[0]

    async def _aone(self, op: Op) -> Any:
        return (await self.abatch([op]))[0]

    def get(
        self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None
    ) -> Item | None:
        """The item of a key, or None."""
        found: Item | None = self._one(_get(self, namespace, key, refresh_ttl))
        return found

    def put(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any] | None,
        index: Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Write an item; one that is there is replaced and keeps its time of creation.

        Args:
            namespace: where; not empty, its labels without ``.``.
            key: under which name.
            value: what; None removes the item, as `delete` does.
            index: which paths of the value are searched by meaning (``"$"`` is all of it), False
                for none, None for those of the store.
            ttl: minutes to live, None for ever; left out, the store's ``default_ttl``.

        Raises:
            InvalidNamespaceError: the namespace is empty or not made of plain text.
            NotImplementedError: a time to live is given, which this store does not have.
        """
        self._one(_put(self, namespace, key, value, index, ttl=ttl))

    def delete(self, namespace: Namespace, key: str) -> None:
        """Remove an item; one that is not there is no error."""
        self._one(PutOp(tuple(namespace), str(key), None))

    def search(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items below a namespace: the nearest to a query first, without one the oldest first.

        Args:
            namespace_prefix: how their namespaces begin; empty for all.
            query: what their texts shall mean; needs a store with ``index``.
            filter: entries that their values must have, or operators as ``{"n": {"$gt": 1}}``.
            limit: how many at most.
            offset: how many of the first are left out.
            refresh_ttl: see the class.

        Raises:
            ValueError: an operator that there is not, or a negative limit or offset.
        """
        op = _search(self, namespace_prefix, filter, limit, offset, query, refresh_ttl)
        found: list[SearchItem] = self._one(op)
        return found

    def list_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Namespaces that hold something, in order, cut at ``max_depth`` labels.

        In ``prefix`` and ``suffix`` the label ``*`` is any label.
        """
        found: list[Namespace] = self._one(_namespaces(prefix, suffix, max_depth, limit, offset))
        return found

    async def aget(
        self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None
    ) -> Item | None:
        """As `get`."""
        found: Item | None = await self._aone(_get(self, namespace, key, refresh_ttl))
        return found

    async def aput(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any] | None,
        index: Index = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """As `put`."""
        await self._aone(_put(self, namespace, key, value, index, ttl=ttl))

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """As `delete`."""
        await self._aone(PutOp(tuple(namespace), str(key), None))

    async def asearch(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """As `search`."""
        op = _search(self, namespace_prefix, filter, limit, offset, query, refresh_ttl)
        found: list[SearchItem] = await self._aone(op)
        return found

    async def alist_namespaces(
        self,
        *,
        prefix: Namespace | None = None,
        suffix: Namespace | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """As `list_namespaces`."""
        op = _namespaces(prefix, suffix, max_depth, limit, offset)
        found: list[Namespace] = await self._aone(op)
        return found


def _refresh(store: BaseStore, given: bool | None) -> bool:
    return (store.ttl_config or {}).get("refresh_on_read", True) if given is None else given


def _get(store: BaseStore, namespace: Namespace, key: str, refresh: bool | None) -> GetOp:
    return GetOp(tuple(namespace), str(key), _refresh(store, refresh))


def _put(
    store: BaseStore,
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any] | None,
    index: Index,
    *,
    ttl: float | NotProvided | None,
) -> PutOp:
    if isinstance(ttl, NotProvided):
        ttl = (store.ttl_config or {}).get("default_ttl")
    elif ttl is not None and not store.supports_ttl:
        raise NotImplementedError(
            f"TTL is not supported by {type(store).__name__}. Use a store implementation that "
            "supports TTL or set ttl=None."
        )
    kept = None if value is None else dict(value)
    return PutOp(checked(namespace), str(key), kept, index, ttl)


def _search(store: BaseStore, prefix: Namespace, *what: Any) -> SearchOp:
    wanted, limit, offset, query, refresh = what
    return SearchOp(tuple(prefix), wanted, limit, offset, query, _refresh(store, refresh))


def _namespaces(
    prefix: Namespace | None,
    suffix: Namespace | None,
    max_depth: int | None,
    limit: int,
    offset: int,
) -> ListNamespacesOp:
    conditions = []
    if prefix:
        conditions.append(MatchCondition("prefix", tuple(prefix)))
    if suffix:
        conditions.append(MatchCondition("suffix", tuple(suffix)))
    return ListNamespacesOp(tuple(conditions), max_depth, limit, offset)
