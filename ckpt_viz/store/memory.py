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


class InMemoryStore(BaseStore):
    """Remembers items for as long as the process lives.

    What is put and what is given out are copies: changing them changes nothing in here.

    Args:
        index: settings for search by meaning; kept, but this store compares no meanings yet.
    """

    def __init__(self, *, index: dict[str, Any] | None = None) -> None:
        self.index_config = index
        self._data: dict[tuple[Namespace, str], Item] = {}
        self._lock = threading.RLock()

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations in order; one result each."""
        with self._lock:
            return [self._do(op) for op in ops]

    def _do(self, op: Op) -> Any:
        if isinstance(op, PutOp):
            return self._put(op)
        if isinstance(op, GetOp):
            found = self._data.get((op.namespace, op.key))
            return None if found is None else _copied(found, Item)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"Unknown operation {type(op).__name__}: use GetOp, PutOp, SearchOp, ...")

    def _put(self, op: PutOp) -> None:
        place = (op.namespace, op.key)
        if op.value is None:
            self._data.pop(place, None)
            return
        now = datetime.now(UTC)
        value = copy.deepcopy(op.value)
        there = self._data.get(place)
        if there is None:
            self._data[place] = Item(
                value=value, key=op.key, namespace=op.namespace, created_at=now, updated_at=now
            )
        else:
            there.value, there.updated_at = value, now

    def _search(self, op: SearchOp) -> list[Any]:
        """In the order of creation, which is that of the dictionary."""
        prefix, wanted = op.namespace_prefix, op.filter or {}
        found = [
            item
            for (namespace, _), item in self._data.items()
            if namespace[: len(prefix)] == prefix and _matches(item.value, wanted)
        ]
        return [_copied(item, SearchItem) for item in found[op.offset : op.offset + op.limit]]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {
            namespace[: op.max_depth]
            for namespace, _ in self._data
            if all(_fits(namespace, condition) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def _copied(item: Item, cls: type[Item]) -> Item:
    return cls(
        value=copy.deepcopy(item.value),
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


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
    if not isinstance(want, dict) or not any(str(key).startswith("$") for key in want):
        return bool(have == want)
    for name, limit in want.items():
        compare = _COMPARE.get(name)
        if compare is None:
            raise ValueError(f"Unknown comparison {name!r}: use one of {', '.join(_COMPARE)}.")
        if (have is None and name not in ("$eq", "$ne")) or not compare(have, limit):
            return False
    return True


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(want in ("*", have) for have, want in zip(part, path, strict=True))
