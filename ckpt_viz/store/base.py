"""What is remembered across threads: items under a namespace and a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypedDict

from ckpt_viz.store.meaning import (
    AEmbeddingsFunc,
    Embeddings,
    EmbeddingsFunc,
    IndexConfig,
    ensure_embeddings,
)
from ckpt_viz.store.paths import get_text_at_path, tokenize_path

__all__ = [
    "NOT_PROVIDED",
    "AEmbeddingsFunc",
    "BaseStore",
    "Embeddings",
    "EmbeddingsFunc",
    "GetOp",
    "IndexConfig",
    "InvalidNamespaceError",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "NamespaceMatchType",
    "NamespacePath",
    "NotProvided",
    "Op",
    "PutOp",
    "Result",
    "SearchItem",
    "SearchOp",
    "TTLConfig",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
]

Namespace = tuple[str, ...]
NamespacePath = tuple[str, ...]
NamespaceMatchType = Literal["prefix", "suffix"]


class NotProvided:
    """Tells that an argument was left out, where None would mean something."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_PROVIDED: Final = NotProvided()


class TTLConfig(TypedDict, total=False):
    """How long items live, in minutes, for stores that let them expire."""

    refresh_on_read: bool
    omit_expired: bool
    default_ttl: float | None
    sweep_interval_minutes: int | None


class Item:
    """One remembered value, with where it is kept and since when."""

    __slots__ = ("created_at", "key", "namespace", "updated_at", "value")

    def __init__(
        self,
        *,
        value: dict[str, Any],
        key: str,
        namespace: Namespace,
        created_at: datetime | str,
        updated_at: datetime | str,
    ) -> None:
        self.value = value
        self.key = key
        self.namespace = tuple(namespace)
        self.created_at = _moment(created_at)
        self.updated_at = _moment(updated_at)

    def dict(self) -> dict[str, Any]:
        """The item as plain data, times as ISO text."""
        return {
            "value": self.value,
            "key": self.key,
            "namespace": list(self.namespace),
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.dict() == other.dict()

    def __hash__(self) -> int:
        return hash((self.namespace, self.key))

    def __repr__(self) -> str:
        fields = self.dict()
        names = ("namespace", "key", *(n for n in fields if n not in ("namespace", "key")))
        shown = ", ".join(f"{name}={fields[name]!r}" for name in names)
        return f"Item({shown})"


class SearchItem(Item):
    """An item that a search found; ``score`` tells how well, where a query was asked."""

    __slots__ = ("score",)

    def __init__(  # noqa: PLR0917 - the documented order
        self,
        namespace: Namespace,
        key: str,
        value: dict[str, Any],
        created_at: datetime | str,
        updated_at: datetime | str,
        score: float | None = None,
    ) -> None:
        super().__init__(
            value=value,
            key=key,
            namespace=namespace,
            created_at=created_at,
            updated_at=updated_at,
        )
        self.score = score

    def dict(self) -> dict[str, Any]:
        """The item as plain data, with its score."""
        return {**super().dict(), "score": self.score}


def _moment(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


class GetOp(NamedTuple):
    """Read one item."""

    namespace: Namespace
    key: str
    refresh_ttl: bool = True


class PutOp(NamedTuple):
    """Write one item; the value None deletes it."""

    namespace: Namespace
    key: str
    value: dict[str, Any] | None
    index: Literal[False] | list[str] | None = None  # type: ignore[assignment]
    ttl: float | None = None


class SearchOp(NamedTuple):
    """Find items below a namespace."""

    namespace_prefix: Namespace
    filter: dict[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    """How a namespace must begin (``prefix``) or end (``suffix``); ``*`` is any one part."""

    match_type: Literal["prefix", "suffix"]
    path: Namespace


class ListNamespacesOp(NamedTuple):
    """Find namespaces."""

    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


Op = GetOp | SearchOp | PutOp | ListNamespacesOp
Result = Item | list[Item] | list[SearchItem] | list[tuple[str, ...]] | None


class InvalidNamespaceError(ValueError):
    """A namespace is empty, or a part of it is not plain text."""


class BaseStore:
    """The documented interface; a sub-class implements `batch`, the rest comes from it."""

    supports_ttl: bool = False
    ttl_config: TTLConfig | None = None
    __slots__ = ("__weakref__",)

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations in order; one result each."""
        raise NotImplementedError

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """As `batch`."""
        return self.batch(ops)

    def get(
        self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None
    ) -> Item | None:
        """The item of a key, or None."""
        found: Item | None = self.batch([_get(namespace, key)])[0]
        return found

    def put(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any] | None,
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Write an item; one that is there is replaced and keeps its time of creation.

        The value None removes the item, as `delete` does.

        Raises:
            InvalidNamespaceError: the namespace is empty or not made of plain text.
            NotImplementedError: a time to live is given, which this store does not have.
        """
        self.batch([_put(self, namespace, key, value, index, ttl=ttl)])

    def delete(self, namespace: Namespace, key: str) -> None:
        """Remove an item; one that is not there is no error."""
        self.batch([PutOp(tuple(namespace), str(key), None)])

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
        """Items below a namespace, oldest first; ``filter`` compares entries of the value."""
        op = SearchOp(tuple(namespace_prefix), filter, limit, offset, query)
        found: list[SearchItem] = self.batch([op])[0]
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
        """Namespaces that hold something, in order, cut at ``max_depth`` parts."""
        op = _namespaces(prefix, suffix, max_depth, limit, offset)
        found: list[Namespace] = self.batch([op])[0]
        return found

    async def aget(
        self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None
    ) -> Item | None:
        """As `get`."""
        found: Item | None = (await self.abatch([_get(namespace, key)]))[0]
        return found

    async def aput(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any] | None,
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """As `put`."""
        await self.abatch([_put(self, namespace, key, value, index, ttl=ttl)])

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """As `delete`."""
        await self.abatch([PutOp(tuple(namespace), str(key), None)])

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
        op = SearchOp(tuple(namespace_prefix), filter, limit, offset, query)
        found: list[SearchItem] = (await self.abatch([op]))[0]
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
        found: list[Namespace] = (await self.abatch([op]))[0]
        return found


def _get(namespace: Namespace, key: str) -> GetOp:
    return GetOp(tuple(namespace), str(key))


def _put(
    store: BaseStore,
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any] | None,
    index: Literal[False] | list[str] | None,
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
    return PutOp(_checked(namespace), str(key), kept, index, ttl)


def _checked(namespace: Namespace) -> Namespace:
    parts = tuple(namespace)
    if not parts:
        raise InvalidNamespaceError("Namespace cannot be empty. Pass a tuple: ('user', 'notes').")
    for part in parts:
        if not isinstance(part, str):
            raise InvalidNamespaceError(
                f"Invalid namespace label '{part}' found in {parts}. Namespace labels must be "
                f"strings, but got {type(part).__name__}."
            )
        if "." in part:
            raise InvalidNamespaceError(
                f"Invalid namespace label '{part}' found in {parts}. Namespace labels cannot "
                "contain periods ('.')."
            )
        if not part:
            raise InvalidNamespaceError(
                f"Namespace labels cannot be empty strings. Got {part} in {parts}"
            )
    if parts[0] == "langgraph":
        raise InvalidNamespaceError(f'Root label for namespace cannot be "langgraph". Got: {parts}')
    return parts


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
