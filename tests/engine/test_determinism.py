"""One graph and one input leave the same checkpoints, whatever finishes first and wherever."""

from __future__ import annotations

import asyncio
import operator
import random
import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import Command, Send, interrupt
from tests.differential.harness import Normaliser

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}
NAMES = "abcdefgh"


class State(TypedDict, total=False):
    round: int
    log: Annotated[list[Any], operator.add]


def graph_of(colour: str, order: random.Random) -> Any:
    """Eight nodes side by side, Sends, a join, a question and a failure; each waits at random."""
    waits = {name: order.uniform(0, 0.01) for name in NAMES}
    failed: list[int] = []

    def body(name: str, state: Any) -> Any:
        if name == "c":
            return {"log": [interrupt("go on?")]}
        if name == "d" and not failed:
            failed.append(1)
            raise ValueError("once")
        return {"log": [(name, len(state.get("log", [])))]}

    def make(name: str) -> Callable[[Any], Any]:
        def plain(state: Any) -> Any:
            time.sleep(waits[name])
            return body(name, state)

        async def awaited(state: Any) -> Any:
            await asyncio.sleep(waits[name])
            return body(name, state)

        mixed = colour == "async" and name in "aceg"
        return awaited if mixed else plain

    def work(arg: Any) -> Any:
        time.sleep(order.uniform(0, 0.005))
        return {"log": [arg["index"]]}

    flow = StateGraph(State)
    for name in NAMES:
        flow.add_node(name, make(name)).add_edge(START, name)
    flow.add_node("work", work).add_node("last", lambda s: Command(update={"round": 1}))
    flow.add_conditional_edges("a", lambda s: [Send("work", {"index": i}) for i in range(9)])
    flow.add_edge(list(NAMES), "last")
    return flow.compile(checkpointer=InMemorySaver())


async def history_of(colour: str, limit: int, seed: int) -> Any:
    """What the saver holds after a failure, a question, and the end."""
    graph = graph_of(colour, random.Random(seed))
    config = {**THREAD, "max_concurrency": limit}

    async def run(value: Any) -> None:
        if colour == "async":
            await graph.ainvoke(value, config)
        else:
            graph.invoke(value, config)

    for value in ({"log": ["input"]}, None, Command(resume="yes")):
        try:
            await run(value)
        except ValueError:
            # Which siblings had finished before a failure is chance: the next run does the rest.
            continue
    normalise = Normaliser()
    found = list(graph.checkpointer.list(THREAD))
    return normalise([[s.checkpoint, s.metadata, s.pending_writes] for s in reversed(found)])


def without_failures(history: Any) -> Any:
    """The history without what only tells that a task had failed or asked before it finished."""
    return [[c, m, [w for w in writes if w[1] != "__error__"]] for c, m, writes in history]


@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_the_checkpoints_are_the_same(colour: str) -> None:
    histories = [
        without_failures(await history_of(colour, limit, seed))
        for limit in (1, 16)
        for seed in range(4)
    ]
    assert len(histories[0]) > 3
    for other in histories[1:]:
        assert other == histories[0]


async def test_both_colours_leave_the_same() -> None:
    one = without_failures(await history_of("sync", 16, 0))
    assert one == without_failures(await history_of("async", 16, 5))
