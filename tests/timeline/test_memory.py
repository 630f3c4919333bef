"""What a store remembers, and what a step wrote, asked of both packages' stores and graphs."""

from __future__ import annotations

import importlib
import time
from typing import Any, TypedDict

import pytest
from graphs import CONFIG, engine

from ckpt_viz.errors import CheckpointNotFoundError
from ckpt_viz.store.sqlite import SqliteStore
from ckpt_viz.timeline import memory, open_timeline
from ckpt_viz.timeline.memory import namespaces, remembered, written

SECONDS = "langgraph.store.sqlite.base"
"""Where the store is that tells whole seconds only."""


class State(TypedDict, total=False):
    n: int


def letters(texts: Any) -> list[list[float]]:
    return [[float(text.count(chr(97 + n))) for n in range(26)] for text in texts]


@pytest.fixture(params=["memory", "sqlite"])
def store(request, e):
    module = importlib.import_module(f"{e.name}.store.{request.param}")
    if request.param == "memory":
        yield module.InMemoryStore(index={"dims": 26, "embed": letters, "fields": ["text"]})
        return
    with module.SqliteStore.from_conn_string(":memory:") as opened:
        opened.setup()
        yield opened


@pytest.fixture
def run(e, store):
    """A run of three steps, each of which writes, and its timeline."""

    def node(name: str, *puts: Any) -> Any:
        def act(state: State) -> State:
            time.sleep(1.05 if type(store).__module__ == SECONDS else 0.01)
            for key, value in puts:
                store.put(("ada", name), key, value)
            return {"n": 1}

        return act

    flow = e.StateGraph(State)
    flow.add_node("one", node("one", ("k", {"text": "pizza", "api_key": "sk-1", "deep": [1]})))
    flow.add_node("two", node("one", ("k", {"text": "pasta"}), ("l", {"text": "rice"})))
    flow.add_node("three", node("three"))
    flow.add_edge(e.START, "one").add_edge("one", "two").add_edge("two", "three")
    graph = flow.add_edge("three", e.END).compile(checkpointer=e.Saver(), store=store)
    graph.invoke({"n": 0}, CONFIG)
    return open_timeline(graph, "1")


def by_step(timeline: Any, store: Any) -> dict[int, Any]:
    return {row.step: written(timeline, store, row.id) for row in timeline.rows()}


def test_what_each_step_wrote(e, run, store):
    found = by_step(run, store)
    told = {
        step: sorted((m.key, dict(m.fields)["text"], m.wrote) for m in one.items)
        for step, one in found.items()
    }
    # What step 1 wrote was written again by step 2: a store keeps the last only.
    wrote = "changed" if e.name == "ckpt_viz" else "new"  # there a change is told as a new item
    assert told[2] == [("k", "pasta", wrote), ("l", "rice", "new")]
    assert told[-1] == told[0] == []
    if found[2].exact:
        assert told[1] == told[3] == []
    assert found[2].exact or e.name == "langgraph"
    assert all(one.complete for one in found.values())
    assert found[-1].why.startswith("No step ran")
    assert not found[2].why
    with pytest.raises(CheckpointNotFoundError):
        written(run, store, "1f000000-0000-6000-8000-000000000000")


def test_what_is_remembered(store):
    store.put(("ada", "food"), "a", {"text": "pizza", "api_key": "sk-1", "deep": {"api_key": "x"}})
    store.put(("ada", "sport"), "b", {"text": "tennis", **{f"n{n}": n for n in range(20)}})
    store.put(("bob",), "c", {})
    assert namespaces(store) == (("ada", "food"), ("ada", "sport"), ("bob",))
    assert namespaces(store, limit=1, offset=1) == (("ada", "sport"),)
    found = {one.key: one for one in remembered(store, ("ada",))}
    assert set(found) == {"a", "b"}
    assert found["a"].fields == (("text", "pizza"), ("api_key", "sk-1"), ("deep", "{1 key}"))
    assert (len(found["b"].fields), found["b"].size) == (12, 21)
    assert found["a"].created <= found["a"].updated <= time.time() + 1
    assert found["a"].wrote == ""
    assert len(remembered(store, limit=2, offset=2)) == 1
    secret = remembered(store, ("ada", "food"), hidden=["api_key"])[0]
    assert secret.fields == (("text", "pizza"), ("api_key", "[redacted]"), ("deep", "{1 key}"))


def test_a_question_gives_the_nearest(store):
    if store.index_config is None:
        return
    store.put(("a",), "far", {"text": "zz"})
    store.put(("a",), "near", {"text": "pizza"})
    found = remembered(store, (), "a pizza")
    assert [one.key for one in found] == ["near", "far"]
    assert found[0].score > found[1].score


def test_a_look_keeps_nothing_alive(monkeypatch):
    now = [1_000_000_000]
    monkeypatch.setattr("ckpt_viz.store.scripted.store._now", lambda: now[0])
    store = SqliteStore.from_conn_string(":memory:", ttl={"default_ttl": 10})
    store.put(("a",), "k", {})
    now[0] += 9 * 60_000_000
    assert len(remembered(store)) == 1
    now[0] += 60_000_000
    assert remembered(store) == ()


def test_a_store_too_large_to_look_through_says_so(monkeypatch):
    monkeypatch.setattr(memory, "LIMIT", 4)
    monkeypatch.setattr(memory, "PAGE", 2)
    e = engine("ckpt_viz")
    store = SqliteStore.from_conn_string(":memory:")
    flow = e.StateGraph(State).add_node("a", lambda s: store.put(("n",), "last", {}))
    for n in range(5):
        store.put(("n",), str(n), {})
    graph = flow.add_edge(e.START, "a").compile(checkpointer=e.Saver())
    graph.invoke({"n": 0}, CONFIG)
    timeline = open_timeline(graph, "1")
    assert not written(timeline, store, timeline.head).complete
