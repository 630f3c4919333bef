"""What goes wrong around an Explorer: it says so, goes on, and leaves nothing behind."""

import gc
import threading
import time
import weakref

import pytest
from graphs import CONFIG, chain_graph
from pages import Page

from ckpt_viz.explorer import Explorer, explore, live


def followers():
    return [t for t in threading.enumerate() if t.name == "ckpt-viz" and t.is_alive()]


def wait_for(test, seconds=10.0):
    end = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_what_is_closed_leaves_no_thread_and_no_object(graph):
    before = len(followers())
    gone = []
    for _ in range(10):
        page = Page(explore(graph, follow=True))
        page.get("hello")
        gone += [weakref.ref(page.explorer), weakref.ref(page.explorer._session)]
        page.explorer.close()
    del page
    wait_for(lambda: len(followers()) <= before)
    gc.collect()
    assert [ref for ref in gone if ref() is not None] == []


def test_a_retired_one_can_be_shown_again(graph):
    page = Page(explore(graph, follow=False))
    page.get("hello")
    page.explorer.retire()
    assert page.explorer.comm is None
    page.explorer._repr_mimebundle_()
    assert page.explorer.comm is not None
    assert page.get("hello")["thread"] == "1"
    page.explorer.close()


def test_nothing_is_followed_while_nobody_looks(e, monkeypatch):
    monkeypatch.setattr(live, "UNSEEN_SECONDS", 0.3)
    monkeypatch.setattr(live, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(live, "POLL_LIMIT", 0.05)
    graph = chain_graph(e, {"a": lambda s: {"xs": ["a"]}})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph))
    page.get("hello")
    time.sleep(0.6)
    graph.invoke({"xs": []}, CONFIG)
    time.sleep(0.3)
    assert not [m for m in page.heard if m.get("event") == "rows"]
    page.get("ping")
    page.wait(lambda m: m.get("event") == "rows" and m["rows"])
    page.explorer.close()


def test_a_checkpoint_that_was_deleted_is_said_and_the_rest_goes_on(graph):
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]
    graph.checkpointer.delete_thread("1")
    for kind in ("checkpoint", "diff", "blame", "value", "replay", "fork"):
        reply = page.ask(kind, checkpoint=head, b=head, path=["xs"], values={"foo": "x"}, act=kind)
        told = reply.get("error") or page.ended()["error"]
        assert "has no checkpoint" in told["message"], (kind, told)
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    new = page.get("thread", thread="1", ns="")["rows"]["head"]
    assert new != head
    assert page.get("checkpoint", checkpoint=new)["id"] == new
    page.explorer.close()


@pytest.mark.parametrize("method", ["get_tuple", "list"])
def test_a_saver_that_raises_is_told_and_asked_again(graph, method, monkeypatch, caplog):
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]

    def broken(*args, **kwargs):
        raise OSError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(graph.checkpointer, method, broken)
        for kind in ("checkpoint", "hello", "refresh", "search"):
            reply = page.ask(kind, checkpoint=head, query="xs~a")
            if not reply["ok"]:
                assert "the disk is gone" in reply["error"]["message"]
    assert page.get("checkpoint", checkpoint=head)["id"] == head
    assert page.get("hello")["rows"]["head"] == head
    page.explorer.close()


def test_a_node_that_never_returns_leaves_the_rest_usable(e):
    never, entered = threading.Event(), threading.Event()

    def hang(state):
        entered.set()
        never.wait(30)
        return {"xs": ["late"]}

    graph = chain_graph(e, {"a": lambda s: {"xs": ["a"]}, "hang": hang})
    page = Page(explore(graph, "1", follow=False))
    page.get("hello")
    assert page.get("run", input={"xs": []}, act="1") == {"started": True}
    assert entered.wait(10), page.heard
    wait_for(lambda: page.explorer.timeline.refresh() or page.explorer.timeline.head)
    head = page.explorer.timeline.head
    assert page.get("checkpoint", checkpoint=head)["next"]
    again = page.ask("run", input={"xs": []}, act="2")
    assert "still under way" in again["error"]["message"]
    page.get("stop")
    start = time.monotonic()
    page.explorer.close()
    assert time.monotonic() - start < 1, "closing waits for nobody"
    never.set()


def test_explorers_do_not_pile_up_in_ipywidgets(graph):
    from ipywidgets.widgets import widget

    before = sum(isinstance(w, Explorer) for w in widget._instances.values())
    explorers = [explore(graph, follow=False) for _ in range(5)]
    for one in explorers:
        one.close()
    assert sum(isinstance(w, Explorer) for w in widget._instances.values()) == before
