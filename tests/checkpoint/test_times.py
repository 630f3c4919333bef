"""When tasks ran is kept by every saver, as no write and in no metadata."""

import asyncio
import time
from typing import Any

from ckpt_viz.checkpoint.times import Span, spans_of
from ckpt_viz.graph import START, StateGraph

from .test_savers import config, put

BEGAN = 1_700_000_000.25


def story(raw: Any) -> Any:
    def slow(state: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.03)
        return {"n": 1}

    def fails(state: dict[str, Any]) -> None:
        time.sleep(0.01)
        raise ValueError("no")

    graph = StateGraph(dict).add_node("slow", slow).add_node("fails", fails)
    graph.add_edge(START, "slow").add_edge("slow", "fails")
    return graph.compile(checkpointer=raw)


def test_a_saver_keeps_the_span_of_each_task(saver, raw_saver):
    cfg = put(saver, config(), 0, {"n": 0})
    plain, failed = [("n", 1), ("xs", ["a"])], [("__error__", "no")]
    for task, span, writes in (
        ("t1", (BEGAN, 0.5), plain),
        ("t2", None, plain),
        ("t3", (BEGAN, 2.0), failed),
        ("t3", (BEGAN + 9, 0.0), plain),
    ):
        if span is not None:
            raw_saver.noted[task] = span
        saver.put_writes(cfg, writes, task, f"~{task}")
    saver.copy_thread("t", "u")
    for thread in ("t", "u"):
        for found in (saver.get_tuple(config(thread)), *saver.list(config(thread))):
            pending = found.pending_writes
            assert pending[:4] == [*(("t1", *w) for w in plain), *(("t2", *w) for w in plain)]
            spans = spans_of(pending)
            assert spans == {"t1": Span(BEGAN, 0.5), "t3": Span(BEGAN + 9, 0.0)}
            assert "began" not in str(found.metadata)
    saver.delete_thread("u")
    assert spans_of(saver.get_tuple(config("t")).pending_writes) == spans
    saver.delete_thread("t")
    assert raw_saver.noted == {}


def test_the_engine_tells_when_its_tasks_ran(raw_saver):
    graph, here = story(raw_saver), {"configurable": {"thread_id": "r"}}
    start = time.time()
    for _ in range(2):
        try:
            graph.invoke({"n": 0}, here)
        except ValueError:
            continue
    end = time.time()
    tuples = list(raw_saver.list({"configurable": {"thread_id": "r"}}))
    spans = [span for found in tuples for span in spans_of(found.pending_writes).values()]
    assert len(spans) >= 4
    assert all(start - 0.01 <= s.began <= end and 0 <= s.took <= end - start for s in spans)
    assert sum(s.took >= 0.03 for s in spans) >= 2
    channels = {channel for found in tuples for _, channel, _ in found.pending_writes}
    assert channels <= {"__root__", "__error__", "branch:to:slow", "branch:to:fails"}


def test_an_async_run_tells_it_too(raw_saver):
    async def wait(state: dict[str, Any]) -> None:
        await asyncio.sleep(0.03)

    graph = StateGraph(dict).add_node("a", wait).add_node("b", wait)
    graph.add_edge(START, "a").add_edge(START, "b")

    async def go() -> list[Any]:
        run = graph.compile(checkpointer=raw_saver)
        await run.ainvoke({"n": 0}, {"configurable": {"thread_id": "r"}}, durability="sync")
        return [t async for t in raw_saver.alist({"configurable": {"thread_id": "r"}})]

    tuples = asyncio.run(go())
    spans = [s for t in tuples for s in spans_of(t.pending_writes).values() if s.took > 0.02]
    assert len(spans) == 2
    assert abs(spans[0].began - spans[1].began) < 0.03
