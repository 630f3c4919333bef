"""Questions and break points inside nested graphs, and their answers."""

from __future__ import annotations

import time
from typing import Any

from ..basics import C, State, adds, nested
from ..harness import Engine, Recorder
from .subgraphs import calling, chain, under


def asks(e: Engine, *questions: Any) -> Any:
    """A node that asks."""
    return lambda state: {"bar": [e.interrupt(q) for q in questions]}


def asking(e: Engine, memory: Any = None, *questions: Any, **options: Any) -> Any:
    nodes = {"x1": adds("x1"), "ask": asks(e, *(questions or ("q",))), "x3": adds("x3")}
    return chain(e, nodes, memory, **options)


@nested
def one_question_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g = under(e, asking(e, memory))
        rec.nested(g, {"foo": "i"}, C)
        rec.look_inside(g, C)
        rec.nested(g, e.Command(resume="r"), C)
        rec.look_inside(g, C)
        rec.nested(g, {"foo": "next"}, C)
        rec.look_inside(g, C)


@nested
def several_questions_inside(e: Engine, rec: Recorder) -> None:
    g = under(e, asking(e, None, "q1", "q2", {"q": 3}))
    rec.nested(g, {"foo": "i"}, C)
    rec.nested(g, None, C)
    rec.nested(g, e.Command(resume="r1"), C)
    rec.look_inside(g, C)
    (one,) = g.get_state(C).interrupts
    rec.nested(g, e.Command(resume={one.id: "r2"}), C)
    rec.look_inside(g, C)
    rec.nested(g, e.Command(resume="r3", update={"foo": "u"}), C)
    rec.look_inside(g, C)


@nested
def questions_three_levels_down(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        middle = chain(e, {"m1": adds("m1"), "inner": asking(e, memory), "m2": adds("m2")}, memory)
        g = under(e, middle)
        rec.nested(g, {"foo": "i"}, C)
        rec.look_inside(g, C)
        rec.nested(g, e.Command(resume="r"), C)
        rec.look_inside(g, C)


@nested
def questions_on_every_level(e: Engine, rec: Recorder) -> None:
    inner = asking(e, None, "inner")

    def ask_middle(state: Any) -> dict[str, Any]:
        first = e.interrupt("middle 1")
        found = inner.invoke({"bar": [first]})["bar"]
        return {"bar": [*found, e.interrupt("middle 2")]}

    middle = chain(e, {"m": ask_middle})

    def ask_outer(state: Any) -> dict[str, Any]:
        found = middle.invoke({"bar": []})["bar"]
        return {"bar": [*found, e.interrupt("outer")]}

    g = under(e, ask_outer)
    rec.nested(g, {"foo": "i"}, C)
    for number in range(4):
        rec.nested(g, e.Command(resume=number), C)
        rec.look_inside(g, C)


@nested
def two_asking_graphs_in_a_node(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g = under(e, calling(asking(e, memory, "qa"), asking(e, memory, "qb")))
        rec.nested(g, {"foo": "i"}, C)
        rec.nested(g, e.Command(resume="ra"), C)
        rec.look_inside(g, C)
        rec.nested(g, e.Command(resume="rb"), C)
        rec.look_inside(g, C)


def fan(e: Engine, memory: Any = None) -> Any:
    nodes = {
        "p": chain(e, {"ask": asks(e, "qp")}, memory),
        "q": chain(e, {"ask": asks(e, "qq")}, memory),
        "r": asks(e, "qr"),
        "s": adds("s"),
        "z": adds("z"),
    }
    edges = [(e.START, n) for n in "pqrs"] + [(list("pqrs"), "z")]
    return e.build(State, nodes, edges)


@nested
def parallel_questions(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g = fan(e, memory)
        rec.nested(g, {"foo": "i"}, C, grouped=True)
        rec.look_inside(g, C)
        rec.nested(g, e.Command(resume="one for all"), C, grouped=True)
        asked = {i.value: i.id for i in g.get_state(C).interrupts}
        for _ in rec.stream(g, e.Command(resume={asked["qp"]: "P"}), C):
            pass  # there those without an answer run and ask again: see test_differs
        rec.look_inside(g, C)
        rest = {asked[v]: v.upper() for v in ("qq", "qr")}
        rec.nested(g, e.Command(resume=rest), C, grouped=True)
        rec.look_inside(g, C)


@nested
def sends_that_ask(e: Engine, rec: Recorder) -> None:
    sub = chain(e, {"ask": lambda s: {"bar": [e.interrupt(s["foo"])]}})

    def spread(state: Any) -> list[Any]:
        return [e.Send("sub", {"foo": f"q{i}", "bar": []}) for i in range(3)]

    nodes = {"a": adds("a"), "sub": sub, "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "a"), ("sub", "z")], [("a", spread, ["sub"])])
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)
    answers = {i.id: i.value.upper() for i in g.get_state(C).interrupts}
    rec.nested(g, e.Command(resume=answers), C, grouped=True)
    rec.look_inside(g, C)


@nested
def break_points_inside(e: Engine, rec: Recorder) -> None:
    for how in ("interrupt_before", "interrupt_after"):
        for points in (["ask"], "*"):
            nodes = {"x1": adds("x1"), "ask": adds("ask"), "x3": adds("x3")}
            for memory in (None, True):
                g = under(e, chain(e, nodes, memory, **{how: points}))
                rec.nested(g, {"foo": "i"}, C)
                rec.look_inside(g, C)
                rec.nested(g, None, C)
                rec.look_inside(g, C)
                if g.get_state(C).next:
                    rec.nested(g, e.Command(resume="unasked"), C)
                    rec.nested(g, None, C)
                    rec.look_inside(g, C)


@nested
def break_points_deeper(e: Engine, rec: Recorder) -> None:
    inner = chain(e, {"x1": adds("x1"), "x2": adds("x2")}, interrupt_before=["x2"])
    middle = chain(e, {"inner": inner, "m": adds("m")}, interrupt_after=["inner"])
    nodes = {"sub": middle, "side": adds("side"), "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "sub"), (e.START, "side"), (["sub", "side"], "z")])
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)
    for _ in range(3):
        rec.nested(g, None, C, grouped=True)
        rec.look_inside(g, C)


@nested
def break_points_around(e: Engine, rec: Recorder) -> None:
    for how in ("interrupt_before", "interrupt_after"):
        for memory in (None, True):
            g = under(e, asking(e, memory), **{how: ["sub"]})
            rec.nested(g, {"foo": "i"}, C)
            rec.nested(g, None, C)
            rec.look_inside(g, C)
            rec.nested(g, e.Command(resume="r"), C)
            rec.nested(g, None, C)
            rec.look_inside(g, C)
            rec.nested(g, {"foo": "again"}, C)
            rec.nested(g, None, C)
            rec.look_inside(g, C)


@nested
def questions_and_durability(e: Engine, rec: Recorder) -> None:
    for memory in (None, True, False):
        for durability in ("exit", "async"):
            g = under(e, asking(e, memory, "q1", "q2"))
            for value in ({"foo": "i"}, e.Command(resume="r1"), e.Command(resume="r2")):
                rec.nested(g, value, C, durability=durability)
                if memory is not False:
                    rec.look_inside(g, C)


@nested
def invoked_with_questions(e: Engine, rec: Recorder) -> None:
    g = under(e, asking(e))
    rec.invoke(g, {"foo": "i"}, C)
    rec.invoke(g, e.Command(resume="r"), C)
    g = under(e, chain(e, {"x": adds("x")}, interrupt_before=["x"]))
    rec.invoke(g, {"foo": "i"}, C)
    rec.invoke(g, None, C)
    g = chain(e, {"sub": chain(e, {"x": adds("x")}, interrupt_before=["x"])})
    rec.call("no saver", g.invoke, {"foo": "i"}, C)


@nested
def new_input_at_a_question(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g = under(e, asking(e, memory))
        rec.nested(g, {"foo": "i"}, C)
        rec.nested(g, {"foo": "other"}, C)
        rec.look_inside(g, C)
        rec.nested(g, e.Command(resume="r"), C)
        rec.look_inside(g, C)


@nested
def a_question_caught(e: Engine, rec: Recorder) -> None:
    sub = asking(e)

    def node(state: Any) -> dict[str, Any]:
        try:
            return {"bar": sub.invoke({"bar": ["q"]})["bar"]}
        except e.GraphInterrupt as error:
            return {"bar": [[i.value for i in error.args[0]]]}

    g = under(e, node)
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)


@nested
def a_failure_beside_a_question(e: Engine, rec: Recorder) -> None:
    failed: list[int] = []

    def fail(state: Any) -> dict[str, Any]:
        if not failed:
            failed.append(1)
            time.sleep(0.15)
            raise ValueError("beside")
        return {"bar": ["worked"]}

    nodes = {"sub": asking(e), "fail": fail, "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "sub"), (e.START, "fail"), (["sub", "fail"], "z")])
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)
    rec.nested(g, e.Command(resume="r"), C, grouped=True)
    rec.look_inside(g, C)
