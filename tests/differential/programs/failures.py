"""Nodes that fail, wrong returns and wrong input."""

from __future__ import annotations

import time
from typing import Any

from ..basics import (
    C,
    State,
    adds,
    fails,
    joined_graph,
    linear_graph,
    program,
    says,
)
from ..harness import Engine, Recorder


@program
def failing_sibling_then_resume(e: Engine, rec: Recorder) -> None:
    runs: list[str] = []

    def sometimes(state: Any) -> dict[str, Any]:
        time.sleep(0.06)
        runs.append("c")
        if len(runs) == 1:
            raise ValueError("first time")
        return {"bar": ["c"]}

    def once(state: Any) -> dict[str, Any]:
        runs.append("b")
        runs.pop()
        return {"bar": ["b"]}

    g = joined_graph(e, b=once, c=sometimes)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def failing_alone(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": says("a"), "b": fails()}, [(e.START, "a"), ("a", "b")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.invoke(g, {"foo": "new input while b is pending"}, C)
    rec.look(g, C)
    rec.update(g, C, {"foo": "mended"}, as_node="b")
    rec.look(g, C)
    rec.run(g, None, C)


@program
def failure_beside_an_interrupt(e: Engine, rec: Recorder) -> None:
    g = joined_graph(e, b=lambda s: {"bar": [e.interrupt("q")]}, c=fails())
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def failed_once_beside_an_interrupt(e: Engine, rec: Recorder) -> None:
    runs: list[int] = []

    def once(state: Any) -> dict[str, Any]:
        time.sleep(0.06)
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("once")
        return {"bar": ["c"]}

    g = joined_graph(e, b=lambda s: {"bar": [e.interrupt("q")]}, c=once)
    rec.run(g, {"foo": "x"}, C)
    rec.run(g, None, C)
    rec.run(g, None, C)
    rec.run(g, e.Command(resume="r"), C)
    rec.look(g, C)


@program
def concurrent_last_value(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": says("a"), "b": says("b")}, [(e.START, "a"), (e.START, "b")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def wrong_returns(e: Engine, rec: Recorder) -> None:
    returns: list[Any] = [1, "s", [1], None, {}, {"zz": 1}, [{"foo": "1"}], ("foo", 1)]
    for i, value in enumerate(returns):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": lambda s, v=value: v, "b": adds("b")}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def wrong_inputs(e: Engine, rec: Recorder) -> None:
    for i, value in enumerate(["s", [1], 1, [("foo", "1")]]):
        config = {"configurable": {"thread_id": str(i)}}
        g = linear_graph(e)
        rec.call("invoke", g.invoke, value, config, durability="sync")
