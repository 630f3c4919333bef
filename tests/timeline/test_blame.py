"""Who wrote a value, on both engines."""

from __future__ import annotations

import pytest
from graphs import CONFIG, State, chain_graph, plan_graph

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.blame import blame
from ckpt_viz.timeline.paths import PathError, follow, parse, shown


def finished(e):
    graph = plan_graph(e)
    graph.invoke({"xs": ["in"]}, CONFIG)
    graph.invoke(e.Command(resume="yes"), CONFIG)
    return graph


def whence(graph, text, checkpoint=None):
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    return blame(timeline, checkpoint or timeline.head, parse(text).steps)


def test_each_element_has_its_writer(e):
    graph = finished(e)
    values = graph.get_state(CONFIG).values
    assert values["xs"] == ["in", "a", "yes", "j", "w0", "w1", "w2", "j"]
    told = [whence(graph, f"xs[{i}]") for i in range(8)]
    assert [b.by for b in told] == ["the input", "a", "ask", "join", "w", "w", "w", "join"]
    assert [b.step for b in told] == [0, 1, 2, 3, 3, 3, 3, 4]
    assert [b.carried for b in told] == [4, 3, 2, 1, 1, 1, 1, 0]
    assert len({b.task for b in told[3:7]}) == 4  # four tasks of one step, each certain
    assert all(b.change == "set" and not b.note for b in told)


def test_a_whole_channel_names_all_who_wrote_it_last(e):
    graph = finished(e)
    step3 = next(s for s in graph.get_state_history(CONFIG) if s.metadata["step"] == 3)
    found = whence(graph, "xs", step3.config["configurable"]["checkpoint_id"])
    assert (found.by, found.step, found.change) == ("join and w", 3, "changed")
    assert found.note == "folded by add"
    assert found.text == "xs: changed by join and w at step 3 (folded by add)"
    foo = whence(graph, "foo")
    assert (foo.by, foo.step, foo.carried, foo.change) == ("a", 1, 3, "set")


def test_equal_writes_of_one_step_are_told_apart_or_not_at_all(e):
    def same(state):
        return {"xs": [7]}

    b = e.StateGraph(State)
    b.add_node("p", same)
    b.add_node("q", same)
    b.add_edge(e.START, "p")
    b.add_edge(e.START, "q")
    graph = b.compile(checkpointer=e.Saver())
    graph.invoke({"xs": []}, CONFIG)
    found = whence(graph, "xs[1]")
    assert (found.by, found.task, found.note) == ("p and q", None, "not exact: add hides which")


def test_an_edit_is_yours_and_elements_are_followed_by_id(e):
    graph = chain_graph(
        e,
        {
            "one": lambda s: {"odd": [{"id": "m1", "text": "a"}, {"id": "m2", "text": "b"}]},
            "two": lambda s: {"odd": [{"id": "m2", "text": "c"}, *s["odd"][:1]]},
        },
    )
    graph.invoke({"xs": []}, CONFIG)
    moved = whence(graph, "odd[1].text")
    assert (moved.by, moved.step, moved.carried, moved.change) == ("one", 1, 1, "set")
    changed = whence(graph, "odd[0].text")
    assert (changed.by, changed.step, changed.change) == ("two", 2, "changed")
    graph.update_state(CONFIG, {"foo": "mine"}, as_node="one")
    assert whence(graph, "foo").by == "you, by fork"
    assert whence(graph, "odd[0].text").by == "two"


def test_a_copy_leads_to_what_it_is_a_copy_of(e):
    graph = finished(e)
    old = next(s for s in graph.get_state_history(CONFIG) if s.metadata["step"] == 1)
    graph.update_state(old.config, None, as_node="__copy__")
    found = whence(graph, "foo")
    assert (found.by, found.note) == ("a", "a copy of that step")


def test_no_such_value(e):
    with pytest.raises(LookupError, match=r"no value at path 'xs\[9\]'"):
        whence(finished(e), "xs[9].content")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("messages[-1].content", ("messages", -1, "content")),
        ("a.b[0][1]", ("a", "b", 0, 1)),
        ("a['x y'][\"it's\"]", ("a", "x y", "it's")),
        ("ä_1", ("ä_1",)),
    ],
)
def test_paths(text, steps):
    assert parse(text).steps == steps
    assert parse(shown(steps)).steps == steps


@pytest.mark.parametrize(
    "text", ["", ".", "a b", "a[", "a[1:2]", "a()", "len(a", "__import__('os')", "a[b]", "a..b"]
)
def test_what_is_no_path(text):
    with pytest.raises(PathError):
        parse(text)


def test_lengths():
    values = {"docs": [1, 2, 3], "text": "four", "n": 5}
    assert parse("len(docs)").of(values) == 3
    assert parse("len(text)").of(values) == 4
    assert parse("docs[-1]").of(values) == 3
    with pytest.raises(LookupError, match="has no length"):
        parse("len(n)").of(values)
    with pytest.raises(LookupError, match=r"docs\[3\]"):
        follow(values, ("docs", 3))
