"""Each surprise in a history that has it, and none in one that has not."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from graphs import CONFIG, chain_graph, plan_graph

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.surprises import surprises


def found_in(graph: Any) -> dict[str, Any]:
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    return {one.kind: (timeline.row(one.checkpoint_id), one) for one in surprises(timeline, 5)}


def small(e):
    return chain_graph(e, {"one": lambda s: {"xs": ["1"]}, "two": lambda s: {"foo": "f"}})


def test_a_plain_history_surprises_nobody(e):
    graph = small(e)
    graph.invoke({"xs": []}, CONFIG)
    base = list(graph.get_state_history(CONFIG))[1]
    graph.invoke(None, graph.update_state(base.config, {"foo": "z"}))
    graph.invoke({"xs": ["more"]}, CONFIG)
    assert found_in(graph) == {}
    asks = plan_graph(e)
    asks.invoke({"xs": []}, CONFIG)
    assert found_in(asks) == {}


def test_a_dead_end(e):
    graph = small(e)
    graph.invoke({"xs": []}, CONFIG)
    base = list(graph.get_state_history(CONFIG))[1]
    graph.update_state(base.config, {"foo": "z"}, as_node="two")
    row, told = found_in(graph)["dead-end"]
    assert row.head
    assert "no node runs next" in told.text


def test_a_lost_input_and_two_heads():
    e_saver = InMemorySaver()

    class S(TypedDict):
        xs: Annotated[list, operator.add]

    def build(saver: Any) -> Any:
        flow = StateGraph(S)
        flow.add_node("one", lambda s: {"xs": ["1"]})
        flow.add_edge(START, "one")
        flow.add_edge("one", END)
        return flow.compile(checkpointer=saver)

    graph = build(e_saver)
    graph.invoke({"xs": ["a"]}, CONFIG)
    head = graph.get_state(CONFIG).config
    first = graph.stream({"xs": ["b"]}, head, stream_mode="checkpoints")
    next(first)
    second = graph.stream({"xs": ["c"]}, head)
    list(second)
    first.close()
    assert "lost" in found_in(graph)
    again = build(InMemorySaver())
    again.invoke({"xs": ["a"]}, CONFIG)
    head = again.get_state(CONFIG).config
    one = again.stream({"xs": ["b"]}, head, stream_mode="checkpoints")
    next(one)
    list(again.stream({"xs": ["c"]}, head))
    list(one)
    assert "heads" in found_in(again)


def test_a_run_saved_at_its_exit(e):
    graph = small(e)
    graph.invoke({"xs": []}, CONFIG, durability="exit")
    row, told = found_in(graph)["exit"]
    assert row.step == 2
    assert "'exit'" in told.text


def test_a_missing_parent(e):
    graph = small(e)
    graph.invoke({"xs": []}, CONFIG)
    gone = list(graph.get_state_history(CONFIG))[2].config["configurable"]["checkpoint_id"]
    graph.checkpointer.storage["1"][""].pop(gone)
    row, _ = found_in(graph)["parent"]
    assert row.step == 1


def test_a_channel_that_grew_tenfold(e):
    graph = chain_graph(
        e, {"one": lambda s: {"foo": "x" * 400}, "two": lambda s: {"foo": "y" * 9_000}}
    )
    graph.invoke({"xs": []}, CONFIG)
    row, told = found_in(graph)["grew"]
    assert row.nodes == ("two",)
    assert told.channel == "foo"


def test_a_value_changed_in_place(tmp_path):
    """A saver that keeps whole states, as LangGraph's SQLite does, shows what a write never did."""
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    from graphs import engine

    def sly(state):
        state["odd"]["n"] += 1
        return {"foo": "f"}

    with sqlite.SqliteSaver.from_conn_string(str(tmp_path / "x.db")) as saver:
        graph = chain_graph(
            engine("langgraph"), {"one": lambda s: {"odd": {"n": 0}}, "sly": sly}, saver
        )
        graph.invoke({"xs": []}, CONFIG, durability="sync")
        row, told = found_in(graph)["mutation"]
    assert row.nodes == ("sly",)
    assert told.channel == "odd"
    assert "without a write" in told.text


def test_an_unknown_class(e):
    graph = small(e)
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    tup = timeline.tuple(timeline.head)
    tup.checkpoint["channel_values"]["odd"] = [Opaque("shop.models", "Cart", {})]
    timeline.tuple = lambda id_: tup
    (told,) = [one for one in surprises(timeline) if one.kind == "unknown"]
    assert "shop.models.Cart" in told.text
