"""What is remembered by meaning, in every store: found, and a fork's kept apart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.agents import HybridMemory, VectorMemory
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.store.memory import InMemoryStore
from ckpt_viz.store.postgres import PostgresStore
from ckpt_viz.store.redis import RedisStore
from ckpt_viz.store.sqlite import SqliteStore

from .test_memory import WORDS, embed, graph_with_node, graph_with_reducer, told, update


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    index: Any = {"dims": len(WORDS) + 1, "embed": embed}
    if request.param == "memory":
        yield InMemoryStore(index=index)
        return
    places = {
        "sqlite": lambda: SqliteStore.from_conn_string(str(tmp_path / "store.db"), index=index),
        "postgres": lambda: PostgresStore.from_conn_string(
            request.getfixturevalue("postgres_url"), index=index
        ),
        "redis": lambda: RedisStore.from_conn_string(
            request.getfixturevalue("redis_url"), index=index
        ),
    }
    made = places[request.param]()
    made.setup()
    yield made
    made.close()


async def test_the_nearest_first(store: Any) -> None:
    memory = VectorMemory(store, namespace=("users", "1"))
    other = VectorMemory(store, namespace=("users", "1"))
    for text in ("I ordered a pizza", "The weather is fine", "My cat and my dog"):
        await memory.add_memory(text, {"length": len(text)})
        await other.add_memory(f"{text}, said another")
    found = await memory.recall("How is the weather?", limit=2)
    assert found[0]["content"] == "The weather is fine"
    assert found[0]["metadata"] == {"length": 19}
    assert len(found) == 2
    again = VectorMemory.from_dict(memory.to_dict(), store)
    assert await again.recall("weather", limit=9) == await memory.recall("weather", limit=9)
    assert all("another" not in one["content"] for one in await memory.recall("cat", limit=9))


@pytest.mark.parametrize("build", [graph_with_node, graph_with_reducer], ids=["node", "reducer"])
@pytest.mark.parametrize("kind", [VectorMemory, HybridMemory])
async def test_a_fork_hears_nothing_of_the_other_branch(store: Any, build: Any, kind: Any) -> None:
    memory = kind(store)
    graph = build(memory, InMemorySaver())
    config: dict[str, Any] = {"configurable": {"thread_id": "t"}}

    async def say(text: str, at: Any = config) -> Any:
        if build is graph_with_reducer:  # a reducer calls the store without awaiting
            await asyncio.to_thread(graph.invoke, update(graph, text), at)
        else:
            await graph.ainvoke(update(graph, text), at)
        return graph.get_state(config).config

    base = await say("my cat")
    left = await say("left order")
    right = await say("right weather", base)
    for at, hears, not_heard in ((left, "left", "right"), (right, "right", "left")):
        texts = " ".join(await told(memory, graph.get_state(at).values))
        assert "my cat" in texts
        assert hears in texts
        assert not_heard not in texts


async def test_without_a_store_words_are_enough() -> None:
    memory = HybridMemory()
    await memory.add_memory("user", "I ordered item XYZ last week", {"topic": "order"})
    await memory.add_memory("user", "It rained all day", {"topic": "small talk"})
    relevant = await memory.recall("Where is item XYZ?", limit=1)
    assert [one["metadata"] for one in relevant] == [{"topic": "order"}]
    assert await VectorMemory().recall("anything") == []
