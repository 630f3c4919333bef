"""Retries, timeouts, handlers, cancellation: what a comparison of histories does not show."""

from __future__ import annotations

import asyncio
import itertools
import operator
import pickle
import time
from datetime import timedelta
from typing import Annotated, Any

import pytest
from langchain_core import runnables
from typing_extensions import TypedDict

from ckpt_viz.cache.memory import InMemoryCache
from ckpt_viz.channels import EphemeralValue, LastValue
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import GraphDrained, NodeCancelledError, NodeError, NodeTimeoutError
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.pregel import NodeBuilder, Pregel
from ckpt_viz.runtime import RunControl, Runtime
from ckpt_viz.types import CachePolicy, RetryPolicy, Send, TimeoutPolicy, default_retry_on

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}
QUICK = RetryPolicy(initial_interval=0.001, jitter=False)


class State(TypedDict, total=False):
    x: Any
    log: Annotated[list[Any], operator.add]


def graph(saver: Any = None, cache: Any = None, **nodes: Any) -> Any:
    """Nodes side by side; each a function, or a pair of it and its options."""
    flow = StateGraph(State)
    for name, node in nodes.items():
        function, options = node if isinstance(node, tuple) else (node, {})
        flow.add_node(name, function, **options)
        flow.add_edge(START, name)
    return flow.compile(checkpointer=saver, cache=cache)


async def sleeps(state: Any) -> Any:
    await asyncio.sleep(5)


# retries


def test_what_is_retried_by_default() -> None:
    yes = [Exception(), ConnectionResetError(), AssertionError(), KeyboardInterrupt()]
    no = [ValueError(), KeyError(), OSError(), RuntimeError(), RecursionError(), StopIteration()]
    assert all(default_retry_on(e) for e in yes)  # type: ignore[arg-type]
    assert not any(default_retry_on(e) for e in no)
    assert default_retry_on(NodeTimeoutError("a", 1.0, kind="run", run_timeout=1.0))


def test_the_waits_grow_up_to_their_limit() -> None:
    at: list[float] = []

    def node(state: Any) -> Any:
        at.append(time.monotonic())
        raise ConnectionError

    policy = RetryPolicy(0.02, 3, 0.08, 5, jitter=False)
    with pytest.raises(ConnectionError):
        graph(a=(node, {"retry_policy": policy})).invoke({})
    waits = [b - a for a, b in itertools.pairwise(at)]
    for wait, least in zip(waits, (0.02, 0.06, 0.08, 0.08), strict=True):
        assert least <= wait < least + 0.05


async def test_async_attempts_leave_the_loop_free() -> None:
    runs: list[int] = []

    async def node(state: Any) -> Any:
        runs.append(1)
        if len(runs) < 3:
            raise ConnectionError
        return {"x": len(runs)}

    app = graph(a=(node, {"retry_policy": RetryPolicy(0.05, 1, jitter=False)}))
    ticks: list[int] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.01)
            ticks.append(1)

    ticker = asyncio.create_task(tick())
    assert await app.ainvoke({}) == {"x": 3, "log": []}
    ticker.cancel()
    assert len(ticks) > 4


def test_a_plain_node_knows_its_first_attempt() -> None:
    seen: list[Any] = []

    def node(state: Any, runtime: Runtime) -> Any:
        seen.append(runtime.execution_info)

    graph(a=node).invoke({})
    assert (seen[0].node_attempt, seen[0].thread_id) == (1, None)
    assert seen[0].checkpoint_id
    assert abs(seen[0].node_first_attempt_time - time.time()) < 5


# timeouts


@pytest.mark.parametrize(
    "limit", [0.05, timedelta(milliseconds=50), TimeoutPolicy(run_timeout=0.05)]
)
async def test_a_run_timeout(limit: Any) -> None:
    app = graph(InMemorySaver(), a=(sleeps, {"timeout": limit}))
    with pytest.raises(
        NodeTimeoutError, match=r"'a' exceeded its run timeout of 0\.050s"
    ) as caught:
        await app.ainvoke({}, THREAD)
    error = caught.value
    assert (error.node, error.kind, error.timeout, error.idle_timeout) == ("a", "run", 0.05, None)
    assert not isinstance(error, TimeoutError)
    assert "NodeTimeoutError" in app.get_state(THREAD).tasks[0].error


async def test_an_idle_timeout_is_put_off_by_progress() -> None:
    def beating(how: str) -> Any:
        async def node(state: Any, runtime: Runtime) -> Any:
            for _ in range(5):
                await asyncio.sleep(0.1)
                runtime.heartbeat() if how == "beat" else runtime.stream_writer(1)
            return {"x": how}

        return node

    auto, strict = (
        TimeoutPolicy(idle_timeout=0.35),
        TimeoutPolicy(idle_timeout=0.35, refresh_on="heartbeat"),
    )
    assert (await graph(a=(beating("beat"), {"timeout": strict})).ainvoke({}))["x"] == "beat"
    assert (await graph(a=(beating("write"), {"timeout": auto})).ainvoke({}))["x"] == "write"
    with pytest.raises(NodeTimeoutError, match="idle timeout") as caught:
        await graph(a=(beating("write"), {"timeout": strict})).ainvoke({})
    assert caught.value.kind == "idle"
    both = TimeoutPolicy(idle_timeout=0.35, run_timeout=0.25)
    with pytest.raises(NodeTimeoutError, match="run timeout"):
        await graph(a=(beating("beat"), {"timeout": both})).ainvoke({})


async def test_what_happens_inside_a_node_is_progress() -> None:
    async def wait(value: Any) -> Any:
        await asyncio.sleep(0.15)

    flow = StateGraph(State).add_edge(START, "a").add_edge("a", "b").add_edge("b", "c")
    inner = flow.add_node("a", wait).add_node("b", wait).add_node("c", wait).compile()

    async def calls_a_graph(state: Any) -> Any:
        return await inner.ainvoke({})

    async def calls_a_runnable(state: Any) -> Any:
        for _ in range(3):
            await runnables.RunnableLambda(wait).ainvoke(1)

    await graph(a=calls_a_runnable).ainvoke({})  # what langchain_core loads at first takes a while
    for node in (calls_a_graph, calls_a_runnable):
        auto, strict = (
            TimeoutPolicy(idle_timeout=0.35, refresh_on=on) for on in ("auto", "heartbeat")
        )
        await graph(a=(node, {"timeout": auto})).ainvoke({})
        with pytest.raises(NodeTimeoutError):
            await graph(a=(node, {"timeout": strict})).ainvoke({})


async def test_a_timeout_is_an_attempt_like_others() -> None:
    runs: list[int] = []

    async def node(state: Any) -> Any:
        runs.append(1)
        await asyncio.sleep(5 if len(runs) < 3 else 0)
        return {"x": len(runs)}

    app = graph(a=(node, {"timeout": 0.03, "retry_policy": QUICK}))
    assert (await app.ainvoke({}))["x"] == 3


async def test_what_a_node_does_after_its_time_counts_no_more() -> None:
    async def node(state: Any, runtime: Runtime) -> Any:
        runtime.stream_writer("in time")
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            runtime.stream_writer("too late")
        return {"x": 1}

    app = graph(InMemorySaver(), a=(node, {"timeout": 0.03}))
    chunks: list[Any] = []

    async def read() -> None:
        async for chunk in app.astream({}, THREAD, stream_mode="custom"):
            chunks.append(chunk)

    with pytest.raises(NodeTimeoutError):
        await read()
    assert chunks == ["in time"]
    assert app.get_state(THREAD).tasks[0].result is None


def test_sync_nodes_have_no_timeout() -> None:
    with pytest.raises(ValueError, match=r"only supported for async nodes.*Node 'a' is sync"):
        graph(a=(lambda s: None, {"timeout": 1}))
    with pytest.raises(ValueError, match="Node 'a' is sync"):
        graph(a=(sleeps, {"timeout": 1})).invoke({})
    with pytest.raises(ValueError, match="run_timeout must be greater than 0"):
        graph(a=(sleeps, {"timeout": 0}))


async def test_a_step_has_its_time_too() -> None:
    app = graph(InMemorySaver(), a=sleeps, b=lambda s: {"log": ["b"]})
    app.step_timeout = 0.1
    with pytest.raises(TimeoutError):
        await app.ainvoke({}, THREAD)
    assert [t.result for t in app.get_state(THREAD).tasks] == [None, {"log": ["b"]}]
    slow = graph(InMemorySaver(), a=lambda s: time.sleep(0.2), b=lambda s: {"log": ["b"]})
    slow.step_timeout = 0.05
    with pytest.raises(TimeoutError, match="Timed out"):
        slow.invoke({}, THREAD)
    assert slow.get_state(THREAD).next == ()  # a thread cannot be stopped: its write is kept


# handlers


async def test_an_async_handler_gets_what_is_left_after_the_retries() -> None:
    runs: list[int] = []

    async def node(state: Any) -> Any:
        runs.append(1)
        raise ConnectionError(f"attempt {len(runs)}")

    async def handle(state: Any, error: NodeError) -> Any:
        await asyncio.sleep(0)
        return {"x": str(error.error)}

    app = graph(a=(node, {"error_handler": handle, "retry_policy": QUICK}))
    assert (await app.ainvoke({}))["x"] == "attempt 3"


async def test_a_timeout_has_a_handler() -> None:
    def handle(state: Any, error: NodeError) -> Any:
        return {"x": type(error.error).__name__}

    app = graph(a=(sleeps, {"error_handler": handle, "timeout": 0.03}))
    assert (await app.ainvoke({}))["x"] == "NodeTimeoutError"


def test_a_handler_gets_the_input_of_the_failed_node() -> None:
    class Private(TypedDict):
        x: int

    def node(state: Private) -> Any:
        raise ValueError

    def handle(state: Any) -> Any:
        return {"log": [dict(state)]}

    node.__annotations__["state"] = Private
    app = graph(a=(node, {"error_handler": handle}))
    assert app.invoke({"x": 1, "log": ["old"]})["log"] == ["old", {"x": 1}]


def test_a_resumed_run_goes_on_with_the_handler() -> None:
    runs: list[str] = []
    told: list[Any] = []

    def node(state: Any) -> Any:
        runs.append("node")
        raise ValueError("lost")

    def handle(state: Any, error: NodeError) -> Any:
        told.append(error.error)
        if len(told) == 1:
            raise KeyError("the handler")
        return {"x": "handled"}

    app = graph(InMemorySaver(), a=(node, {"error_handler": handle}))
    with pytest.raises(KeyError):
        app.invoke({}, THREAD)
    assert app.invoke(None, THREAD)["x"] == "handled"
    assert (runs, told[1]) == (["node"], "ValueError('lost')")


# nodes by hand


def by_hand(node: Any, **options: Any) -> Any:
    return Pregel(
        nodes={"n": node},
        channels={"a": EphemeralValue(int), "b": LastValue(int)},
        input_channels="a",
        output_channels="b",
        **options,
    )


def test_nodes_by_hand_have_policies_too() -> None:
    runs: list[int] = []

    def node(value: int) -> int:
        runs.append(1)
        if len(runs) % 3:
            raise ConnectionError
        return value + len(runs)

    def built() -> NodeBuilder:
        return NodeBuilder().subscribe_only("a").do(node).write_to("b")

    assert by_hand(built().add_retry_policies(QUICK)).invoke(1) == 4
    assert by_hand(built(), retry_policy=QUICK).invoke(1) == 7
    for options in (
        {"node": built().add_retry_policies(QUICK).add_cache_policy(CachePolicy())},
        {"node": built(), "retry_policy": QUICK, "cache_policy": CachePolicy()},
    ):
        graph = by_hand(**options, cache=InMemoryCache())
        assert graph.invoke(1) == graph.invoke(1)
    with pytest.raises(ValueError, match="Node 'n' is sync"):
        by_hand(built().set_timeout(1))


async def test_a_send_may_bring_its_own_timeout() -> None:
    flow = StateGraph(State).add_node("a", sleeps)
    flow.add_conditional_edges(START, lambda s: [Send("a", {}, timeout=0.03)], ["a"])
    with pytest.raises(NodeTimeoutError):
        await flow.compile().ainvoke({})


# the rest


async def test_a_drained_async_run_can_go_on() -> None:
    control = RunControl()

    async def a(state: Any, runtime: Runtime) -> Any:
        assert runtime.control is control
        control.request_drain("deploy")
        return {"log": ["a"]}

    flow = StateGraph(State).add_node("a", a).add_node("b", lambda s: {"log": ["b"]})
    app = flow.add_edge(START, "a").add_edge("a", "b").compile(checkpointer=InMemorySaver())
    with pytest.raises(GraphDrained, match="deploy") as caught:
        await app.ainvoke({}, THREAD, control=control)
    assert caught.value.reason == "deploy"
    assert app.get_state(THREAD).next == ("b",)
    assert (await app.ainvoke(None, THREAD))["log"] == ["a", "b"]


async def test_an_async_node_is_cached() -> None:
    runs: list[int] = []

    async def node(state: Any) -> Any:
        runs.append(1)
        return {"x": 1}

    app = graph(cache=InMemoryCache(), a=(node, {"cache_policy": CachePolicy()}))
    for _ in range(2):
        assert (await app.ainvoke({"x": 0}))["x"] == 1
    await app.aclear_cache()
    await app.ainvoke({"x": 0})
    assert len(runs) == 2


def test_a_graph_inside_is_drained_with_the_one_around_it() -> None:
    def asks(state: Any, runtime: Runtime) -> Any:
        runtime.control.request_drain("from inside")

    flow = StateGraph(State).add_node("a", asks).add_node("b", lambda s: {"log": ["b"]})
    inner = flow.add_edge(START, "a").add_edge("a", "b").compile()
    outer = graph(InMemorySaver(), a=lambda s: inner.invoke({}))
    with pytest.raises(GraphDrained, match="from inside"):
        outer.invoke({}, THREAD)
    assert outer.get_state(THREAD).next == ("a",)


@pytest.mark.parametrize(
    "error",
    [
        NodeTimeoutError("a", 1.5, kind="idle", idle_timeout=1.0, run_timeout=3.0),
        NodeCancelledError("a"),
        GraphDrained("why"),
    ],
)
def test_errors_cross_processes_unchanged(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
