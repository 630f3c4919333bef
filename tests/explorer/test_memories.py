"""The Memory tab: items, search and what a step wrote, without what is redacted; never exported."""

import importlib
import json
from typing import TypedDict

import pytest
from graphs import CONFIG

from ckpt_viz.explorer import explore
from ckpt_viz.explorer.collected import collect
from ckpt_viz.explorer.messages import answer

SECRET = "sk-very-secret"
XSS = "<img src=x onerror=alert(1)>"


class State(TypedDict, total=False):
    n: int


@pytest.fixture
def graph(e):
    store = importlib.import_module(f"{e.name}.store.memory").InMemoryStore()
    store.put(("before",), "old", {"text": "was there"})

    def note(state):
        store.put(("ada", "likes"), "food", {"text": XSS, "api_key": SECRET, "bidi": "a\u202eb"})
        return {"n": 1}

    b = e.StateGraph(State)
    b.add_node("note", note)
    b.add_edge(e.START, "note")
    made = b.compile(checkpointer=e.Saver(), store=store)
    made.invoke({"n": 0}, CONFIG)
    return made


def asked(explorer, **more):
    timeline = explorer._session.timeline
    timeline.refresh()
    request = {"id": 1, "kind": "memory", "checkpoint": timeline.head, **more}
    reply = answer(explorer._session, request)
    assert reply["ok"], reply
    return reply["result"]


def test_what_is_remembered_and_what_the_step_wrote(graph):
    explorer = explore(graph, redact=["api_key"], follow=False)
    assert answer(explorer._session, {"id": 0, "kind": "hello"})["result"]["store"] is True
    found = asked(explorer)
    assert sorted(found["namespaces"]) == [["ada", "likes"], ["before"]]
    assert {item["key"] for item in found["items"]} == {"food", "old"}
    assert [(i["key"], i["wrote"]) for i in found["written"]["items"]] == [("food", "new")]
    (food,) = asked(explorer, prefix=["ada"])["items"]
    assert ["text", XSS] in food["fields"]
    assert ["bidi", "a\\u202eb"] in food["fields"]
    assert SECRET not in json.dumps(found)
    explorer.close()


def test_it_comes_in_pages(graph):
    for k in range(120):
        graph.store.put(("many",), f"k{k:03d}", {"n": k})
    explorer = explore(graph, follow=False)
    first = asked(explorer, prefix=["many"])
    second = asked(explorer, prefix=["many"], offset=50)
    third = asked(explorer, prefix=["many"], offset=100)
    assert [len(p["items"]) for p in (first, second, third)] == [50, 50, 20]
    assert (first["more"], third["more"]) == (True, False)
    assert len({i["key"] for p in (first, second, third) for i in p["items"]}) == 120
    assert "written" not in second
    explorer.close()


def test_a_graph_without_a_store_says_how_to_give_it_one(e):
    b = e.StateGraph(State)
    b.add_node("a", lambda s: {"n": 1})
    b.add_edge(e.START, "a")
    bare = b.compile(checkpointer=e.Saver())
    bare.invoke({"n": 0}, CONFIG)
    explorer = explore(bare, follow=False)
    assert answer(explorer._session, {"id": 0, "kind": "hello"})["result"]["store"] is False
    assert asked(explorer)["why"].startswith("The graph has no store")
    explorer.close()


def test_an_export_holds_nothing_of_the_store(graph):
    explorer = explore(graph, follow=False)
    data = collect(explorer._session)
    assert data["hello"]["store"] is False
    assert XSS not in json.dumps(data)
    assert "was there" not in json.dumps(data)
    explorer.close()
