"""The documented memory store: its blocks of code, with a local function for the embeddings, in
every store that there is."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, MessagesState, StateGraph
from ckpt_viz.store.base import BaseStore
from ckpt_viz.store.lexical import HashingEmbeddings

USER = "1"
NAMESPACE = (USER, "memories")
INDEX = {
    "embed": HashingEmbeddings(512),
    "dims": 512,
    "fields": ["food_preference", "memory", "$"],
}
ADDRESSES = {"sqlite": ":memory:", "postgres": "postgres_url", "redis": "redis_url"}


@pytest.fixture(params=["memory", *ADDRESSES])
def kind(request):
    return request.param


@pytest.fixture
def new_store(kind, request):
    """Makes a store of the kind."""

    def make(**options: Any) -> Any:
        if kind == "memory":
            return importlib.import_module("ckpt_viz.store.memory").InMemoryStore(**options)
        module = importlib.import_module(f"ckpt_viz.store.{kind}")
        address = ADDRESSES[kind]
        if address.endswith("_url"):
            address = request.getfixturevalue(address)
        store = getattr(module, f"{kind.title()}Store").from_conn_string(address, **options)
        request.addfinalizer(store.close)
        return store

    return make


def test_basic_use(new_store):
    store = new_store()
    memory_id = str(uuid.uuid4())
    store.put(NAMESPACE, memory_id, {"food_preference": "I like pizza"})
    memories = store.search(NAMESPACE)
    told = memories[-1].dict()
    assert list(told)[:5] == ["namespace", "key", "value", "created_at", "updated_at"]
    assert told["value"] == {"food_preference": "I like pizza"}
    assert (told["key"], told["namespace"]) == (memory_id, ["1", "memories"])
    assert told["created_at"].endswith("+00:00")


def test_search_by_meaning(new_store):
    store = new_store(index=INDEX)
    store.put(NAMESPACE, "sport", {"food_preference": "none", "context": "plays tennis"})
    store.put(
        NAMESPACE,
        "italian",
        {"food_preference": "I love Italian cuisine", "context": "Discussing dinner plans"},
        index=["food_preference"],
    )
    store.put(NAMESPACE, "system", {"system_info": "Last updated: 2024-01-01"}, index=False)
    memories = store.search(NAMESPACE, query="Which cuisine does the user love to eat?", limit=3)
    assert memories[0].key == "italian"
    assert "system" not in [found.key for found in memories if found.score is not None]
    assert store.get(NAMESPACE, "system").value["system_info"].startswith("Last")
    assert [found.key for found in store.search(NAMESPACE)] == ["sport", "italian", "system"]


def last(state: MessagesState) -> str:
    message = state["messages"][-1]
    return message["content"] if isinstance(message, dict) else message.content


def update_memory(state: MessagesState, config: RunnableConfig, *, store: BaseStore):
    user_id = config["configurable"]["user_id"]
    namespace = (user_id, "memories")
    memory_id = str(uuid.uuid4())
    store.put(namespace, memory_id, {"memory": last(state)})


def call_model(state: MessagesState, config: RunnableConfig, *, store: BaseStore):
    user_id = config["configurable"]["user_id"]
    memories = store.search((user_id, "memories"), query=last(state), limit=3)
    info = "\n".join(found.value["memory"] for found in memories)
    return {"messages": [{"role": "assistant", "content": info}]}


def said(graph: Any, thread: str, user: str, text: str) -> Sequence[str]:
    config = {"configurable": {"thread_id": thread, "user_id": user}}
    asked = {"messages": [{"role": "user", "content": text}]}
    updates = list(graph.stream(asked, config, stream_mode="updates"))
    answer = updates[-1]["call_model"]["messages"][-1]["content"]
    return answer.splitlines()


def test_another_thread_of_the_same_user(new_store):
    builder = StateGraph(MessagesState)
    builder.add_node(update_memory)
    builder.add_node(call_model)
    builder.add_edge(START, "update_memory")
    builder.add_edge("update_memory", "call_model")
    builder.add_edge("call_model", END)
    graph = builder.compile(checkpointer=InMemorySaver(), store=new_store(index=INDEX))
    assert said(graph, "1", "1", "hi") == ["hi"]
    assert said(graph, "3", "2", "somebody else's memories") == ["somebody else's memories"]
    found = said(graph, "2", "1", "hi, tell me about my memories")
    assert sorted(found) == ["hi", "hi, tell me about my memories"]
