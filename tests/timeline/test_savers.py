"""The timeline over SQLite savers of both packages, in both colours."""

from graphs import CONFIG, chain_graph, engine, plan_graph

from ckpt_viz.timeline import open_timeline


def sqlite_saver(name, path):
    if name == "ckpt_viz":
        from ckpt_viz.checkpoint.sqlite import SqliteSaver
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver
    return SqliteSaver.from_conn_string(str(path))


def test_sqlite(e, tmp_path):
    with sqlite_saver(e.name, tmp_path / "x.db") as saver:
        graph = plan_graph(e, saver)
        graph.invoke({"xs": []}, CONFIG)
        timeline = open_timeline(graph)
        assert [t.status for t in timeline.threads()] == ["interrupt"]
        timeline = timeline.at("1")
        timeline.resume(None, "yes")
        assert len(timeline.rows()) == 6
        base = timeline.rows()[2]
        before = len(timeline.rows())
        assert timeline.preview(base.id, {"foo": "p"}, "a").values["foo"] == "p"
        assert len(timeline.rows()) == before
        timeline.go_on(timeline.update(base.id, {"foo": "f"}, "a"))
        assert timeline.rows()[-1].status == "interrupt"
        timeline.replay(base.id)
        assert timeline.writes(base.id).made[0].name == "a"


def test_a_file_alone(tmp_path):
    path = tmp_path / "x.db"
    with sqlite_saver("ckpt_viz", path) as saver:
        plan_graph(engine("ckpt_viz"), saver).invoke({"xs": []}, CONFIG)
    timeline = open_timeline(path, "1")
    assert [u.name for u in timeline.unfinished()] == []
    assert timeline.rows()[-1].status == "interrupt"
    assert [u.name for u in timeline.unfinished()] == ["ask"]


async def test_async_sqlite_of_langgraph(tmp_path):
    import asyncio

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async def a(state):
        return {"xs": ["a"]}

    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "x.db")) as saver:
        graph = chain_graph(engine("langgraph"), {"a": a}, saver)
        await graph.ainvoke({"xs": []}, CONFIG)
        timeline = open_timeline(graph, "1")

        def work():
            timeline.run({"xs": ["b"]})
            head = timeline.rows()[-1]
            timeline.preview(head.id, {"xs": ["z"]}, "a")
            timeline.update(head.id, {"xs": ["z"]}, "a")
            return timeline.rows(), timeline.snapshot().values["xs"]

        rows, xs = await asyncio.to_thread(work)
        assert len(rows) == 7
        assert xs == ["a", "b", "a", "z"]
