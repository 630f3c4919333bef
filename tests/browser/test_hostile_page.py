"""Values that would run, freeze or mislead a page: they are shown as text, cut or named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from playwright.sync_api import expect

from ckpt_viz import explore
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph

from ..explorer.hostile import VALUES, graph_of
from .stage import Stage

StageOf = Callable[..., Stage]

LONG = """new PerformanceObserver((list) => {
  window.tasks = [...(window.tasks ?? []), ...list.getEntries().map((entry) => entry.duration)];
}).observe({ type: "longtask" });"""
DIALOGS = "window.alert = window.confirm = window.prompt = () => { window.pwned = 1; };"


@pytest.fixture(scope="module")
def hostile() -> Any:
    """A graph with every hostile value at once, and names that are hostile themselves."""
    names = {"<img src=x onerror='window.pwned = 1'>": "a channel", "a\u202eb": 1}
    return graph_of({**{name: value for name, (value, _) in VALUES.items()}, **names})


def test_everything_hostile_is_shown_and_nothing_runs(stage_of: StageOf, hostile: Any) -> None:
    stage = stage_of(explore(hostile, follow=False), height=900, script=LONG + DIALOGS)
    panel = stage.tab("State")
    for name, (_, wanted) in VALUES.items():
        entry = panel.locator(f'.ckv-top[data-path="{name}"]')
        expect(entry).to_contain_text(wanted)
    expect(panel).to_contain_text("a\\u202eb")
    for row in ("next", "poison"):
        stage.select(row)
        for name in stage.tabs:
            stage.tab(name)
            assert stage.root.locator("img[src=x], script, a[href^='javascript']").count() == 0
    assert stage.page.evaluate("window.pwned") is None
    stage.select("next")
    expect(stage.tab("State")).to_contain_text("10,000,000 characters")
    expect(stage.root.get_by_role("alert")).to_have_count(0)


def test_deep_and_long_values_open_step_by_step(stage_of: StageOf, hostile: Any) -> None:
    stage = stage_of(explore(hostile, follow=False), height=900)
    panel = stage.tab("State")
    entry = panel.locator(".ckv-top").filter(has_text="deep list")
    for _ in range(8):  # the kernel sends four levels at a time
        entry.locator(".ckv-twist[aria-expanded=false]").last.click()
        stage.settle()
    expect(entry.locator(".ckv-twist[aria-expanded=true]")).to_have_count(9)
    text = panel.locator(".ckv-top").filter(has_text="10 MB text")
    text.get_by_role("button", name="more of").click()
    expect(text.locator(".ckv-val")).to_contain_text("x" * 5_000)


def test_a_state_of_50_mb_never_blocks_the_page(stage_of: StageOf) -> None:
    text = "a line of some length " * 40
    docs = [{"id": n, "text": f"{n} {text}", "tags": ["a", n]} for n in range(50_000)]
    graph = StateGraph(TypedDict("state", {"docs": Any, "n": int}))
    graph.add_node("load", lambda _: {"docs": docs})
    graph.add_node("add", lambda _: {"n": 1})
    graph.add_edge(START, "load").add_edge("load", "add")
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke({"n": 0}, {"configurable": {"thread_id": "1"}})
    stage = stage_of(explore(graph, follow=False), script=LONG)
    stood = []
    for _ in range(4):  # what else the machine does makes a pass longer, never shorter
        stage.page.evaluate("window.tasks = []")
        for row in ("load", "start", "add"):
            stage.select(row)
        expect(stage.tab("State")).to_contain_text("50,000 items")
        stage.page.wait_for_timeout(100)
        stood.append(max(stage.page.evaluate("window.tasks"), default=0))
        if stood[-1] < 50:
            return
    raise AssertionError(f"the page stood still for {stood} ms")
