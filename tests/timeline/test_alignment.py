"""Two histories side by side."""

from __future__ import annotations

import dataclasses

import pytest
from graphs import CONFIG, chain_graph, engine, plan_graph
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.alignment import align, branch, compare, differing
from ckpt_viz.timeline.alike import alike
from ckpt_viz.timeline.records import Row


def rows(text: str, side: str = "") -> list[Row]:
    """A row a word: the nodes of a step, joined by +."""
    out: list[Row] = []
    for i, word in enumerate(text.split()):
        parent = out[-1].id if out else None
        nodes = tuple(word.split("+"))
        out.append(Row(f"{side}{i:04}", parent, "", i, "loop", 0.0, nodes, (), "", False, ()))
    return out


def told(alignment) -> list[str]:
    names = ["+".join(r.nodes) if r else "-" for p in alignment.pairs for r in (p.a, p.b)]
    return [f"{a}|{b}" for a, b in zip(names[::2], names[1::2], strict=True)]


@pytest.mark.parametrize(
    ("a", "b", "pairs", "first", "kind"),
    [
        ("a b c", "a b c", ["a|a", "b|b", "c|c"], None, ""),
        ("a b c", "a x c", ["a|a", "b|x", "c|c"], 1, "nodes"),
        ("a b c", "x a b c", ["-|x", "a|a", "b|b", "c|c"], 0, "end"),
        ("a b c", "a b", ["a|a", "b|b", "c|-"], 2, "end"),
        ("a b+c d", "a c+b d", ["a|a", "b+c|c+b", "d|d"], None, ""),
        ("g t g t g", "g t g", ["g|g", "t|t", "g|g", "t|-", "g|-"], 3, "end"),
        ("", "a", ["-|a"], 0, "end"),
        ("", "", [], None, ""),
    ],
)
def test_steps_are_paired_by_the_nodes_that_ran(a, b, pairs, first, kind):
    found = align(rows(a, "a"), rows(b, "b"))
    assert (told(found), found.first, found.kind) == (pairs, first, kind)
    assert found.ancestor is None


WORDS = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_every_row_appears_once_and_in_order(a, b):
    left, right = rows(a, "a"), rows(b, "b")
    found = align(left, right)
    assert [p.a for p in found.pairs if p.a] == left
    assert [p.b for p in found.pairs if p.b] == right
    assert all(p.a or p.b for p in found.pairs)
    assert (found.first is None) == (a == b)
    other = align(right, left)
    assert len(other.pairs) == len(found.pairs)


def test_long_histories_are_paired_by_step(monkeypatch):
    monkeypatch.setattr("ckpt_viz.timeline.alignment.CELL_LIMIT", 3)
    found = align(rows("a b c d", "a"), rows("a x y d", "b"))
    assert told(found) == ["a|a", "b|x", "c|y", "d|d"]
    shifted = [dataclasses.replace(r, step=r.step + 1) for r in rows("x y z", "b")]
    assert told(align(rows("a b c", "a"), shifted)) == ["a|-", "b|x", "c|y", "-|z"]


def test_two_branches_of_one_thread(graph):
    timeline = open_timeline(graph, "1")
    timeline.resume(None, "yes")
    old = timeline.head
    base = timeline.rows()[2]
    timeline.go_on(timeline.update(base.id, {"foo": "other"}, "a"))
    timeline.resume(None, "yes")
    found = compare(timeline, timeline, old, timeline.head)
    assert found.ancestor == base.id
    assert found.first == 3
    assert [p.same for p in found.pairs] == [True, True, True, *[False] * len(found.pairs[3:])]
    assert [p.b.source for p in found.pairs if p.b][3] == "update"
    assert branch(timeline.rows(), base.id)[-1] == base
    with pytest.raises(LookupError, match="No checkpoint 'nowhere'"):
        branch(timeline.rows(), "nowhere")


def test_the_same_program_on_two_engines_is_one_history():
    made = []
    for name in ("langgraph", "ckpt_viz"):
        graph = plan_graph(engine(name))
        graph.invoke({"foo": "", "xs": []}, CONFIG)
        made.append(open_timeline(graph, "1"))
        made[-1].resume(None, "yes")
    found = compare(*made)
    assert (found.first, found.text, len(found.pairs)) == (None, "no difference", 6)


def test_the_first_other_value_is_told(e):
    made = []
    for word in "xy":
        graph = chain_graph(e, {"a": lambda s: {"xs": [1]}, "b": lambda s, w=word: {"foo": w}})
        graph.invoke({"xs": []}, CONFIG)
        made.append(open_timeline(graph, "1"))
    found = compare(*made)
    assert (found.kind, found.text) == ("values", "step 2: b left other values in foo")
    assert found.pairs[found.first].differs == ("foo",)
    assert compare(*made, ignore=["foo"]).first is None


def test_values_told_in_different_ways_are_alike():
    @dataclasses.dataclass
    class Message:
        id: str
        content: str

    assert alike(Message("1", "hi"), {"id": "1", "content": "hi"})
    assert not alike(Message("1", "hi"), {"id": "2", "content": "hi"})
    assert alike(Message("1", "hi"), {"id": "2", "content": "hi"}, ignore=["id"])
    assert alike((1, [2.0]), [1, (2.0,)])
    assert alike({"a": float("nan")}, {"a": float("nan")})
    assert alike({1, 2}, {2, 1})
    assert not alike(1, True)
    assert not alike([1], {"0": 1})
    assert not alike({"a": None}, {})
    assert differing({"a": None}, {}) == ["a"]
    assert differing([1], [2]) == ["__root__"]
