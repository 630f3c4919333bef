"""When tasks ran, as rows and tasks tell it: known of our savers, a guess of all others."""

import time

import pytest
from graphs import CONFIG, chain_graph, engine

import ckpt_viz
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.checkpoint.times import Span
from ckpt_viz.explorer.columns import columns
from ckpt_viz.timeline.rows import busy


def slept(e, saver):
    def long(state):
        time.sleep(0.04)
        return {"xs": ["a"]}

    graph = chain_graph(e, {"a": long, "b": lambda s: {"foo": "b"}}, saver)
    graph.invoke({"xs": []}, CONFIG)
    return graph


def test_rows_and_tasks_tell_how_long_they_ran(tmp_path):
    e = engine("ckpt_viz")
    slept(e, SqliteSaver.from_conn_string(tmp_path / "run.db"))
    explorer = ckpt_viz.explore(tmp_path / "run.db", follow=False)
    again = ckpt_viz.explore(explorer.export(tmp_path / "run.json"), follow=False)
    for timeline in (explorer.timeline, again.timeline):
        rows = {row.nodes: row for row in timeline.rows()}
        assert rows[()].took is None
        assert 0.04 <= rows["a",].took < 10
        assert rows["b",].took < rows["a",].took
        (task,) = timeline.writes(rows["a",].id).made
        assert task.took == pytest.approx(rows["a",].took, abs=2e-6)
        assert abs(task.began + task.took - rows["a",].time) < 5
        assert timeline.writes(rows["b",].id).next == ()
    assert columns(explorer.timeline.rows())["took"]


def test_of_langgraph_nothing_is_claimed():
    e = engine("langgraph")
    timeline = ckpt_viz.explore(slept(e, e.Saver()), follow=False).timeline
    rows = timeline.rows()
    assert {row.took for row in rows} == {None}
    assert columns(rows)["took"] is None


@pytest.mark.parametrize(
    "spans, total",
    [([(1, 1), (5, 2)], 3), ([(1, 4), (2, 1)], 4), ([(2, 2), (1, 2)], 3), ([(1, 0)], 0)],
)
def test_time_is_counted_once(spans, total):
    assert busy(Span(*span) for span in spans) == total
