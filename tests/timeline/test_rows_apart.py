"""The time of a row is told only where it is what its nodes took."""

from graphs import CONFIG, chain_graph

from ckpt_viz.timeline.open import open_timeline


def test_a_row_after_an_answer_or_an_edit_stands_apart(e):
    graph = chain_graph(
        e,
        {
            "a": lambda s: {"foo": "a"},
            "ask": lambda s: {"foo": e.interrupt("?")},
            "b": lambda s: {"foo": "b"},
        },
    )
    graph.invoke({"foo": ""}, CONFIG)
    graph.invoke(e.Command(resume="yes"), CONFIG)
    edited = graph.update_state(CONFIG, {"foo": "c"}, as_node="a")
    graph.update_state(edited, {"foo": "d"}, as_node="ask")
    graph.invoke(None, CONFIG)
    rows = open_timeline(graph, "1").rows()
    told = [("".join(row.nodes), row.apart) for row in rows if row.source == "loop"]
    assert told == [("__start__", False), ("a", False), ("ask", True), ("b", False), ("b", True)]
