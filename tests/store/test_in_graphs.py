"""The store in nodes, tools and tasks, with every back end."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.config import get_store
from ckpt_viz.func import entrypoint, task
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.runtime import Runtime
from ckpt_viz.store.base import BaseStore

from .conftest import FOUR, INDEX, open_store


class State(TypedDict, total=False):
    user: str
    said: str
    known: list[str]


def by_parameter(state: State, *, store: BaseStore) -> State:
    store.put((state["user"], "memories"), state["said"], {"text": state["said"]})
    return {}


def by_runtime(state: State, runtime: Runtime[Any]) -> State:
    found = runtime.store.search((state["user"], "memories"), query=state["said"], limit=2)
    return {"known": [item.value["text"] for item in found]}


def by_function(state: State) -> State:
    assert get_store().get((state["user"], "memories"), state["said"]) is not None
    return {}


async def aby_parameter(state: State, *, store: BaseStore) -> State:
    await store.aput((state["user"], "memories"), state["said"], {"text": state["said"]})
    return {}


async def aby_runtime(state: State, runtime: Runtime[Any]) -> State:
    found = await runtime.store.asearch((state["user"], "memories"), query=state["said"], limit=2)
    return {"known": [item.value["text"] for item in found]}


def built(first: Any, second: Any, store: Any) -> Any:
    flow = StateGraph(State).add_node("write", first).add_node("read", second)
    flow.add_node("ask", by_function if first is by_parameter else lambda state: {})
    flow.add_edge(START, "write").add_edge("write", "ask").add_edge("ask", "read")
    return flow.add_edge("read", END).compile(checkpointer=InMemorySaver(), store=store)


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


@pytest.fixture(params=FOUR)
def store(request, tmp_path):
    return open_store(request.param, request, tmp_path, index=dict(INDEX))


def test_memories_cross_threads(store):
    graph = built(by_parameter, by_runtime, store)
    assert graph.store is store
    graph.invoke({"user": "1", "said": "pizza"}, config("a"))
    graph.invoke({"user": "2", "said": "pizza"}, config("b"))
    found = graph.invoke({"user": "1", "said": "pasta"}, config("c"))
    assert found["known"] == ["pasta", "pizza"]
    assert store.list_namespaces(suffix=("memories",)) == [("1", "memories"), ("2", "memories")]


async def test_memories_cross_threads_in_a_loop(store):
    graph = built(aby_parameter, aby_runtime, store)
    await graph.ainvoke({"user": "1", "said": "pizza"}, config("a"))
    found = await graph.ainvoke({"user": "1", "said": "pasta"}, config("c"))
    assert found["known"] == ["pasta", "pizza"]
    if hasattr(store, "aclose"):
        await store.aclose()


def test_in_tasks_and_subgraphs(store):
    inner = StateGraph(State).add_node("write", by_parameter)
    graph = inner.add_edge(START, "write").compile()

    @task
    def remember(said: str) -> int:
        get_store().put(("1", "memories"), said, {"text": said})
        return len(get_store().search(("1",)))

    @entrypoint(store=store)
    def flow(said: str, *, store: BaseStore) -> list[int]:
        graph.invoke({"user": "1", "said": "inner"})
        return [remember(said).result(), len(store.search(("1",)))]

    assert flow.invoke("outer") == [2, 2]
