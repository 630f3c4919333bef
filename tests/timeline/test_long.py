"""A long history is read in pages; what is read in parts says what was read at once."""

from __future__ import annotations

import json
import random
import time

import pytest
from graphs import CONFIG, chain_graph
from long import fill, loop_graph

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.explorer.columns import pack_rows
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.book import Book
from ckpt_viz.timeline.search import search


@pytest.fixture(scope="module")
def long():
    saver = InMemorySaver()
    fill(saver, 5_000, forks=40)
    return loop_graph(saver)


def test_the_newest_page_comes_first(long):
    timeline = open_timeline(long, "1")
    timeline.refresh()
    assert len(timeline.known()) == 2_000
    assert timeline.more
    assert timeline.head == timeline.rows()[-1].id
    assert len(timeline.known()) == 5_000
    assert not timeline.more


def test_pages_tell_what_the_whole_does(long):
    whole = open_timeline(long, "1").rows()
    timeline = open_timeline(long, "1")
    timeline.refresh()
    got = {row.id: row for row in timeline.known(300)}
    more = True
    while more:
        rows, more = timeline.page(min(got), 700)
        got |= {row.id: row for row in rows}
    assert [got[i] for i in sorted(got)] == whole


def test_a_book_filled_in_any_order_is_the_same(long):
    timeline = open_timeline(long, "1")
    timeline.rows()
    lights = list(timeline.known_lights())[:1_500]
    plain = Book()
    plain.add(lights)
    random.Random(3).shuffle(lights)
    mixed = Book()
    shown = {}
    for at in range(0, len(lights), 100):
        shown |= {row.id: row for row in mixed.add(lights[at : at + 100])}
    assert mixed.rows == plain.rows == shown
    assert mixed.order() == plain.order()


def test_a_new_row_changes_few_others(long):
    timeline = open_timeline(long, "1")
    timeline.rows()
    long.update_state({"configurable": {"thread_id": "1"}}, {"n": 1}, as_node="plan")
    assert [row.head for row in timeline.refresh()] == [False, True]
    assert timeline.refresh() == []


def test_ancestors_and_search_read_on(long):
    timeline = open_timeline(long, "1")
    timeline.refresh()
    assert timeline.light(timeline.ancestors(timeline.head)[-1]).step == -1
    fresh = open_timeline(long, "1")
    fresh.refresh()
    assert [fresh.row(i).step for i in search(fresh, "step:-1").ids] == [-1]


@pytest.mark.parametrize("odd", [False, True])
def test_a_row_takes_few_bytes(long, odd):
    rows = open_timeline(long, "1").rows()
    if odd:
        rows = rows[:401]
    text = json.dumps(pack_rows(rows))
    assert len(text) / len(rows) < 100


def test_the_first_rows_of_a_long_history_are_quick():
    saver = InMemorySaver()
    fill(saver, 20_000, forks=100)
    for k in range(40):
        fill(saver, 50, ns=f"sub:{k}")
    start = time.process_time()
    list(saver.list({"configurable": {"thread_id": "1", "checkpoint_ns": ""}}, limit=2_000))
    bare = time.process_time() - start
    timeline = open_timeline(loop_graph(saver), "1")
    start = time.process_time()
    timeline.refresh()
    pack_rows(timeline.known(2_000))
    spent = time.process_time() - start
    assert spent < 8 * bare + 1, f"{spent:.2f} s, the saver alone takes {bare:.2f} s"


def test_nested_graphs_know_where_they_ran(e):
    from ckpt_viz.timeline.nested import nested

    inner = chain_graph(e, {"deep": lambda s: {"xs": ["d"]}}, saver=e.Saver())
    inner = inner.copy(update={"checkpointer": None})
    graph = chain_graph(e, {"one": lambda s: {"xs": ["1"]}, "sub": inner})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.refresh()
    (found,) = nested(timeline)
    assert (found.node, timeline.row(found.owner).step) == ("sub", 1)
    assert found.ns.startswith("sub:")
