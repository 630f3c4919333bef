"""One story on each of the four savers, in both colours, plain and encrypted: one history."""

from __future__ import annotations

import asyncio
import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Command, Send, interrupt

from .conftest import FOUR, KEY, open_saver

THREAD: dict[str, Any] = {"configurable": {"thread_id": "story"}}


class Inner(TypedDict):
    log: Annotated[list, operator.add]


class State(TypedDict):
    log: Annotated[list, operator.add]
    n: int


def graph_on(saver: Any) -> Any:
    inner = StateGraph(Inner).add_node("deep", lambda s: {"log": ["deep"]})
    inner.add_edge(START, "deep")
    builder = StateGraph(State)
    builder.add_node("plan", lambda s: {"log": ["plan" * 100], "n": s["n"] + 1})
    builder.add_node("work", lambda s: {"log": [f"work {s}"]})
    builder.add_node("sub", inner.compile())
    builder.add_node("ask", lambda s: {"log": [interrupt({"q": len(s["log"])})]})
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda s: [Send("work", i) for i in range(3)], ["work"])
    builder.add_edge("work", "sub")
    builder.add_edge("sub", "ask")
    builder.add_conditional_edges("ask", lambda s: END if s["n"] > 2 else "plan", ["plan", END])
    return builder.compile(checkpointer=saver)


def story(graph: Any) -> list[Any]:
    """Run, answer, fork, replay, edit; what was seen on the way."""
    seen = [graph.invoke({"log": [], "n": 0}, THREAD)["log"]]
    seen.append(graph.invoke(Command(resume="yes"), THREAD)["log"])
    history = list(graph.get_state_history(THREAD))
    base = next(s for s in history if s.next == ("sub",))
    fork = graph.update_state(base.config, {"log": ["edited"]})
    seen.append(graph.invoke(None, fork)["log"])
    seen.append(graph.invoke(Command(resume="no"), THREAD)["log"])
    return [*seen, told(graph.get_state_history(THREAD))]


async def astory(graph: Any) -> list[Any]:
    seen = [(await graph.ainvoke({"log": [], "n": 0}, THREAD))["log"]]
    seen.append((await graph.ainvoke(Command(resume="yes"), THREAD))["log"])
    history = [s async for s in graph.aget_state_history(THREAD)]
    base = next(s for s in history if s.next == ("sub",))
    fork = await graph.aupdate_state(base.config, {"log": ["edited"]})
    seen.append((await graph.ainvoke(None, fork))["log"])
    seen.append((await graph.ainvoke(Command(resume="no"), THREAD))["log"])
    return [*seen, told([s async for s in graph.aget_state_history(THREAD)])]


def told(history: Any) -> list[Any]:
    return [
        (s.values, s.next, s.metadata["source"], s.metadata["step"], [t.result for t in s.tasks])
        for s in history
    ]


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("kind", FOUR)
def test_one_story(
    kind: str, colour: str, encrypted: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    expected = story(graph_on(InMemorySaver()))
    serde = EncryptedSerializer.from_key(KEY) if encrypted else None
    saver = open_saver(kind, request, tmp_path, serde)

    async def run() -> list[Any]:
        if not hasattr(saver, "aclose"):
            return await astory(graph_on(saver))
        async with saver:
            return await astory(graph_on(saver))

    found = story(graph_on(saver)) if colour == "sync" else asyncio.run(run())
    assert found == expected
    assert len(saver.namespaces("story")) > 1
