"""What a store asks of a database, and how a value is written there.

A value of plain JSON is JSON text, which people can read and databases can search; any other is
packed by the serializer, so that it comes back as it was. Times are microseconds since 1970.
Namespaces are texts, see `ckpt_viz.store.namespaces`. A script yields requests of its database.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.store.namespaces import namespace_of
from ckpt_viz.store.records import Item, SearchItem

T = TypeVar("T")
Script = Generator[Any, Any, T]

_serde = JsonPlusSerializer()
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT = 2**63
_MINUTE = 60_000_000
_FAR = 2**52
"""Microseconds after which it does not matter when something ends: 142 years."""


class Row(NamedTuple):
    """A stored item.

    ``body`` is JSON text or packed bytes; ``state`` is another number after each put with vectors.
    """

    number: int
    ns: str
    key: str
    body: str | bytes
    created: int
    updated: int
    ttl: float | None
    state: int


class Put(NamedTuple):
    """An item to write; the body None removes it. ``vectors`` is None where there is no index."""

    ns: str
    key: str
    body: str | bytes | None
    now: int
    expires: int | None
    ttl: float | None
    state: int
    vectors: list[Any] | None


class Page(NamedTuple):
    """Which items a search looks at: of a namespace and below, with numbers above ``after``."""

    ns: str
    filter: dict[str, Any]
    after: int
    size: int
    skip: int
    now: int


class VectorRow(NamedTuple):
    """A stored vector; ``mark`` grows with each that is written."""

    mark: int
    number: int
    state: int
    ns: str
    vector: Any


class Rows(Protocol):
    """The scripts of a kind of database. ``now`` hides what has expired by then.

    ``ranks`` tells whether the database itself can find the nearest vectors. It is known after
    `set_up` has run.
    """

    ranks: bool

    def get(self, places: Sequence[tuple[str, str]], now: int) -> Script[list[Row | None]]:
        """Items by namespace and key."""
        ...

    def page(self, page: Page) -> Script[list[Row]]:
        """A page of items in the order of their numbers, those of the filter at least."""
        ...

    def fetch(self, numbers: Sequence[int], now: int) -> Script[list[Row]]:
        """Items by number, in any order."""
        ...

    def spaces(self, below: str, now: int) -> Script[list[str]]:
        """Namespaces that hold something: one and those below it."""
        ...

    def vectors(self, after: int) -> Script[list[VectorRow]]:
        """Vectors with marks above one, in the order of their marks."""
        ...

    def length(self) -> Script[int | None]:
        """How many numbers a stored vector has; None if there is none."""
        ...

    def rank(self, question: Any, below: str, count: int) -> Script[list[VectorRow]]:
        """The nearest vectors of a namespace and below, as the database reckons."""
        ...

    def write(self, puts: Sequence[Put]) -> Script[None]:
        """Write items, in this order."""
        ...

    def refresh(self, rows: Sequence[Row], now: int) -> Script[None]:
        """Start the time to live of items anew."""
        ...

    def sweep(self, now: int) -> Script[int]:
        """Remove what has expired; returns how many items."""
        ...


def packed_value(value: dict[str, Any]) -> str | bytes:
    """A value as JSON text where that tells all of it, else as packed bytes.

    Raises:
        SerializationError: it cannot be saved.
    """
    if _is_plain(value):
        try:
            text = _encode(value)
            text.encode()
        except (ValueError, RecursionError):  # halves of surrogate pairs
            text = "\\u0000"
        if "\\u0000" not in text:
            return text
    tag, data = _serde.dumps_typed(value)
    return tag.encode() + b"\0" + data


def value_of(body: str | bytes) -> Any:
    """The value that `packed_value` was given."""
    if isinstance(body, str):
        return json.loads(body)
    tag, _, data = bytes(body).partition(b"\0")
    return _serde.loads_typed((tag.decode(), data))


def _is_plain(value: Any) -> bool:
    """Whether JSON brings a value back with all its types."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return bool(-_LIMIT <= value < _LIMIT)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(map(_is_plain, value))
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    return False


def item_of(row: Row, value: Any) -> Item:
    """A row as an item."""
    return Item(
        value=value,
        key=unescape(row.key),
        namespace=namespace_of(row.ns),
        created_at=_moment(row.created),
        updated_at=_moment(row.updated),
    )


def found_of(row: Row, value: Any, score: float | None) -> SearchItem:
    """A row as what a search found."""
    made, changed = _moment(row.created), _moment(row.updated)
    return SearchItem(namespace_of(row.ns), unescape(row.key), value, made, changed, score)


def ending(now: int, minutes: float) -> int:
    """When what lives so many minutes from now on ends.

    Raises:
        ValueError: the minutes are no number.
    """
    return now + round(max(-_FAR, min(minutes * _MINUTE, _FAR)))


def key_of(key: str) -> str:
    """A key as databases can hold it."""
    return escape(key)


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
