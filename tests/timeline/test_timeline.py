import pytest
from graphs import CONFIG, chain_graph, plan_graph

from ckpt_viz.errors import CheckpointNotFoundError, InvalidUpdateError, NothingToResumeError
from ckpt_viz.timeline import NoHistoryError, open_timeline
from ckpt_viz.timeline.acts import ReadOnlyError


def by_step(timeline, step, source=None):
    found = [r for r in timeline.rows() if r.step == step and source in (None, r.source)]
    return found[-1]


def test_rows_tell_nodes_changes_next_and_the_open_question(graph):
    timeline = open_timeline(graph, "1")
    rows = timeline.rows()
    assert [r.step for r in rows] == [-1, 0, 1]
    assert [r.nodes for r in rows] == [(), ("__start__",), ("a",)]
    assert [r.next for r in rows] == [("__start__",), ("a",), ("ask",)]
    assert rows[-1].changed == ("foo", "xs")
    assert [r.head for r in rows] == [False, False, True]
    assert rows[-1].status == "interrupt"
    (waits,) = timeline.unfinished()
    assert (waits.name, waits.status, waits.text) == ("ask", "interrupt", "ok?")
    assert waits.parent == rows[-1].id


def test_next_of_rows_is_that_of_the_engine(e, graph):
    graph.invoke(e.Command(resume="yes"), CONFIG)
    timeline = open_timeline(graph, "1")
    for row in timeline.rows():
        assert sorted(row.next) == sorted(timeline.snapshot(row.id).next)


def test_resume_sends_barrier_and_their_reasons(e, graph):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    assert timeline.rows()[-1].status == "done"
    assert timeline.unfinished() == []
    at1 = timeline.writes(by_step(timeline, 1).id)
    assert at1.next[0].why == "ran because router `route` of a said so; resumed with 'yes'"
    assert {w.node: w.why for w in at1.why_not}["join"] == "barrier: has a, still waits for ask"
    at2 = timeline.writes(by_step(timeline, 2).id)
    whys = [t.why for t in at2.next]
    assert "sent by ask's router `fan`, 2 of 3, with {i: 1}" in whys
    assert "barrier: a and ask have both finished" in whys
    assert [t.name for t in at2.made] == ["ask"]
    row3 = by_step(timeline, 3)
    assert sorted(row3.nodes) == ["join", "w", "w", "w"]
    at3 = timeline.writes(row3.id)
    assert at3.next[0].why.startswith("ran because w's edge leads here")
    at0 = timeline.writes(by_step(timeline, 0).id)
    assert at0.next[0].why == "ran because START's edge leads here"
    assert "`branch:to:a` is at 2, a has seen none" in at0.next[0].versions


def test_preview_leaves_the_source_alone_and_runs_no_node(e):
    ran = []
    graph = chain_graph(
        e, {"a": lambda s: ran.append("a") or {"xs": [1]}, "b": lambda s: ran.append("b") or {}}
    )
    graph.invoke({"xs": [0]}, CONFIG)
    timeline = open_timeline(graph, "1")
    base = by_step(timeline, 1)
    before = len(timeline.rows())
    ran.clear()
    found = timeline.preview(base.id, {"xs": [9]}, "a", [])
    assert found.values["xs"] == [0, 1, 9]
    assert found.next == ("b",)
    assert timeline.preview(base.id, {"xs": [9]}, "a", ["xs"]).values["xs"] == [9]
    assert timeline.preview(base.id, {"xs": [9]}, "b").dead_end
    assert ran == []
    assert len(timeline.rows()) == before


def test_fork_and_go_on(graph, e):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    new = timeline.update(by_step(timeline, 1).id, {"foo": "forked"}, "a")
    assert timeline.rows()[-1].source == "update"
    assert timeline.head == new
    assert timeline.rows()[-1].next == ("ask",)
    timeline.go_on(new)
    assert timeline.unfinished()[-1].parent == timeline.head
    timeline.resume(timeline.head, "no")
    assert timeline.snapshot().values["foo"] == "forked"
    assert "no" in timeline.snapshot().values["xs"]


def test_replay_makes_a_marked_copy(graph):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    base = by_step(timeline, 2)
    timeline.replay(base.id)
    copies = [r for r in timeline.rows() if r.copy_of == base.id]
    assert len(copies) == 1
    assert timeline.rows()[-1].status == "done"
    whys = [t.why for t in timeline.writes(copies[0].id).next]
    assert "sent by ask's router `fan`, 1 of 3, with {i: 0}" in whys


def test_unknown_checkpoint_and_unknown_key_write_nothing(graph):
    timeline = open_timeline(graph, "1")
    head = timeline.rows()[-1].id
    for act in (
        lambda: timeline.replay("nope"),
        lambda: timeline.update("nope", {"foo": "1"}),
        lambda: timeline.resume("nope", "x"),
        lambda: timeline.snapshot("nope"),
        lambda: timeline.preview("nope", {}),
    ):
        with pytest.raises(CheckpointNotFoundError, match="nope"):
            act()
    with pytest.raises(InvalidUpdateError, match=r"fooo.*foo"):
        timeline.update(head, {"fooo": "1"})
    assert timeline.rows()[-1].id == head


def test_a_failure_is_an_unfinished_row(e):
    def boom(state):
        raise ValueError("no luck")

    graph = chain_graph(e, {"a": lambda s: {"xs": [1]}, "boom": boom})
    timeline = open_timeline(graph, "1")
    with pytest.raises(ValueError, match="no luck"):
        timeline.run({"xs": []})
    assert timeline.rows()[-1].status == "error"
    (failed,) = timeline.unfinished()
    assert failed.name == "boom"
    assert "no luck" in failed.text
    task = timeline.writes(timeline.head).next[0]
    assert (task.state, task.name) == ("error", "boom")
    assert "no luck" in task.error


def test_stop_between_steps(e):
    timeline = None

    def first(state):
        timeline.stop()
        return {"xs": ["first"]}

    graph = chain_graph(e, {"a": first, "b": lambda s: {"xs": ["b"]}, "c": lambda s: {"xs": ["c"]}})
    timeline = open_timeline(graph, "1")
    timeline.run({"xs": []})
    assert "c" not in timeline.snapshot().values["xs"]
    assert not timeline.stop()
    timeline.go_on(None)
    assert timeline.snapshot().values["xs"] == ["first", "b", "c"]


def test_threads_and_namespaces(graph):
    graph.invoke({"xs": []}, {"configurable": {"thread_id": "2"}})
    timeline = open_timeline(graph)
    assert [t.id for t in timeline.threads()] == ["2", "1"]
    assert timeline.threads()[0].checkpoints == 3
    assert timeline.rows() == []
    assert timeline.at("1").namespaces() == [""]


def test_subgraph_namespace_has_rows(e):
    inner = e.StateGraph(dict_state())
    inner.add_node("deep", lambda s: {"xs": ["deep"]})
    inner.add_edge(e.START, "deep")
    graph = chain_graph(e, {"sub": inner.compile()})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    spaces = timeline.namespaces()
    assert len(spaces) == 2
    inside = timeline.at("1", spaces[1])
    assert inside.rows()[-1].nodes == ("deep",)
    assert inside.snapshot(inside.head).values["xs"][-1] == "deep"
    assert inside.writes(inside.head).made[0].why == "ran because START's edge leads here"


def asking_inside(e, memory):
    """A graph whose inner graph asks between two nodes, run to the question; both timelines."""
    nodes = {
        "first": lambda s: {"xs": ["first"]},
        "ask": lambda s: {"xs": [e.interrupt("q")]},
        "last": lambda s: {"xs": ["last"]},
    }
    inner, names = e.StateGraph(dict_state()), [e.START, *nodes]
    for before, (name, node) in zip(names, nodes.items(), strict=False):
        inner.add_node(name, node)
        inner.add_edge(before, name)
    graph = chain_graph(e, {"sub": inner.compile(checkpointer=memory)})
    graph.invoke({"xs": []}, CONFIG, durability="sync")
    outside = open_timeline(graph, "1")
    return outside, outside.at("1", outside.namespaces()[1])


@pytest.mark.parametrize("memory", [None, True])
def test_acts_inside_a_subgraph(e, memory):
    outside, inside = asking_inside(e, memory)
    inside.rows()
    assert [u.name for u in inside.unfinished()] == ["ask"]
    asked = inside.snapshot(inside.head).interrupts[0]
    inside.resume(inside.head, {asked.id: "yes"})
    assert inside.snapshot(inside.head).values["xs"] == ["first", "yes", "last"]
    assert outside.snapshot().values["xs"] == ["first", "yes", "last"]
    before_last = next(r for r in inside.rows() if "last" in r.next)
    if memory:  # else a replay starts the inner graph anew, in a namespace of its own
        inside.replay(before_last.id)
        assert inside.row(inside.head).parent_id != before_last.id
        assert inside.snapshot(inside.head).values["xs"] == ["first", "yes", "last"]
    forked = inside.update(before_last.id, {"xs": ["edit"]}, "ask")
    assert inside.row(forked).parent_id == before_last.id
    assert inside.snapshot(forked).values["xs"] == ["first", "yes", "edit"]


def dict_state():
    from graphs import State

    return State


def test_refresh_gives_only_what_is_new(e, graph):
    timeline = open_timeline(graph, "1")
    assert len(timeline.refresh()) == 3
    assert timeline.refresh() == []
    graph.invoke(e.Command(resume="yes"), CONFIG)
    news = timeline.refresh()
    assert [r.step for r in news] == [1, 2, 3, 4]


def test_async_nodes(e):
    async def a(state):
        return {"xs": ["a"]}

    graph = chain_graph(e, {"a": a})
    timeline = open_timeline(graph, "1")
    timeline.run({"xs": []})
    assert timeline.snapshot().values["xs"] == ["a"]
    first = timeline.rows()[1]
    assert timeline.preview(first.id, {"xs": ["z"]}, "a").values["xs"] == ["z"]
    timeline.replay(first.id)
    assert timeline.rows()[-1].status == "done"


async def test_async_nodes_from_a_running_loop(e):
    async def a(state):
        return {"xs": ["a"]}

    timeline = open_timeline(chain_graph(e, {"a": a}), "1")
    timeline.run({"xs": []})
    assert timeline.rows()[-1].status == "done"


def test_no_saver_and_not_a_graph(e):
    graph = plan_graph(e).copy(update={"checkpointer": None})
    with pytest.raises(NoHistoryError, match="checkpointer=InMemorySaver"):
        open_timeline(graph)
    with pytest.raises(TypeError, match="int"):
        open_timeline(3)
    with pytest.raises(TypeError, match="compile"):
        open_timeline(e.StateGraph(dict))


def test_saver_alone_is_read_only_and_tells_the_same(e, graph):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    alone = open_timeline(graph.checkpointer, "1")
    assert alone.rows() == timeline.rows()
    assert not alone.can.fork.ok
    with pytest.raises(ReadOnlyError, match="graph="):
        alone.update(alone.head, {"foo": "1"})
    for row in timeline.rows()[1:]:
        a, b = alone.snapshot(row.id), timeline.snapshot(row.id)
        assert (a.values, sorted(a.next)) == (b.values, sorted(b.next))
        assert sorted(t.id for t in a.tasks) == sorted(t.id for t in b.tasks)
    assert open_timeline(graph.checkpointer, "1", graph=graph).can.fork.ok


def test_a_file_is_opened_and_never_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing was created"):
        open_timeline(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_answer_differently_makes_a_sibling(graph, e):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    base = by_step(timeline, 1)
    (question,) = timeline.writes(base.id).next[0].interrupts
    assert question.answered
    timeline.resume(base.id, {question.id: "no"})
    assert timeline.snapshot().values["xs"][:2] == ["a", "no"]
    copies = [r for r in timeline.rows() if r.copy_of == base.id]
    assert len(copies) == 1
    graph_now = [r for r in timeline.rows() if r.parent_id == base.id]
    assert len(graph_now) == 1


def test_an_input_without_a_channel_is_refused(graph):
    timeline = open_timeline(graph, "1")
    before = len(timeline.rows())
    for value in ({"nope": 1}, {}):
        with pytest.raises(InvalidUpdateError, match=r"nothing was run.*are foo, odd, xs"):
            timeline.run(value)
    assert len(timeline.rows()) == before


def test_a_long_lineage_is_read_as_far_as_asked(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": [1]}, "b": lambda s: {"xs": [2]}})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    ids = [row.id for row in timeline.rows()][::-1]
    assert timeline.ancestors(ids[0]) == ids
    assert timeline.ancestors(ids[0], 2) == ids[:2]
    assert timeline.ancestors("unknown") == []


def test_nothing_to_resume(graph):
    timeline = open_timeline(graph, "1")
    with pytest.raises(ValueError, match=r"asked were.*ask"):
        timeline.resume(None, {"0" * 32: "x"})
    timeline.resume(None, "yes")
    with pytest.raises(NothingToResumeError):
        timeline.resume(None, "again")
    with pytest.raises(NothingToResumeError):
        timeline.at("none").resume(None, "x")
