"""Long runs without a saver keep nothing of the steps behind them."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.graph import START, StateGraph

STEPS = 10_000


class State(TypedDict):
    n: int
    text: str


class Probe:
    """Takes the memory in use at two steps."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}

    def look(self, n: int) -> None:
        if n in (STEPS // 10, STEPS - 1):
            gc.collect()
            self.sizes[n] = tracemalloc.get_traced_memory()[0]

    @property
    def growth(self) -> int:
        early, late = (self.sizes[n] for n in sorted(self.sizes))
        return late - early


def counting(probe: Probe, *, parallel: bool = False) -> Any:
    """A loop that counts to `STEPS`, alone or with a second node in each step."""

    def step(state: State) -> dict[str, Any]:
        probe.look(state["n"])
        return {"n": state["n"] + 1, "text": str(state["n"]) * 50}

    builder = StateGraph(State)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    targets = ["step"]
    if parallel:
        builder.add_node("beside", lambda state: None)
        targets.append("beside")
    builder.add_conditional_edges("step", lambda s: targets if s["n"] < STEPS else [], targets)
    return builder.compile()


@pytest.mark.parametrize("how", ["invoke", "stream", "parallel"])
def test_ten_thousand_supersteps(how: str) -> None:
    probe = Probe()
    graph = counting(probe, parallel=how == "parallel")
    config = {"recursion_limit": STEPS + 5}
    tracemalloc.start()
    try:
        if how == "stream":
            last: Any = None
            for last in graph.stream({"n": 0}, config, stream_mode=["updates", "values"]):
                pass
            assert last[1]["n"] == STEPS
        else:
            assert graph.invoke({"n": 0}, config)["n"] == STEPS
    finally:
        tracemalloc.stop()
    assert probe.growth < 100_000, f"{probe.growth} bytes more after {STEPS} steps"


async def test_ten_thousand_async_supersteps() -> None:
    probe = Probe()
    graph = counting(probe)
    tracemalloc.start()
    try:
        result = await graph.ainvoke({"n": 0}, {"recursion_limit": STEPS + 5})
    finally:
        tracemalloc.stop()
    assert result["n"] == STEPS
    assert probe.growth < 100_000, f"{probe.growth} bytes more after {STEPS} steps"


def test_runs_leave_nothing_behind() -> None:
    """A thousand short runs: no cycle, no registry keeps them."""
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"n": state["n"] + 1})
    builder.add_edge(START, "a")
    graph = builder.compile()
    for _ in range(50):
        graph.invoke({"n": 0})
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        graph.invoke({"n": 0})
    gc.collect()
    assert len(gc.get_objects()) - before < 100
