"""Edges, joins, loops, routers and limits."""

from __future__ import annotations

from typing import Any

from ..basics import (
    C,
    Numbers,
    State,
    adds,
    joined_graph,
    linear_graph,
    program,
    says,
)
from ..harness import Engine, Recorder


@program
def linear(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.run(g, {"foo": "", "bar": ["i"]}, C)
    rec.look(g, C)
    rec.run(g, {"foo": "again"}, C)
    rec.look(g, C)


@program
def partial_and_empty_input(e: Engine, rec: Recorder) -> None:
    for i, value in enumerate([{}, {"bar": [1]}, {"foo": "x", "zz": 1}, {"foo": None}]):
        g = linear_graph(e)
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, value, config)
        rec.look(g, config)


@program
def nothing_to_run(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.invoke(g, {"foo": ""}, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def loop(e: Engine, rec: Recorder) -> None:
    def count(state: Any) -> dict[str, Any]:
        return {"n": state.get("n", 0) + 1, "log": [f"count {state.get('n')}"]}

    def again(state: Any) -> str:
        return "count" if state["n"] < 4 else e.END

    g = e.build(Numbers, {"count": count}, [(e.START, "count")], [("count", again)])
    rec.run(g, {"n": 0}, C)
    rec.look(g, C)


@program
def self_edge_hits_limit(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a")}, [(e.START, "a"), ("a", "a")])
    rec.run(g, {"foo": ""}, {**C, "recursion_limit": 3})
    rec.look(g, C)
    rec.run(g, None, {**C, "recursion_limit": 2})
    rec.look(g, C)


@program
def limit_is_just_enough(e: Engine, rec: Recorder) -> None:
    for limit in (2, 3, 4):
        g = linear_graph(e)
        rec.run(g, {"foo": ""}, {**C, "recursion_limit": limit})
        rec.look(g, C)


@program
def fan_out_and_join(e: Engine, rec: Recorder) -> None:
    g = joined_graph(e)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, {"foo": "y"}, C)
    rec.look(g, C)


@program
def fan_in_without_join(e: Engine, rec: Recorder) -> None:
    nodes = {"a": adds("a"), "b": adds("b"), "b2": adds("b2"), "c": adds("c"), "z": adds("z")}
    edges = [(e.START, "a"), ("a", "b"), ("b", "b2"), ("a", "c"), ("b2", "z"), ("c", "z")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def barrier_fires_twice_in_a_loop(e: Engine, rec: Recorder) -> None:
    def more(state: Any) -> list[str] | str:
        return ["b", "c"] if len(state["bar"]) < 8 else e.END

    nodes = {"b": adds("b"), "c": adds("c"), "d": adds("d")}
    edges = [(e.START, "b"), (e.START, "c"), (["b", "c"], "d")]
    g = e.build(State, nodes, edges, [("d", more, ["b", "c", e.END])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def conditional(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "left" if state["foo"] == "a" else "right"

    nodes = {"a": says("a"), "x": adds("x"), "y": adds("y")}
    g = e.build(
        State, nodes, [(e.START, "a"), ("x", e.END)], [("a", route, {"left": "x", "right": "y"})]
    )
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def conditional_entry(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> list[str]:
        return ["a", "b"] if state["foo"] == "both" else ["b"]

    g = e.build(State, {"a": adds("a"), "b": adds("b")}, [], [(e.START, route, ["a", "b"])])
    for i, foo in enumerate(["both", "one"]):
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, {"foo": foo}, config)
        rec.look(g, config)


@program
def router_reads_fresh_state(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "n" + str(len(state["bar"]))

    nodes = {"a": adds("a"), "b": adds("b"), "n1": adds("n1"), "n2": adds("n2")}
    edges = [(e.START, "a"), (e.START, "b")]
    g = e.build(State, nodes, edges, [("a", route, ["n1", "n2"]), ("b", route, ["n1", "n2"])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def routers_that_go_wrong(e: Engine, rec: Recorder) -> None:
    for target in ("nope", [e.END], [], e.END, 5):
        g = e.build(State, {"a": adds("a")}, [(e.START, "a")], [("a", lambda state, t=target: t)])
        rec.run(g, {"foo": "x"}, C)
        rec.look(g, C)
