"""Every store against a dictionary, over random programs of operations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckpt_viz.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from ckpt_viz.store.filters import matches

from .conftest import FOUR, INDEX, Async, Sync, letters, open_store

LABELS = st.sampled_from(["a", "b", "ab", "a-", "é", "*"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(LABELS, max_size=2).map(tuple)
KEYS = st.sampled_from(["k", "l", "k.l", ""])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, -1.5, 2**64, float("inf"), "a", "b", "2", "2.5", "\0", "ab"])
)
VALUES = st.dictionaries(
    st.sampled_from(["n", "s", "text", "a.b"]),
    LEAVES | st.dictionaries(st.sampled_from(["b", "n"]), LEAVES, max_size=2) | st.tuples(LEAVES),
    max_size=3,
)
OPERATORS = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), LEAVES, min_size=1, max_size=2
)
FILTERS = st.dictionaries(st.sampled_from(["n", "s", "a.b"]), LEAVES | OPERATORS, max_size=2)
PAGES = {"limit": st.integers(0, 4), "offset": st.integers(0, 3)}
CONDITIONS = st.tuples(
    *[st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PREFIXES)] * 2
)
PUTS = st.builds(PutOp, SPACES, KEYS, st.none() | VALUES, st.none() | st.just(False), st.none())
READS = (
    st.builds(GetOp, SPACES, KEYS, st.just(True))
    | st.builds(
        SearchOp,
        PREFIXES,
        st.none() | FILTERS,
        query=st.none() | st.sampled_from(["a", "b", "2"]),
        refresh_ttl=st.just(True),
        **PAGES,
    )
    | st.builds(ListNamespacesOp, st.just(()) | CONDITIONS, st.none() | st.integers(1, 3), **PAGES)
)
PROGRAMS = st.lists(st.lists(PUTS | READS, min_size=1, max_size=5), min_size=1, max_size=8)


class Model:
    """A store in ten lines: a dictionary in the order of creation."""

    def __init__(self) -> None:
        self.items: dict[Any, Any] = {}
        self.searched: set[Any] = set()

    def batch(self, ops: list[Any]) -> list[Any]:
        results = [self.read(op) for op in ops]
        for op in {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values():
            place = op.namespace, op.key
            self.searched.discard(place)
            if op.value is None:
                self.items.pop(place, None)
                continue
            self.items[place] = op.value
            if op.index is not False and op.value.get("text") is not None:
                self.searched.add(place)
        return results

    def read(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            return self.items.get((op.namespace, op.key))
        if isinstance(op, SearchOp):
            size = len(op.namespace_prefix)
            found = [
                (place, value)
                for place, value in self.items.items()
                if place[0][:size] == op.namespace_prefix and matches(value, op.filter or {})
            ]
            if op.query:
                found = [pair for pair in found if pair[0] in self.searched]
                found.sort(key=lambda pair: -nearness(pair[1]["text"], op.query))
            return [place for place, _ in found[op.offset : op.offset + op.limit]]
        if isinstance(op, ListNamespacesOp):
            names = {
                place[0][: op.max_depth]
                for place in self.items
                if all(fits(place[0], c) for c in op.match_conditions)
            }
            return sorted(names)[op.offset : op.offset + op.limit]
        return None


def fits(space: Any, condition: Any) -> bool:
    size = len(condition.path)
    part = space[:size] if condition.match_type == "prefix" else space[len(space) - size :]
    pairs = list(zip(part, condition.path, strict=False))
    return len(space) >= size and all(want in ("*", have) for have, want in pairs)


def nearness(text: Any, query: str) -> float:
    is_leaf = isinstance(text, str | int | float)
    said = str(text) if is_leaf else json.dumps(text, sort_keys=True, ensure_ascii=False)
    a, b = (letters([x])[0] for x in (said, query))
    length = (sum(x * x for x in a) * sum(x * x for x in b)) ** 0.5
    return round(sum(x * y for x, y in zip(a, b, strict=True)) / length, 9) if length else 0.0


def told(result: Any) -> Any:
    """A store's result in the model's terms."""
    if isinstance(result, list):
        return [one if isinstance(one, tuple) else (one.namespace, one.key) for one in result]
    return None if result is None else result.value


def run(store: Any, kind: str, program: Any) -> None:
    model = Model()
    for ops in program:
        if kind == "memory":  # there, what has no vectors comes after the others
            ops = [op._replace(query=None) if isinstance(op, SearchOp) else op for op in ops]
        expected = model.batch(ops)
        assert [told(result) for result in store.batch(ops)] == expected


def clear(store: Any) -> None:
    while found := store.search((), limit=1000):
        store.batch([PutOp(item.namespace, item.key, None) for item in found])


@pytest.mark.parametrize("colour", [Sync, Async], ids=["sync", "async"])
@pytest.mark.parametrize("kind", FOUR)
def test_random_programs(kind, colour, request, tmp_path):
    check(open_store(kind, request, tmp_path, index=dict(INDEX)), kind, colour, 30)


@pytest.mark.soak
@pytest.mark.parametrize("kind", [*FOUR, "postgres-numpy", "sqlite-conn"])
def test_many_random_programs(kind, request, tmp_path):
    check(open_store(kind, request, tmp_path, index=dict(INDEX)), kind, Sync, 500)


def check(raw: Any, kind: str, colour: Any, examples: int) -> None:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]

    @settings(max_examples=examples, deadline=None, suppress_health_check=slow)
    @given(PROGRAMS)
    def runs(program: Any) -> None:
        clear(raw)
        run(colour(raw), kind, program)

    runs()
