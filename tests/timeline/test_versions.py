"""Rows tell which version of the graph made them; what can't be migrated is shown as it was."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import MigrationError
from ckpt_viz.explorer.columns import row_json
from ckpt_viz.explorer.static import svg_tree, text_tree
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.types import interrupt

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    name: str


def asks(state: State) -> dict[str, Any]:
    return {"log": [str(interrupt("really?"))]}


def graph_of(saver: Any, **options: Any) -> Any:
    flow = StateGraph(State).add_node("a", asks).add_edge(START, "a")
    return flow.compile(checkpointer=saver, **options)


def test_rows_name_the_version_that_made_them() -> None:
    saver = InMemorySaver()
    graph_of(saver, version=1).invoke({"log": [], "name": "Ada"}, THREAD)
    new = graph_of(saver, version=2, migrate={1: lambda v: {**v, "name": v["name"].upper()}})
    timeline = open_timeline(new, "1")
    timeline.update(str(timeline.rows()[-1].id), {"log": ["x"]}, "a")
    rows = timeline.rows()
    assert [row.version for row in rows] == ["1", "1", "2"]
    assert timeline.snapshot(rows[1].id).values["name"] == "ADA"
    assert row_json(rows[-1])[10:13] == ["2", None, None]
    assert "v1" in text_tree(rows, "t")
    assert "v1" in svg_tree(rows, "t")


def test_what_no_path_leads_from_is_shown_as_it_was_saved_and_not_acted_on() -> None:
    saver = InMemorySaver()
    graph_of(saver, version=1).invoke({"log": [], "name": "Ada"}, THREAD)
    timeline = open_timeline(graph_of(saver, version=3), "1")
    rows = timeline.rows()
    assert [row.version for row in rows] == ["1", "1"]
    assert timeline.snapshot(rows[-1].id).values == {"log": [], "name": "Ada"}
    assert [one.name for one in timeline.unfinished()] == ["a"]
    for act in (
        lambda: timeline.update(rows[-1].id, {"log": ["x"]}, "a"),
        lambda: timeline.preview(rows[-1].id, {"log": ["x"]}, "a"),
        lambda: timeline.resume(None, "yes"),
        lambda: timeline.run({"log": ["x"]}),
    ):
        with pytest.raises(MigrationError, match="saved by version 1"):
            act()
    assert timeline.rows() == rows


def test_a_version_of_any_kind_fits_a_row() -> None:
    saver = InMemorySaver()
    version = ("<b>", "x" * 99)
    graph_of(saver, version=version).invoke({"log": [], "name": "Ada"}, THREAD)
    row = open_timeline(saver, "1").rows()[-1]
    assert row.version is not None
    assert len(row.version) <= 24
