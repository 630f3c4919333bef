"""Sends and commands, from nodes and as input."""

from __future__ import annotations

import time
from typing import Any

from ..basics import (
    C,
    State,
    adds,
    linear_graph,
    program,
    says,
)
from ..harness import Engine, Recorder


@program
def sends(e: Engine, rec: Recorder) -> None:
    def spread(state: Any) -> list[Any]:
        return [e.Send("w", {"i": i}) for i in range(12)] + ["b"]

    nodes = {"a": says("a"), "w": lambda s: {"bar": [s["i"]]}, "b": adds("b"), "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "a"), ("w", "z")], [("a", spread, ["w", "b"])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def sends_that_go_wrong(e: Engine, rec: Recorder) -> None:
    send = lambda state: [e.Send("nope", 1)]  # noqa: E731
    g = e.build(State, {"a": adds("a")}, [(e.START, "a")], [("a", send)])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def sends_from_the_entry(e: Engine, rec: Recorder) -> None:
    g = e.build(
        State,
        {"w": lambda s: {"bar": [s]}},
        [],
        [(e.START, lambda s: [e.Send("w", i) for i in range(3)], ["w"])],
    )
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def a_failing_send(e: Engine, rec: Recorder) -> None:
    runs: list[int] = []

    def worker(arg: int) -> dict[str, Any]:
        if arg == 1:
            time.sleep(0.06)
            runs.append(arg)
            if len(runs) < 2:
                raise ValueError("one")
        return {"bar": [arg]}

    route = ("a", lambda s: [e.Send("w", i) for i in range(3)], ["w"])
    g = e.build(State, {"a": adds("a"), "w": worker}, [(e.START, "a")], [route])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def command_goto_and_update(e: Engine, rec: Recorder) -> None:
    def a(state: Any) -> Any:
        return e.Command(update={"foo": "A", "bar": ["a"]}, goto=["b", e.Send("c", {"x": 1})])

    nodes = {"a": a, "b": says("b"), "c": lambda s: {"bar": [s]}}
    g = e.build(State, nodes, [(e.START, "a")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def commands_of_all_forms(e: Engine, rec: Recorder) -> None:
    forms: list[Any] = [
        e.Command(goto="b"),
        e.Command(goto=e.END),
        e.Command(update={"foo": "u"}),
        e.Command(update=[("foo", "pairs"), ("bar", ["p"])], goto="b"),
        e.Command(),
        [e.Command(goto="b"), {"bar": ["list"]}],
        [e.Command(update={"bar": [1]}), e.Command(update={"bar": [2]}, goto="b")],
        e.Command(goto="nope"),
        e.Command(update={"unknown": 1}),
    ]
    for i, form in enumerate(forms):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": lambda s, f=form: f, "b": says("b")}
        g = e.build(State, nodes, [(e.START, "a")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def command_as_input(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.run(g, e.Command(update={"foo": "Z"}, goto="b"), C)
    rec.look(g, C)
    rec.run(g, e.Command(goto=[e.Send("c", {}), "b"]), C)
    rec.look(g, C)
    rec.run(g, e.Command(update={"foo": "only"}), C)
    rec.look(g, C)
    rec.run(g, e.Command(graph=e.Command.PARENT, goto="b"), C)


@program
def command_on_a_fresh_thread(e: Engine, rec: Recorder) -> None:
    for i, form in enumerate([e.Command(update={"foo": "Z"}), e.Command(goto="b")]):
        g = linear_graph(e)
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, form, config)
        rec.look(g, config)
