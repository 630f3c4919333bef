"""Cancellation, Ctrl-C and what else ends a run from outside or from within a node."""

from __future__ import annotations

import asyncio
import operator
import signal
import threading
import time
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import NodeCancelledError
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import RetryPolicy

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}
QUICK = RetryPolicy(initial_interval=0.001, jitter=False)


class State(TypedDict, total=False):
    x: Any
    log: Annotated[list[Any], operator.add]


def graph(saver: Any = None, **nodes: Any) -> Any:
    """Nodes side by side; each a function, or a pair of it and its options."""
    flow = StateGraph(State)
    for name, node in nodes.items():
        function, options = node if isinstance(node, tuple) else (node, {})
        flow.add_node(name, function, **options)
        flow.add_edge(START, name)
    return flow.compile(checkpointer=saver)


async def test_a_cancelled_run_keeps_what_was_done() -> None:
    seen: list[str] = []

    async def waits(state: Any) -> Any:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def quick(state: Any) -> Any:
        return {"log": ["b"]}

    app = graph(InMemorySaver(), a=waits, b=quick)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(app.ainvoke({}, THREAD), 0.05)
    state = app.get_state(THREAD)
    assert (state.next, seen) == (("a",), ["cancelled"])
    assert [t.result for t in state.tasks] == [None, {"log": ["b"]}]


@pytest.mark.parametrize("more", [{}, {"b": lambda s: None}])
async def test_a_node_cannot_swallow_a_cancellation(more: Any) -> None:
    async def stubborn(state: Any) -> Any:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            return {"log": ["saved in time"]}

    app = graph(InMemorySaver(), a=stubborn, **more)
    task = asyncio.create_task(app.ainvoke({}, THREAD))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert app.get_state(THREAD).tasks[0].result == {"log": ["saved in time"]}


async def test_siblings_of_a_failure_are_cancelled() -> None:
    seen: list[str] = []

    async def waits(state: Any) -> Any:
        try:
            await asyncio.sleep(5)
        finally:
            seen.append("ended")

    async def fails(state: Any) -> Any:
        await asyncio.sleep(0.01)
        raise ValueError("b")

    app = graph(InMemorySaver(), a=waits, b=fails)
    with pytest.raises(ValueError, match="b"):
        await app.ainvoke({}, THREAD)
    assert seen == ["ended"]
    state = app.get_state(THREAD)
    assert state.next == ("a", "b")
    assert [t.error for t in state.tasks] == ["CancelledError()", "ValueError('b')"]


def test_the_first_failure_in_time_is_raised() -> None:
    def late(state: Any) -> Any:
        time.sleep(0.1)
        raise KeyError("late")

    def early(state: Any) -> Any:
        raise ValueError("early")

    with pytest.raises(ValueError, match="early"):
        graph(a=late, b=early).invoke({})


async def test_a_cancellation_that_nobody_asked_for_is_a_failure() -> None:
    runs: list[int] = []

    async def node(state: Any) -> Any:
        runs.append(1)
        raise asyncio.CancelledError("mine")

    def sync_node(state: Any) -> Any:
        raise asyncio.CancelledError

    with pytest.raises(NodeCancelledError, match="'a' raised") as caught:
        await graph(a=(node, {"retry_policy": QUICK})).ainvoke({})
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)
    assert runs == [1]
    with pytest.raises(NodeCancelledError):
        graph(a=sync_node).invoke({})


def test_ctrl_c_while_nodes_run_keeps_the_finished() -> None:
    app = graph(InMemorySaver(), a=lambda s: time.sleep(0.3), b=lambda s: {"log": ["b"]})
    main, before = threading.main_thread(), set(threading.enumerate())

    def press() -> None:
        time.sleep(0.1)
        signal.pthread_kill(main.ident or 0, signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        app.invoke({}, THREAD)
    assert app.get_state(THREAD).tasks[1].result == {"log": ["b"]}
    assert not [t for t in set(threading.enumerate()) - before if t.name.startswith("ckpt_viz")]


async def test_stop_iteration_out_of_a_node_is_an_error() -> None:
    def node(state: Any) -> Any:
        raise StopIteration("mine")

    async def anode(state: Any) -> Any:
        raise StopIteration("mine")

    with pytest.raises(RuntimeError, match="StopIteration"):
        graph(a=node, b=node).invoke({})
    for one in (node, anode):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(graph(a=one).ainvoke({}), 5)
