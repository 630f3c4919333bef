"""What a caller finds while it reads a stream, and after it has left one early."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    bar: Annotated[list[str], operator.add]


def adds(name: str, wait: float = 0) -> Callable[[Any], dict[str, Any]]:
    def node(state: Any) -> dict[str, Any]:
        time.sleep(wait)
        return {"bar": [name]}

    return node


def chain() -> Any:
    flow = StateGraph(State)
    for name, before in (("a", START), ("b", "a"), ("c", "b")):
        flow.add_node(name, adds(name)).add_edge(before, name)
    return flow.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("mode", ["updates", "values"])
def test_a_listener_finds_the_checkpoint_of_what_it_is_told(mode: str) -> None:
    graph = chain()
    steps = [
        graph.get_state(THREAD).metadata["step"]
        for _ in graph.stream({"bar": []}, THREAD, stream_mode=mode)
    ]
    assert steps == ([1, 2, 3] if mode == "updates" else [0, 1, 2, 3])


async def test_an_async_listener_too() -> None:
    graph = chain()
    steps = [
        (await graph.aget_state(THREAD)).next async for _ in graph.astream({"bar": []}, THREAD)
    ]
    assert steps == [("b",), ("c",), ()]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_leaving_a_stream_keeps_what_was_done(durability: str) -> None:
    graph = chain()
    for event in graph.stream({"bar": []}, THREAD, durability=durability):
        if "b" in event:
            break
    state = graph.get_state(THREAD)
    assert (state.values, state.next) == ({"bar": ["a", "b"]}, ("c",))
    assert graph.invoke(None, THREAD) == {"bar": ["a", "b", "c"]}


async def test_leaving_an_async_stream_with_exit_keeps_what_was_done() -> None:
    graph = chain()
    stream = graph.astream({"bar": []}, THREAD, durability="exit")
    async for event in stream:
        if "b" in event:
            break
    await stream.aclose()
    assert (await graph.aget_state(THREAD)).next == ("c",)


def test_a_sibling_that_still_ran_keeps_its_write() -> None:
    flow = StateGraph(State)
    flow.add_node("quick", adds("quick")).add_edge(START, "quick")
    flow.add_node("slow", adds("slow", 0.1)).add_edge(START, "slow")
    graph = flow.compile(checkpointer=InMemorySaver())
    for event in graph.stream({"bar": []}, THREAD):
        assert "quick" in event
        break
    assert [t.result for t in graph.get_state(THREAD).tasks] == [
        {"bar": ["quick"]},
        {"bar": ["slow"]},
    ]


def test_ctrl_c_in_a_node_keeps_the_history_with_exit() -> None:
    def stop(state: Any) -> Any:
        raise KeyboardInterrupt

    flow = StateGraph(State).add_node("a", adds("a")).add_node("b", stop)
    flow.add_edge(START, "a").add_edge("a", "b").add_edge("b", END)
    graph = flow.compile(checkpointer=InMemorySaver())
    with pytest.raises(KeyboardInterrupt):
        graph.invoke({"bar": []}, THREAD, durability="exit")
    state = graph.get_state(THREAD)
    assert (state.values, state.next, state.tasks[0].error) == ({"bar": ["a"]}, ("b",), None)


class Unprintable(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_an_error_without_a_repr_is_still_the_error() -> None:
    def node(state: Any) -> Any:
        raise Unprintable

    graph = StateGraph(State).add_node("a", node).add_edge(START, "a")
    app = graph.compile(checkpointer=InMemorySaver())
    with pytest.raises(Unprintable):
        app.invoke({"bar": []}, THREAD)
    assert app.get_state(THREAD).tasks[0].error == "Unprintable(<its repr raises RuntimeError>)"


def test_user_metadata_never_replaces_the_engine_s() -> None:
    graph = chain()
    graph.invoke({"bar": []}, {**THREAD, "metadata": {"source": "mine", "step": 77, "k": 1}})
    assert graph.get_state(THREAD).metadata == {"source": "loop", "step": 3, "parents": {}, "k": 1}


def test_an_unknown_keyword_is_told() -> None:
    with pytest.warns(UserWarning, match="durabilty"):
        chain().invoke({"bar": []}, THREAD, durabilty="sync")


def test_routers_get_what_nodes_get() -> None:
    seen: dict[str, Any] = {}

    def router(state: Any, config: Any, *, store: Any, runtime: Any) -> str:
        seen.update(thread=config["configurable"]["thread_id"], store=store, ctx=runtime.context)
        return END

    flow = StateGraph(State).add_node("a", adds("a")).add_edge(START, "a")
    graph = flow.add_conditional_edges("a", router).compile(store="the store")
    graph.invoke({"bar": []}, THREAD, context={"k": 1})
    assert seen == {"thread": "1", "store": "the store", "ctx": {"k": 1}}
