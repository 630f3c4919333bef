"""Programs that every kind of source must tell alike: a graph, and the inputs that it is run with.

Each takes an engine (see `graphs.engine`) and a saver, and gives the compiled graph with its
inputs; an input that is an exception class says that this run fails so.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict


class State(TypedDict, total=False):
    xs: Annotated[list, operator.add]
    foo: Any


def built(e: Any, nodes: dict[str, Any], edges: list[tuple[Any, Any]], schema: Any = State) -> Any:
    b = e.StateGraph(schema)
    for name, node in nodes.items():
        b.add_node(name, node)
    for start, end in edges:
        if callable(end):
            b.add_conditional_edges(start, end)
        else:
            b.add_edge(start, end)
    return b


def adds(name: str) -> Any:
    return lambda s: {"xs": [name]}


def linear(e, saver):
    b = built(
        e, {n: adds(n) for n in "abc"}, [(e.START, "a"), ("a", "b"), ("b", "c"), ("c", e.END)]
    )
    return b.compile(checkpointer=saver), [{"xs": ["in"], "foo": 1}]


def two_turns(e, saver):
    nodes = {"a": adds("a"), "b": lambda s: {"foo": len(s["xs"])}}
    b = built(e, nodes, [(e.START, "a"), ("a", "b")])
    return b.compile(checkpointer=saver), [{"xs": ["x"], "foo": 0}, {"xs": ["y"], "foo": 1}]


def parallel(e, saver):
    b = built(
        e,
        {n: adds(n) for n in "abcd"},
        [(e.START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": "q"}]


def router(e, saver):
    def route(s: State) -> str:
        return "b" if len(s["xs"]) < 5 else e.END

    b = built(e, {"a": adds("a"), "b": adds("b")}, [(e.START, "a"), ("a", route), ("b", "a")])
    return b.compile(checkpointer=saver), [{"xs": [0], "foo": None}]


def sends(e, saver):
    def fan(s: State) -> list:
        return [e.Send("w", {"i": i}) for i in range(3)]

    b = built(
        e,
        {"a": adds("a"), "w": lambda s: {"xs": [s["i"]]}, "end": lambda s: {"foo": sum_of(s)}},
        [(e.START, "a"), ("a", fan), ("w", "end")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}]


def sum_of(s: State) -> int:
    return sum(x for x in s["xs"] if isinstance(x, int))


def goto(e, saver):
    b = built(
        e,
        {"a": lambda s: e.Command(goto="c", update={"xs": ["a"]}), "c": adds("c")},
        [(e.START, "a")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}]


def asks(e, saver):
    b = built(
        e,
        {"a": adds("a"), "ask": lambda s: {"foo": e.interrupt("sure?")}},
        [(e.START, "a"), ("a", "ask")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}, e.Command(resume="yes")]


def waits(e, saver):
    graph, inputs = asks(e, saver)
    return graph, inputs[:1]


def asks_beside(e, saver):
    b = built(
        e,
        {"a": adds("a"), "ask": lambda s: {"foo": e.interrupt({"q": 1})}, "side": adds("side")},
        [(e.START, "a"), ("a", "ask"), ("a", "side")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}, e.Command(resume="yes")]


def fails(e, saver):
    def bad(s: State) -> Any:
        raise ValueError("no luck")

    b = built(e, {"a": adds("a"), "bad": bad}, [(e.START, "a"), ("a", "bad")])
    return b.compile(checkpointer=saver), [({"xs": [], "foo": 0}, ValueError)]


def fails_beside(e, saver):
    def bad(s: State) -> Any:
        raise KeyError("gone")

    b = built(
        e,
        {"a": adds("a"), "good": adds("good"), "bad": bad},
        [(e.START, "a"), ("a", "good"), ("a", "bad")],
    )
    return b.compile(checkpointer=saver), [({"xs": [], "foo": 0}, KeyError)]


def nested(e, saver):
    inner = built(e, {"in1": adds("in1"), "in2": adds("in2")}, [(e.START, "in1"), ("in1", "in2")])
    b = built(
        e,
        {"a": adds("a"), "sub": inner.compile(), "z": lambda s: {"foo": "z"}},
        [(e.START, "a"), ("a", "sub"), ("sub", "z")],
    )
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}]


def nested_asks(e, saver):
    inner = built(
        e,
        {"in1": adds("in1"), "ask": lambda s: {"foo": e.interrupt("deep?")}},
        [(e.START, "in1"), ("in1", "ask")],
    )
    b = built(e, {"sub": inner.compile(), "z": adds("z")}, [(e.START, "sub"), ("sub", "z")])
    return b.compile(checkpointer=saver), [{"xs": [], "foo": 0}, e.Command(resume="yes")]


def odd_values(e, saver):
    def odd(s: State) -> Any:
        return {"foo": {"t": (1, 2), "b": b"\0\xff", "s": {3}, "n": float("inf"), 5: "five"}}

    b = built(e, {"a": adds("a"), "odd": odd}, [(e.START, "a"), ("a", "odd")])
    return b.compile(checkpointer=saver), [{"xs": [], "foo": "\u4e2d\u2028\x85\r\n"}]


PROGRAMS = {
    f.__name__: f
    for f in (
        linear, two_turns, parallel, router, sends, goto, asks, waits, asks_beside, fails,
        fails_beside, nested, nested_asks, odd_values,
    )
}  # fmt: skip
