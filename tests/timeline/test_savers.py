"""The timeline over SQLite savers of both packages, in both colours."""

import asyncio
import threading

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


async def test_async_sqlite_of_langgraph_in_its_own_loop(tmp_path):
    """As in a notebook's cell: the loop that the saver is bound to is kept busy by the caller."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    import ckpt_viz

    async def a(state):
        return {"xs": ["a"]}

    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "x.db")) as saver:
        graph = chain_graph(engine("langgraph"), {"a": a}, saver)
        await asyncio.gather(
            *(graph.ainvoke({"xs": []}, {"configurable": {"thread_id": str(n)}}) for n in range(8))
        )
        explorer = ckpt_viz.explore(graph, "1")
        for n in range(3):
            await asyncio.sleep(0.01)  # the Explorer's worker looks meanwhile
            explorer.select(step=0)
            explorer.fork({"xs": [n]})
            explorer.run()
            explorer.select(step=0)
            explorer.replay()
        assert explorer.selected.values["xs"] == ["a"]
        await graph.ainvoke({"xs": ["z"]}, CONFIG)
        assert explorer.refresh().timeline.snapshot().values["xs"] == ["a", "z", "a"]
        explorer.timeline.delete_thread("2")
        assert {info.id for info in explorer.timeline.threads()} == {*"0134567"}
        explorer.close()


def test_a_read_does_not_wait_for_a_loop_that_waits_for_it():
    from ckpt_viz.timeline.colour import Colour

    async def read(saver):
        return threading.current_thread().name

    async def cell():
        colour = Colour()
        assert await asyncio.to_thread(colour.read, None, read) == threading.current_thread().name
        found = []
        thread = threading.Thread(
            target=lambda: found.append(colour.read(None, read)), name="aside"
        )
        thread.start()
        thread.join(10)  # keeps the loop busy
        return found

    assert asyncio.run(cell()) == ["aside"]


async def test_a_file_of_langgraphs_with_a_graph_of_async_nodes(tmp_path):
    async def a(state):
        return {"xs": ["a"]}

    path, e = tmp_path / "x.db", engine("langgraph")
    with sqlite_saver("langgraph", path) as saver:
        chain_graph(e, {"a": lambda state: {"xs": ["s"]}}, saver).invoke({"xs": []}, CONFIG)
    graph = chain_graph(e, {"a": a}, e.Saver())
    timeline = open_timeline(path, "1", graph=graph, write=True)
    timeline.update(timeline.rows()[1].id, {"xs": ["u"]}, None)
    timeline.run({"xs": ["b"]})
    await asyncio.to_thread(timeline.run, {"xs": ["c"]})
    assert timeline.snapshot().values["xs"][-4:] == ["b", "a", "c", "a"]
