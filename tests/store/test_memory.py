"""The in-memory store, through its plain methods and its async twins."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from ckpt_viz.store.base import GetOp, InvalidNamespaceError, Item, PutOp, SearchOp
from ckpt_viz.store.memory import InMemoryStore


class Async:
    def __init__(self) -> None:
        self.store = InMemoryStore()

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            made = getattr(self.store, f"a{name}")(*args, **kwargs)
            assert inspect.isawaitable(made)
            return asyncio.run(_wait(made))

        return call


async def _wait(made: Any) -> Any:
    return await made


@pytest.fixture(params=[InMemoryStore, Async], ids=["sync", "async"])
def store(request: pytest.FixtureRequest) -> Any:
    return request.param()


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
        "value",
        "key",
        "namespace",
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


def test_batch_and_time_to_live(store):
    assert store.batch([PutOp(("n",), "k", {"a": 1})]) == [None]
    results = store.batch([PutOp(("n",), "z", {}), GetOp(("n",), "k"), SearchOp(("n",))])
    assert results[0] is None
    assert results[1].value == {"a": 1}
    assert isinstance(results[2][0], Item)
    with pytest.raises(NotImplementedError, match="ttl"):
        store.put(("n",), "k", {}, ttl=5)
