"""Surprises told: in debug mode, and by default where telling is free."""

from __future__ import annotations

import operator
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import ckpt_viz.debug
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.debug import SurpriseWarning
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Command, interrupt

from .colour import COLOURS, THREAD, Calls


class State(TypedDict, total=False):
    log: list[str]
    bar: Annotated[list[str], operator.add]


def one(call: Calls, node: Callable[[Any], Any], schema: Any = State) -> Any:
    flow = StateGraph(schema).add_node("a", call.node(node)).add_edge(START, "a")
    return flow.compile(checkpointer=InMemorySaver())


def surprises(call: Callable[[], Any]) -> list[str]:
    """What is told while something runs in debug mode."""
    with warnings.catch_warnings(record=True) as told, ckpt_viz.debug.on():
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in told if w.category is SurpriseWarning]


def changes_in_place(state: Any) -> Any:
    state["log"].append("x")
    return {"bar": ["a"]}


@pytest.mark.parametrize("colour", COLOURS)
def test_a_node_that_changes_its_input_in_place(colour: str) -> None:
    call = Calls(colour)
    graph = one(call, changes_in_place)
    (told,) = surprises(lambda: call.invoke(graph, {"log": ["1"]}))
    assert told.startswith("Node 'a' changed key 'log' of its input in place")
    assert surprises(lambda: call.invoke(one(call, lambda s: {"log": ["2"]}), {"log": []})) == []


@pytest.mark.parametrize("colour", COLOURS)
def test_in_place_and_then_a_failure_or_a_question(colour: str) -> None:
    call = Calls(colour)

    def asks(state: Any) -> Any:
        state["log"].append("x")
        interrupt("?")

    assert len(surprises(lambda: call.invoke(one(call, asks), {"log": []}))) == 1


@pytest.mark.parametrize("colour", COLOURS)
def test_in_place_in_an_object(colour: str) -> None:
    @dataclass
    class Thing:
        log: list[str]

    def node(state: Any) -> Any:
        state.log.append("x")
        return {}

    call = Calls(colour)
    (told,) = surprises(lambda: call.invoke(one(call, node, Thing), {"log": []}))
    assert "key 'log'" in told


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("form", ["dictionary", "command", "list"])
def test_unknown_keys_that_a_node_returns(colour: str, form: str) -> None:
    answer: Any = {"bar": ["a"], "baz": 1, "bay": 2}
    if form != "dictionary":
        answer = Command(update=answer)
    call = Calls(colour)
    graph = one(call, lambda s: [answer] if form == "list" else answer)
    (told,) = surprises(lambda: call.invoke(graph, {"log": []}))
    assert "returned keys 'baz', 'bay' which the graph does not have" in told
    assert "Known keys: ['bar', 'log']" in told


@pytest.mark.parametrize("colour", COLOURS)
def test_unknown_keys_in_an_input(colour: str) -> None:
    call = Calls(colour)
    graph = one(call, lambda s: {})
    (told,) = surprises(lambda: call.invoke(graph, {"log": [], "lgo": []}))
    assert told.startswith("The input has key 'lgo' which the graph does not have")


async def test_a_sync_run_inside_a_running_loop() -> None:
    graph = one(Calls("sync"), lambda s: {})
    (told,) = surprises(lambda: graph.invoke({"log": []}, THREAD))
    assert "running event loop" in told
    (told,) = surprises(lambda: graph.get_state(THREAD))
    assert "running event loop" in told


async def test_a_sync_call_of_a_saver_inside_a_running_loop(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(tmp_path / "a.db") as saver:
        assert "running event loop" in surprises(lambda: saver.get_tuple(THREAD))[0]
        with warnings.catch_warnings(), ckpt_viz.debug.on():
            warnings.simplefilter("error")
            assert await saver.aget_tuple(THREAD) is None


def test_nothing_is_told_when_nobody_asked() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one(Calls("sync"), changes_in_place).invoke({"log": [], "lgo": 1}, THREAD)


def test_one_graph_only(capsys: Any) -> None:
    flow = StateGraph(State).add_node("a", changes_in_place).add_edge(START, "a")
    with pytest.warns(SurpriseWarning, match="in place"):
        flow.compile(debug=True).invoke({"log": []})
    capsys.readouterr()


def test_the_warning_points_at_the_node() -> None:
    with ckpt_viz.debug.on(), pytest.warns(SurpriseWarning) as told:
        one(Calls("sync"), changes_in_place).invoke({"log": []}, THREAD)
    assert told[0].filename == __file__
    assert told[0].lineno == changes_in_place.__code__.co_firstlineno


def test_the_switch() -> None:
    assert not ckpt_viz.debug.switch.active
    with ckpt_viz.debug.on():
        with ckpt_viz.debug.on():
            pass
        assert ckpt_viz.debug.switch.active
    assert not ckpt_viz.debug.switch.active
    ckpt_viz.debug.on()
    ckpt_viz.debug.off()
    assert not ckpt_viz.debug.switch.active


@pytest.mark.parametrize(("value", "active"), [("1", "True"), ("0", "False"), ("", "False")])
def test_the_environment(value: str, active: str) -> None:
    code = "import ckpt_viz.debug as d; print(d.switch.active)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"CKPT_VIZ_DEBUG": value, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == active


# by default ------------------------------------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
def test_a_node_that_the_graph_no_longer_has(colour: str) -> None:
    call = Calls(colour)
    saver = InMemorySaver()

    def chain(second: str) -> Any:
        flow = StateGraph(State).add_node("a", call.node(lambda s: {"bar": ["a"]}))
        flow.add_node(second, call.node(lambda s: {"bar": [second]}))
        flow.add_edge(START, "a").add_edge("a", second)
        return flow.compile(checkpointer=saver, interrupt_before=[second])

    call.invoke(chain("old"), {"log": []})
    with pytest.warns(UserWarning, match="waits for 'old', which this graph does not have"):
        assert call.invoke(chain("new"), None) == {"log": [], "bar": ["a"]}


@pytest.mark.parametrize("colour", COLOURS)
def test_a_namespace_set_by_hand(colour: str) -> None:
    call = Calls(colour)
    graph = one(call, lambda s: {"bar": ["a"]})
    config = {"configurable": {"thread_id": "1", "checkpoint_ns": "mine"}}
    with pytest.warns(UserWarning, match="checkpoint_ns 'mine' is not a namespace of this run"):
        call.invoke(graph, {"log": []}, config)
    assert call.state(graph).values == {"log": [], "bar": ["a"]}


@pytest.mark.parametrize("colour", COLOURS)
def test_an_async_node_under_a_sync_call(colour: str) -> None:
    graph = one(Calls("async"), lambda s: {"bar": ["a"]})
    if colour == "sync":
        with pytest.raises(TypeError, match="ainvoke"):
            graph.invoke({"log": []}, THREAD)
    else:
        assert Calls("async").invoke(graph, {"log": []})["bar"] == ["a"]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_fork_that_leads_nowhere(colour: str) -> None:
    """The node goes on by the Command that it returns, which an update does not run."""
    call = Calls(colour)
    flow = StateGraph(State)
    flow.add_node("a", call.node(lambda s: Command(update={"bar": ["a"]}, goto="b")))
    flow.add_node("b", call.node(lambda s: {"bar": ["b"]})).add_edge("b", END)
    graph = flow.add_edge(START, "a").compile(checkpointer=InMemorySaver())
    call.invoke(graph, {"log": []})
    before_b = next(s for s in call.history(graph) if s.next == ("b",))
    with pytest.warns(UserWarning, match="leads nowhere"):
        call.update(graph, {"bar": ["edit"]}, before_b.config, as_node="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call.update(graph, Command(update={"bar": ["x"]}, goto="b"), before_b.config, as_node="a")
        assert call.state(graph).next == ("b",)
        call.update(graph, {"bar": ["end"]}, as_node="b")


@pytest.mark.parametrize("colour", COLOURS)
def test_a_replay_that_leads_nowhere(colour: str) -> None:
    call = Calls(colour)
    graph = one(call, lambda s: {"bar": ["a"]})
    call.invoke(graph, {"log": []})
    old = call.state(graph).config
    call.invoke(graph, {"log": []})
    with pytest.warns(UserWarning, match="no next node"):
        call.invoke(graph, None, old)
