"""Very long histories in a page: what is sent, how quick jumps and new rows are, what it takes.

Times are ratios to a blank list of the same rows in the same page, or generous bounds: the machine
may be busy.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ckpt_viz import explore
from ckpt_viz.checkpoint.base import CheckpointTuple
from ckpt_viz.checkpoint.memory import InMemorySaver

from . import gardens
from .stage import Stage
from .test_speed import JUMPS

SPACES = 40
FIRST = """() => new Promise((resolve) => {
  const start = performance.now();
  const look = () => document.querySelector("[role=row][data-checkpoint-id]")
    ? requestAnimationFrame(() => resolve(performance.now() - start)) : setTimeout(look, 5);
  look();
})"""
# A new row and time to draw it; without a row only the time.
LIVE = """async (row) => {
  if (row)
    window.stage.emit("msg:custom",
      { event: "rows", reset: false, head: row[0], rows: [row], unfinished: [] }, []);
  await new Promise((done) => setTimeout(done, 120));
}"""
HEAP = "() => (globalThis.gc?.(), performance.memory.usedJSHeapSize / 1e6)"


@pytest.fixture
def page(chromium: Browser) -> Iterator[Any]:
    page = chromium.new_page(viewport={"width": 1000, "height": 620})
    page.set_default_timeout(60_000)
    yield page
    page.close()


def opened(page: Any, count: int, forks: int) -> tuple[Stage, float]:
    """A stage on a history of `count` checkpoints, and the seconds until Python had the first."""
    graph = gardens.long(count, forks)
    for k in range(SPACES):
        gardens.fill(graph.checkpointer, 25, ns=f"sub:{k:032}")
    start = time.perf_counter()
    explorer = explore(graph, "1", follow=False)
    hello = explorer._session.overview()
    spent = time.perf_counter() - start
    rows = hello["rows"]["columns"]["n"]
    assert len(json.dumps(hello["rows"])) / rows <= 200
    stage = Stage(page, explorer)
    return stage, spent


def rows_after(stage: Stage, count: int) -> list[list[Any]]:
    """New rows on the head, as the kernel tells them."""
    last = stage.explorer.timeline.known(1)[0]
    out, parent = [], last.id
    for k in range(count):
        id_ = f"ffffffff-0000-6000-8000-{k:012x}"
        step = last.step + 1 + k
        out.append([id_, parent, step, "loop", step * 1000, ["act"], ["n"], "", [], None])
        parent = id_
    return out


def live_ms(page: Any, stage: Stage, count: int = 30) -> float:
    """The main thread's milliseconds for a new row, without what it does anyway: a median.

    It is the time of the thread itself, so that others on the machine count little.
    """
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    stage.rows.nth(5).click()  # whoever follows the head gets panels too
    stage.settle()
    page.mouse.move(2, 2)

    def spent(row: list[Any] | None) -> float:
        before = task_seconds(devtools)
        page.evaluate(LIVE, row)
        return (task_seconds(devtools) - before) * 1000

    idle, live = [], []
    for row in rows_after(stage, count):
        idle.append(spent(None))
        live.append(spent(row))
    return statistics.median(live) - statistics.median(idle)


def slack() -> float:
    """How much longer work takes because others use the machine: more ready tasks than cores."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def task_seconds(devtools: Any) -> float:
    """What the page's main thread has worked so far."""
    told = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in told if one["name"] == "TaskDuration"))


def check(page: Any, count: int, forks: int, *, seconds: float) -> Callable[[], None]:
    """The promises of a long history."""
    stage, python = opened(page, count, forks)
    shown = page.evaluate(FIRST)
    grid = stage.root.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", str(count + 1), timeout=seconds * 1000)
    biggest = max(len(json.dumps(one)) for one in stage.asked)
    jumps = statistics.median(page.evaluate(JUMPS) for _ in range(5))
    live = live_ms(page, stage)
    heap = page.evaluate(HEAP)
    print(
        f"{count}: Python {python:.2f} s, page {shown:.0f} ms, jumps {jumps:.2f}x, "
        f"a new row {live:.1f} ms, heap {heap:.0f} MB, biggest request {biggest}"
    )
    assert python < slack(), "the first rows are there within a second"
    assert jumps < 3, f"random jumps cost {jumps:.1f} times those of a blank list"
    assert live < 5 * slack(), f"a new row takes {live:.1f} ms of the page"
    assert heap < 300, f"the page holds {heap:.0f} MB"
    assert stage.errors == []
    return stage.explorer.close


def test_the_table_of_ten_thousand_threads(page: Any) -> None:
    graph = gardens.flow({"a": lambda state: {"note": "done"}}, InMemorySaver())
    for k in range(10_000):
        graph.invoke({"count": k}, {"configurable": {"thread_id": f"thread-{k:05}"}})
    start = time.perf_counter()
    stage = Stage(page, explore(graph, follow=False))
    lines = stage.root.locator("tbody tr")
    lines.first.wait_for()
    spent = time.perf_counter() - start
    assert spent < slack(), f"the first threads are shown after {spent:.2f} s"
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    button = stage.root.get_by_role("columnheader", name="thread").get_by_role("button")
    for first in ("thread-00000", "thread-09999"):
        before = task_seconds(devtools)
        button.click()
        expect(lines.first).to_contain_text(first)
        took = (task_seconds(devtools) - before) * 1000
        assert took < 100 * slack(), f"a sort holds the page for {took:.0f} ms"
    expect(lines).to_have_count(100)
    stage.explorer.close()


@pytest.mark.soak
def test_twenty_thousand_checkpoints(page: Any) -> None:
    check(page, 20_000, 100, seconds=40)()


@pytest.mark.soak
def test_a_hundred_thousand_checkpoints(page: Any) -> None:
    check(page, 100_000, 500, seconds=240)()


class Million:
    """A saver of somebody's own that holds a million checkpoints, made when they are asked for."""

    count = 1_000_000

    def _id(self, at: int) -> str:
        return f"{at:08x}-0000-6000-8000-000000000000"

    def _tuple(self, at: int) -> CheckpointTuple:
        node, after = gardens.NAMES[at % 4], f"branch:to:{gardens.NAMES[(at + 1) % 4]}"
        step, version = at - 1, f"{at + 1:032}"
        where = {"thread_id": "1", "checkpoint_ns": ""}
        checkpoint: Any = {
            "v": 4,
            "id": self._id(at),
            "ts": "2025-01-01T00:00:00+00:00",
            "channel_values": {"n": step, after: None},
            "channel_versions": {"n": version, after: version},
            "versions_seen": {node: {f"branch:to:{node}": f"{at:032}"}},
            "updated_channels": None,
        }
        parent = {"configurable": {**where, "checkpoint_id": self._id(at - 1)}} if at else None
        metadata: Any = {"source": "loop" if at else "input", "step": step, "parents": {}}
        config: Any = {"configurable": {**where, "checkpoint_id": self._id(at)}}
        return CheckpointTuple(config, checkpoint, metadata, parent, [])

    def get_tuple(self, config: Any) -> CheckpointTuple:
        id_ = config["configurable"].get("checkpoint_id")
        return self._tuple(int(id_[:8], 16) if id_ else self.count - 1)

    def list(self, config: Any, *, before: Any = None, limit: int | None = None, **_: Any) -> Any:
        end = int(before["configurable"]["checkpoint_id"][:8], 16) if before else self.count
        first = 0 if limit is None else max(0, end - limit)
        return (self._tuple(at) for at in range(end - 1, first - 1, -1))

    def put_writes(self, *_: Any) -> None:
        raise NotImplementedError("this saver is only read")


@pytest.mark.soak
def test_a_million_checkpoints_are_paged(page: Any) -> None:
    start = time.perf_counter()
    explorer = explore(Million(), "1", follow=False)
    explorer._session.overview()
    assert time.perf_counter() - start < 1 * slack()
    stage = Stage(page, explorer)
    grid = stage.root.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", "-1")
    expect(stage.root.get_by_role("slider", name="Time")).to_have_attribute("max", "999999")
    expect(stage.root).to_contain_text("The newest 102,000 checkpoints are shown", timeout=240_000)
    assert page.evaluate(HEAP) < 300
    stage.root.locator(".ckv-scroll").evaluate("el => { el.scrollTop = el.scrollHeight; }")
    expect(stage.root).not_to_contain_text("The newest 102,000 checkpoints", timeout=20_000)
    stage.explorer.close()
