"""The filter language and watch expressions, on both engines."""

from __future__ import annotations

import pytest
from graphs import CONFIG, chain_graph, plan_graph

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.search import QueryError, search
from ckpt_viz.timeline.watch import watch


def timeline_of(graph):
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    return timeline


@pytest.fixture
def done(e):
    graph = plan_graph(e)
    graph.invoke({"xs": ["in"]}, CONFIG)
    graph.invoke(e.Command(resume="Yes, refund"), CONFIG)
    return timeline_of(graph)


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        ("", [4, 3, 2, 1, 0, -1]),
        ("node:ask", [2]),
        ("node:w step:0..", [3]),
        ("step:1..2", [2, 1]),
        ("source:input", [-1]),
        ("next:join", [3, 2]),
        ("changed:foo", [1]),
        ("xs~refund", [4, 3, 2]),
        ('xs~"yes, REFUND" -next:join', [4]),
        ('"refund" node:join', [4, 3]),
        ("-xs~refund step:0..9", [1, 0]),
        ("xs[-1]=j", [4]),
        ('xs[0]!="in"', []),
        ("len(xs)>2 len(xs)<5", [2]),
        ("foo=x step:1", [1]),
        ("head", [4]),
        ("status:done", [4]),
        ("aSk", [2, 1]),
        ("nope", []),
        ("step>2", [4, 3]),
        ("step=1 done", []),
        ("input", [-1]),
        ("metadata.source=loop step<1", [0]),
        ("metadata.user~ada", []),
        ("-metadata.source=loop", [-1]),
    ],
)
def test_queries(done, query, steps):
    found = search(done, query)
    assert [done.row(i).step for i in found.ids] == steps
    assert found.after is None


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("colour:red", "no field colour"),
        ("step:x", "step:3..9"),
        ("xs>many", "compares numbers"),
        ("xs..y=3", "is no path"),
    ],
)
def test_what_cannot_be_understood(done, query, says):
    with pytest.raises(QueryError, match=says):
        search(done, query)


def test_in_parts(done):
    ids, after, parts = [], None, 0
    while parts < 100:
        found = search(done, "xs~in", after, seconds=1e-9)
        ids += found.ids
        after = found.after
        parts += 1
        if after is None:
            break
    assert ids == list(search(done, "xs~in").ids)
    assert parts > 3


def test_metadata_of_a_run_is_found(e):
    graph = chain_graph(e, {"one": lambda s: {"foo": "f"}})
    graph.invoke({"xs": []}, {**CONFIG, "metadata": {"user": "Ada L."}})
    found = search(timeline_of(graph), "metadata.user~ada node:one")
    assert len(found.ids) == 1
    hidden = search(timeline_of(graph), "metadata.user~ada", shown=lambda values: {})
    assert hidden.ids == ()


def test_what_is_not_shown_is_not_found(done):
    assert search(done, "xs~refund", shown=lambda values: {}).ids == ()


def test_watch(e):
    graph = chain_graph(
        e,
        {
            "one": lambda s: {"odd": {"n": 1}, "xs": ["x"]},
            "two": lambda s: {"xs": ["y"]},
            "three": lambda s: {"odd": {"n": 3}, "foo": "f"},
        },
    )
    graph.invoke({"xs": []}, CONFIG)
    timeline = timeline_of(graph)
    told = watch(timeline, timeline.head, "odd.n")
    assert [(p.text, p.number, p.changed) for p in told] == [
        (None, None, False),
        (None, None, False),
        ("1", 1.0, True),
        ("1", 1.0, False),
        ("3", 3.0, True),
    ]
    assert [p.number for p in watch(timeline, timeline.head, "len(xs)")][1:] == [0, 1, 2, 2]
    assert [p.text for p in watch(timeline, timeline.head, "odd.n", ["odd"])][2] == "[redacted]"
