"""Memories of a conversation: by hand, as a node and as a reducer, with a fork's kept apart."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import RemoveMessage

from ckpt_viz.agents import (
    ConversationBufferMemory,
    HybridMemory,
    MemoryStrategy,
    SummaryMemory,
    VectorMemory,
)
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph, add_messages
from ckpt_viz.graph.message import REMOVE_ALL_MESSAGES
from ckpt_viz.store.memory import InMemoryStore

WORDS = ("order", "item", "pizza", "weather", "refund", "delivery", "cat", "dog")


def embed(texts: Any) -> list[list[float]]:
    """A local stand-in for a model: which of the words are in a text."""
    return [[0.1, *(float(text.lower().count(word)) for word in WORDS)] for text in texts]


def new_store() -> InMemoryStore:
    return InMemoryStore(index={"dims": len(WORDS) + 1, "embed": embed})


def made() -> list[Any]:
    return [
        ConversationBufferMemory(),
        SummaryMemory(threshold=3),
        VectorMemory(new_store()),
        HybridMemory(new_store(), threshold=3),
    ]


@pytest.mark.parametrize("memory", made(), ids=lambda m: type(m).__name__)
def test_every_memory_is_a_strategy(memory: Any) -> None:
    assert isinstance(memory, MemoryStrategy)


async def test_the_buffer_keeps_the_last_messages() -> None:
    memory = ConversationBufferMemory(max_turns=3)
    for number in range(5):
        await memory.add_memory("user", f"message {number}")
    assert [m["content"] for m in await memory.recall()] == ["message 2", "message 3", "message 4"]
    assert [m["content"] for m in await memory.recall("anything", limit=1)] == ["message 4"]
    assert await memory.recall(limit=0) == []
    again = ConversationBufferMemory.from_dict(memory.to_dict())
    assert again.to_dict() == memory.to_dict()
    await again.add_memory("user", "only here")
    assert len(memory.buffer) == 3
    assert (await memory.recall())[-1]["content"] == "message 4"


async def test_summaries_of_every_so_many_messages() -> None:
    texts = []

    async def summarize(conversation: Any) -> str:
        texts.append(str(conversation))
        return f"{len(conversation)} messages about {conversation[0]['content']}"

    memory = SummaryMemory(summarize, threshold=2)
    for number in range(5):
        await memory.add_memory(("user", "assistant")[number % 2], f"m{number}")
    assert texts == ["user: m0\nassistant: m1", "user: m2\nassistant: m3"]
    assert await memory.recall() == ["2 messages about m0", "2 messages about m2"]
    assert await memory.recall(limit=1) == ["2 messages about m2"]
    assert [one["num_messages"] for one in memory.summaries] == [2, 2]
    assert [m["content"] for m in memory.current_conversation] == ["m4"]
    again = SummaryMemory.from_dict(memory.to_dict(), summarize)
    assert again.to_dict() == memory.to_dict()
    await again.add_memory("user", "m5")
    assert len(again.summaries) == 3
    assert len(memory.summaries) == 2
    with pytest.raises(ValueError, match="threshold=0"):
        SummaryMemory(threshold=0)


async def test_a_summary_that_fails_loses_nothing() -> None:
    answers: list[Any] = [ConnectionError("no model"), "all three"]

    def summarize(conversation: Any) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return f"{answer} of {len(conversation)}"

    memory = SummaryMemory(summarize, threshold=2)
    await memory.add_memory("user", "1")
    with pytest.raises(ConnectionError):
        await memory.add_memory("user", "2")
    await memory.add_memory("user", "3")
    assert await memory.recall() == ["all three of 3"]


async def test_messages_that_come_during_a_summary_are_kept() -> None:
    async def slow(conversation: Any) -> str:
        await asyncio.sleep(0.01)
        return " ".join(m["content"] for m in conversation)

    memory = SummaryMemory(slow, threshold=2)
    await asyncio.gather(*(memory.add_memory("user", str(n)) for n in range(5)))
    assert await memory.recall() == ["0 1"]
    await memory.add_memory("user", "5")
    assert await memory.recall() == ["0 1", "2 3 4 5"]
    assert await SummaryMemory().recall() == []


async def test_a_subclass_summarizes_its_own_way() -> None:
    class Own(SummaryMemory):
        async def _summarize(self) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            said = ", ".join(m["content"] for m in self.current_conversation)
            self.summaries.append({"summary": said})
            self.current_conversation = []

    memory = Own(threshold=2)
    for text in "abc":
        await memory.add_memory("user", text)
    assert await memory.recall() == ["a, b"]
    assert [m["content"] for m in memory.current_conversation] == ["c"]
    with pytest.raises(TypeError, match="calls an async function"):
        memory.reduce(None, ["a", "b"])


async def test_without_a_summarizer_messages_are_counted() -> None:
    memory = SummaryMemory(threshold=2)
    await memory.add_memory("user", "hello")
    await memory.add_memory("assistant", "x" * 100)
    assert (await memory.recall())[0].startswith('2 messages, from "user: hello" to "assistant: x')


async def test_what_is_meant_is_found() -> None:
    memory = VectorMemory(vector_store=new_store())
    await memory.add_memory("I ordered a pizza", {"topic": "order"})
    await memory.add_memory("The weather is fine", {"topic": "small talk"})
    await memory.add_memory("My cat and my dog", {})
    found = await memory.recall("How is the weather?", limit=1)
    assert [(one["content"], one["metadata"]) for one in found] == [
        ("The weather is fine", {"topic": "small talk"})
    ]
    assert found[0]["score"] > 0.9
    assert len(await memory.recall("anything", limit=9)) == 3
    assert await memory.recall("anything", limit=0) == []
    assert await VectorMemory(new_store()).recall("weather") == []


async def test_memories_of_others_in_the_same_place_are_not_found() -> None:
    store = new_store()
    one, two = VectorMemory(store), VectorMemory(store)
    deeper = VectorMemory(store, namespace=("memories", "deeper"))
    for number in range(120):  # more than a page of the search
        await two.add_memory(f"cat {number}")
        await deeper.add_memory(f"cat {number}")
    await one.add_memory("the weather, and no animal")
    assert [m["content"] for m in await one.recall("cat")] == ["the weather, and no animal"]
    again = VectorMemory.from_dict(one.to_dict(), store)
    assert await again.recall("cat") == await one.recall("cat")
    assert len(await two.recall("cat", limit=500)) == 120


async def test_three_memories_at_once() -> None:
    memory = HybridMemory(new_store(), threshold=2)
    await memory.add_memory("user", "I ordered item XYZ last week", {"topic": "order"})
    await memory.add_memory("assistant", "Let me check on that order for you.")
    relevant = await memory.recall("What did I order?", strategy="vector")
    assert [one["content"] for one in relevant] == ["I ordered item XYZ last week"]
    assert [m["role"] for m in await memory.recall("", "buffer")] == ["user", "assistant"]
    assert len(await memory.recall("", "summary", limit=3)) == 1
    assert len(await memory.recall("", "buffer", limit=1)) == 1
    with pytest.raises(ValueError, match="Unknown strategy 'graph'"):
        await memory.recall("x", "graph")
    again = HybridMemory.from_dict(memory.to_dict(), memory.vector.vector_store)
    assert again.to_dict() == memory.to_dict()
    assert await again.recall("What did I order?") == relevant


# -- in a graph -----------------------------------------------------------------------------------


class NodeState(TypedDict, total=False):
    messages: Annotated[list[Any], add_messages]
    memory: dict[str, Any]


def graph_with_node(memory: Any, saver: Any) -> Any:
    flow = StateGraph(NodeState).add_node("remember", memory.node())
    return flow.add_edge(START, "remember").compile(checkpointer=saver)


def graph_with_reducer(memory: Any, saver: Any) -> Any:
    annotations = {"memory": Annotated[dict, memory.reduce]}
    state = TypedDict("state", annotations)  # type: ignore[operator]
    flow = StateGraph(state).add_node("hear", lambda s: None)
    return flow.add_edge(START, "hear").compile(checkpointer=saver)


def update(graph: Any, text: str) -> Any:
    key = "messages" if "messages" in graph.channels else "memory"
    return {key: [{"role": "user", "content": text}]}


async def told(memory: Any, values: Any) -> list[str]:
    """All that a memory in a state remembers, as text, whatever its kind."""
    found = memory.revived(values.get("memory") or {})
    kinds = [found]
    if isinstance(found, HybridMemory):
        kinds = [found.buffer, found.summary, found.vector]
    texts = []
    for one in kinds:
        for item in await one.recall("cat order weather", limit=50):
            texts.append(item if isinstance(item, str) else item["content"])
        texts += [m["content"] for m in getattr(one, "current_conversation", ())]
    return texts


@pytest.mark.parametrize("build", [graph_with_node, graph_with_reducer], ids=["node", "reducer"])
@pytest.mark.parametrize("which", range(4), ids=["buffer", "summary", "vector", "hybrid"])
@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_a_fork_hears_nothing_of_the_other_branch(
    build: Any, which: int, colour: str, saver: Any
) -> None:
    memory = made()[which]
    graph = build(memory, saver)
    config: dict[str, Any] = {"configurable": {"thread_id": "t"}}

    async def say(text: str, at: Any = config) -> Any:
        if colour == "async":
            await graph.ainvoke(update(graph, text), at)
            return (await graph.aget_state(config)).config
        await asyncio.to_thread(graph.invoke, update(graph, text), at)
        return (await asyncio.to_thread(graph.get_state, config)).config

    base = await say("my cat")
    left = await say("left order")
    right = await say("right weather", base)
    for at, hears, not_heard in ((left, "left", "right"), (right, "right", "left")):
        texts = " ".join(await told(memory, (await graph.aget_state(at)).values))
        assert "my cat" in texts
        assert hears in texts
        assert not_heard not in texts
    again = build(made()[which], saver) if which < 2 else graph  # another program, same saver
    assert await told(memory, (await again.aget_state(right)).values)
    assert await told(memory, {}) == []  # the pattern stays empty


def test_a_node_takes_each_message_in_once() -> None:
    memory = ConversationBufferMemory()
    graph = graph_with_node(memory, InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for number in range(3):
        graph.invoke(update(graph, f"m{number}"), config)
    values = graph.get_state(config).values
    assert [m["content"] for m in values["memory"]["buffer"]] == ["m0", "m1", "m2"]


def test_a_node_hears_what_is_said_after_older_messages_were_removed() -> None:
    """A state that keeps its last messages only, and an answer that is made anew."""
    memory = ConversationBufferMemory(max_turns=99)
    graph = graph_with_node(memory, InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}

    def say(*updates: Any) -> list[str]:
        values = graph.invoke({"messages": list(updates)}, config)
        return [m["content"] for m in values["memory"]["buffer"]]

    def remove(id_: str) -> RemoveMessage:
        return RemoveMessage(id=id_)

    for number in range(4):
        say({"role": "user", "content": "yes", "id": f"m{number}"})
    trimmed = [remove(f"m{number}") for number in range(3)]
    assert say(*trimmed, {"role": "user", "content": "yes", "id": "m4"}) == ["yes"] * 5
    assert say(("user", "no")) == [*["yes"] * 5, "no"]
    assert say(remove("m4"), {"role": "user", "content": "anew", "id": "m5"})[5:] == ["no", "anew"]
    assert say(remove(REMOVE_ALL_MESSAGES), ("user", "first again"))[-2:] == ["anew", "first again"]


def test_a_node_goes_on_with_a_memory_that_only_counted() -> None:
    memory = ConversationBufferMemory()
    node = memory.node()
    old = {"messages": ["a", "b", "c"], "memory": {**memory.to_dict(), "taken": 2}}
    assert [m["content"] for m in node.invoke(old)["memory"]["buffer"]] == ["c"]


def test_what_counts_as_a_message() -> None:
    class Said:
        type = "ai"
        content = "an object"

    memory = ConversationBufferMemory()
    data = memory.reduce(None, [("user", "a pair"), "a text", Said(), {"content": "a dict"}])
    data = memory.reduce(data, {"role": "tool", "content": "one alone"})
    assert [(m["role"], m["content"]) for m in data["buffer"]] == [
        ("user", "a pair"),
        ("user", "a text"),
        ("assistant", "an object"),
        ("user", "a dict"),
        ("tool", "one alone"),
    ]
    with pytest.raises(TypeError, match="and not int"):
        memory.reduce({}, [5])


def test_an_async_summarizer_is_refused_where_nothing_is_awaited() -> None:
    async def summarize(conversation: Any) -> str:
        return "awaited"

    memory = SummaryMemory(summarize, threshold=1)
    with pytest.raises(TypeError, match="without awaiting"):
        memory.reduce({}, "hi")
    graph = graph_with_node(memory, InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    with pytest.raises(TypeError, match="without awaiting"):
        graph.invoke(update(graph, "hi"), config)
    found = asyncio.run(graph.ainvoke(None, config))
    assert [one["summary"] for one in found["memory"]["summaries"]] == ["awaited"]
