"""Whatever a state holds, the Explorer answers: soon, in bounded messages, with text alone."""

import json
import time
from typing import Any, TypedDict

import pytest
from pages import Page

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.explorer import explore
from ckpt_viz.explorer.messages import answer
from ckpt_viz.graph import START, StateGraph

from .hostile import CONFIG, VALUES, graph_of

ASKS = [
    ("checkpoint", {}),
    ("value", {"path": ["x"], "offset": 0}),
    ("value", {"path": ["x"], "offset": 50}),
    ("diff", {"a": None}),
    ("blame", {"path": ["x"]}),
    ("search", {"query": "x~pwned"}),
    ("watch", {"path": "x"}),
    ("export", {"format": "json"}),
    ("export", {"format": "svg"}),
]


@pytest.mark.parametrize("name", VALUES)
def test_every_question_is_answered(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value, _ = VALUES[name]
    page = Page(explore(graph_of({"x": value}), follow=False))
    head = page.get("hello")["rows"]["head"]
    for kind, body in ASKS:
        start = time.process_time()
        body = {**body, "checkpoint": head, "b": head}
        reply = page.ask(kind, **body)
        spent = time.process_time() - start
        assert reply["ok"], (kind, reply["error"]["traceback"])
        assert spent < 20, f"{kind} took {spent:.1f} s of CPU time"
        assert len(json.dumps(reply)) < 1_000_000
    assert page.get("ping") == {}
    assert "poison" in repr(page.explorer)
    page.explorer.close()


def test_a_state_of_50_mb_opens_its_first_level_within_a_second():
    text = "a line of some length " * 40
    docs = {f"doc {n}": {"text": f"{n} {text}", "tags": ["a", n]} for n in range(50_000)}
    graph = StateGraph(TypedDict("state", {"docs": Any, "n": int}))
    graph.add_node("load", lambda _: {"docs": docs})
    graph.add_node("add", lambda state: {"docs": {**state["docs"], "one": "more"}, "n": 1})
    graph.add_edge(START, "load").add_edge("load", "add")
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke({"n": 0}, CONFIG)
    session = explore(graph, follow=False)._session
    spent = []
    for request in ({"kind": "hello"}, {"kind": "checkpoint"}):
        head = session.timeline.head
        start = time.thread_time()
        reply = answer(session, {"id": 1, "checkpoint": head, **request})
        spent.append(time.thread_time() - start)
        assert reply["ok"], reply
    assert len(json.dumps(reply)) < 1_000_000
    start = time.thread_time()
    graph.checkpointer.get_tuple(CONFIG)
    bare = time.thread_time() - start  # one read without the Explorer, on this machine now
    assert max(spent) < max(1, 30 * bare), f"{spent} s of CPU time, one bare read {bare:.2f} s"
