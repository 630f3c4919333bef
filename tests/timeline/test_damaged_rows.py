"""One damaged checkpoint of a database hides no other: its row is there, and tells why."""

import sqlite3

import pytest
from graphs import CONFIG, chain_graph, engine

import ckpt_viz
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError, UnreadableError
from ckpt_viz.explorer.messages import answer
from ckpt_viz.timeline.damage import LOST

STEPS = 6
BAD = 3


def told(e, saver):
    nodes = {f"n{k}": lambda s, k=k: {"xs": [k]} for k in range(STEPS)}
    graph = chain_graph(e, nodes, saver)
    graph.invoke({"xs": []}, CONFIG)
    return graph, [
        s.config["configurable"]["checkpoint_id"] for s in graph.get_state_history(CONFIG)
    ][::-1]


def ours(path):
    saver = SqliteSaver.from_conn_string(path)
    _, ids = told(engine("ckpt_viz"), saver)
    saver.close()
    with sqlite3.connect(path) as conn:
        conn.execute("UPDATE ckpt_checkpoints SET body=x'c1c1c1' WHERE id=?", (ids[BAD],))
    return path, ids


def theirs(path):
    from langgraph.checkpoint.sqlite import SqliteSaver as Peer

    conn = sqlite3.connect(path, check_same_thread=False)
    _, ids = told(engine("langgraph"), Peer(conn))
    conn.execute("UPDATE checkpoints SET checkpoint=x'c1c1c1' WHERE checkpoint_id=?", (ids[BAD],))
    conn.commit()
    conn.close()
    return path, ids


def memory(path):
    graph, ids = told(engine("ckpt_viz"), InMemorySaver())
    body, *rest = graph.checkpointer.storage["1"][""][ids[BAD]]
    graph.checkpointer.storage["1"][""][ids[BAD]] = ((body[0], b"\xc1"), *rest)
    return graph, ids


@pytest.fixture(params=[ours, theirs, memory])
def damaged(request, tmp_path):
    source, ids = request.param(tmp_path / "run.db")
    explorer = ckpt_viz.explore(source, "1", follow=False)
    yield explorer, ids
    explorer.close()


def test_the_other_rows_are_shown_and_the_bad_one_says_why(damaged):
    explorer, ids = damaged
    rows = explorer.timeline.rows()
    assert [row.id for row in rows] == ids
    assert [row.status == "unreadable" for row in rows] == [at == BAD for at in range(len(ids))]
    assert rows[BAD].parent_id == ids[BAD - 1]
    assert rows[BAD].time > 0
    assert rows[BAD + 1].nodes == ()
    assert rows[BAD + 2].nodes == (f"n{BAD}",)
    assert explorer.timeline.refresh() == []
    assert "unreadable" in repr(explorer)
    reply = answer(explorer._session, {"id": 1, "kind": "checkpoint", "checkpoint": ids[BAD]})
    assert ids[BAD] in reply["error"]["message"]


def test_every_question_about_the_others_is_answered(damaged):
    explorer, ids = damaged
    for id_ in (one for one in ids if one != ids[BAD]):
        for kind in ("checkpoint", "phases"):
            reply = answer(explorer._session, {"id": 1, "kind": kind, "checkpoint": id_})
            assert reply["ok"], reply
    for kind in ("hello", "surprises", "storage", "graph", "nested", "refresh"):
        reply = answer(explorer._session, {"id": 1, "kind": kind})
        assert reply["ok"], reply
    explorer.select(ids[-1])
    assert explorer.search('xs~"0"')[0].id == ids[-1]
    assert [point.text is None for point in explorer.watch("xs")].count(True) <= 2
    assert "can't be read" in explorer.blame("xs[1]").text


def test_exports_leave_it_out(damaged, tmp_path):
    explorer, ids = damaged
    for kind in ("html", "svg", "dot", "json"):
        assert explorer.export(tmp_path / f"out.{kind}").stat().st_size > 200
    again = ckpt_viz.explore(tmp_path / "out.json", follow=False).timeline
    assert [row.id for row in again.rows()] == [id_ for id_ in ids if id_ != ids[BAD]]
    assert any("can't be read" in note for note in again.notes)


def test_a_thread_of_which_nothing_can_be_read_is_an_error(tmp_path):
    path, _ = ours(tmp_path / "run.db")
    with sqlite3.connect(path) as conn:
        conn.execute("UPDATE ckpt_checkpoints SET body=x'c1c1c1'")
    assert LOST > STEPS
    with pytest.raises((SerializationError, UnreadableError), match="damaged"):
        ckpt_viz.explore(path, "1", follow=False).timeline.rows()
