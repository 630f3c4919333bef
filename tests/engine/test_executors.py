"""Node bodies on executors: threads and processes, sent as bytes; the rest stays at home."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import GraphDrained, SerializationError
from ckpt_viz.func import entrypoint
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import Command, RetryPolicy, Send
from tests.engine.bodies import (
    State,
    asks,
    asks_too,
    calls_a_task,
    drains,
    fails,
    fails_once_per_path,
    fails_stubbornly,
    looks_around,
    nests,
    says_where,
    says_where_async,
    wants_the_store,
    where_it_is,
)

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


@pytest.fixture(scope="module", params=["threads", "processes"])
def executor(request: Any) -> Iterator[Executor]:
    if request.param == "threads":
        pool: Executor = ThreadPoolExecutor(4, "elsewhere")
    else:
        pool = ProcessPoolExecutor(2, get_context("spawn"))
    with pool:
        yield pool


def graph(executor: Any, *nodes: Any, **options: Any) -> Any:
    """The nodes one after the other, compiled for an executor."""
    flow, before = StateGraph(State), START
    for node in nodes:
        flow.add_node(node).add_edge(before, node.__name__)
        before = node.__name__
    options.setdefault("checkpointer", InMemorySaver())
    return flow.compile(executor=executor, **options)


def is_elsewhere(where: tuple[int, str]) -> bool:
    return where[0] != os.getpid() or where[1].startswith("elsewhere")


async def test_the_body_runs_there(executor: Executor) -> None:
    app = graph(executor, says_where)
    assert is_elsewhere(app.invoke({}, THREAD)["x"])
    assert is_elsewhere((await app.ainvoke({}, THREAD))["x"])
    assert is_elsewhere((await graph(executor, says_where_async).ainvoke({}, THREAD))["x"])
    plain = graph(None, says_where)
    assert not is_elsewhere(plain.invoke({}, THREAD)["x"])
    assert is_elsewhere(plain.invoke({}, {**THREAD, "executor": executor})["x"])
    assert len(list(app.get_state_history(THREAD))) == 6


def test_side_by_side(executor: Executor) -> None:
    flow = StateGraph(State).add_node("a", says_where)
    flow.add_conditional_edges(START, lambda s: [Send("a", {"x": i}) for i in range(9)], ["a"])
    app = flow.compile(executor=executor)
    with pytest.raises(Exception, match="Can receive only one value"):
        app.invoke({})


@pytest.mark.parametrize("awaited", [False, True])
async def test_an_error_comes_back_as_itself(executor: Executor, awaited: bool) -> None:
    app = graph(executor, fails)
    with pytest.raises(ValueError, match="far away") as caught:
        await app.ainvoke({}, THREAD) if awaited else app.invoke({}, THREAD)
    assert any("in fails" in note for note in caught.value.__notes__)
    assert app.get_state(THREAD).tasks[0].error == "ValueError('far away')"


def test_an_error_that_cannot_travel_is_told(executor: Executor) -> None:
    with pytest.raises(RuntimeError, match=r"Stubborn\('does not'\) was raised"):
        graph(executor, fails_stubbornly).invoke({}, THREAD)


@pytest.mark.parametrize("awaited", [False, True])
async def test_questions_come_back_as_themselves(executor: Executor, awaited: bool) -> None:
    app = graph(executor, asks)

    async def run(value: Any) -> Any:
        return await app.ainvoke(value, THREAD) if awaited else app.invoke(value, THREAD)

    first = await run({})
    assert [i.value for i in first["__interrupt__"]] == ["first"]
    second = await run(Command(resume="1"))
    assert [i.value for i in second["__interrupt__"]] == ["second"]
    assert second["__interrupt__"][0].id != first["__interrupt__"][0].id
    assert (await run(Command(resume="2")))["log"] == ["1", "2"]


def test_one_answer_is_for_the_one_that_asked(executor: Executor) -> None:
    flow = StateGraph(State)
    for node in (asks_too, says_where, asks):
        flow.add_node(node).add_edge(START, node.__name__)
    app = flow.compile(checkpointer=InMemorySaver(), executor=executor)
    ids = {i.value: i.id for i in app.invoke({}, THREAD)["__interrupt__"]}
    half = app.invoke(Command(resume={ids["other"]: "o"}), THREAD)
    assert [i.value for i in half["__interrupt__"]] == ["first"]
    app.invoke(Command(resume="1"), THREAD)
    assert app.invoke(Command(resume="2"), THREAD)["log"] == ["1", "2", "o", "a"]


def test_what_a_body_finds_there(executor: Executor) -> None:
    app = graph(executor, looks_around)
    events = list(app.stream({}, THREAD, context={"k": 1}, stream_mode=["custom", "updates"]))
    assert events == [
        ("custom", "a chunk"),
        ("custom", "another"),
        ("updates", {"looks_around": {"x": ["1", "looks_around", {"k": 1}, 1]}}),
    ]
    with pytest.raises(RuntimeError, match="'store' stays with the run"):
        graph(executor, wants_the_store).invoke({}, THREAD)
    with pytest.raises(GraphDrained, match="enough"):
        graph(executor, drains, says_where).invoke({}, THREAD)


def test_retries_and_tasks(executor: Executor, tmp_path: Any) -> None:
    flow = StateGraph(State).add_edge(START, "a")
    flow.add_node("a", fails_once_per_path, retry_policy=RetryPolicy(0.01, jitter=False))
    app = flow.compile(executor=executor)
    assert len(app.invoke({"x": str(tmp_path / "mark")})["log"]) == 1

    @entrypoint()
    def work(n: int) -> Any:
        return [f.result() for f in [where_it_is(i) for i in range(n)]]

    found = work.invoke(3, {"executor": executor})
    assert [n for n, _ in found] == [0, 1, 2]
    assert all(is_elsewhere(where) for _, where in found)


def test_graphs_and_tasks_inside_a_body(executor: Executor) -> None:
    assert is_elsewhere(graph(executor, nests).invoke({}, THREAD)["x"])
    with pytest.raises(RuntimeError, match="in the process of the run"):
        graph(executor, calls_a_task).invoke({}, THREAD)


@pytest.mark.parametrize("given", ["graph", "config"])
async def test_bodies_of_nested_graphs_run_there_too(executor: Executor, given: str) -> None:
    sub = StateGraph(State).add_node(says_where).add_edge(START, "says_where").compile()

    flow = StateGraph(State).add_node("sub", sub).add_edge(START, "sub")
    config = {**THREAD, "executor": executor} if given == "config" else THREAD
    app = flow.compile(executor=executor if given == "graph" else None)
    assert is_elsewhere(app.invoke({}, config)["x"])
    assert is_elsewhere((await app.ainvoke({}, config))["x"])


def test_questions_of_nested_graphs(executor: Executor) -> None:
    sub = StateGraph(State).add_node(asks).add_edge(START, "asks").compile()
    flow = StateGraph(State).add_node("sub", sub).add_edge(START, "sub")
    flow.add_node(asks_too).add_edge(START, "asks_too")
    app = flow.compile(checkpointer=InMemorySaver(), executor=executor)
    ids = {i.value: i.id for i in app.invoke({}, THREAD)["__interrupt__"]}
    assert set(ids) == {"first", "other"}
    app.invoke(Command(resume={ids["first"]: "1", ids["other"]: "o"}), THREAD)
    assert sorted(app.invoke(Command(resume="2"), THREAD)["log"]) == ["1", "2", "o"]


def test_what_cannot_be_sent_is_told() -> None:
    lock = threading.Lock()

    def holds(state: State) -> Any:
        return {"x": lock.locked()}

    with ProcessPoolExecutor(1) as pool, pytest.raises(SerializationError, match="node 'holds'"):
        graph(pool, holds).invoke({}, THREAD)
