"""Memories against plain lists: whatever is said, and wherever they are saved and read again."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.agents import ConversationBufferMemory, HybridMemory, SummaryMemory, VectorMemory
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer

from .test_memory import new_store

serde = JsonPlusSerializer()
steps = st.lists(
    st.one_of(st.tuples(st.just("say"), st.text(max_size=6)), st.just(("save", ""))), max_size=25
)


def listed(conversation: Any) -> str:
    return "|".join(m["content"] for m in conversation)


def again(memory: Any, *given: Any) -> Any:
    """The memory as it comes back from a checkpoint."""
    data = serde.loads_typed(serde.dumps_typed(memory.to_dict()))
    return type(memory).from_dict(data, *given)


@settings(max_examples=60, deadline=None)
@given(script=steps, most=st.integers(0, 5), threshold=st.integers(1, 5))
def test_memories_say_what_lists_would(script: list[Any], most: int, threshold: int) -> None:
    asyncio.run(play(script, most, threshold))


async def play(script: list[Any], most: int, threshold: int) -> None:
    store = new_store()
    buffer = ConversationBufferMemory(most)
    summary = SummaryMemory(listed, threshold)
    vector = VectorMemory(store)
    hybrid = HybridMemory(store, listed, max_turns=most, threshold=threshold)
    said: list[str] = []
    for act, text in script:
        if act == "save":
            buffer, summary = again(buffer), again(summary, listed)
            vector, hybrid = again(vector, store), again(hybrid, store, listed)
            continue
        said.append(text)
        await buffer.add_memory("user", text)
        await summary.add_memory("user", text)
        await vector.add_memory(text, {"at": len(said)})
        await hybrid.add_memory("user", text, {"at": len(said)})
    whole = len(said) - len(said) % threshold
    summed = ["|".join(said[at : at + threshold]) for at in range(0, whole, threshold)]
    for one in (buffer, hybrid.buffer):
        assert [m["content"] for m in await one.recall(limit=99)] == said[
            max(0, len(said) - most) :
        ]
    for two in (summary, hybrid.summary):
        assert await two.recall(limit=99) == summed
        assert [m["content"] for m in two.current_conversation] == said[whole:]
    for three in (vector, hybrid.vector):
        found = await three.recall("order", limit=99)
        assert sorted(m["metadata"]["at"] for m in found) == list(range(1, len(said) + 1))
        assert all(m["content"] == said[m["metadata"]["at"] - 1] for m in found)
