"""What there is to draw of a graph, the same for both engines."""

import pytest
from graphs import State, chain_graph, plan_graph

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.shape import of_topology, read_shape
from ckpt_viz.timeline.topology import read_topology


def edges(shape):
    return {(e.source, e.target): (e.kind, e.router or e.label) for e in shape.edges}


def test_edges_tell_routers_and_barriers(e):
    shape = open_timeline(plan_graph(e), "1").shape()
    assert edges(shape) == {
        ("__start__", "a"): ("edge", ""),
        ("a", "ask"): ("branch", "route"),
        ("a", "join"): ("barrier", ""),
        ("ask", "join"): ("barrier", ""),
        ("ask", "w"): ("branch", "fan"),
        ("w", "join"): ("edge", ""),
        ("join", "__end__"): ("edge", ""),
    }
    assert {n.name for n in shape.nodes} == {"__start__", "a", "ask", "w", "join", "__end__"}
    assert not shape.why


@pytest.fixture
def nested(e):
    """outer: START -> team -(router)-> last | END; team: x and y, barrier -> z."""
    inner = e.StateGraph(State)
    for name in "xyz":
        inner.add_node(name, lambda s: {})
    inner.add_edge(e.START, "x")
    inner.add_edge("x", "y")
    inner.add_edge(["x", "y"], "z")
    inner.add_edge("z", e.END)
    outer = e.StateGraph(State)
    outer.add_node("team", inner.compile())
    outer.add_node("last", lambda s: {})
    outer.add_edge(e.START, "team")
    outer.add_conditional_edges("team", lambda s: "on", {"on": "last", "off": e.END})
    outer.add_edge("last", e.END)
    return outer.compile(checkpointer=e.Saver())


def test_subgraphs_are_opened(nested):
    shape = open_timeline(nested, "1").shape()
    assert shape.subgraphs == ("team",)
    assert {n.id: (n.name, n.inside) for n in shape.nodes}["team:x"] == ("x", "team")
    found = edges(shape)
    assert found["team:x", "team:z"][0] == found["team:y", "team:z"][0] == "barrier"
    leaving = {kind for (s, t), (kind, _) in found.items() if s[:5] == "team:" and t == "last"}
    assert leaving == {"branch"}


def test_a_graph_that_cannot_draw_itself_is_drawn_by_its_topology(e, monkeypatch):
    graph = plan_graph(e)
    topology = read_topology(graph)
    monkeypatch.setattr(type(graph), "get_graph", lambda *a, **k: 1 / 0)
    shape = read_shape(graph, topology)
    assert shape.note == "Subgraphs are not opened: ZeroDivisionError: division by zero"
    assert shape.edges == of_topology(topology).edges
    assert {k for k, _ in edges(shape).values()} == {"edge", "branch", "barrier"}


def test_a_source_without_a_graph_says_why_nothing_is_drawn(e):
    graph = chain_graph(e, {"a": lambda s: {}})
    shape = open_timeline(graph.checkpointer, "1").shape()
    assert shape.nodes == ()
    assert "add the graph: explore(source, graph=graph)" in shape.why
