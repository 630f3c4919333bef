"""How a step's jobs get their threads."""

from __future__ import annotations

import asyncio
import threading
import time
from operator import add
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.pregel.workers import Workers

C = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    xs: Annotated[list[Any], add]


class Count(TypedDict):
    n: int


def loop_of(count: Any, most: int, saver: Any = None, siblings: int = 0) -> Any:
    """A node that runs again until it has counted, with some that do nothing beside it."""
    builder = StateGraph(Count)
    builder.add_node("count", count).add_edge(START, "count")
    names = [f"s{i}" for i in range(siblings)]
    for name in names:
        builder.add_node(name, lambda state: None).add_edge(START, name)
    builder.add_conditional_edges(
        "count", lambda state: END if state["n"] >= most else ["count", *names]
    )
    return builder.compile(checkpointer=saver)


def beside(saver: Any = None, **nodes: Any) -> Any:
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node).add_edge(START, name)
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_siblings_that_wait_for_each_other_meet(colour: str) -> None:
    barrier = threading.Barrier(5, timeout=20)

    def meets(state: State) -> Any:
        barrier.wait()
        return {"xs": ["met"]}

    graph = beside(**{f"n{i}": meets for i in range(5)})
    for _ in range(3):
        found = graph.invoke({}) if colour == "sync" else await graph.ainvoke({})
        assert found["xs"] == ["met"] * 5


def where(ran: list[int]) -> Any:
    return lambda state: ran.append(threading.get_ident())


def test_quick_siblings_run_in_the_thread_of_the_caller() -> None:
    ran: list[int] = []
    graph = beside(**{f"n{i}": where(ran) for i in range(4)})
    for _ in range(20):
        graph.invoke({"xs": []})
    assert len(ran) == 80
    assert threading.get_ident() in ran


async def test_siblings_may_run_a_loop_where_one_runs_already() -> None:
    def starts(state: State) -> Any:
        asyncio.run(asyncio.sleep(0))
        return {"xs": ["ran"]}

    assert beside(a=starts, b=starts).invoke({})["xs"] == ["ran", "ran"]


def test_quick_siblings_share_a_thread_where_their_stream_is_read() -> None:
    ran: list[int] = []
    graph = beside(**{f"n{i}": where(ran) for i in range(4)})
    shared = 0
    for _ in range(20):
        ran.clear()
        assert len(list(graph.stream({"xs": []}))) == 4
        assert threading.get_ident() not in ran
        shared += len(set(ran)) == 1
    assert shared  # on a busy machine not always


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("base", [InMemorySaver, SqliteSaver])
async def test_what_has_ended_is_stored_while_a_sibling_still_runs(
    colour: str, base: Any, tmp_path: Any
) -> None:
    saver = base() if base is InMemorySaver else base.from_conn_string(tmp_path / "w.db")
    go, stored = threading.Event(), []

    def waits(state: State) -> Any:
        assert go.wait(20)
        return {"xs": ["a"]}

    def quick(state: State) -> Any:
        return {"xs": ["quick"]}

    def look() -> None:
        end = time.monotonic() + 10
        while len(stored) < 3 and time.monotonic() < end:
            time.sleep(0.005)
            saved = saver.get_tuple(C)
            stored[:] = [w for w in saved.pending_writes if w[1] == "xs"] if saved else []
        go.set()

    graph = beside(saver, a=waits, b=quick, c=quick, d=quick)
    looker = threading.Thread(target=look)
    looker.start()
    found = graph.invoke({}, C) if colour == "sync" else await graph.ainvoke({}, C)
    looker.join()
    assert [value for _, _, value in stored] == [["quick"]] * 3
    assert found["xs"] == ["a", "quick", "quick", "quick"]


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("limit", [1, 2])
async def test_no_more_siblings_run_at_a_time_than_the_caller_allows(
    colour: str, limit: int
) -> None:
    lock, running, most = threading.Lock(), [0], [0]

    def counts(state: State) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1

    graph = beside(**{f"n{i}": counts for i in range(6)})
    config = {"max_concurrency": limit}
    _ = graph.invoke({}, config) if colour == "sync" else await graph.ainvoke({}, config)
    assert most == [limit]


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("slow", [0, 0.003])
async def test_what_a_sibling_wrote_and_cannot_be_saved_ends_the_run(
    colour: str, slow: float
) -> None:
    def bad(state: State) -> Any:
        time.sleep(slow)
        return {"xs": [threading.Lock()]}

    def good(state: State) -> Any:
        time.sleep(slow)
        return {"xs": ["good"]}

    saver = InMemorySaver()
    graph = beside(saver, a=good, b=bad, c=good)
    with pytest.raises(SerializationError, match="xs"):
        _ = graph.invoke({}, C) if colour == "sync" else await graph.ainvoke({}, C)
    assert [t.result for t in graph.get_state(C).tasks][:2] == [{"xs": ["good"]}, None]


async def test_the_loop_goes_on_while_sync_nodes_run() -> None:
    def count(state: Count) -> Any:
        time.sleep(0.0005)
        return {"n": state["n"] + 1}

    turns = 0

    async def beats() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    graph = loop_of(count, 200)
    beating = asyncio.create_task(beats())
    assert (await graph.ainvoke({"n": 0}, {"recursion_limit": 300}))["n"] == 200
    beating.cancel()
    assert turns > 10


@pytest.mark.parametrize("siblings", [0, 2])
async def test_a_run_left_while_a_thread_works_for_it_stops_there(siblings: int) -> None:
    begun, go, counted = threading.Event(), threading.Event(), []

    def count(state: Count) -> Any:
        counted.append(state["n"])
        if state["n"] == 3:
            begun.set()
            assert go.wait(20)
        return {"n": state["n"] + 1}

    saver = InMemorySaver()
    graph = loop_of(count, 10, saver, siblings)
    task = asyncio.create_task(graph.ainvoke({"n": 0}, C))
    assert await asyncio.to_thread(begun.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    before = graph.get_state(C)
    go.set()
    await asyncio.sleep(0.05)
    assert counted == [0, 1, 2, 3]
    after = graph.get_state(C)
    assert (after.values["n"], after.config) == (3, before.config)
    assert [t.result for t in after.tasks if t.name == "count"] == [None]
    assert (await graph.ainvoke(None, C))["n"] == 10


async def test_what_a_step_left_to_the_loop_runs_before_the_next() -> None:
    seen: list[Any] = []

    async def count(state: Count) -> Any:
        n = state["n"]
        seen.append(n)
        asyncio.get_running_loop().call_soon(seen.append, f"after {n}")
        return {"n": n + 1}

    await loop_of(count, 3).ainvoke({"n": 0})
    assert seen == [0, "after 0", 1, "after 1", 2, "after 2"]


async def test_a_node_that_cancels_its_run_is_the_last() -> None:
    seen: list[int] = []

    async def count(state: Count) -> Any:
        seen.append(state["n"])
        if state["n"] == 2:
            task.cancel()
        return {"n": state["n"] + 1}

    task = asyncio.create_task(loop_of(count, 10).ainvoke({"n": 0}))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == [0, 1, 2]


def test_a_failure_lets_its_siblings_finish() -> None:
    def fails(state: State) -> Any:
        raise ValueError("no")

    def slow(state: State) -> Any:
        time.sleep(0.03)
        return {"xs": ["slow"]}

    graph = beside(InMemorySaver(), a=fails, b=slow, c=slow, d=slow)
    with pytest.raises(ValueError, match="no"):
        graph.invoke({}, C)
    done = [t.name for t in graph.get_state(C).tasks if t.result]
    assert done == ["b", "c", "d"]


def test_the_limit_holds_and_what_it_keeps_back_is_dropped() -> None:
    running, most, ran = [0], [0], []
    lock, full, go = threading.Lock(), threading.Event(), threading.Event()

    def job() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 3:
                full.set()
        go.wait(5)
        with lock:
            running[0] -= 1
            ran.append(1)

    workers = Workers(3)
    workers.start([job] * 12)
    workers.spread()
    assert full.wait(5)
    assert workers.drop() == 9
    go.set()
    workers.close(wait=True)
    assert (most[0], len(ran)) == (3, 3)


@pytest.mark.parametrize("base", [InMemorySaver, SqliteSaver])
def test_a_saver_with_its_own_put_writes_gets_every_call(base: Any, tmp_path: Any) -> None:
    seen: list[str] = []

    class Telling(base):  # type: ignore[misc]
        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            seen.extend(channel for channel, _ in writes)
            super().put_writes(config, writes, task_id, task_path)

    saver = Telling() if base is InMemorySaver else Telling.from_conn_string(tmp_path / "w.db")
    graph = beside(saver, a=lambda state: {"xs": ["a"]})
    graph.invoke({"xs": []}, C)
    assert seen == ["xs", "branch:to:a", "xs"]
