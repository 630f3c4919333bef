"""Our savers under real LangGraph: its conformance suite, and its graphs on our storage."""

from __future__ import annotations

import operator
import sqlite3
from typing import Annotated, Any

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.memory import InMemorySaver as PeerSaver
from langgraph.checkpoint.sqlite import SqliteSaver as PeerSqlite
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.langgraph import as_langgraph
from ckpt_viz.checkpoint.sqlite import SqliteSaver

THREAD: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 500}


@pytest.fixture
def raw_saver(raw_saver: Any, tmp_path: Any) -> Any:
    """LangGraph saves from threads of its own, which a connection must allow."""
    if isinstance(raw_saver, SqliteSaver) and raw_saver._opening.path is None:
        raw_saver = SqliteSaver(sqlite3.connect(tmp_path / "c.db", check_same_thread=False))
    return raw_saver


async def test_every_capability_passes(raw_saver: Any) -> None:
    """An undetected one would count as skipped, and fails here."""

    @checkpointer_test(name="ours")
    async def ours() -> Any:
        for row in raw_saver.threads():
            raw_saver.delete_thread(row["thread_id"])
        yield as_langgraph(raw_saver)

    report = await validate(ours)
    told = report.to_dict()
    assert {capability.value for capability in Capability} <= set(report.results)
    for result in report.results.values():
        assert result.passed, told
        assert result.tests_run if hasattr(result, "tests_run") else True
    assert report.passed_all(), told


def append(state: list[Any], writes: list[Any]) -> list[Any]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict):
    n: int
    log: Annotated[list, operator.add]
    delta: Annotated[list, DeltaChannel(append, snapshot_frequency=4)]


def graph(saver: Any) -> Any:
    def step(state: State) -> Any:
        return {
            "n": state["n"] + 1,
            "log": [{"n": state["n"], "t": "x" * 60}],
            "delta": [state["n"]],
        }

    def side(state: State) -> Any:
        return {"delta": ["side"], "log": ["side"]}

    def ask(state: State) -> Any:
        return {"log": [interrupt("well?")], "delta": ["asked"]}

    builder = StateGraph(State)
    builder.add_node("step", step)
    builder.add_node("side", side)
    builder.add_node("ask", ask)
    builder.add_edge(START, "step")
    builder.add_conditional_edges(
        "step",
        lambda s: "ask" if s["n"] >= 9 else ["step", Send("side", {"n": s["n"]})],
        ["step", "side", "ask"],
    )
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def told(graph: Any) -> list[Any]:
    return [
        (s.values, s.next, s.metadata["step"], [(t.name, t.error, t.interrupts) for t in s.tasks])
        for s in graph.get_state_history(THREAD)
    ]


def use(graph: Any) -> list[Any]:
    graph.invoke({"n": 0, "log": [], "delta": []}, THREAD, durability="sync")
    middle = next(s for s in graph.get_state_history(THREAD) if s.metadata["step"] == 5)
    graph.invoke(Command(resume="yes"), THREAD, durability="sync")
    fork = graph.update_state(middle.config, {"log": ["edited"], "delta": ["edited"]})
    graph.invoke(None, {**THREAD, **fork}, durability="sync")
    graph.invoke(Command(resume="again"), THREAD, durability="sync")
    return told(graph)


def plain(history: list[Any]) -> list[Any]:
    """Interrupt ids hang on random checkpoint ids."""
    return [
        (v, n, s, [(t[0], t[1], [i.value for i in t[2]]) for t in tasks])
        for v, n, s, tasks in history
    ]


def test_a_graph_has_the_same_history_on_our_storage(raw_saver: Any) -> None:
    adapter = as_langgraph(raw_saver)
    assert isinstance(adapter, BaseCheckpointSaver)
    assert plain(use(graph(adapter))) == plain(use(graph(PeerSaver())))
    assert raw_saver.threads()[0]["thread_id"] == "1"


async def test_async_too(raw_saver: Any) -> None:
    ours, peer = graph(as_langgraph(raw_saver)), graph(PeerSaver())
    for one in (ours, peer):
        await one.ainvoke({"n": 0, "log": [], "delta": []}, THREAD, durability="sync")
    histories = [[s async for s in one.aget_state_history(THREAD)] for one in (ours, peer)]
    assert [s.values for s in histories[0]] == [s.values for s in histories[1]]


def test_what_a_delta_channel_is_rebuilt_from_is_the_peers(raw_saver: Any) -> None:
    """The same checkpoints in both savers: the history of the channel is the same."""
    peer, ours = PeerSaver(), as_langgraph(raw_saver)
    use(graph(peer))
    for item in reversed(list(peer.list(None))):
        versions = item.checkpoint["channel_versions"]
        root = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        ours.put(item.parent_config or root, item.checkpoint, item.metadata, versions)
        for task, channel, value in item.pending_writes:
            ours.put_writes(item.config, [(channel, value)], task + channel)
    for item in peer.list(None):
        if item.parent_config is None:
            continue
        both = [
            saver.get_delta_channel_history(config=item.config, channels=["delta", "n"])
            for saver in (ours, peer)
        ]
        mine, theirs = (
            {
                c: (h.get("seed", "none"), sorted(map(repr, (w[2] for w in h["writes"]))))
                for c, h in one.items()
            }
            for one in both
        )
        assert mine == theirs


def test_pruning_keeps_what_a_delta_channel_needs(raw_saver: Any) -> None:
    adapter = as_langgraph(raw_saver)
    compiled = graph(adapter)
    use(compiled)
    before = compiled.get_state(THREAD)
    adapter.copy_thread("1", "2")
    adapter.prune(["1"])
    assert compiled.get_state(THREAD).values == before.values
    copied = {"configurable": {"thread_id": "2"}}
    assert compiled.get_state(copied).values == before.values
    assert len(list(compiled.get_state_history(copied))) > 15
    assert len(list(compiled.get_state_history(THREAD))) < 12


def test_it_is_small(tmp_path: Any) -> None:
    """The same graph of LangGraph's, in the bytes of its own SQLite saver and of ours."""

    class Log(TypedDict):
        log: Annotated[list, operator.add]

    builder = StateGraph(Log)
    builder.add_node("step", lambda s: {"log": [f"{len(s['log'])} " + "word " * 20]})
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda s: END if len(s["log"]) > 200 else "step")
    sizes = {}
    for name in ("ours", "peers"):
        conn = sqlite3.connect(tmp_path / f"{name}.db", check_same_thread=False)
        saver = as_langgraph(SqliteSaver(conn)) if name == "ours" else PeerSqlite(conn)
        builder.compile(checkpointer=saver).invoke({"log": []}, THREAD)
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        conn.close()
        sizes[name] = (tmp_path / f"{name}.db").stat().st_size
    assert sizes["ours"] * 10 < sizes["peers"], sizes
