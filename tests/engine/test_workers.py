"""How a step's jobs get their threads."""

from __future__ import annotations

import threading
import time
from operator import add
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.pregel.workers import Workers

C = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    xs: Annotated[list[str], add]


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


def test_quick_siblings_share_a_thread() -> None:
    ran: list[int] = []
    graph = beside(**{f"n{i}": lambda state: ran.append(threading.get_ident()) for i in range(4)})
    shared = 0
    for _ in range(20):
        ran.clear()
        graph.invoke({"xs": []})
        assert len(ran) == 4
        assert threading.get_ident() not in ran
        shared += len(set(ran)) == 1
    assert shared  # on a busy machine not always


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
