"""The nodes of nested graphs, as they stand to a checkpoint of the outer one; both engines."""

import operator
from contextlib import suppress
from typing import Annotated, TypedDict

from graphs import CONFIG

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.standing import standing


class State(TypedDict, total=False):
    items: Annotated[list, operator.add]


def flow(e, nodes, saver=None):
    graph, last = e.StateGraph(State), e.START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    graph.add_edge(last, e.END)
    return graph.compile(checkpointer=saver)


def two_deep(e):
    """A graph in a graph in a graph; the middle one asks when it is run again."""

    def ask(state):
        return {"items": [e.interrupt("deeper?") if "again" in state["items"] else "no"]}

    deep = flow(e, {"dig": lambda s: {"items": ["d"]}, "lift": lambda s: {"items": ["l"]}})
    look = lambda s: {"items": ["k"]}  # noqa: E731
    middle = flow(e, {"look": look, "mine": deep, "ask": ask, "end": look})
    plan = lambda s: {"items": ["p"]}  # noqa: E731
    graph = flow(e, {"plan": plan, "field": middle, "tell": plan}, e.Saver())
    graph.invoke({"items": ["first"]}, CONFIG)
    graph.invoke({"items": ["again"]}, CONFIG)
    return graph


def test_what_ran_inside_and_what_waits_inside(e):
    timeline = open_timeline(two_deep(e), "1")
    rows = timeline.rows()
    by_field = next(row for row in rows if row.nodes == ("field",))
    once = {"ran": 1}
    assert standing(timeline, by_field.id) == {
        "field": {"__start__": once, "look": once, "mine": once, "ask": once, "end": once},
        "field:mine": {"__start__": once, "dig": once, "lift": once},
    }
    waits = max(rows, key=lambda row: row.id)
    kept = {"kept": 1}
    assert standing(timeline, waits.id) == {
        "field": {"__start__": kept, "look": kept, "mine": kept, "ask": {"waits": 1}},
        "field:mine": {"__start__": kept, "dig": kept, "lift": kept},
    }
    others = [row for row in rows if row.id not in (by_field.id, waits.id)]
    assert [standing(timeline, row.id) for row in others] == [{}] * len(others)
    assert standing(timeline, "no such id") == {}


def test_a_node_that_failed_inside(e):
    def fails(state):
        raise ValueError("no")

    inner = flow(e, {"good": lambda s: {"items": ["g"]}, "bad": fails})
    graph = flow(e, {"sub": inner}, e.Saver())
    with suppress(ValueError):
        graph.invoke({"items": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.rows()
    assert standing(timeline, timeline.head) == {
        "sub": {"__start__": {"kept": 1}, "good": {"kept": 1}, "bad": {"failed": 1}}
    }
