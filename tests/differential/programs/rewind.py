"""Forks, replays, and updates of a state by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..basics import (
    C,
    State,
    adds,
    asking_graph,
    linear_graph,
    program,
    says,
)
from ..harness import Engine, Recorder


@program
def fork_and_run(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    for at in (1, 2, 3):
        config = rec.update(g, history[at].config, {"foo": f"fork {at}"})
        rec.look(g, C)
        if config:
            rec.run(g, None, config)
            rec.look(g, C)


@program
def replay_each(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    for snapshot in history[1:]:  # the finished head differs on purpose
        rec.run(g, None, snapshot.config)
    rec.look(g, C)
    rec.run(g, {"foo": "input at an old one"}, history[1].config)
    rec.look(g, C)
    rec.call("old state", g.get_state, history[2].config)


@program
def replay_runs_side_effects_again(e: Engine, rec: Recorder) -> None:
    ran: list[str] = []

    def node(name: str) -> Callable[[Any], dict[str, Any]]:
        def run(state: Any) -> dict[str, Any]:
            ran.append(name)
            return {"bar": [name]}

        return run

    edges = [(e.START, "a"), ("a", "b"), ("b", "c")]
    g = e.build(State, {n: node(n) for n in "abc"}, edges)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    ran.clear()
    rec.invoke(g, None, history[2].config)
    rec.note("ran", ran)


@program
def replay_an_interrupted_one(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.invoke(g, e.Command(resume="r1"), C)
    rec.invoke(g, e.Command(resume="r2"), C)
    asked = next(s for s in g.get_state_history(C) if "ask" in s.next)
    rec.run(g, None, asked.config)
    rec.look(g, C)
    rec.run(g, e.Command(resume="other"), C)
    rec.look(g, C)


@program
def update_drops_a_waiting_send(e: Engine, rec: Recorder) -> None:
    route = ("a", lambda s: [e.Send("w", 1), e.Send("w", 2)], ["w"])
    g = e.build(
        State,
        {"a": adds("a"), "w": lambda s: {"bar": [s]}, "z": adds("z")},
        [(e.START, "a")],
        [route],
        interrupt_after=["a"],
    )
    rec.invoke(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.update(g, C, {"bar": ["u"]}, as_node="z")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def update_with_a_router(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "x" if state["foo"] == "to x" else "y"

    nodes = {"a": says("a"), "x": adds("x"), "y": adds("y")}
    g = e.build(State, nodes, [(e.START, "a")], [("a", route, ["x", "y"])])
    rec.invoke(g, {"foo": "q"}, C)
    rec.update(g, C, {"foo": "to x"}, as_node="a")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def update_after_an_interrupt(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.update(g, C, {"foo": "edited"}, as_node="a")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.update(g, C, {"bar": ["answered by hand"]}, as_node="ask")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def ambiguous_update(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a"), "b": adds("b")}, [(e.START, "a"), (e.START, "b")])
    rec.invoke(g, {"foo": "x"}, C)
    rec.update(g, C, {"foo": "y"})
    rec.look(g, C)


@program
def update_one_node_graph(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a")}, [(e.START, "a")])
    rec.update(g, C, {"foo": "y"})
    rec.look(g, C)
    rec.run(g, None, C)
    rec.update(g, C, {"bar": ["z"]})
    rec.look(g, C)


@program
def bulk_updates(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    up = e.StateUpdate
    both = [up({"foo": "1", "bar": [1]}, "a"), up({"bar": [2]}, "b")]
    rec.call("bulk", g.bulk_update_state, C, [both, [up({"foo": "3"}, "b")]])
    rec.look(g, C)
