"""The store that keeps items in dictionaries of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from ckpt_viz.store.copying import copied
from ckpt_viz.store.filters import matcher
from ckpt_viz.store.interface import BaseStore
from ckpt_viz.store.meaning import Known, Meaning, aknown, known
from ckpt_viz.store.namespaces import listed
from ckpt_viz.store.nearest import Nearest, Widening
from ckpt_viz.store.operations import checked_ops
from ckpt_viz.store.records import (
    GetOp,
    Item,
    Namespace,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)


class _Kept(NamedTuple):
    """An item and its number, which grows from item to item."""

    number: int
    item: Item


class InMemoryStore(BaseStore):
    """Remembers items for as long as the process lives.

    What is put and what is given out are copies: changing them changes nothing in here. With a
    query, items that are not searched by meaning come after the others, without a score.

    Args:
        index: settings for search by meaning, see `ckpt_viz.store.base.IndexConfig`.
    """

    __slots__ = (
        "_data",
        "_lock",
        "_meaning",
        "_nearest",
        "_number",
        "_places",
        "embeddings",
        "index_config",
    )

    def __init__(self, *, index: Any = None) -> None:
        self.index_config = index
        self._data: dict[Namespace, dict[str, _Kept]] = {}
        self._lock = threading.RLock()
        self._number = 0
        self._meaning = Meaning(index) if index else None
        self.embeddings = self._meaning.embed if self._meaning else None
        self._nearest = Nearest()
        self._places: dict[int, tuple[Namespace, str]] = {}

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations; one result each."""
        done = checked_ops(ops)
        return self._apply(done, known(self._meaning, done))

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """As `batch`, awaiting the vectors."""
        done = checked_ops(ops)
        return self._apply(done, await aknown(self._meaning, done))

    def _apply(self, ops: list[Op], vectors: Known) -> list[Any]:
        with self._lock:
            results = [self._read(op, vectors) for op in ops]
            puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
            now = datetime.now(UTC)
            for op in puts.values():
                self._put(op, vectors, now)
        return results

    def _read(self, op: Op, vectors: Known) -> Any:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            kept = self._data.get(op.namespace, {}).get(op.key)
            return None if kept is None else _copied(kept.item)
        if isinstance(op, SearchOp):
            asked = vectors.questions.get(op.query) if op.query else None
            found = self._scored(op, asked) if asked is not None else self._plain(op)
            return [_found(item, score) for score, item in found]
        return listed(self._data, op)

    def _put(self, op: PutOp, vectors: Known, now: datetime) -> None:
        namespace, key = op.namespace, op.key
        items = self._data.get(namespace, {})
        there = items.get(key)
        if op.value is None:
            if there is not None:
                self._remove(namespace, key, there.number)
            return
        value = copied(op.value)
        if self._meaning is not None:
            self._index(op, there.number if there else self._number + 1, vectors)
        if there is not None:
            there.item.value, there.item.updated_at = value, now
            return
        self._number += 1
        item = Item(value=value, key=key, namespace=namespace, created_at=now, updated_at=now)
        items[key] = _Kept(self._number, item)
        self._data[namespace] = items

    def _index(self, op: PutOp, number: int, vectors: Known) -> None:
        assert self._meaning is not None
        self._nearest.set(number, 0, op.namespace, self._meaning.vectors(op, vectors))
        self._places[number] = op.namespace, op.key

    def _remove(self, namespace: Namespace, key: str, number: int) -> None:
        del self._data[namespace][key]
        if not self._data[namespace]:
            del self._data[namespace]
        self._nearest.drop(number)
        self._places.pop(number, None)

    def _below(self, op: SearchOp) -> Iterator[_Kept]:
        """What a search may find, in the order of creation, which is that of each namespace."""
        prefix, means = op.namespace_prefix, matcher(op.filter) if op.filter else None
        parts = [
            items.values() if means is None else _meant(items.values(), means)
            for namespace, items in self._data.items()
            if namespace[: len(prefix)] == prefix
        ]
        return iter(parts[0]) if len(parts) == 1 else merge(*parts, key=_number)

    def _plain(self, op: SearchOp) -> list[tuple[None, Item]]:
        """In the order of creation."""
        found = islice(self._below(op), op.offset, op.offset + op.limit)
        return [(None, kept.item) for kept in found]

    def _scored(self, op: SearchOp, asked: Any) -> list[tuple[float | None, Item]]:
        """The nearest first, and after them what has no vectors."""
        end, means = op.offset + op.limit, matcher(op.filter or {})
        found: list[tuple[float | None, Item]] = []
        search = Widening(end)
        while search.more and len(found) < end:
            best = self._nearest.best(asked, op.namespace_prefix, search.count, search.below)
            for near in search.take(*best):
                namespace, key = self._places[near.item]
                item = self._data[namespace][key].item
                if means(item.value):
                    found.append((near.score, item))
        if len(found) < end:
            rest = (kept for kept in self._below(op) if kept.number not in self._nearest)
            found += [(None, kept.item) for kept in islice(rest, end - len(found))]
        return found[op.offset : end]


_number = itemgetter(0)


def _meant(kept: Iterable[_Kept], means: Callable[[Any], bool]) -> Iterator[_Kept]:
    return (one for one in kept if means(one.item.value))


def _copied(item: Item) -> Item:
    return Item(
        value=copied(item.value),
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _found(item: Item, score: float | None) -> SearchItem:
    value, made, changed = copied(item.value), item.created_at, item.updated_at
    return SearchItem(item.namespace, item.key, value, made, changed, score)
