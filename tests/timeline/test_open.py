"""What can be opened, how it is named, and what is told of the rest."""

from __future__ import annotations

from enum import Enum
from typing import Any
from uuid import uuid4

import pytest
from graphs import State, chain_graph

from ckpt_viz.explorer.session import heading
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.source import NoHistoryError


class Mode(Enum):
    ON = 1


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (42, "an int"),
        ([1], "a list"),
        (None, "None"),
        (State, "the class State"),
        (Mode.ON, "a Mode"),
        (chain_graph, "the function chain_graph"),
        (pytest, "the module pytest"),
        (uuid4(), "a UUID"),
    ],
)
def test_a_refusal_names_what_was_given(thing: Any, told: str) -> None:
    with pytest.raises(TypeError, match=f"Can't explore {told}: expected a compiled graph"):
        open_timeline(thing)


def test_a_stream_is_asked_for_its_events(e):
    with pytest.raises(TypeError, match=r"a generator: .*list\(stream\)"):
        open_timeline(event for event in [{"type": "checkpoint"}])


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_text_is_named(text: str) -> None:
    with pytest.raises(OSError, match="empty text is no source"):
        open_timeline(text)


def test_a_builder_is_told_to_compile(e):
    with pytest.raises(TypeError, match=r"Can't explore a StateGraph.*\.compile\("):
        open_timeline(e.StateGraph(State))


def test_titles(e):
    """A graph of ours that nobody named has no title, though its `name` says LangGraph."""
    graph = chain_graph(e, {"a": lambda s: {}})
    assert graph.name == "LangGraph"
    ours = e.name == "ckpt_viz"
    assert open_timeline(graph, "1").title == ("" if ours else "LangGraph")
    assert heading(open_timeline(graph, "1")) == ("thread 1" if ours else "LangGraph, thread 1")
    assert heading(open_timeline(graph)) == ("graph" if ours else "LangGraph")
    named = graph.copy(update={"name": "mine"})
    assert heading(open_timeline(named, "1", "sub")) == "mine, thread 1, sub"
    with pytest.raises(NoHistoryError, match="The graph has no"):
        open_timeline(graph.copy(update={"checkpointer": None}))
