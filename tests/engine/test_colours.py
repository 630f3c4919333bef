"""Sync and async calls of one graph leave the same behind."""

from __future__ import annotations

import asyncio
import contextvars
import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import Command, Send, interrupt
from tests.differential.harness import MODES, Normaliser, in_task_order

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    foo: str
    bar: Annotated[list[Any], operator.add]


def graph_of(colour: str, *, fail: bool = False, ask: bool = False) -> Any:
    """A graph with a router, a join, sends; its nodes sync or async or mixed."""
    failures = [1] if fail else []

    def body(name: str) -> dict[str, Any]:
        if name == "c" and failures:
            failures.pop()
            raise ValueError("c fails once")
        if name == "b" and ask:
            return {"bar": [interrupt("first"), interrupt("second")]}
        return {"bar": [name]}

    def make(name: str, colour: str) -> Callable[[Any], Any]:
        def plain(state: Any) -> dict[str, Any]:
            return body(name)

        async def slow(state: Any) -> dict[str, Any]:
            await asyncio.sleep(0.03 if name == "c" else 0)
            return body(name)

        return slow if colour == "async" else plain

    builder = StateGraph(State)
    for i, name in enumerate(["a", "b", "c", "d", "w"]):
        kind = ("async" if i % 2 else "sync") if colour == "mixed" else colour
        builder.add_node(name, make(name, kind))
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("a", "c")
    builder.add_edge(["b", "c"], "d")
    builder.add_conditional_edges("d", lambda s: [Send("w", i) for i in range(2)], ["w"])
    return builder.compile(checkpointer=InMemorySaver())


def plain(graph: Any, log: list[Any]) -> Any:
    """Events, history and storage without ids and times."""
    history = list(graph.get_state_history(CONFIG))
    saved = list(graph.checkpointer.list(CONFIG))
    return Normaliser()([log, history, saved])


INPUTS = [{"foo": "x"}, Command(resume=1), Command(resume=2), None, {"foo": "y"}]


def run_sync(graph: Any, inputs: list[Any], **options: Any) -> list[Any]:
    """What sync streams show."""
    log: list[Any] = []
    for value in inputs:
        events: list[Any] = []
        try:
            for event in graph.stream(value, CONFIG, stream_mode=MODES, **options):
                events.append(event)
        except ValueError as error:
            events.append(("error", {"error": repr(error)}))
        log.append(list(in_task_order(events)))
    return log


async def run_async(graph: Any, inputs: list[Any], **options: Any) -> list[Any]:
    """What async streams show."""
    log: list[Any] = []
    for value in inputs:
        events: list[Any] = []
        try:
            async for event in graph.astream(value, CONFIG, stream_mode=MODES, **options):
                events.append(event)
        except ValueError as error:
            events.append(("error", {"error": repr(error)}))
        log.append(list(in_task_order(events)))
    return log


CASES = {
    "plain": ({}, [INPUTS[0], INPUTS[4]], {}),
    "asks": ({"ask": True}, INPUTS[:3], {}),
    "exit": ({"ask": True}, INPUTS[:3], {"durability": "exit"}),
    "stops": ({}, [INPUTS[0], None, None], {"interrupt_before": ["d"], "interrupt_after": ["a"]}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("nodes", ["sync", "async", "mixed"])
async def test_same_histories(case: str, nodes: str) -> None:
    how, inputs, options = CASES[case]
    reference = graph_of("sync", **how)
    expected = plain(reference, run_sync(reference, inputs, **options))
    graph = graph_of(nodes, **how)
    assert plain(graph, await run_async(graph, inputs, **options)) == expected


async def test_a_failure_leaves_the_same() -> None:
    """The sibling of a failing async node has finished; its writes are kept and not redone."""
    graph = graph_of("async", fail=True)
    log = await run_async(graph, [INPUTS[0]])
    assert log[0][-1] == ("error", {"error": "ValueError('c fails once')"})
    state = await graph.aget_state(CONFIG)
    assert state.next == ("c",)
    assert {t.name: t.result for t in state.tasks} == {"b": {"bar": ["b"]}, "c": None}
    result = await graph.ainvoke(None, CONFIG)
    assert result["bar"] == ["a", "b", "c", "d", "w", "w"]


async def test_reads_and_edits_have_twins() -> None:
    graph = graph_of("sync")
    assert graph.invoke({"foo": "x"}, CONFIG) == (await graph.aget_state(CONFIG)).values
    assert graph.get_state(CONFIG) == await graph.aget_state(CONFIG)
    history = [s async for s in graph.aget_state_history(CONFIG)]
    assert history == list(graph.get_state_history(CONFIG))
    config = await graph.aupdate_state(CONFIG, {"foo": "new"}, as_node="a")
    assert graph.get_state(CONFIG).config == config
    assert graph.get_state(CONFIG).next == ("b", "c")
    assert (await graph.ainvoke(None, CONFIG))["foo"] == "new"


def test_a_sync_call_of_an_async_node_says_so() -> None:
    graph = graph_of("async")
    with pytest.raises(TypeError, match=r"async|ainvoke|astream"):
        graph.invoke({"foo": "x"}, CONFIG)


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def test_a_node_sees_the_callers_context_and_keeps_its_own() -> None:
    seen: list[str] = []

    def node(name: str) -> Callable[[Any], dict[str, Any]]:
        def run(state: Any) -> dict[str, Any]:
            seen.append(variable.get())
            variable.set(name)
            return {"bar": [name]}

        return run

    builder = StateGraph(State)
    builder.add_node("a", node("a"))
    builder.add_node("b", node("b"))
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    token = variable.set("caller")
    try:
        builder.compile().invoke({"foo": "x"})
        assert seen == ["caller", "caller"]
        assert variable.get() == "caller"
    finally:
        variable.reset(token)


async def test_a_loop_of_nodes_that_never_wait_does_not_starve() -> None:
    async def node(state: Any) -> dict[str, Any]:
        return {"foo": "x"}

    builder = StateGraph(State)
    builder.add_node("a", node)
    builder.add_edge(START, "a")
    builder.add_edge("a", "a")
    ticks: list[int] = []

    async def ticker() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    beside = asyncio.create_task(ticker())
    with pytest.raises(RecursionError):
        await builder.compile().ainvoke({"foo": ""}, {"recursion_limit": 50})
    beside.cancel()
    assert len(ticks) > 20


async def test_an_abandoned_async_stream_runs_no_further() -> None:
    ran: list[str] = []
    builder = StateGraph(State)
    for name, following in (("a", "b"), ("b", "c"), ("c", None)):
        builder.add_node(name, lambda s, n=name: ran.append(n) or {"bar": [n]})
        if following:
            builder.add_edge(name, following)
    builder.add_edge(START, "a")
    graph = builder.compile(checkpointer=InMemorySaver())
    stream = graph.astream({"foo": "x"}, CONFIG, stream_mode="updates")
    assert await anext(stream) == {"a": {"bar": ["a"]}}
    await asyncio.sleep(0.05)
    assert ran == ["a"], "a superstep that nobody asked for did run"
    await stream.aclose()
    assert (await graph.ainvoke(None, CONFIG))["bar"] == ["a", "b", "c"]
    assert ran == ["a", "b", "c"]
