"""LangGraph graphs in all their ways of being made and run; and what a saver alone can do."""

import asyncio
import operator
import sqlite3
import threading
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from graphs import CONFIG, chain_graph, engine
from histories import told
from runs import PROGRAMS

import ckpt_viz
from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.errors import ReadOnlyError
from ckpt_viz.timeline import open_timeline


def test_a_saver_given_through_the_config(e: Any) -> None:
    saver = e.Saver()
    graph = chain_graph(e, {"a": lambda s: {"xs": ["a"]}}).copy(update={"checkpointer": None})
    graph = graph.with_config({"configurable": {"__pregel_checkpointer": saver}})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    assert len(timeline.rows()) == 3
    assert timeline.snapshot().values["xs"] == ["a"]
    timeline.run({"xs": ["more"]})
    assert timeline.snapshot().values["xs"] == ["a", "more", "a"]
    assert len(list(saver.list(None))) == 6


def test_rows_of_a_run_elsewhere_appear_one_by_one(e: Any) -> None:
    """Nothing of the graph is patched: the saver is looked at."""
    go = {name: threading.Event() for name in "ab"}

    def node(name: str) -> Any:
        return lambda s: go[name].wait(10) and {"xs": [name]}

    graph = chain_graph(e, {name: node(name) for name in "ab"})
    explorer = ckpt_viz.explore(graph, "1")
    thread = threading.Thread(target=graph.invoke, args=({"xs": []}, CONFIG))
    thread.start()
    seen = []
    for name in "ab":
        _until(lambda n=name: explorer.refresh().timeline.known()[-1:] and _next(explorer) == n)
        seen.append(len(explorer.timeline.known()))
        go[name].set()
    thread.join()
    _until(lambda: len(explorer.refresh().timeline.known()) == 4)
    assert seen == [2, 3]
    explorer.close()


def _next(explorer: Any) -> str:
    return ",".join(explorer.timeline.known()[-1].next)


def _until(fact: Any) -> None:
    end = threading.Event()
    for _ in range(500):
        if fact():
            return
        end.wait(0.01)
    raise AssertionError("it did not happen")


def delta_graph(saver: Any) -> Any:
    from langgraph.channels import DeltaChannel
    from langgraph.graph import START, StateGraph

    def joined(state: Any, writes: Any) -> Any:
        return (state or []) + [x for w in writes for x in w]

    class Delta(TypedDict, total=False):
        d: Annotated[list, DeltaChannel(joined, snapshot_frequency=3)]
        n: int

    b = StateGraph(Delta)
    b.add_node("a", lambda s: {"d": [f"a{len(s['d'])}"], "n": len(s["d"])})
    b.add_edge(START, "a")
    return b.compile(checkpointer=saver)


def test_delta_channels_with_and_without_the_graph(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver as PeerSaver

    path = tmp_path / "delta.db"
    graph = delta_graph(PeerSaver(sqlite3.connect(path, check_same_thread=False)))
    for turn in range(3):
        graph.invoke({"d": [f"in{turn}"]}, CONFIG)
    live = open_timeline(graph, "1")
    wanted = {r.id: live.snapshot(r.id).values.get("d") for r in live.rows()}
    assert wanted[str(live.head)] == ["in0", "a1", "in1", "a3", "in2", "a5"]
    with_graph = open_timeline(path, "1", graph=graph)
    assert {r.id: with_graph.snapshot(r.id).values.get("d") for r in with_graph.rows()} == wanted
    alone = open_timeline(path, "1")
    for row in alone.rows():
        found = alone.snapshot(row.id).values.get("d")
        if isinstance(found, View):
            parts = [*found.fields.get("base", []), *(x for w in found.writes for x in w)]
            assert parts == wanted[row.id]
        else:
            assert (found or []) == (wanted[row.id] or [])


def test_a_graph_with_a_store_acts_with_it() -> None:
    from langgraph.graph import START, StateGraph
    from langgraph.runtime import Runtime
    from langgraph.store.memory import InMemoryStore

    class State(TypedDict):
        xs: Annotated[list, operator.add]

    def remember(state: State, runtime: Runtime) -> Any:
        runtime.store.put(("seen",), str(len(state["xs"])), {"xs": state["xs"]})
        return {"xs": [len(runtime.store.search(("seen",)))]}

    store = InMemoryStore()
    graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember")
    graph = graph.compile(checkpointer=engine("langgraph").Saver(), store=store)
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    timeline.run({"xs": ["x"]})
    assert timeline.snapshot().values["xs"] == [1, "x", 2]
    timeline.replay(timeline.rows()[1].id)
    assert len(store.search(("seen",))) == 2


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_durability_modes(e: Any, durability: str) -> None:
    graph = chain_graph(e, {name: lambda s, n=name: {"xs": [n]} for name in "abc"})
    graph.invoke({"xs": []}, CONFIG, durability=durability)
    timeline = open_timeline(graph, "1")
    assert len(timeline.rows()) == (1 if durability == "exit" else 5)
    assert timeline.snapshot().values["xs"] == ["a", "b", "c"]
    timeline.run({"xs": ["again"]})
    assert timeline.snapshot().values["xs"] == ["a", "b", "c", "again", "a", "b", "c"]


def only_async(inner: Any) -> Any:
    """A saver of somebody else's that can only be awaited."""
    from langgraph.checkpoint.base import BaseCheckpointSaver

    class FutureSaver(BaseCheckpointSaver):
        get_next_version = staticmethod(inner.get_next_version)

        async def aget_tuple(self, config: Any) -> Any:
            return inner.get_tuple(config)

        async def alist(self, config: Any, **options: Any) -> Any:
            for item in inner.list(config, **options):
                yield item

        async def aput(self, *args: Any) -> Any:
            return inner.put(*args)

        async def aput_writes(self, *args: Any) -> None:
            inner.put_writes(*args)

        async def adelete_thread(self, thread_id: str) -> None:
            inner.delete_thread(thread_id)

    return FutureSaver()


def test_a_strangers_async_saver() -> None:
    e = engine("langgraph")
    saver = only_async(e.Saver())
    graph = chain_graph(e, {"a": lambda s: {"xs": ["a"]}}, saver)
    asyncio.run(graph.ainvoke({"xs": []}, CONFIG))
    for timeline in (open_timeline(graph, "1"), open_timeline(saver, "1")):
        assert [row.step for row in timeline.rows()] == [-1, 0, 1]
        assert timeline.snapshot().values == {"xs": ["a"]}
        assert [info.id for info in timeline.threads()] == ["1"]
    timeline = open_timeline(graph, "1")
    timeline.run({"xs": ["b"]})
    timeline.update(str(timeline.head), {"xs": ["c"]}, "a", ())
    assert timeline.snapshot().values["xs"] == ["a", "b", "a", "c"]
    timeline.delete_thread("1")
    assert timeline.rows() == []


def test_what_a_saver_alone_can_do(e: Any) -> None:
    graph = PROGRAMS["edited"](e, e.Saver(), CONFIG)
    saver = graph.checkpointer
    timeline = open_timeline(saver, "1")
    with pytest.raises(ReadOnlyError, match="add its graph"):
        timeline.run({"xs": []})
    first = timeline.rows()[0].id
    timeline.set_label(first, "start")
    assert timeline.labels() == {first: "start"}
    assert open_timeline(saver, "1").labels() == ({first: "start"} if e.name == "ckpt_viz" else {})
    if timeline.can.prune.ok:
        timeline.prune()
        assert [row.id for row in timeline.rows()] == [first, timeline.head]
    else:
        assert "prune" in timeline.can.prune.why
    assert timeline.can.delete.ok
    timeline.delete_thread("1")
    assert timeline.rows() == [] == timeline.threads()


def test_a_saver_with_its_graph_is_the_graph(e: Any) -> None:
    graph = PROGRAMS["several"](e, e.Saver(), CONFIG)
    saver, bare = graph.checkpointer, graph.copy(update={"checkpointer": None})
    timeline = open_timeline(saver, "1", graph=bare)
    assert told(timeline) == told(open_timeline(graph, "1"))
    timeline.resume(None, "p!")
    assert timeline.snapshot().values["xs"] == ["p!", "q!", "r"]
    assert not open_timeline(saver, "1", graph=bare, write=False).can.run.ok
