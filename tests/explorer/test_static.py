"""The tree as text."""

from __future__ import annotations

import re
from typing import Any

from ckpt_viz.explorer.dot import dot_tree
from ckpt_viz.explorer.static import text_tree
from ckpt_viz.explorer.widget import explore
from ckpt_viz.timeline.records import Row, Unfinished


def row(id: str, parent: str | None, step: int, node: str, head: bool = False) -> Row:
    facts: dict[str, Any] = {"ns": "", "source": "loop", "time": 0.0, "changed": (), "next": ()}
    return Row(id, parent, step=step, nodes=(node,), status="done", head=head, **facts)


def test_newest_first_with_branches():
    """A branch that was left stands above its base, below the branch that leads to the head."""
    rows = [
        row("0", None, -1, "__start__"),
        row("1", "0", 0, "a"),
        row("2", "1", 1, "old"),
        row("3", "2", 2, "old b"),
        row("4", "2", 2, "old c"),
        row("5", "1", 1, "new"),
        row("6", "5", 2, "end", head=True),
    ]
    assert text_tree(rows, "t", [Unfinished("2", "x", "n", "error", "why")]).splitlines() == [
        "t: 7 checkpoints",
        "●   2  end  [head · end]",
        "○   1  new",
        "│ ○   2  old c",
        "│ ├─○   2  old b",
        "│ ┊      n: failed, not finished",
        "├─○   1  old  [n: why]",
        "○   0  a",
        "○  -1  start",
    ]


def test_the_branch_of_the_newest_row_leads():
    """Also where that branch began before another one."""
    rows = [
        row("0", None, 0, "a"),
        row("1", "0", 1, "first"),
        row("2", "0", 1, "second"),
        row("3", "1", 2, "newest", head=True),
    ]
    lines = text_tree(rows, "t").splitlines()[1:]
    assert [line.split("  ")[-2 if "[" in line else -1] for line in lines] == [
        "newest",
        "first",
        "second",
        "a",
    ]
    assert lines[2].startswith("├─")


def test_what_is_left_out_is_told_at_the_end():
    rows = [row(f"{i:03}", f"{i - 1:03}" if i else None, i, "n") for i in range(203)]
    lines = text_tree(rows, "t").splitlines()
    assert lines[1].startswith("○ 202")
    assert lines[-1] == "… 3 older"
    assert text_tree([], "t").splitlines() == ["t: 0 checkpoints", "no checkpoints yet"]


def test_dot_has_a_node_a_checkpoint_and_nothing_ends_a_string():
    rows = [
        row("0", None, -1, "__start__"),
        row("1", "0", 0, 'a "b" -> c'),
        row("2", "gone", 1, "x\\N", head=True),
    ]
    waits = [Unfinished("2", "t", "worker", "error", "no", 30, "29 done 1 failed")]
    text = dot_tree(rows, 'thread "1"', waits, {"1": "a note\nof two lines"})
    assert re.sub(r'"(?:[^"\\]|\\.)*"', "S", text).count('"') == 0
    assert text.count(" -> S") == 0
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", text)
    assert bare.count("->") == 3
    assert "parent missing" in text
    assert "29 done 1 failed" in text
    assert "a note\\nof two lines" in text


def test_without_a_thread_the_threads_are_listed(graph):
    graph.invoke({"foo": "a secret"}, {"configurable": {"thread_id": "<b>two"}})
    explorer = explore(graph, follow=False)
    data = explorer._repr_mimebundle_()[0]
    head, *lines = data["text/plain"].split("\n")
    assert head.endswith("2 threads")
    assert lines[0] == "<b>two  3 checkpoints, last step 1, waits"
    assert repr(explorer) == data["text/plain"]
    assert "&lt;b&gt;two" in data["image/svg+xml"]
    assert "secret" not in data["image/svg+xml"] + data["text/plain"]
    explorer.close()
