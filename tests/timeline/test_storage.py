"""What a history takes, by all savers: measured, or told as far as it can be known."""

import sqlite3

import pytest
from graphs import CONFIG, engine, plan_graph

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline import storage as module
from ckpt_viz.timeline.storage import storage


def finished(e, saver):
    """A run of six checkpoints, and its storage."""
    graph = plan_graph(e, saver)
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    graph.invoke(e.Command(resume="yes"), CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.rows()
    return timeline, storage(timeline)


def by_name(found):
    return {c.channel: c for c in found.channels}


@pytest.mark.parametrize("make", [InMemorySaver, lambda: SqliteSaver.from_conn_string(":memory:")])
def test_our_savers_measure_it(make):
    saver = make()
    timeline, found = finished(engine("ckpt_viz"), saver)
    (report,) = saver.storage_report()["threads"]
    assert found.known == "report"
    assert found.thread == report["bytes"]
    assert found.thread == found.checkpoints + found.writes + found.shared + found.unique
    assert found.shared + found.unique == sum(c.bytes for c in found.channels)
    assert found.shared == sum(c.shared for c in found.channels)
    foo = by_name(found)["foo"]
    assert [v.used_by for v in foo.versions] == [4, 1]
    rows = timeline.rows()
    assert (foo.versions[0].first, foo.versions[0].last) == (rows[2].id, rows[-1].id)
    used = {(v["channel"], v["version"]): v["used_by"] for v in report["values"]}
    for channel in found.channels:
        for version in channel.versions:
            assert version.used_by == used[channel.channel, version.version]


@pytest.mark.parametrize("make", [InMemorySaver, lambda: SqliteSaver.from_conn_string(":memory:")])
def test_the_dry_run_removes_nothing_and_tells_what_a_prune_frees(make):
    saver = make()
    timeline, found = finished(engine("ckpt_viz"), saver)
    assert found.prune.ok
    before = sum(v["bytes"] for v in saver.storage_report()["threads"][0]["values"])
    assert len(timeline.rows()) == 6
    gone = saver.prune(["1"])
    after = sum(v["bytes"] for v in saver.storage_report()["threads"][0]["values"])
    assert found.freed.checkpoints == len(gone.checkpoints) == 5
    assert (found.freed.writes, found.freed.values) == (gone.writes, gone.values)
    assert found.freed.bytes == before - after


def test_what_is_labelled_stays():
    saver = InMemorySaver()
    timeline, _ = finished(engine("ckpt_viz"), saver)
    timeline.set_label(timeline.rows()[1].id, "keep me")
    assert storage(timeline).freed.checkpoints == 4


def test_a_saver_that_shows_its_blobs():
    e = engine("langgraph")
    _, found = finished(e, e.Saver())
    assert (found.known, found.thread, found.writes) == ("blobs", None, None)
    assert found.shared + found.unique == sum(c.bytes for c in found.channels)
    assert not found.prune.ok
    assert "InMemorySaver has no prune" in found.prune.why
    assert (found.freed.checkpoints, found.freed.values) == (5, 12)


def test_a_saver_that_tells_nothing_but_versions():
    from langgraph.checkpoint.sqlite import SqliteSaver as Theirs

    saver = Theirs(sqlite3.connect(":memory:", check_same_thread=False))
    _, found = finished(engine("langgraph"), saver)
    assert found.known == "versions"
    assert "does not tell bytes" in found.how
    assert found.shared is found.unique is found.freed.bytes is None
    assert [v.used_by for v in by_name(found)["foo"].versions] == [4, 1]


def test_no_checkpoint_yet(e):
    found = storage(open_timeline(plan_graph(e), "nobody"))
    assert found.channels == ()
    assert found.prune.why == "There is nothing to prune: the thread has no checkpoint"


def test_a_long_thread_is_counted_instead_of_asked_for_a_dry_run(monkeypatch):
    timeline, asked = finished(engine("ckpt_viz"), InMemorySaver())
    monkeypatch.setattr(module, "DRY_RUN_LIMIT", 5)
    found = storage(timeline)
    assert "was not asked for a dry run over 6 checkpoints" in found.prune.why
    assert (found.freed.checkpoints, found.freed.values) == (5, asked.freed.values)
    assert found.freed.bytes == asked.freed.bytes
