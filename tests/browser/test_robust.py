"""What goes wrong around the page: it says so where it must, recovers, and leaks nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ckpt_viz import explore

from .conftest import Notebook
from .stage import Stage
from .story import THREAD, tell
from .test_jupyterlab import EXPLORE, GRAPH, RUN

StageOf = Callable[..., Stage]
Open = Callable[..., Notebook]


@pytest.fixture
def stage(stage_of: StageOf) -> Stage:
    return stage_of(explore(tell(), thread_id=THREAD, follow=False))


def test_a_busy_kernel_is_said_until_it_answers(stage: Stage) -> None:
    stage.explorer._session.worker.put(lambda: time.sleep(3))
    stage.root.locator("[role=row]").filter(has_text="plan").first.click()
    banner = stage.root.get_by_text("waits for the running cell").first
    expect(banner).to_be_visible()
    stage.rows.nth(1).click()  # what is there can still be browsed
    expect(banner).to_be_hidden()
    stage.settle()
    expect(stage.root.get_by_role("alert")).to_have_count(0)


def test_a_deleted_checkpoint_fails_in_its_own_pane(stage: Stage) -> None:
    stage.select("plan")
    saver, before = stage.explorer.timeline.saver, stage.rows.count()
    saver.delete_thread(THREAD)
    stage.root.locator("[role=row]").filter(has_text="call_model").first.click()
    alert = stage.root.get_by_role("tabpanel").get_by_role("alert")
    expect(alert).to_contain_text("has no checkpoint")
    expect(alert.get_by_role("button", name="Retry")).to_be_visible()
    expect(stage.rows).to_have_count(before)
    stage.select("plan")
    expect(stage.root.get_by_role("alert")).to_have_count(0)


def test_a_saver_that_raises_is_told_and_asked_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = stage.explorer.timeline.saver

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(saver, "get_tuple", broken)
        stage.root.locator("[role=row]").filter(has_text="call_model").first.click()
        alert = stage.root.get_by_role("tabpanel").get_by_role("alert")
        expect(alert).to_contain_text("the disk is gone")
    alert.get_by_role("button", name="Retry").click()
    expect(stage.root.get_by_role("tabpanel", name="State")).to_contain_text("search twice")
    expect(stage.root.get_by_role("alert")).to_have_count(0)


def test_a_node_that_never_returns_leaves_the_page_usable(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()
    monkeypatch.setattr(stage.explorer.timeline, "run", lambda *_: never.wait(20))
    dialog = stage.sheet("Run")
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(stage.root.get_by_text("running").first).to_be_visible()
    stage.select("plan")
    expect(stage.tab("State")).to_contain_text("search twice")
    expect(stage.button("Stop")).not_to_have_attribute("aria-disabled", "true")
    stage.button("Stop").click()
    again = stage.sheet("Run")
    again.get_by_role("textbox").fill("{}")  # the same again at once would be a double click
    again.get_by_role("button", name="Run", exact=True).click()
    expect(stage.root.get_by_role("alert").first).to_contain_text("still under way")
    never.set()
    expect(stage.button("Stop")).to_have_attribute("aria-disabled", "true")


def test_a_hidden_output_comes_back_where_it_was(stage_of: StageOf) -> None:
    stage = stage_of(explore(tell(), thread_id=THREAD, follow=False, height=260), height=600)
    scroller = stage.root.locator(".ckv-scroll")
    scroller.evaluate("el => { el.scrollTop = 90; }")
    host = stage.page.locator("#here")
    host.evaluate("el => { el.style.display = 'none'; }")
    stage.page.wait_for_timeout(100)
    stage.explorer.select(step=1)
    stage.page.wait_for_timeout(100)
    host.evaluate("el => { el.style.display = ''; }")
    stage.page.wait_for_function(  # its rows are drawn again
        "() => { const el = document.querySelector('.ckv-scroll');"
        " const room = el.getBoundingClientRect();"
        " return [...el.querySelectorAll('[role=row]')].filter(row => {"
        " const box = row.getBoundingClientRect();"
        " return box.bottom > room.top && box.top < room.bottom; }).length >= 3; }"
    )
    assert scroller.evaluate("el => el.scrollTop") > 0


def test_views_that_come_and_go_leave_nothing(stage: Stage) -> None:
    page = stage.page
    count = "() => [window.stage.listeners(), document.querySelectorAll('*').length]"
    once = "() => { const away = window.stage.show(); return new Promise(done => setTimeout(() => {"
    once += " away(); setTimeout(done, 30); }, 60)); }"
    page.evaluate(once)
    before = page.evaluate(count)
    for _ in range(10):
        page.evaluate(once)
    assert page.evaluate(count) == before


COUNT = """import gc, threading, ipywidgets
gc.collect()
widgets = [w for w in ipywidgets.widgets.widget._instances.values() if "Explorer" in str(type(w))]
print(len(widgets), sum(t.name == "ckpt-viz" for t in threading.enumerate()))
"""
SECRET = '{"foo": "".join(["hush-", "hush"]), "bar": ["b"]}'
QUIET = f"""
def node_a(state: State):
    return {SECRET}

def node_b(state: State):
    return {{"bar": [state["foo"]]}}
"""
KEEP = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"


def test_ten_runs_of_a_cell_leave_one_and_the_saved_file_tells_nothing(open_notebook: Open) -> None:
    notebook = open_notebook(GRAPH.format(root="ckpt_viz", nodes=QUIET) + RUN + ";", EXPLORE, COUNT)
    for _ in range(10):
        notebook.run_cell(1)
    explorer = notebook.explorer()
    expect(notebook.page.locator(".ckpt-viz")).to_have_count(1)
    notebook.page.wait_for_timeout(300)
    assert notebook.run_cell(2) == "1 1\n"
    explorer.select("node_b")
    expect(explorer.panel("State")).to_contain_text("hush-hush")
    search = explorer.root.get_by_role("searchbox", name="Search checkpoints")
    search.fill("foo~needle-of-mine")
    expect(explorer.root.locator(".ckv-hits")).to_have_text("nothing")
    notebook.command(KEEP)
    try:
        saved = notebook.save()
    finally:
        notebook.command(KEEP)
    assert saved.metadata["widgets"], "the state of the widgets is saved"
    text = notebook.path.read_text()
    assert "hush-hush" not in text
    assert "needle" not in text
    own = open_notebook(saved=saved, trusted=True)  # a widget that no kernel will ever answer
    expect(own.page.locator(".jp-RenderedSVG img[src^='data:image/svg+xml']")).to_be_visible()
