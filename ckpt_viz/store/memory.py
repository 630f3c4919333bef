"""The store that keeps items in dictionaries of this process."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ckpt_viz.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Namespace,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from ckpt_viz.store.meaning import Vector, ensure_embeddings, nearness
from ckpt_viz.store.paths import get_text_at_path, tokenize_path

Place = tuple[Namespace, str]


class InMemoryStore(BaseStore):
    """Remembers items for as long as the process lives.

    What is put and what is given out are copies: changing them changes nothing in here. The reads
    of a batch see what was there before its writes.

    Args:
        index: settings for search by meaning: ``dims``, ``embed`` and ``fields`` (see
            `ckpt_viz.store.base.IndexConfig`). A function as ``embed`` takes a list of texts.
    """

    __slots__ = ("_data", "_embed", "_lock", "_paths", "_vectors", "index_config")

    def __init__(self, *, index: Any = None) -> None:
        self.index_config = index
        self._data: dict[Place, Item] = {}
        self._vectors: dict[Place, list[Vector]] = {}
        self._lock = threading.RLock()
        self._embed: Any = ensure_embeddings(index["embed"]) if index else None
        self._paths = [tokenize_path(p) for p in (index or {}).get("fields") or ["$"]]

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations; one result each."""
        done = list(ops)
        texts, questions = self._texts(done), _questions(done)
        vectors: list[Vector] = []
        asked: dict[str, Vector] = {}
        if self._embed is not None:
            vectors = self._embed.embed_documents(list(texts)) if texts else []
            asked = {question: self._embed.embed_query(question) for question in questions}
        return self._apply(done, dict(zip(texts, vectors, strict=False)), asked)

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """As `batch`, awaiting the vectors."""
        done = list(ops)
        texts, questions = self._texts(done), _questions(done)
        vectors: list[Vector] = []
        asked: dict[str, Vector] = {}
        if self._embed is not None:
            vectors = await self._embed.aembed_documents(list(texts)) if texts else []
            asked = {question: await self._embed.aembed_query(question) for question in questions}
        return self._apply(done, dict(zip(texts, vectors, strict=False)), asked)

    def _texts(self, ops: list[Op]) -> dict[str, None]:
        """All texts that a batch's items are searched by."""
        if self._embed is None:
            return {}
        puts = [op for op in ops if isinstance(op, PutOp)]
        return dict.fromkeys(text for op in puts for text in self._searched(op))

    def _searched(self, op: PutOp) -> list[str]:
        if op.value is None or op.index is False or self._embed is None:
            return []
        paths = self._paths if op.index is None else [tokenize_path(p) for p in op.index]
        return [t for p in paths for t in get_text_at_path(op.value, "$" if p == ["$"] else p)]

    def _apply(
        self, ops: list[Op], vectors: dict[str, Vector], asked: dict[str, Vector]
    ) -> list[Any]:
        with self._lock:
            results = [self._read(op, asked) for op in ops]
            for op in ops:
                if isinstance(op, PutOp):
                    self._put(op, vectors)
        return results

    def _read(self, op: Op, asked: dict[str, Vector]) -> Any:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            found = self._data.get((op.namespace, op.key))
            return None if found is None else _copied(found)
        if isinstance(op, SearchOp):
            return self._search(op, asked.get(op.query) if op.query else None)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}. Use GetOp, PutOp, SearchOp, ...")

    def _put(self, op: PutOp, vectors: dict[str, Vector]) -> None:
        place = (op.namespace, op.key)
        self._vectors.pop(place, None)
        if op.value is None:
            self._data.pop(place, None)
            return
        if texts := self._searched(op):
            self._vectors[place] = [vectors[text] for text in texts]
        now = datetime.now(UTC)
        value = copy.deepcopy(op.value)
        there = self._data.get(place)
        if there is None:
            self._data[place] = Item(
                value=value, key=op.key, namespace=op.namespace, created_at=now, updated_at=now
            )
        else:
            there.value, there.updated_at = value, now

    def _search(self, op: SearchOp, question: Vector | None) -> list[SearchItem]:
        """In the order of creation, which is the dictionary's; with a question, nearest first."""
        prefix, wanted = op.namespace_prefix, op.filter or {}
        found: list[tuple[float | None, Item]] = [
            (None, item)
            for (namespace, _), item in self._data.items()
            if namespace[: len(prefix)] == prefix and _matches(item.value, wanted)
        ]
        if question is not None:
            scored = [(self._score(item, question), item) for _, item in found]
            near = [pair for pair in scored if pair[0] is not None]
            near.sort(key=lambda pair: pair[0] or 0.0, reverse=True)
            found = near + [pair for pair in scored if pair[0] is None]
        return [_found(item, score) for score, item in found[op.offset : op.offset + op.limit]]

    def _score(self, item: Item, question: Vector) -> float | None:
        vectors = self._vectors.get((item.namespace, item.key))
        return max(nearness(v, question) for v in vectors) if vectors else None

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {
            namespace if op.max_depth is None else namespace[: op.max_depth]
            for namespace, _ in self._data
            if all(_fits(namespace, condition) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def _questions(ops: list[Op]) -> dict[str, None]:
    return dict.fromkeys(op.query for op in ops if isinstance(op, SearchOp) and op.query)


def _copied(item: Item) -> Item:
    return Item(
        value=copy.deepcopy(item.value),
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _found(item: Item, score: float | None) -> SearchItem:
    value, made, changed = copy.deepcopy(item.value), item.created_at, item.updated_at
    return SearchItem(item.namespace, item.key, value, made, changed, score)


_COMPARE: dict[str, Any] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: float(a) > float(b),
    "$gte": lambda a, b: float(a) >= float(b),
    "$lt": lambda a, b: float(a) < float(b),
    "$lte": lambda a, b: float(a) <= float(b),
}


def _matches(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(_equal(value.get(key), want) for key, want in wanted.items())


def _equal(have: Any, want: Any) -> bool:
    if not isinstance(want, dict):
        return bool(have == want)
    if not any(str(key).startswith("$") for key in want):
        return isinstance(have, dict) and _matches(have, want)
    for name, limit in want.items():
        compare = _COMPARE.get(name)
        if compare is None:
            raise ValueError(f"Unsupported operator: {name}. Use one of {', '.join(_COMPARE)}.")
        if (have is None and name not in ("$eq", "$ne")) or not compare(have, limit):
            return False
    return True


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}. Use prefix or suffix.")
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(want in ("*", have) for have, want in zip(part, path, strict=True))
