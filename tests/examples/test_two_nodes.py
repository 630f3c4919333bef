"""The documented two-node example: four checkpoints, an update, a replay."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    foo: str
    bar: Annotated[list[str], add]


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def graph(ran: list[str]) -> Any:
    def node_a(state: State) -> dict[str, Any]:
        ran.append("a")
        return {"foo": "a", "bar": ["a"]}

    def node_b(state: State) -> dict[str, Any]:
        ran.append("b")
        return {"foo": "b", "bar": ["b"]}

    flow = StateGraph(State)
    flow.add_node(node_a)
    flow.add_node(node_b)
    flow.add_edge(START, "node_a")
    flow.add_edge("node_a", "node_b")
    flow.add_edge("node_b", END)
    made = flow.compile(checkpointer=InMemorySaver())
    assert made.invoke({"foo": ""}, THREAD) == {"foo": "b", "bar": ["a", "b"]}
    return made


def test_four_checkpoints(graph: Any) -> None:
    history = list(graph.get_state_history(THREAD))
    assert [s.values for s in history] == [
        {"foo": "b", "bar": ["a", "b"]},
        {"foo": "a", "bar": ["a"]},
        {"foo": "", "bar": []},
        {"bar": []},
    ]
    assert [s.next for s in history] == [(), ("node_b",), ("node_a",), ("__start__",)]
    assert [s.metadata["step"] for s in history] == [2, 1, 0, -1]
    assert [s.metadata["source"] for s in history] == ["loop", "loop", "loop", "input"]
    assert [s.parent_config for s in history[:-1]] == [s.config for s in history[1:]]
    assert history[-1].parent_config is None
    results = [[(t.name, t.result) for t in s.tasks] for s in history]
    assert results == [
        [],
        [("node_b", {"foo": "b", "bar": ["b"]})],
        [("node_a", {"foo": "a", "bar": ["a"]})],
        [("__start__", {"foo": ""})],
    ]


def test_update_passes_the_reducer(graph: Any) -> None:
    graph.update_state(THREAD, {"foo": "2", "bar": ["b"]})
    assert graph.get_state(THREAD).values == {"foo": "2", "bar": ["a", "b", "b"]}


def test_replay_runs_only_what_comes_after(graph: Any, ran: list[str]) -> None:
    middle = list(graph.get_state_history(THREAD))[1]
    ran.clear()
    assert graph.invoke(None, middle.config) == {"foo": "b", "bar": ["a", "b"]}
    assert ran == ["b"]
