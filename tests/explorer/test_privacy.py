"""What is redacted leaves Python in no message, file or picture; `write=False` holds in Python."""

import json
import operator
from typing import Annotated, Any, TypedDict

import pytest
from pages import Page

from ckpt_viz.explorer import explore

KEY = "sk-4f9a-not-for-you"
CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    tools: Annotated[list[Any], operator.add]
    config: Any
    n: int


def secretive(e):
    """A graph whose values, question, answer and error tell the key."""

    def use(state):
        return {"tools": [{"name": "search", "Api_Key": KEY}], "n": 1}

    def ask(state):
        told = e.interrupt({"api_key": KEY, "question": f"May I use {KEY}?"})
        return {"n": len(told["api_key"])}

    def fail(state):
        raise ValueError(f"401 for {state['config']['api_key']}")

    graph = e.StateGraph(State)
    for node in (use, ask, fail):
        graph.add_node(node.__name__, node)
    graph.add_edge(e.START, "use").add_edge("use", "ask").add_edge("ask", "fail")
    graph = graph.compile(checkpointer=e.Saver())
    graph.invoke({"config": {"api_key": KEY, "model": "m"}, "tools": [], "n": 0}, CONFIG)
    return graph


@pytest.fixture
def page(e, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Page(explore(secretive(e), follow=False, redact=["*.api_key"]))
    yield page
    page.explorer.close()


def test_a_redacted_path_is_in_no_message(page):
    hello = page.get("hello")
    head = hello["rows"]["head"]
    answer = {"api_key": KEY}
    question = page.get("checkpoint", checkpoint=head)["writes"]["next"][0]["interrupts"][0]["id"]
    page.get("resume", checkpoint=head, answers={question: answer}, act="1")
    assert page.ended()["state"] == "error"
    ids = [
        s.config["configurable"]["checkpoint_id"]
        for s in page.explorer.graph.get_state_history(CONFIG)
    ]
    for id_ in ids:
        page.get("checkpoint", checkpoint=id_)
        page.ask("value", checkpoint=id_, path=["config"])
        page.ask("value", checkpoint=id_, path=["config", "api_key"])
        page.ask("value", checkpoint=id_, path=["tools", -1, "Api_Key"])
        page.ask("blame", checkpoint=id_, path=["config", "api_key"])
        page.ask("diff", a=ids[-1], b=id_)
        page.ask("watch", checkpoint=id_, path="config.api_key")
        page.ask("watch", checkpoint=id_, path="tools[-1]")
        page.ask("preview", checkpoint=id_, values={"n": 3})
        page.ask("fork", checkpoint=id_, values={"config": {"api_key": KEY + "2"}}, act=f"f{id_}")
    page.get("refresh")
    heard = json.dumps(page.heard)
    assert "[redacted]" in heard
    assert '"m"' in heard, "the rest is told"
    assert KEY not in heard
    assert page.get("search", query=f'"{KEY}"')["ids"] == []


def test_a_redacted_path_is_in_no_file_and_no_picture(page, tmp_path):
    page.get("hello")
    for kind in ("html", "json", "svg"):
        path = page.explorer.export(tmp_path / f"run.{kind}")
        assert KEY not in path.read_text(), kind
    assert KEY not in json.dumps(page.explorer._repr_mimebundle_(), default=str)
    assert KEY not in repr(page.explorer)
    assert KEY not in str(page.explorer.diff(None))


def test_what_is_hidden_inside_graphs_and_in_older_states_is_in_no_file(e, tmp_path):
    def forget(state):
        return {"config": {"api_key": ""}, "tools": [f"used {KEY}", KEY]}

    inner = e.StateGraph(State)
    inner.add_node("use", lambda s: {"config": {"api_key": KEY}, "n": 2})
    inner.add_node("forget", forget)
    inner.add_edge(e.START, "use").add_edge("use", "forget")
    outer = e.StateGraph(State)
    outer.add_node("sub", inner.compile())
    outer.add_edge(e.START, "sub")
    graph = outer.compile(checkpointer=e.Saver())
    graph.invoke({"n": 0}, CONFIG)
    explorer = explore(graph, follow=False, redact=["*.api_key"])
    for kind in ("html", "json", "svg", "dot"):
        text = explorer.export(tmp_path / f"run.{kind}").read_text()
        assert KEY not in text, kind
        assert kind in ("svg", "dot") or "used [redacted]" in text
    explorer.close()


def test_nothing_of_the_state_nor_a_search_is_synced(page):
    page.get("hello")
    page.get("search", query="tools~needle-of-mine")
    page.explorer.select(step=0)
    synced = {k: v for k, v in page.explorer.get_state().items() if k not in ("_esm", "_css")}
    text = json.dumps(synced, default=str)
    assert KEY not in text
    assert "needle" not in text
    assert "question" not in text


def test_write_false_is_held_in_python(e):
    graph = secretive(e)
    page = Page(explore(graph, follow=False, write=False))
    hello = page.get("hello")
    head = hello["rows"]["head"]
    before = len(list(graph.get_state_history(CONFIG)))
    acts = {
        "fork": {"values": {"n": 2}},
        "replay": {},
        "resume": {"answers": {}},
        "run": {"input": {"n": 1}},
        "make_head": {},
    }
    for kind, body in acts.items():
        reply = page.ask(kind, checkpoint=head, act=kind, **body)
        ended = None if not reply["ok"] else page.ended()
        told = reply.get("error") or (ended or {}).get("error")
        assert "write=False" in json.dumps(told), kind
        assert hello["can"][{"make_head": "fork"}.get(kind, kind)]["ok"] is False
    for act in (
        lambda x: x.fork({"n": 2}),
        lambda x: x.replay(),
        lambda x: x.resume("yes"),
        lambda x: x.run({"n": 1}),
        lambda x: x.edit("n", 3),
        lambda x: x.timeline.make_head(head),
        lambda x: x.timeline.update(head, {"n": 4}),
        lambda x: x.timeline.prune(),
        lambda x: x.timeline.delete_thread("1"),
    ):
        with pytest.raises(Exception, match="write=False"):
            act(page.explorer)
    page.get("note", checkpoint=head, text="only here")
    assert page.explorer.timeline.labels() == {head: "only here"}
    assert not explore(graph, "1", follow=False).timeline.labels()
    assert len(list(graph.get_state_history(CONFIG))) == before


def test_a_text_alone_is_one_pattern(e):
    explorer = explore(secretive(e), "1", redact="*.api_key", follow=False)
    assert KEY not in repr(explorer.diff(None))
    assert list(explorer._session.redact) == ["*.api_key"]
    explorer.close()
