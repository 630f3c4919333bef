"""What every store does, through its plain methods and its async twins."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from uuid import UUID

import pytest

from ckpt_viz.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from ckpt_viz.store.memory import InMemoryStore


def test_an_item_tells_what_the_documentation_shows(store):
    store.put(("1", "memories"), "key", {"food_preference": "I like pizza"})
    item = store.search(("1", "memories"))[-1]
    shown = item.dict()
    assert shown["value"] == {"food_preference": "I like pizza"}
    assert shown["key"] == "key"
    assert shown["namespace"] == ["1", "memories"]
    assert shown["created_at"] <= shown["updated_at"]
    assert shown["created_at"].endswith("+00:00")
    assert list(store.get(("1", "memories"), "key").dict()) == [
        "namespace",
        "key",
        "value",
        "created_at",
        "updated_at",
    ]


def test_the_newest_is_last_and_an_update_does_not_move_it(store):
    for key in "abc":
        store.put(("n",), key, {"k": key})
    store.put(("n",), "a", {"k": "again"})
    assert [item.key for item in store.search(("n",))] == ["a", "b", "c"]
    first = store.get(("n",), "a")
    assert first.value == {"k": "again"}
    assert first.created_at < first.updated_at


def test_search_is_cut_and_filtered(store):
    for n in range(15):
        store.put(("n", str(n % 2)), str(n), {"n": n, "even": n % 2 == 0})
    assert len(store.search(("n",))) == 10
    assert [i.value["n"] for i in store.search((), limit=3, offset=2)] == [2, 3, 4]
    assert len(store.search(("n", "1"), limit=100)) == 7
    assert {i.value["n"] for i in store.search(("n",), filter={"even": False})} == set(
        range(1, 15, 2)
    )
    assert [i.value["n"] for i in store.search(("n",), filter={"n": {"$gte": 13}})] == [13, 14]
    with pytest.raises(ValueError, match="operator"):
        store.search(("n",), filter={"n": {"$like": 1}})


def test_delete_and_absent_items(store):
    store.put(("n",), "k", {})
    store.delete(("n",), "k")
    store.delete(("n",), "k")
    assert store.get(("n",), "k") is None
    assert store.search(("n",)) == []


def test_putting_none_removes(store):
    store.put(("n",), "a", {"k": 1})
    store.put(("n",), "a", None)
    assert store.get(("n",), "a") is None


def test_an_item_is_shown_as_the_documentation_does(store):
    store.put(("n",), "a", {"k": 1})
    start = "Item(namespace=['n'], key='a', value={'k': 1}, created_at='"
    assert repr(store.get(("n",), "a")).startswith(start)
    assert repr(store.search(("n",))[0]).startswith(start)


def test_what_is_kept_is_nobodys_own(store):
    value = {"list": [1]}
    store.put(("n",), "k", value)
    value["list"].append(2)
    got = store.get(("n",), "k")
    got.value["list"].append(3)
    assert store.get(("n",), "k").value == {"list": [1]}


def test_namespaces(store):
    for namespace in [("a", "b", "c"), ("a", "x", "c"), ("z",)]:
        store.put(namespace, "k", {})
    assert store.list_namespaces() == [("a", "b", "c"), ("a", "x", "c"), ("z",)]
    assert store.list_namespaces(prefix=("a",), max_depth=1) == [("a",)]
    assert store.list_namespaces(suffix=("c",), limit=1, offset=1) == [("a", "x", "c")]
    assert store.list_namespaces(prefix=("*", "b")) == [("a", "b", "c")]


@pytest.mark.parametrize("bad", [(), ("",), ("a.b",), (1,), ("langgraph",)])
def test_a_bad_namespace_is_refused(store, bad):
    with pytest.raises(InvalidNamespaceError):
        store.put(bad, "k", {})


def test_a_batch_has_one_result_each(store):
    assert store.batch([PutOp(("n",), "k", {"a": 1})]) == [None]
    results = store.batch([PutOp(("n",), "z", {}), GetOp(("n",), "k"), SearchOp(("n",))])
    assert results[0] is None
    assert results[1].value == {"a": 1}
    assert [item.key for item in results[2]] == ["k"]
    assert isinstance(results[2][0], Item)
    assert store.batch([]) == []
    with pytest.raises(ValueError, match="Unknown operation type"):
        store.batch(["put"])


def test_the_last_of_two_writes_to_one_place_counts(store):
    store.batch([PutOp(("n",), "k", {"a": n}) for n in range(3)])
    store.batch([PutOp(("n",), "z", {"a": 1}), PutOp(("n",), "z", None)])
    assert [item.value for item in store.search(("n",))] == [{"a": 2}]


VALUES = [
    {"x": (1, 2), "y": [1, 2]},
    {"x": {1, 2}},
    {"x": b"\x00\xff"},
    {"x": datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)},
    {"x": UUID(int=5)},
    {"x": 2**70, "y": -(2**63), "z": 1e300, "f": 0.1 + 0.2},
    {"x": float("inf")},
    {"x": "a\0b", "y\0": "\ud800", "z": "\\u0000"},
    {1: "a number", (2, 3): "a tuple"},
    {"x": {"a": [{"b": None}, True, "日本", 1.0, 1]}},
    {"": ""},
    {},
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_comes_back_with_its_types(store, value):
    store.put(("n",), "k", value)
    found = store.get(("n",), "k").value
    assert found == value
    assert repr(found) == repr(value)


ODD = [
    "é",
    "日本",
    " ",
    "a/b",
    "a%",
    "_",
    "*",
    "a'b",
    'a"b',
    "\\",
    "\ud800",
    "A",
    "a\nb",
    "\x01",
    "-",
]


def test_odd_names_are_kept_apart(store):
    for label in ODD:
        store.put(("p", label), label, {"label": label})
        store.put(("p", label, "below"), "k", {})
    for label in ODD:
        assert store.get(("p", label), label).value == {"label": label}
        assert [i.key for i in store.search(("p", label))] == [label, "k"]
        assert store.list_namespaces(suffix=(label,))[-1][-1] == label or label == "*"
    spaces = store.list_namespaces(prefix=("p",), limit=100)
    assert spaces == sorted(spaces)
    assert len(spaces) == 2 * len(ODD)


def test_a_prefix_is_no_part_of_a_label(store):
    for namespace in [("a",), ("a", "b"), ("ab",), ("a-b",), ("a!",), ("a", "bc"), ("a/",), ("b",)]:
        store.put(namespace, "k", {"at": list(namespace)})
    assert [i.namespace for i in store.search(("a",))] == [("a",), ("a", "b"), ("a", "bc")]
    assert [i.namespace for i in store.search(("a", "b"))] == [("a", "b")]
    assert store.list_namespaces(prefix=("a",)) == [("a",), ("a", "b"), ("a", "bc")]
    assert len(store.search(())) == 8


@pytest.mark.parametrize("bad", [("",), ("a", ""), ("a.b",), (1,), (None,), ("a\0",)], ids=repr)
def test_a_namespace_that_none_may_have_is_refused_everywhere(store, bad):
    asks = [PutOp(bad, "k", {}), GetOp(bad, "k"), SearchOp(bad), ListNamespacesOp(_prefix(bad))]
    for op in asks:
        with pytest.raises(InvalidNamespaceError, match="Namespace labels"):
            store.batch([op])


def _prefix(path):
    return (MatchCondition("prefix", path),)


def test_matches_that_there_are_not_and_pages_before_the_first(store):
    with pytest.raises(ValueError, match="Unsupported match type: infix"):
        store.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))])
    for options in [{"limit": -1}, {"offset": -1}]:
        with pytest.raises(ValueError, match="0 or more"):
            store.search((), **options)
    store.put(("n",), "k", {})
    assert store.search((), limit=0) == []
    assert store.list_namespaces(limit=0) == []


THINGS = {
    "one": {"n": 1, "s": "x", "d": {"n": 2, "l": [1, 2]}, "t": True, "z": None, "f": 1.5},
    "two": {"n": 2, "s": "y", "l": ["p", "q"]},
    "three": {"n": 3, "s": "10", "a.b": 7},
    "four": {"n": "4", "s": "é\0", "t": (1,)},
    "five": {},
    "six": {"n": 2**70, "f": 0.1 + 0.2, "s": "\ud800"},
    "seven": {"n": -0.5, "d": {"n": "2"}},
    "eight": {"n": 2.9999999999999996, "f": 1e300},
}
FILTERS = [
    ({"n": 1}, "one"),
    ({"n": 1.0}, "one"),
    ({"n": "4"}, "four"),
    ({"n": 4}, ""),
    ({"t": 1}, "one"),
    ({"n": {"$gt": 2}}, "three four six eight"),
    ({"n": {"$gte": 3}}, "three four six"),
    ({"n": {"$lt": 0}}, "seven"),
    ({"n": {"$lt": 3}}, "one two seven eight"),
    ({"n": {"$gt": 1, "$lte": 3}}, "two three eight"),
    ({"n": {"$ne": 1}}, "two three four five six seven eight"),
    ({"n": {"$gt": None}}, ""),
    ({"n": {"$gt": "abc"}}, ""),
    ({"n": {"$lt": "2"}}, "one seven"),
    ({"s": {"$gt": "x"}}, "two four six"),
    ({"s": {"$gt": 5}}, "three"),
    ({"s": "10"}, "three"),
    ({"s": "\ud800"}, "six"),
    ({"s": "é\0"}, "four"),
    ({"z": None}, "one two three four five six seven eight"),
    ({"z": {"$ne": None}}, ""),
    ({"l": ["p", "q"]}, "two"),
    ({"l": {"$eq": ["p", "q"]}}, "two"),
    ({"d": {"n": 2}}, "one"),
    ({"d": {"n": {"$gte": 2}}}, "one seven"),
    ({"d.n": 2}, "one"),
    ({"a.b": 7}, "three"),
    ({"f": 1.5}, "one"),
    ({"f": 0.30000000000000004}, "six"),
    ({"f": {"$gt": 1e200}}, "eight"),
    ({"n": {"$gte": 2**70}}, "six"),
    ({"d": {}}, "one seven"),
    ({"t": True, "n": {"$lt": 2}}, "one"),
]


def test_filters_mean_the_same_everywhere(store):
    store.batch([PutOp(("f",), key, value) for key, value in THINGS.items()])
    store.put(("g",), "elsewhere", THINGS["one"])
    for wanted, keys in FILTERS:
        found = [item.key for item in store.search(("f",), filter=wanted, limit=20)]
        assert " ".join(found) == keys, wanted


def test_pages_of_a_filter_are_parts_of_the_whole(store):
    store.batch([PutOp(("f", str(n % 3)), str(n), {"n": n, "odd": n % 2}) for n in range(60)])
    whole = [i.key for i in store.search(("f",), filter={"odd": 1}, limit=100)]
    assert whole == [str(n) for n in range(1, 60, 2)]
    for offset in (0, 7, 25, 30, 99):
        page = store.search(("f",), filter={"odd": 1}, limit=7, offset=offset)
        assert [i.key for i in page] == whole[offset : offset + 7]


def test_operators_that_there_are_not(store):
    with pytest.raises(ValueError, match=r"Unsupported operator: \$in"):
        store.search((), filter={"a": {"b": {"$in": [1]}}})


@pytest.mark.parametrize("key", ["a') = 'x' OR '1'='1", "k'y", 'k"z', "k y", "", "a;b"])
def test_a_filter_cannot_speak_to_the_database(raw_store, key):
    raw_store.put(("a",), "k", {key: 1})
    if isinstance(raw_store, InMemoryStore):
        assert len(raw_store.search((), filter={key: 1})) == 1
    else:
        with pytest.raises(ValueError, match="Invalid filter key"):
            raw_store.search((), filter={key: 1})
    assert raw_store.search((), filter={"a": "x' OR '1'='1"}) == []


def test_writers_in_many_threads_lose_nothing(raw_store):
    def write(worker: int) -> None:
        for n in range(10):
            raw_store.batch([PutOp(("w",), f"{worker}-{n}", {"n": n}), PutOp(("w",), "same", {})])
            raw_store.batch([PutOp(("w",), "same", {}), PutOp(("w",), f"{worker}-{n}", {"n": n})])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(raw_store.search(("w",), limit=100)) == 41


async def test_many_tasks_of_one_loop(raw_store):
    async with AsyncExitStack() as stack:
        if not isinstance(raw_store, InMemoryStore):
            await stack.enter_async_context(raw_store)
        await asyncio.gather(*(raw_store.aput(("t",), str(n), {"n": n}) for n in range(30)))
        assert len(await raw_store.asearch(("t",), limit=100)) == 30
