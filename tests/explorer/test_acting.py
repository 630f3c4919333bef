"""What the page does beyond fork and run: edits, scratch copies, breakpoints, other Explorers."""

import threading
import time

import pytest
from graphs import CONFIG, chain_graph
from pages import Page

from ckpt_viz.explorer import explore

NODES = {
    "a": lambda s: {"xs": ["a"], "odd": {"deep": [1, {"k": 2**60}]}, "foo": "x"},
    "b": lambda s: {"xs": [f"b saw {s['foo']}"]},
}


@pytest.fixture
def chain(e):
    graph = chain_graph(e, NODES)
    graph.invoke({"xs": ["in"]}, CONFIG)
    page = Page(explore(graph, "1", follow=False))
    page.get("hello")
    yield page
    page.explorer.close()


def made_by(page, node):
    return next(r.id for r in page.explorer.timeline.rows() if node in r.nodes)


def test_one_value_is_edited_by_its_path(chain):
    base = made_by(chain, "a")
    path = ["odd", "deep", 1, "k"]
    assert chain.get("edit_text", checkpoint=base, path=path) == {"json": str(2**60)}
    edits = [{"path": path, "json": str(2**60 + 1)}, {"path": ["xs", 0], "json": '"IN"'}]
    found = chain.get("preview", checkpoint=base, values_json="{}", edits=edits)
    assert {p["path"] for p in found["diff"]["parts"] if p["op"] == "change"} == {
        "odd.deep[1].k",
        "xs[0]",
    }
    made = chain.get("fork", checkpoint=base, values_json='{"foo": "y"}', edits=edits, act="1")
    values = chain.explorer.selected.values
    assert values["odd"]["deep"] == [1, {"k": 2**60 + 1}]
    assert (values["xs"], values["foo"]) == (["IN", "a"], "y"), "the list is replaced, not added to"
    assert made["panels"]["id"] == made["checkpoint"], "the panels come with the answer"
    assert chain.explorer.timeline.row(made["checkpoint"]).changed == ("foo", "odd", "xs")


def test_what_is_locked_says_why(e):
    odd = {"raw": b"raw", "in": {"key": "s3cret", "n": 1}}
    graph = chain_graph(e, {"a": lambda s: {"odd": odd, "foo": "s3cret", "xs": [1]}})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, "1", follow=False, redact=["foo", "*.key"]))
    head = page.get("hello")["rows"]["head"]
    raw = page.get("edit_text", checkpoint=head, path=["odd", "raw"])
    assert "no form for a bytes" in raw["locked"]
    for path in (["foo"], ["odd"], ["odd", "in"], ["odd", "in", "key"]):
        assert "redacted" in page.get("edit_text", checkpoint=head, path=path)["locked"]
    assert page.get("returned", checkpoint=head, node="a") == {
        "json": '{\n  "xs": [\n    1\n  ]\n}'
    }
    told = page.ask("code", what="fork", form="python", checkpoint=head, values={"foo": "mine"})
    assert told["error"]["type"] == "NoSourceError"
    edit = [{"path": ["odd", "in", "n"], "json": "2"}]
    told = page.ask("code", what="fork", form="python", checkpoint=head, values={}, edits=edit)
    assert told["error"]["type"] == "NoSourceError", "the whole channel would be told"
    for path, text in (
        (["foo"], "is redacted"),
        (["odd", "in"], "is redacted"),
        (["odd", "raw"], "no form"),
        (["xs", 9], "no value"),
    ):
        reply = page.ask("fork", checkpoint=head, edits=[{"path": path, "json": "1"}])
        assert text in reply["error"]["message"]
    assert len(page.explorer.timeline.rows()) == 3
    assert "s3cret" not in str(page.heard)


def test_what_a_node_returned(chain):
    got = chain.get("returned", checkpoint=made_by(chain, "b"), node="b")
    assert got == {"json": '{\n  "xs": [\n    "b saw x"\n  ]\n}'}


def test_a_scratch_copy_and_the_way_back(chain, e):
    base, before = made_by(chain, "a"), chain.explorer.timeline.rows()
    hello = chain.get("scratch", checkpoint=base, act="s")
    assert hello["scratch"] == {"thread": "1", "back": True, "recorded": False}
    assert (hello["rows"]["head"], hello["place"]) == (base, "a scratch saver in memory")
    assert not hello["can"]["scratch"]["ok"]
    assert chain.get("scratch", checkpoint=base, act="s") == hello, "a double click is one copy"
    chain.get("fork", checkpoint=base, values={"foo": "z"}, run=True, act="f")
    assert chain.ended()["state"] == "done"
    assert chain.explorer.head.values["xs"][-1] == "b saw z"
    back = chain.get("home")
    assert back["scratch"] is None
    assert chain.explorer.timeline.rows() == before
    own = chain.explorer.scratch()
    own.fork({"foo": "q"})
    assert own.run({"xs": []}).values["foo"] == "x"
    assert chain.explorer.timeline.rows() == before


def test_breakpoints_are_set_in_the_page_and_in_python(chain):
    hello = chain.get("hello")
    assert (hello["breakpoints"], hello["places"]) == ({"before": [], "after": []}, ["a", "b"])
    chain.get("breakpoints", before=["b"], after=[])
    assert chain.explorer.breakpoints.before == ("b",)
    chain.get("run", input_json='{"xs": ["more"]}', act="1")
    ended = chain.ended()
    assert ended["state"] == "breakpoint"
    head = chain.explorer.head.id
    chain.get("resume", checkpoint=head, answers={}, act="2")
    assert chain.ended()["state"] == "done"
    chain.explorer.set_breakpoints(after=["a"])
    told = chain.wait(lambda m: m.get("event") == "can" and m["breakpoints"]["after"])
    assert told["breakpoints"] == {"before": [], "after": ["a"]}
    assert "No node 'z'" in chain.ask("breakpoints", before=["z"])["error"]["message"]


def test_the_old_head_is_the_head_again(chain):
    old = chain.explorer.head.id
    made = chain.get("fork", checkpoint=made_by(chain, "a"), values={"foo": "z"}, act="1")
    assert made["before"] == old
    again = chain.get("make_head", checkpoint=old, act="2")
    assert chain.explorer.head.id == again["checkpoint"] != made["checkpoint"]
    assert chain.explorer.head.values["xs"][-1] == "b saw x"


def test_fork_and_run_writes_nothing_while_a_run_is_under_way(e):
    gate, reached = threading.Event(), threading.Event()

    def slow(state):
        reached.set()
        assert gate.wait(10)
        return {"xs": ["slow"]}

    page = Page(explore(chain_graph(e, {"a": NODES["a"], "slow": slow}), "1", follow=False))
    page.get("hello")
    page.get("run", input={"xs": []}, act="1")
    assert reached.wait(10)

    def saved():  # there in the background, while the next node runs
        return [row.id for row in page.explorer.timeline.rows() if "a" in row.nodes]

    end = time.monotonic() + 10
    while not saved() and time.monotonic() < end:
        time.sleep(0.01)
    base = saved()[0]
    before = len(page.explorer.timeline.rows())
    reply = page.ask("fork", checkpoint=base, values={"foo": "z"}, run=True, act="2")
    assert reply["error"]["type"] == "ActRunningError"
    assert len(page.explorer.timeline.rows()) == before
    assert not page.ask("scratch", checkpoint=base)["ok"]
    gate.set()
    assert page.ended()["state"] == "done"


def test_a_run_tells_the_head_before_it(chain):
    old = chain.explorer.head.id
    chain.get("replay", checkpoint=made_by(chain, "a"), act="1")
    assert chain.ended()["before"] == old


def test_other_explorers_of_a_thread_see_an_act_at_once(chain):
    other = Page(explore(chain.explorer.graph, "1", follow=False))
    other.get("hello")
    made = chain.get("fork", checkpoint=made_by(chain, "a"), values={"foo": "z"}, act="1")
    told = other.wait(lambda m: m.get("event") == "rows", seconds=3)
    assert made["checkpoint"] in str(told)
    new = other.explorer.make_head().id
    chain.wait(lambda m: m.get("event") == "rows" and new in str(m), seconds=3)
    other.explorer.close()


def test_new_code_names_what_is_new_and_gone(chain, e):
    chain.explorer.graph = chain_graph(e, {"a": NODES["a"], "c": lambda s: {"xs": ["c"]}})
    told = chain.wait(lambda m: m.get("event") == "graph")
    assert told["changes"] == {"gone": ["b"], "new": ["c"], "waiting": []}
    chain.explorer.select(step=0)
    assert chain.explorer.replay().values["xs"] == ["in", "a", "c"]


def test_new_code_keeps_a_history_read_only(e, graph):
    explorer = explore(graph, "1", write=False, follow=False)
    explorer.graph = chain_graph(e, NODES)
    assert not explorer.timeline.can.run.ok


def test_a_click_is_one_round_trip(chain):
    base = made_by(chain, "a")
    chain.get("checkpoint", checkpoint=base, select=True)
    assert chain.explorer.selected.id == base


def test_edit_and_preview_in_python(chain):
    explorer = chain.explorer
    explorer.select(made_by(chain, "a"))
    assert explorer.preview({"foo": "p"}).next == ("b",)
    forked = explorer.edit("odd.deep[-1].k", "new")
    assert forked.values["odd"] == {"deep": [1, {"k": "new"}]}
    assert explorer.selected.id == forked.id
    assert explorer.resume().values["xs"][-1] == "b saw x"
    with pytest.raises(LookupError, match="no value at path"):
        explorer.edit("odd.nope.k", 1)
    assert "graph.invoke(None, config)" in explorer.code()
    with pytest.raises(ValueError, match="'python' or 'pytest'"):
        explorer.code("java")
