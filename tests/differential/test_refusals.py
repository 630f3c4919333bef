"""Graphs with a mistake: both engines refuse them, and alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .basics import (
    State,
    adds,
)
from .harness import Engine


def bad_graph(e: Engine, part: str) -> Any:
    """A graph with one mistake."""
    builder = e.StateGraph(State)
    if part == "reserved":
        return builder.add_node(e.START, adds("a"))
    if part == "separator":
        return builder.add_node("a|b", adds("a"))
    builder.add_node("a", adds("a"))
    actions: dict[str, Callable[[], Any]] = {
        "no entry": lambda: None,
        "unknown target": lambda: builder.add_edge("a", "nope"),
        "unknown source": lambda: builder.add_edge("nope", "a"),
        "from the end": lambda: builder.add_edge(e.END, "a"),
        "to the start": lambda: builder.add_edge("a", e.START),
        "twice": lambda: builder.add_node("a", adds("a")),
        "join of unknown": lambda: builder.add_edge(["x", "y"], "a"),
        "map to unknown": lambda: builder.add_conditional_edges("a", str, {"x": "nope"}),
        "router of unknown": lambda: builder.add_conditional_edges("zz", str, ["a"]),
    }
    if part != "no entry":
        builder.add_edge(e.START, "a")
    actions.get(part, lambda: None)()
    stop = ["nope"] if part == "breakpoint" else None
    saver = 5 if part == "saver" else None
    return builder.compile(checkpointer=saver, interrupt_before=stop)


@pytest.mark.parametrize(
    "part",
    [
        "reserved",
        "separator",
        "no entry",
        "unknown target",
        "unknown source",
        "from the end",
        "to the start",
        "twice",
        "join of unknown",
        "map to unknown",
        "router of unknown",
        "breakpoint",
        "saver",
    ],
)
def test_bad_graphs_are_refused_alike(part: str) -> None:
    """The class of the error is the same, and it says no less: the name in question."""

    def refusal(root: str) -> BaseException:
        with pytest.raises((ValueError, TypeError)) as caught:
            bad_graph(Engine(root), part)
        return caught.value

    theirs, ours = refusal("langgraph"), refusal("ckpt_viz")
    assert isinstance(ours, type(theirs))
    for name in ("nope", "'a'", "`a`", "zz", "__start__", "|"):
        if name in str(theirs):
            assert name.strip("'`") in str(ours)
