"""Updates, breakpoints and durability in all their combinations, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from .basics import (
    C,
    State,
    adds,
    fails,
    joined_graph,
    linear_graph,
    says,
)
from .harness import Engine, Recorder, compare

UPDATES: dict[str, tuple[Any, Any]] = {
    "a": ({"foo": "U"}, "a"),
    "b, the pending one": ({"foo": "U", "bar": ["u"]}, "b"),
    "c, the last": ({"foo": "U"}, "c"),
    "inferred": ({"foo": "U"}, None),
    "nothing, inferred": (None, None),
    "nothing as a": (None, "a"),
    "start": ({"foo": "U"}, "__start__"),
    "input": ({"foo": "U"}, "__input__"),
    "input of nothing": (None, "__input__"),
    "end": (None, "__end__"),
    "end with values": ({"foo": "U"}, "__end__"),
    "copy": (None, "__copy__"),
    "copy with values": ({"foo": "U"}, "__copy__"),
    "unknown node": ({"foo": "U"}, "nope"),
    "not a dict": ("text", "a"),
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("when", ["fresh", "stopped", "finished", "old", "failed"])
def test_update_state(name: str, when: str) -> None:
    """Each form of ``update_state`` in each place."""
    values, as_node = UPDATES[name]

    def run(e: Engine, rec: Recorder) -> None:
        nodes = {"a": says("a"), "b": adds("b"), "c": adds("c"), "p": adds("p")}
        if when == "failed":
            nodes["b"] = fails()
        edges = [(e.START, "a"), ("a", "b"), ("a", "p"), (["b", "p"], "c")]
        before = ["b", "p"] if when == "stopped" else []
        g = e.build(State, nodes, edges, interrupt_before=before)
        config = C
        if when != "fresh":
            rec.invoke(g, {"foo": "x"}, C)
        if when == "old":
            config = list(g.get_state_history(C))[1].config
        rec.update(g, config, values, as_node=as_node)
        rec.look(g, C)
        rec.run(g, None, C, interrupt_before=[])
        rec.look(g, C)

    compare(run)


@pytest.mark.parametrize("before", [None, ["b"], ["a", "b"], "*"])
@pytest.mark.parametrize("after", [None, ["a"], ["c"], "*"])
@pytest.mark.parametrize("where", ["compile", "run"])
def test_breakpoints(before: Any, after: Any, where: str) -> None:
    """Static breakpoints, all combinations, until the run is through."""

    def run(e: Engine, rec: Recorder) -> None:
        points = {"interrupt_before": before, "interrupt_after": after}
        g = linear_graph(e, **(points if where == "compile" else {}))
        options = points if where == "run" else {}
        rec.run(g, {"foo": "x"}, C, **options)
        for _ in range(4):
            rec.run(g, None, C, **options)
        rec.look(g, C)

    compare(run)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("end", ["done", "interrupt", "error", "break"])
def test_durability(durability: str, end: str) -> None:
    """What each durability leaves behind, at each way to end."""

    def run(e: Engine, rec: Recorder) -> None:
        ends: dict[str, Any] = {
            "done": adds("c"),
            "break": adds("c"),
            "interrupt": lambda s: {"bar": [e.interrupt("q")]},
            "error": fails(),
        }
        g = joined_graph(e, c=ends[end])
        stop = {"interrupt_before": ["d"]} if end == "break" else {}
        rec.run(g, {"foo": "x"}, C, durability=durability, **stop)
        rec.look(g, C)
        following = e.Command(resume="r") if end == "interrupt" else None
        rec.run(g, following, C, durability=durability)
        rec.look(g, C)
        rec.run(g, {"foo": "y"}, C, durability=durability)
        rec.look(g, C)

    compare(run)
