import json
import threading

import pytest
from graphs import CONFIG, chain_graph
from pages import Page

from ckpt_viz.errors import InvalidUpdateError, MissingThreadIdError
from ckpt_viz.explorer import Explorer, explore

XSS = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def page(graph):
    explorer = explore(graph, follow=False)
    yield Page(explorer)
    explorer.close()


def test_hello(page):
    hello = page.get("hello")
    assert hello["thread"] == "1"
    assert [r[2] for r in hello["rows"]["rows"]] == [-1, 0, 1]
    assert hello["selected"] == hello["rows"]["head"]
    assert hello["nodes"] == ["a", "ask", "w", "join"]
    assert hello["can"]["fork"] == {"ok": True, "why": ""}
    assert hello["threads"][0]["id"] == "1"
    xs = next(c for c in hello["channels"] if c["name"] == "xs")
    assert (xs["reducer"], xs["routing"]) == ("add", False)
    assert hello["rows"]["unfinished"][0]["status"] == "interrupt"


def test_nothing_of_the_state_is_synced(page):
    page.get("hello")
    state = {k: v for k, v in page.explorer.get_state().items() if k not in ("_esm", "_css")}
    assert "ok?" not in json.dumps(state, default=str)
    assert not {"rows", "selected"} & set(state)


def test_one_answer_holds_all_panels(page):
    head = page.get("hello")["rows"]["head"]
    found = page.get("checkpoint", checkpoint=head)
    assert found["title"] == "After a (step 1)"
    assert found["next"] == ["ask"]
    xs = next(entry for entry in found["state"] if entry["k"] == "xs")
    assert xs["mark"] == "changed"
    assert found["writes"]["made"][0]["name"] == "a"
    task = found["writes"]["next"][0]
    assert task["state"] == "interrupt"
    assert task["interrupts"][0]["value"]["s"] == "ok?"
    assert not task["interrupts"][0]["answered"]
    cells = {r["name"]: r["cells"] for r in found["channels"]["rows"]}
    assert cells["foo"][-1]["kind"] == "written"
    assert found["channels"]["steps"][-1]["step"] == 1
    assert found["raw"]["config"]["configurable"]["checkpoint_id"] == head
    assert "get_state" in found["raw"]["python"]


def test_resume_fork_and_replay(page):
    hello = page.get("hello")
    head = hello["rows"]["head"]
    question = page.get("checkpoint", checkpoint=head)["writes"]["next"][0]["interrupts"][0]
    page.get("resume", checkpoint=head, answers={question["id"]: "yes"}, act="r1")
    assert page.ended()["state"] == "done"
    found = page.get("preview", checkpoint=head, values={"foo": "z"}, as_node="a", replace=[])
    assert found["next"] == ["ask"]
    made = page.get(
        "fork", checkpoint=head, values={"foo": "z"}, as_node="a", replace=[], run=True, act="f1"
    )
    assert page.ended()["state"] == "interrupt"
    assert page.explorer.selected.id == made["checkpoint"]
    assert page.get("replay_plan", checkpoint=head)["again"] == ["ask", "join", "w"]
    page.get("replay", checkpoint=hello["rows"]["rows"][1][0], mode="live", act="p1")
    assert page.ended()["state"] == "interrupt"
    rows = [m for m in page.heard if m.get("event") == "rows"]
    assert rows


def test_a_double_click_is_one_act(page):
    head = page.get("hello")["rows"]["head"]
    body = {"checkpoint": head, "values": {"foo": "z"}, "as_node": "a", "replace": [], "run": False}
    first = page.get("fork", act="same", **body)
    assert page.get("fork", act="same", **body) == first
    assert len(page.explorer.timeline.rows()) == 4


def test_every_request_is_answered(page):
    page.get("hello")
    for body in (
        {"kind": "what"},
        {"kind": "checkpoint"},
        {"kind": "checkpoint", "checkpoint": "nope"},
        {"kind": "resume", "checkpoint": "nope", "answers": {"a": 1}},
        {"kind": "value", "checkpoint": "nope", "path": []},
        {"kind": "export", "format": "exe"},
    ):
        reply = page.ask(**body)
        assert not reply["ok"]
        assert reply["error"]["message"]
    assert page.ask("checkpoint", checkpoint="nope")["error"]["type"] == "CheckpointNotFoundError"


def test_a_node_that_raises_shows_its_traceback(e):
    def boom(state):
        raise ValueError("no luck")

    page = Page(explore(chain_graph(e, {"boom": boom}), "1", follow=False))
    page.get("hello")
    page.get("run", input={"xs": []}, act="a")
    ended = page.ended()
    assert (ended["state"], ended["error"]["type"]) == ("error", "ValueError")
    head = page.explorer.head.id
    task = page.get("checkpoint", checkpoint=head)["writes"]["next"][0]
    assert task["state"] == "error"
    assert "boom" in task["traceback"]


def test_rows_come_while_it_runs_and_it_can_be_stopped(e):
    gate, reached = threading.Event(), threading.Event()

    def slow(state):
        reached.set()
        assert gate.wait(10)
        return {"xs": ["slow"]}

    nodes = {"a": lambda s: {"xs": ["a"]}, "slow": slow, "c": lambda s: {"xs": ["c"]}}
    page = Page(explore(chain_graph(e, nodes), "1", follow=False))
    page.get("hello")
    page.get("run", input={"xs": []}, act="a")
    assert reached.wait(10)
    page.wait(lambda m: m.get("event") == "rows" and any("a" in r[5] for r in m["rows"]))
    assert not page.ask("run", input={}, act="b")["ok"]
    assert page.get("stop") == {"stopped": True}
    gate.set()
    assert page.ended()["state"] == "stopped"
    assert "c" not in page.explorer.head.values["xs"]


def test_odd_values_cross_and_stay_text(e, tmp_path):
    odd = {"html": XSS, "nan": float("nan"), "raw": b"\x00\xff", "big": 2**60, 3: (1, {2})}
    graph = chain_graph(e, {"a": lambda s: {"odd": odd, "foo": "\u202e" + XSS}})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]
    found = page.get("checkpoint", checkpoint=head)
    entries = next(x for x in found["state"] if x["k"] == "odd")["c"]
    assert [x["s"] for x in entries[:4]] == [XSS, "nan", "2 bytes: 00 ff", str(2**60)]
    assert page.get("value", checkpoint=head, path=["odd", "html"])["entries"][0]["s"] == XSS
    text = page.explorer.export(tmp_path / "run.html").read_text()
    assert "<img src=x" not in text
    data = text.split('id="ckpt-viz-data">')[1].split("</script>")[0]
    kept = json.loads(data)
    assert not kept["hello"]["can"]["fork"]["ok"]
    assert head in kept["checkpoints"]


def test_redacted_values_never_leave(e, tmp_path):
    graph = chain_graph(e, {"a": lambda s: {"foo": "s3cret", "odd": {"k": "s3cret"}}})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, follow=False, redact=("foo", "odd.k")))
    head = page.get("hello")["rows"]["head"]
    page.get("checkpoint", checkpoint=head)
    page.get("value", checkpoint=head, path=["odd", "k"])
    page.get("value", checkpoint=head, path=[])
    page.explorer.export(tmp_path / "x.json")
    assert "s3cret" not in json.dumps(page.heard)
    assert "s3cret" not in (tmp_path / "x.json").read_text()


def test_follows_a_foreign_run(e, graph):
    explorer = explore(graph, follow=True)
    page = Page(explorer)
    page.get("hello")
    graph.invoke(e.Command(resume="yes"), CONFIG)
    news = page.wait(lambda m: m.get("event") == "rows")
    assert [r[2] for r in news["rows"]] == [1, 2, 3, 4]
    explorer.close()
    assert page.heard[-1] == {"event": "closed"}


def test_python_api(graph, tmp_path):
    explorer = explore(graph, at=0)
    assert explorer.selected.snapshot.metadata["step"] == 0
    explorer.select(step=1)
    done = explorer.resume("yes")
    assert done.values["xs"][:2] == ["a", "yes"]
    assert explorer.head.id == done.id == explorer.selected.id
    explorer.select(step=1)
    forked = explorer.fork({"foo": "z"}, as_node="a")
    assert forked.values["foo"] == "z"
    assert explorer.resume().snapshot.next == ("ask",)
    assert "changed" in explorer.diff(done.id, forked.id).summary
    explorer.select(step=2)
    explorer.replay()
    with pytest.raises(LookupError, match="99"):
        explorer.select(step=99)
    with pytest.raises(ValueError, match="nope"):
        explorer.select("nope")
    for name in ("r.html", "r.svg", "r.json"):
        assert explorer.export(tmp_path / name).stat().st_size > 500
    with pytest.raises(ValueError, match=r"\.txt"):
        explorer.export(tmp_path / "r.txt")


def test_new_code_old_history(e, graph):
    explorer = explore(graph)
    new = chain_graph(e, {"other": lambda s: {"xs": ["new"]}})
    explorer.graph = new
    assert len(explorer.timeline.rows()) == 3
    assert explorer.run({"xs": ["in"]}).values["xs"][-1] == "new"


def test_resume_without_answers_goes_on_where_a_run_stopped(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": [1]}, "b": lambda s: {"xs": [2]}})
    graph.invoke({"xs": []}, CONFIG, interrupt_before=["b"])
    page = Page(explore(graph, follow=False))
    hello = page.get("hello")
    assert hello["rows"]["rows"][-1][7] == "pending"
    page.get("resume", checkpoint=hello["selected"], answers={}, act="x")
    assert page.ended()["state"] == "done"
    assert graph.get_state(CONFIG).values["xs"] == [1, 2]
    assert page.ask("ping")["ok"]


def test_a_preview_marks_what_would_change(page):
    hello = page.get("hello")
    found = page.get(
        "preview", checkpoint=hello["selected"], values={"xs": ["z"]}, as_node=None, replace=[]
    )
    assert {entry["k"]: entry["mark"] for entry in found["values"]} == {
        "foo": "same",
        "xs": "changed",
    }


def test_the_picture_is_drawn_again_when_a_run_is_over(graph, e):
    explorer = explore(graph, follow=False)
    drawn = []
    explorer._session.redraw = lambda: drawn.append(explorer.timeline.head)
    explorer.timeline.rows()
    explorer._session.drawn()
    explorer.refresh()
    assert drawn == []
    graph.invoke(e.Command(resume="yes"), CONFIG)
    explorer.refresh()
    assert drawn == [explorer.timeline.head]
    explorer.refresh()
    assert len(drawn) == 1


def test_read_only(graph):
    page = Page(explore(graph, write=False, follow=False))
    hello = page.get("hello")
    assert not hello["can"]["run"]["ok"]
    reply = page.ask("fork", checkpoint=hello["selected"], values={}, act="x", replace=[])
    assert reply["error"]["type"] == "ReadOnlyError"
    page.get("thread", thread="1", ns="")
    assert page.ask("run", input={}, act="y")["ok"]
    assert page.ended()["error"]["type"] == "ReadOnlyError"


def test_static_forms(graph):
    explorer = explore(graph)
    data, _ = explorer._repr_mimebundle_()
    svg = data["image/svg+xml"]
    assert svg.startswith("<svg")
    assert "<title>" in svg
    assert "<style" not in svg
    assert "ok?" not in svg + data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "● " in data["text/plain"]
    assert "ask: waits" in repr(explorer)


def test_a_long_history_has_a_small_picture(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": [1]}})
    for _ in range(100):
        graph.invoke({"xs": []}, CONFIG)
    svg = explore(graph)._repr_mimebundle_()[0]["image/svg+xml"]
    assert len(svg.encode()) <= 100_000
    assert svg.count("<circle") <= 200


def test_several_threads_give_a_table(graph):
    graph.invoke({"xs": []}, {"configurable": {"thread_id": "2"}})
    page = Page(explore(graph, follow=False))
    hello = page.get("hello")
    assert hello["thread"] is None
    assert len(hello["threads"]) == 2
    assert hello["rows"]["rows"] == []
    assert len(page.get("thread", thread="1", ns="")["rows"]["rows"]) == 3


def test_class_is_exported():
    import ckpt_viz

    assert ckpt_viz.Explorer is Explorer


def test_a_wrong_call_is_told_what_was_wrong(graph):
    explorer = explore(graph, follow=False)
    before = len(explorer.timeline.rows())
    with pytest.raises(InvalidUpdateError, match="nope: no such channel"):
        explorer.fork({"foo": "x"}, replace=("nope",))
    assert len(explorer.timeline.rows()) == before
    with pytest.raises(TypeError, match="step=2"):
        explorer.select(2)
    with pytest.raises(TypeError, match="Which checkpoint"):
        explorer.select()
    graph.invoke({"foo": "y"}, {"configurable": {"thread_id": "2"}})
    nowhere = explore(graph, follow=False)
    for act in (lambda: nowhere.fork({"foo": "x"}), lambda: nowhere.select(step=1)):
        with pytest.raises(MissingThreadIdError, match="No thread is chosen"):
            act()
