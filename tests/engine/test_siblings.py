"""A second answer at one place: a branch of its own, which leaves the first as it was."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import Command, interrupt

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def asks(*questions: str) -> Any:
    return lambda state: {"log": [interrupt(question) for question in questions]}


def graph_of(nodes: dict[str, Any], saver: Any) -> Any:
    """Nodes side by side, then one that closes."""
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node).add_edge(START, name)
    builder.add_node("end", lambda s: {"log": ["end"]}).add_edge(list(nodes), "end")
    return builder.compile(checkpointer=saver)


@pytest.fixture(params=["sync", "async"])
def invoke(request: Any) -> Any:
    """Invoke in either colour."""
    if request.param == "sync":
        return lambda graph, value, config=CONFIG: graph.invoke(value, config)
    return lambda graph, value, config=CONFIG: asyncio.run(graph.ainvoke(value, config))


def rows(graph: Any) -> dict[str, Any]:
    """What the saver has of each checkpoint."""
    saved = graph.checkpointer.list(CONFIG)
    return {t.checkpoint["id"]: (t.checkpoint, t.metadata, t.pending_writes) for t in saved}


def test_the_first_branch_stays_as_it_was(invoke: Any) -> None:
    ran: list[int] = []

    def side(state: Any) -> dict[str, Any]:
        ran.append(1)
        return {"log": ["side"]}

    graph = graph_of({"ask": asks("q"), "side": side}, InMemorySaver())
    invoke(graph, {"log": []})
    place = graph.get_state(CONFIG)
    assert invoke(graph, Command(resume="x"))["log"] == ["x", "side", "end"]
    before = rows(graph)
    assert invoke(graph, Command(resume="y"), place.config)["log"] == ["y", "side", "end"]
    assert {id_: row for id_, row in rows(graph).items() if id_ in before} == before
    by_id = {place.interrupts[0].id: "z"}
    assert invoke(graph, Command(resume=by_id), place.config)["log"] == ["z", "side", "end"]
    assert len(ran) == 1
    parents = [
        s.parent_config for s in graph.get_state_history(CONFIG) if s.next == ("ask", "side")
    ]
    assert len(parents) == 3
    assert all(parent == place.parent_config for parent in parents)


def test_several_questions_are_asked_anew(invoke: Any) -> None:
    graph = graph_of({"ask": asks("q1", "q2")}, InMemorySaver())
    invoke(graph, {"log": []})
    place = graph.get_state(CONFIG).config
    for answer in ("a", "b"):
        invoke(graph, Command(resume=answer))
    (asked,) = invoke(graph, Command(resume="A"), place)["__interrupt__"]
    assert asked.value == "q2"
    assert invoke(graph, Command(resume="B"))["log"] == ["A", "B", "end"]


def test_one_answer_for_several_tasks_is_refused(invoke: Any) -> None:
    graph = graph_of({"ask": asks("q"), "too": asks("r")}, InMemorySaver())
    invoke(graph, {"log": []})
    place = graph.get_state(CONFIG)
    first, second = (i.id for i in place.interrupts)
    invoke(graph, Command(resume={first: "a", second: "b"}))
    before = rows(graph)
    with pytest.raises(RuntimeError, match="multiple pending interrupts"):
        invoke(graph, Command(resume="c"), place.config)
    with pytest.raises(RuntimeError, match="No question of this checkpoint has the id"):
        invoke(graph, Command(resume={"0" * 32: "c"}), place.config)
    assert rows(graph) == before
    found = invoke(graph, Command(resume={first: "A", second: "B"}), place.config)
    assert found["log"] == ["A", "B", "end"]


@pytest.mark.parametrize("memory", [None, True])
def test_questions_inside_a_nested_graph(invoke: Any, memory: Any) -> None:
    inner = graph_of({"ask": asks("q")}, memory)
    graph = graph_of({"sub": inner}, InMemorySaver())
    invoke(graph, {"log": []})
    place = graph.get_state(CONFIG).config
    assert invoke(graph, Command(resume="x"))["log"] == ["x", "end", "end"]
    assert invoke(graph, Command(resume="y"), place)["log"] == ["y", "end", "end"]
