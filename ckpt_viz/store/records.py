"""The records of a store: items, the operations on them, and how long they live."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypedDict

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
    """How long items live, in minutes, for stores that let them expire.

    ``refresh_on_read`` (True if left out): a read starts an item's time anew. ``omit_expired``
    (True if left out): what has expired is not shown, even if nobody swept it away yet.
    """

    refresh_on_read: bool
    omit_expired: bool
    default_ttl: float | None
    sweep_interval_minutes: float | None


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
            "namespace": list(self.namespace),
            "key": self.key,
            "value": self.value,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and Item.dict(self) == Item.dict(other)

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
    """Read one item; ``refresh_ttl`` starts its time to live anew."""

    namespace: Namespace
    key: str
    refresh_ttl: bool = True


class PutOp(NamedTuple):
    """Write one item; the value None deletes it. ``ttl`` is in minutes, None is for ever."""

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
