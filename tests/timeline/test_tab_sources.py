"""What the Graph and Storage tabs ask, of every kind of source and every program of the matrix."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from graphs import CONFIG, engine, plan_graph
from runs import PROGRAMS
from test_sources import IN_MEMORY, ON_FILE, OURS, Kept, kept  # noqa: F401 - a fixture

from ckpt_viz.explorer import explore
from ckpt_viz.explorer.drawn import shape_json
from ckpt_viz.explorer.stored import storage_json
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.lines import line
from ckpt_viz.timeline.phases import NOTHING, phases
from ckpt_viz.timeline.storage import storage

QUICK = ("our memory alone", "LangGraph", "our file", "LangGraph's file with its graph")
KINDS = [
    kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.soak)
    for kind in (*IN_MEMORY, *ON_FILE)
]


def told(timeline: Any) -> list[Any]:
    """Each step's phases without ids, versions and what engines word in their own way."""
    out = []
    for row in timeline.rows():
        found = phases(timeline, row.id)
        out.append(
            {
                "step": (row.step, found.source, found.base_step),
                "plan": [(p.node, p.sent) for p in found.plan],
                "barriers": found.barriers,
                "run": [(r.node, r.state, sorted(c for c, _ in r.writes)) for r in found.run],
                "update": {
                    u.channel: (text(u.old), [(n, text(v)) for n, v in u.writes], text(u.new))
                    for u in found.update
                    if not u.routing
                },
                "notes": found.notes,
            }
        )
    return out


def text(value: Any) -> str:
    """A line; LangGraph's serializer gives tuples back as lists, and without the graph nobody
    knows that a reducer's channel begins as an empty list."""
    return "nothing" if value is NOTHING or value == [] else line(listed(value))


def listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: listed(v) for k, v in value.items()}
    return [listed(v) for v in value] if isinstance(value, list | tuple) else value


@functools.cache
def measure(program: str) -> Any:
    ours = engine(OURS)
    return told(Kept(OURS, ours.Saver(), lambda graph, _: (graph, {})).of(program))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kept", KINDS, indirect=True)
def test_every_source_answers_the_tabs(kept: Kept, program: str) -> None:  # noqa: F811
    timeline = kept.of(program)
    assert told(timeline) == measure(program)
    drawn = shape_json(timeline.shape())
    assert bool(drawn["dot"]) == timeline.can.shape.ok
    assert bool(drawn["why"]) != timeline.can.shape.ok
    found = storage(timeline)
    assert found.how
    used = {(c.channel, str(v.version)) for c in found.channels for v in c.versions}
    lights = timeline.known_lights()
    assert used == {(c, str(v)) for light in lights for c, v in light.versions.items()}
    json.dumps(storage_json(found, timeline.place, {}), allow_nan=False)


def test_a_history_in_a_file_is_told_without_made_up_bytes(tmp_path: Any) -> None:
    graph = plan_graph(engine(OURS))
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    explorer = explore(graph, follow=False)
    path = explorer.export(tmp_path / "run.json")
    explorer.close()
    again = open_timeline(str(path), "1")
    rows = again.rows()
    xs = next(u for u in phases(again, rows[-1].id).update if u.channel == "xs")
    assert (xs.old, xs.new) == ([], ["a"])
    found = storage(again)
    assert found.known == "versions"
    assert "A version stands here for a value that stayed equal" in found.how
    assert found.freed.bytes is None
    assert shape_json(again.shape())["dot"], "the file tells the edges"
