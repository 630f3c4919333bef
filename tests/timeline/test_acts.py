"""Edits by path, previews of what follows, scratch copies and breakpoints, on both engines."""

from __future__ import annotations

import dataclasses
import importlib
import sqlite3
from collections import deque, namedtuple
from typing import Annotated, Any, TypedDict

import pytest
from graphs import CONFIG, State, chain_graph
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.acts import ReadOnlyError
from ckpt_viz.timeline.breaks import Breakpoints, node_names
from ckpt_viz.timeline.edits import Edit, LockedError, edited, fitted, json_text, read_edits
from ckpt_viz.timeline.paths import follow
from ckpt_viz.timeline.place import place_of

Point = namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Frozen:
    size: int
    rest: Any = None


NODES = {
    "a": lambda s: {"xs": ["a"], "foo": "from a", "odd": {"k": [1, {"deep": "x"}], "n": 2**60 + 1}},
    "b": lambda s: {"xs": [f"b saw {s['foo']}"]},
}


@pytest.fixture
def chain(e):
    graph = chain_graph(e, NODES)
    graph.invoke({"xs": ["in"]}, CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    return timeline


def after(timeline, node):
    return next(r.id for r in timeline.rows() if node in r.nodes)


def nested_graph(e, saver=None, asks=False):
    def s2(state):
        return {"xs": [e.interrupt("sure?") if asks else "s2"]}

    inner = e.StateGraph(State)
    inner.add_node("s1", lambda s: {"xs": ["s1"]})
    inner.add_node("s2", s2)
    inner.add_edge(e.START, "s1")
    inner.add_edge("s1", "s2")
    outer = e.StateGraph(State)
    outer.add_node("a", lambda s: {"xs": ["a"]})
    outer.add_node("sub", inner.compile())
    outer.add_node("c", lambda s: {"xs": ["c"]})
    outer.add_edge(e.START, "a")
    outer.add_edge("a", "sub")
    outer.add_edge("sub", "c")
    return outer.compile(checkpointer=saver or e.Saver())


# -- edits ---------------------------------------------------------------------------------


def test_an_edit_copies_the_path_alone():
    beside = object()
    row = [beside, {"k": (1, Point(2, deque([3], 4)))}]
    values = {"a": row, "b": beside}
    made = edited(values, [Edit(("a", 1, "k", 1, "y", 0), 9)])
    assert made == {"a": [beside, {"k": (1, Point(2, deque([9])))}]}
    assert made["a"][0] is beside
    assert made["a"][1]["k"][1].y.maxlen == 4
    assert values["a"][1]["k"][1].y == deque([3]), "the state itself is not touched"


def test_an_edit_keeps_the_class():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        size: int

    values = {"f": Frozen(1, [0]), "m": Model(size=1), "t": (1, 2), "odd": {(1, 2): "x"}}
    edits = [
        Edit(("f", "rest", -1), 5),
        Edit(("m", "size"), 2),
        Edit(("t", 0), 7),
        Edit(("odd", 0), "y"),
    ]
    made = edited(values, edits)
    assert made == {"f": Frozen(1, [5]), "m": Model(size=2), "t": (7, 2), "odd": {(1, 2): "y"}}
    assert values["f"].rest == [0]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (("s", 0), "no place"),
        (("o", "data"), "no value at path 'o.data'"),
        (("x", "new"), "no value at path 'x.new'"),
        (("xs", 7), "no value at path 'xs[7]'"),
        ((), "needs a path"),
    ],
)
def test_an_edit_that_has_no_place_is_refused(path, why):
    values = {"s": {1}, "o": Opaque("m", "C", 1), "x": 3, "xs": [1]}
    with pytest.raises((LockedError, LookupError), match=why.replace("[", r"\[")):
        edited(values, [Edit(path, 0)])


def test_a_key_may_be_new():
    assert edited({"a": {}}, [Edit(("a", "k"), 1)]) == {"a": {"k": 1}}


def test_what_json_has_no_form_for_is_locked():
    for value in (Opaque("m", "C", 1), b"x", 1j, Frozen(1), {"k": [1, {2: 3}]}):
        with pytest.raises(LockedError, match="JSON has no form"):
            json_text(value)
    with pytest.raises(LockedError, match=r"at k\[0\]"):
        json_text({"k": [b"x"]})
    with pytest.raises(LockedError, match="too many"):
        json_text("x" * 200_000)
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(LockedError):
        json_text(deep)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_text_that_is_not_changed_changes_nothing(value):
    (edit,) = read_edits({"a": value}, [{"path": ["a"], "json": json_text(value)}])
    assert edit.value == value
    assert type(edit.value) is type(value)


def test_numbers_beyond_a_float_and_kinds_survive():
    assert fitted([1], {1, 2}) == {1}
    (edit,) = read_edits({"n": 2**60}, [{"path": ["n"], "json": str(2**60 + 1)}])
    assert edit.value == 2**60 + 1


def test_a_fork_by_path_writes_its_channel_alone(chain):
    base = after(chain, "a")
    path = ("odd", "k", 1, "deep")
    values, replace = chain.with_edits(base, [Edit(path, "new")], None, ())
    new = chain.update(base, values, None, replace)
    assert follow(chain.snapshot(new).values, path) == "new"
    assert chain.snapshot(new).values["odd"]["n"] == 2**60 + 1
    assert chain.row(new).changed == ("odd",)
    assert chain.snapshot(new).next == ("b",)


def test_an_edit_inside_a_reduced_list_replaces_it(chain):
    base = after(chain, "a")
    values, replace = chain.with_edits(base, [Edit(("xs", 0), "IN")], {"foo": "f"}, ())
    assert (values["foo"], replace) == ("f", ("xs",))
    assert chain.preview(base, values, None, replace).values["xs"] == ["IN", "a"]
    with pytest.raises(ValueError, match="xs: give an edit or a value"):
        chain.with_edits(base, [Edit(("xs", 0), 1)], {"xs": []}, ())


@pytest.mark.parametrize("root", ["ckpt_viz", "langgraph"])
def test_channels_that_keep_changes_or_only_add(root):
    channels, build = (importlib.import_module(f"{root}.{m}") for m in ("channels", "graph"))
    saver = importlib.import_module(f"{root}.checkpoint.memory").InMemorySaver()

    def joined(old, writes):
        return [*(old or ()), *(x for write in writes for x in write)]

    fields = {
        "xs": Annotated[list, channels.DeltaChannel(joined)],
        "told": Annotated[list, channels.Topic(str, True)],
        "n": int,
    }
    builder = build.StateGraph(TypedDict("Delta", fields, total=False))
    builder.add_node("a", lambda s: {"xs": ["a"], "told": ["t"]})
    builder.add_node("b", lambda s: {"xs": ["b"]})
    builder.add_edge(build.START, "a")
    builder.add_edge("a", "b")
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"xs": ["in"], "n": 1}, CONFIG)
    timeline = open_timeline(graph, "1")
    base = next(r.id for r in timeline.rows() if "a" in r.nodes)
    assert timeline.preview(base, {"n": 2}).values["xs"] == ["in", "a"], "the rest is there too"
    values, replace = timeline.with_edits(base, [Edit(("xs", 0), "IN")], None, ())
    assert timeline.preview(base, values, None, replace).values["xs"] == ["IN", "a"]
    assert timeline.scratch().snapshot().values["xs"] == ["in", "a", "b"]
    with pytest.raises(LockedError, match="told is a Topic"):
        timeline.with_edits(base, [Edit(("told", 0), "T")], None, ())


# -- what follows --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The update makes a checkpoint from which sub starts")
def test_a_preview_names_graphs_that_restart_and_nodes_that_ask_again(e):
    graph = nested_graph(e, asks=True)
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    found = timeline.preview(after(timeline, "a"), {"foo": "z"})
    assert (found.restarts, found.asks) == (("sub",), ("sub",))
    assert found.again == ("sub", "c")
    assert any("sub had begun here" in note for note in found.notes)
    assert timeline.preview(after(timeline, "a"), {}, "c").dead_end


def test_the_old_head_can_be_the_head_again(chain):
    old = chain.head
    chain.update(after(chain, "a"), {"foo": "z"})
    chain.rows()
    again = chain.make_head(old)
    chain.rows()
    assert chain.head == again
    assert chain.snapshot(again).values == chain.snapshot(old).values
    assert chain.row(again).copy_of == old


# -- scratch -------------------------------------------------------------------------------


def test_a_scratch_run_leaves_the_source_as_it_was(chain):
    before = [(r.id, r.status) for r in chain.rows()]
    base = after(chain, "a")
    scratch = chain.scratch(base)
    assert [r.id for r in scratch.rows()] == [i for i, _ in before[:3]]
    assert scratch.snapshot(base).values == chain.snapshot(base).values
    new = scratch.update(base, {"foo": "z"})
    scratch.go_on(new)
    assert scratch.snapshot().values["xs"][-1] == "b saw z"
    assert [(r.id, r.status) for r in chain.rows()] == before
    assert not scratch.can.scratch.ok
    assert "scratch" in scratch.place
    with pytest.raises(ReadOnlyError):
        scratch.scratch()


def test_a_scratch_run_answers_a_nested_question(e):
    graph = nested_graph(e, asks=True)
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    head, count = timeline.snapshot().config, len(timeline.rows())
    scratch = timeline.scratch()
    scratch.resume(None, "yes")
    xs = scratch.snapshot().values["xs"]
    assert xs[-2:] == ["yes", "c"]
    assert xs.count("s1") == 1, "the nested graph goes on where it waits"
    assert (timeline.snapshot().config, len(timeline.rows())) == (head, count)


def test_a_read_only_history_can_be_tried_on_scratch(chain):
    chain.forbid("only reads")
    assert not chain.can.run.ok
    scratch = chain.scratch()
    scratch.run({"xs": ["more"]})
    assert "more" in scratch.snapshot().values["xs"]
    alone = open_timeline(chain.saver, "1")
    assert not alone.can.scratch.ok
    assert "leave this one" in chain.at("1", "sub:1").can.scratch.why


def test_where_acts_write(tmp_path, e):
    assert place_of(e.Saver()) == "this kernel's memory"
    with SqliteSaver.from_conn_string(tmp_path / "runs.db") as saver:
        assert place_of(saver) == "SQLite file runs.db"
    module = pytest.importorskip("langgraph.checkpoint.sqlite")
    connection = sqlite3.connect(tmp_path / "x.db")
    assert place_of(module.SqliteSaver(connection)) == "SQLite file x.db"
    connection.close()
    assert place_of(module.SqliteSaver(connection)) == "SQLite"


# -- breakpoints ---------------------------------------------------------------------------


def test_breakpoints_hold_before_and_after_also_inside(e):
    graph = nested_graph(e)
    assert node_names(graph) == ["a", "sub", "sub:s1", "sub:s2", "c"]
    timeline = open_timeline(graph, "1")
    timeline.breakpoints = Breakpoints.of(graph, before=["sub:s2", "c"], after=["a"])
    timeline.run({"xs": []})
    stops = []
    while timeline.snapshot().next:
        stops.append((timeline.snapshot().next, timeline.snapshot().values["xs"][-1]))
        timeline.go_on(timeline.head)
    assert stops == [(("sub",), "a"), (("sub",), "a"), (("c",), "s2")]
    assert timeline.snapshot().values["xs"][-1] == "c"
    graph.invoke({"xs": []}, {"configurable": {"thread_id": "2"}})
    assert not graph.get_state({"configurable": {"thread_id": "2"}}).next, "of acts alone"


def test_a_breakpoint_on_no_node_is_an_error(chain):
    with pytest.raises(ValueError, match="No node 'z' to break at; the nodes are a, b"):
        Breakpoints.of(chain.graph, before=["z"])
    with pytest.raises(ValueError, match=r"write \['a'\]"):
        Breakpoints.of(chain.graph, before="a")
