"""Tools that ask: each answer reaches the call that asked, in both colours."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, MessagesState, StateGraph
from ckpt_viz.prebuilt import ToolNode
from ckpt_viz.types import Command, interrupt

THREAD = {"configurable": {"thread_id": "1"}}


@tool
def slow(question: str) -> str:
    """Asks after a while."""
    time.sleep(0.05)
    return f"slow {interrupt(question)}"


@tool
def quick(question: str) -> str:
    """Asks at once."""
    return f"quick {interrupt(question)}"


@tool
async def aslow(question: str) -> str:
    """Asks after a while."""
    await asyncio.sleep(0.05)
    return f"slow {interrupt(question)}"


def asking(*tools: Any) -> Any:
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(list(tools)))
    return graph.add_edge(START, "tools").compile(checkpointer=InMemorySaver())


def calls(*names: str) -> dict[str, Any]:
    told = [{"name": n, "args": {"question": n}, "id": n, "type": "tool_call"} for n in names]
    return {"messages": [AIMessage("", tool_calls=told)]}


def test_answers_reach_their_calls() -> None:
    graph = asking(slow, quick)
    found = graph.invoke(calls("slow", "quick"), THREAD)
    for name in ("slow", "quick"):
        assert [i.value for i in found["__interrupt__"]] == [name]
        found = graph.invoke(Command(resume=f"to {name}"), THREAD)
    assert [m.content for m in found["messages"][1:]] == ["slow to slow", "quick to quick"]


async def test_answers_reach_their_calls_awaited() -> None:
    graph = asking(aslow, quick)
    found = await graph.ainvoke(calls("aslow", "quick"), THREAD)
    for name in ("aslow", "quick"):
        assert [i.value for i in found["__interrupt__"]] == [name]
        found = await graph.ainvoke(Command(resume=f"to {name}"), THREAD)
    assert [m.content for m in found["messages"][1:]] == ["slow to aslow", "quick to quick"]


def test_calls_run_side_by_side() -> None:
    @tool
    def nap(question: str) -> str:
        """Sleeps."""
        time.sleep(0.2)
        return question

    graph = asking(nap)
    begun = time.perf_counter()
    graph.invoke(calls("nap", "nap", "nap", "nap", "nap", "nap"), THREAD)
    assert time.perf_counter() - begun < 6 * 0.2


def test_the_first_call_that_fails_is_told() -> None:
    @tool
    def fails(question: str) -> str:
        """Fails."""
        raise ValueError(question)

    with pytest.raises(ValueError, match="fails"):
        asking(fails, quick).invoke(calls("fails", "quick"), THREAD)
