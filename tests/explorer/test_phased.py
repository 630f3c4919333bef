"""A step's phases as they cross: bounded lines of text, and nothing that is redacted."""

import importlib
import json

import pytest
from graphs import CONFIG, State, chain_graph

from ckpt_viz.explorer.phased import Liner, phases_json
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.lines import LIMIT
from ckpt_viz.timeline.phases import phases


def head(graph, redact=()):
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    return phases_json(phases(timeline, timeline.head), redact)


def test_barriers_cross_as_ticks(e, graph):
    found = head(graph)
    barrier = next(u for u in found["update"] if u["channel"].startswith("join:"))
    assert barrier["ticks"] == [["a", "ask"], [], ["a"]]
    xs = next(u for u in found["update"] if u["channel"] == "xs")
    assert (xs["old"], xs["writes"], xs["new"]) == ("[]", [["a", "['a']", 1]], "['a']")
    assert (xs["from"], xs["to"]) == ("2", "3")
    assert found["plan"][0]["triggers"] == [
        {"channel": "branch:to:a", "at": "2", "seen": "none", "fired": True}
    ]


SECRET = "sk-very-secret"


@pytest.mark.parametrize("redact", [["odd"], ["odd.api_key"], ["api_key"]])
def test_what_is_redacted_never_crosses(e, redact):
    """Not as the old value, nor as the new one, nor as a queued write, nor in the first input."""
    graph = chain_graph(e, {"a": lambda s: {"odd": {"api_key": SECRET, "n": 1}}})
    graph.invoke({"odd": {"api_key": SECRET}}, CONFIG)
    timeline = open_timeline(graph, "1")
    for row in timeline.rows():
        text = json.dumps(phases_json(phases(timeline, row.id), redact))
        assert SECRET not in text


@pytest.mark.parametrize("redact", [["odd.api_key"], ["api_key"]])
def test_wrappers_hide_it_too(e, redact):
    secret = {"odd": {"api_key": SECRET}}
    liner = Liner(redact)
    assert SECRET not in liner.line("__pregel_tasks", [e.Send("w", secret)])
    assert SECRET not in liner.line("__pregel_tasks", e.Send("w", secret))
    overwrite = importlib.import_module(f"{e.name}.types").Overwrite
    assert SECRET not in liner.line("odd", overwrite(secret["odd"]))


def test_thirty_tasks_and_long_values_stay_small(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": ["y" * 10_000] * 100}})
    graph.invoke({"xs": []}, CONFIG)
    found = head(graph)
    assert len(json.dumps(found)) < 3_000
    assert len(Liner(()).line("xs", "x" * 1_000_000)) == LIMIT


def test_many_tasks_that_wrote_the_same_are_told_once(e):
    b = e.StateGraph(State)
    b.add_node("w", lambda arg: {"xs": [arg["i"] // 20]})
    b.add_conditional_edges(e.START, lambda s: [e.Send("w", {"i": i}) for i in range(40)], ["w"])
    graph = b.compile(checkpointer=e.Saver())
    graph.invoke({"xs": []}, CONFIG)
    found = head(graph)
    xs = next(u for u in found["update"] if u["channel"] == "xs")
    assert xs["writes"] == [["w", "[0]", 20], ["w", "[1]", 20]]
    assert [(r["node"], r["n"]) for r in found["run"]] == [("w", 20), ("w", 20)]
    assert found["tasks"] == 40


def test_hostile_values_are_one_line_of_text():
    class Bad:
        def __repr__(self):
            raise RuntimeError("no")

    liner = Liner(())
    assert "RuntimeError" in liner.line("x", Bad())
    assert liner.line("x", "a\n\n  b\u202e\x00") == "'a\\n\\n b\\u202e\\u0000'"
    assert liner.line("x", {1: (2, {3})}) == "{1: tuple(2, set(3))}"
    assert liner.line("x", None) == "None"
