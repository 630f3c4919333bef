"""Streams as they arrive: live, pull-driven, complete, and free of what nobody asked for."""

from __future__ import annotations

import asyncio
import gc
import operator
import subprocess
import sys
import threading
from contextlib import aclosing
from typing import Annotated, Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.config import get_stream_writer
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.pregel.run import Run


class State(TypedDict, total=False):
    bar: Annotated[list[Any], operator.add]


THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


def graph_of(*nodes: Any, saver: Any = None) -> Any:
    """A chain of nodes named a, b, c, …"""
    builder = StateGraph(State)
    builder.add_sequence([(name, node) for name, node in zip("abcdef", nodes, strict=False)])
    builder.add_edge(START, "a")
    return builder.compile(checkpointer=saver)


def fan_of(**nodes: Any) -> Any:
    """Nodes that run side by side."""
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
    return builder.compile(checkpointer=InMemorySaver())


def waits_for(gate: threading.Event, seen: list[bool]) -> Any:
    def node(state: State) -> State:
        get_stream_writer()("begun")
        seen.append(gate.wait(5))
        return {"bar": [1]}

    return node


def test_a_chunk_arrives_before_its_node_ends() -> None:
    gate, seen = threading.Event(), []
    for chunk in graph_of(waits_for(gate, seen)).stream({}, stream_mode="custom"):
        assert chunk == "begun"
        gate.set()
    assert seen == [True]


async def test_a_chunk_arrives_before_its_node_ends_async() -> None:
    gate, seen = asyncio.Event(), []

    async def node(state: State) -> State:
        get_stream_writer()("begun")
        await asyncio.wait_for(gate.wait(), 5)
        seen.append(True)
        return {"bar": [1]}

    async for chunk in graph_of(node).astream({}, stream_mode="custom"):
        assert chunk == "begun"
        gate.set()
    assert seen == [True]


async def test_a_chunk_of_a_sync_node_arrives_live_in_an_async_run() -> None:
    gate, seen = threading.Event(), []
    async for _ in graph_of(waits_for(gate, seen)).astream({}, stream_mode="custom"):
        gate.set()
    assert seen == [True]


def test_tokens_arrive_before_their_node_ends() -> None:
    gate, seen = threading.Event(), []
    model = GenericFakeChatModel(messages=iter([AIMessage("a b")]))

    def node(state: State) -> State:
        model.invoke("x")
        seen.append(gate.wait(5))
        return {"bar": [1]}

    for message, _ in graph_of(node).stream({}, stream_mode="messages"):
        if message.content == "b":
            gate.set()
    assert seen == [True]


def test_chunks_of_siblings_interleave() -> None:
    turn = [threading.Event(), threading.Event()]

    def first(state: State) -> State:
        get_stream_writer()("first 1")
        assert turn[0].wait(5)
        get_stream_writer()("first 2")
        turn[1].set()
        return {"bar": ["first"]}

    def second(state: State) -> State:
        get_stream_writer()("second 1")
        turn[0].set()
        assert turn[1].wait(5)
        get_stream_writer()("second 2")
        return {"bar": ["second"]}

    chunks = list(fan_of(first=first, second=second).stream({}, THREAD, stream_mode="custom"))
    assert sorted(chunks[:2]) == ["first 1", "second 1"]
    assert chunks[2:] == ["first 2", "second 2"]


def failing_pair() -> Any:
    done = threading.Event()

    def good(state: State) -> State:
        get_stream_writer()("good")
        done.set()
        return {"bar": ["good"]}

    def bad(state: State) -> State:
        get_stream_writer()("bad")
        done.wait(5)
        threading.Event().wait(0.05)
        raise ValueError("no luck")

    return fan_of(good=good, bad=bad)


def check_failure(chunks: list[Any]) -> None:
    assert sorted(c for m, c in chunks if m == "custom") == ["bad", "good"]
    assert [c for m, c in chunks if m == "updates"] == [{"good": {"bar": ["good"]}}]
    ended = {c["name"]: c["error"] for m, c in chunks if m == "tasks" and "error" in c}
    assert ended["good"] is None
    assert isinstance(ended["bad"], ValueError)


MODES = ["custom", "updates", "tasks"]


def test_a_failure_loses_no_event() -> None:
    chunks: list[Any] = []
    stream = failing_pair().stream({}, THREAD, stream_mode=MODES)
    with pytest.raises(ValueError, match="no luck"):
        chunks.extend(stream)
    check_failure(chunks)


async def test_a_failure_loses_no_event_async() -> None:
    chunks: list[Any] = []

    async def read() -> None:
        async for chunk in failing_pair().astream({}, THREAD, stream_mode=MODES):
            chunks.append(chunk)

    with pytest.raises(ValueError, match="no luck"):
        await read()
    check_failure(chunks)


def test_debug_alone_shows_the_failing_task_s_result() -> None:
    def bad(state: State) -> State:
        raise ValueError("no luck")

    events: list[Any] = []
    with pytest.raises(ValueError, match="no luck"):
        events.extend(graph_of(bad).stream({}, stream_mode="debug"))
    assert events[-1]["type"] == "task_result"
    assert isinstance(events[-1]["payload"]["error"], ValueError)


def test_a_stream_runs_no_step_that_nobody_asked_for() -> None:
    ran: list[str] = []

    def node(name: str) -> Any:
        return lambda state: ran.append(name)

    stream = graph_of(node("a"), node("b"), node("c")).stream({}, stream_mode="updates")
    next(stream)
    assert ran == ["a"]
    stream.close()
    assert ran == ["a"]


async def test_an_async_stream_runs_no_step_that_nobody_asked_for() -> None:
    ran: list[str] = []

    def node(name: str) -> Any:
        async def run(state: State) -> None:
            ran.append(name)

        return run

    graph = graph_of(node("a"), node("b"), node("c"), saver=InMemorySaver())
    async with aclosing(graph.astream({}, THREAD, stream_mode="updates")) as stream:
        async for _ in stream:
            await asyncio.sleep(0.02)
            break
    assert ran == ["a"]
    assert graph.get_state(THREAD).next == ("b",)


def test_streams_side_by_side_keep_their_messages_apart() -> None:
    def talks(name: str) -> Any:
        model = GenericFakeChatModel(messages=iter([AIMessage(f"{name} {name} {name}")]))
        return graph_of(lambda state: {"bar": [model.invoke("x").content]})

    streams = {name: talks(name).stream({}, stream_mode="messages") for name in "xy"}
    heard: dict[str, str] = {"x": "", "y": ""}
    for _ in range(5):
        for name, stream in streams.items():
            heard[name] += next(stream)[0].content
    assert heard == {"x": "x x x", "y": "y y y"}


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="vlaues"):
        list(graph_of(lambda state: None).stream({}, stream_mode="vlaues"))


def test_a_graph_in_a_chain() -> None:
    chain = graph_of(lambda state: {"bar": [1]}).as_runnable() | (lambda found: found["bar"])
    assert chain.invoke({"bar": [0]}) == [0, 1]
    assert asyncio.run(chain.ainvoke({"bar": [0]})) == [0, 1]


def test_a_runnable_s_callbacks_reach_the_graph_it_calls() -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    names: list[Any] = []

    class Names(BaseCallbackHandler):
        def on_chain_start(self, *args: Any, name: Any = None, **kwargs: Any) -> None:
            names.append(name)

    graph = graph_of(lambda state: {"bar": [1]})
    outer = RunnableLambda(lambda value: graph.invoke(value)).with_config(run_name="outer")
    outer.invoke({"bar": [0]}, {"callbacks": [Names()]})
    assert names == ["outer", "LangGraph", "a"]


def test_a_finished_run_is_freed_at_once() -> None:
    graph = fan_of(a=lambda state: {"bar": [1]}, b=lambda state: {"bar": [2]})
    gc.collect()
    before = sum(isinstance(one, Run) for one in gc.get_objects())
    gc.disable()
    try:
        for mode in ("values", "custom", ["updates", "tasks", "checkpoints"]):
            assert list(graph.stream({}, THREAD, stream_mode=mode)) is not None
            graph.invoke({}, THREAD)
            graph.get_state(THREAD)
        assert sum(isinstance(one, Run) for one in gc.get_objects()) == before
    finally:
        gc.enable()


def run_python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


GRAPH = """
import sys
from typing import TypedDict
from ckpt_viz.graph import START, StateGraph
builder = StateGraph(TypedDict("S", {"foo": str})).add_node("a", lambda s: {"foo": "a"})
graph = builder.add_edge(START, "a").compile()
"""


def test_langchain_is_loaded_only_for_messages() -> None:
    program = f"""{GRAPH}
list(graph.stream({{"foo": ""}}, stream_mode=["values", "updates", "tasks", "custom"]))
print("langchain_core" in sys.modules)
list(graph.stream({{"foo": ""}}, stream_mode="messages"))
print("langchain_core" in sys.modules)
"""
    assert run_python(program).split() == ["False", "True"]


def test_messages_without_langchain_say_what_is_missing() -> None:
    program = f"""{GRAPH}
sys.modules["langchain_core"] = None
try:
    list(graph.stream({{"foo": ""}}, stream_mode="messages"))
except ImportError as error:
    print(error)
"""
    assert "pip install langchain-core" in run_python(program)
