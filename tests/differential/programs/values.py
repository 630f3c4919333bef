"""Reducers, overwriting, and nodes that wait for the others."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from ..basics import (
    C,
    State,
    adds,
    program,
)
from ..harness import Engine, Recorder


@program
def reducers(e: Engine, rec: Recorder) -> None:
    class S(TypedDict):
        most: Annotated[int, lambda a, b: max(a, b)]
        sets: Annotated[set[str], operator.or_]
        maps: Annotated[dict[str, int], lambda a, b: {**a, **b}]
        plain: Any

    nodes = {
        "a": lambda s: {"most": 3, "sets": {"a"}, "maps": {"a": 1}},
        "b": lambda s: {"most": 2, "sets": {"b"}, "maps": {"b": 1, "a": 2}, "plain": None},
    }
    g = e.build(S, nodes, [(e.START, "a"), (e.START, "b")])
    rec.run(g, {"plain": (1, 2)}, C)
    rec.look(g, C)
    rec.run(g, {"most": 9, "sets": {"i"}}, C)
    rec.look(g, C)


@program
def overwrite(e: Engine, rec: Recorder) -> None:
    for other in ({"bar": ["b"]}, {"bar": e.Overwrite(["B"])}, {}):
        nodes = {"a": lambda s: {"bar": e.Overwrite(["A"])}, "b": lambda s, o=other: o}
        g = e.build(State, nodes, [(e.START, "a"), (e.START, "b")])
        rec.run(g, {"foo": "x", "bar": ["i"]}, C)
        rec.look(g, C)


@program
def deferred(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": adds("a"),
        "b": adds("b"),
        "b2": adds("b2"),
        "z": (adds("z"), {"defer": True}),
        "after": adds("after"),
    }
    edges = [(e.START, "a"), ("a", "b"), ("b", "b2"), ("a", "z"), ("b2", "z"), ("z", "after")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def deferred_join(e: Engine, rec: Recorder) -> None:
    nodes = {"a": adds("a"), "b": adds("b"), "c": adds("c"), "z": (adds("z"), {"defer": True})}
    edges = [(e.START, "a"), (e.START, "b"), ("b", "c"), (["a", "b"], "z")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
