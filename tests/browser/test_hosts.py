"""What the notebook around the Explorer does to it: views, restarts, saved pictures, keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Explorer, Notebook
from .test_jupyterlab import EXPLORE, GRAPH, TWO_LINES, graph_cell

Open = Callable[..., Notebook]

ASK_TWICE = """
def node_a(state: State):
    return {"bar": [interrupt("Tea or coffee?")]}

def node_b(state: State):
    return {"bar": [interrupt("Milk?")]}
"""
SLOW = """
import time

def node_a(state: State):
    time.sleep(0.3)
    return {"bar": ["a"]}

def node_b(state: State):
    time.sleep(0.3)
    return {"bar": ["b"]}
"""
LOOP = (
    'workflow.add_conditional_edges("node_b", lambda s: "node_a" if len(s["bar"]) < {} else END)\n'
)
AGAIN = 'graph.invoke({"foo": "", "bar": []}, config);'
READ = "print(graph.get_state(config).values)"


def parallel_cell(root: str) -> str:
    """Both nodes run at once, and each asks a question."""
    cell = graph_cell(root, ASK_TWICE)
    return cell.replace('add_edge("node_a", "node_b")', 'add_edge(START, "node_b")')


def loop_cell(steps: int) -> str:
    """A graph of ours that goes round until `steps` nodes have run, 0.3 s each."""
    cell = GRAPH.format(root="ckpt_viz", nodes=SLOW) + AGAIN
    return cell.replace('workflow.add_edge("node_b", END)\n', LOOP.format(steps))


@pytest.fixture(params=["ckpt_viz", "langgraph"])
def root(request: pytest.FixtureRequest) -> str:
    """The package that the notebook's graph comes from."""
    return str(request.param)


def views(notebook: Notebook, count: int) -> list[Explorer]:
    """The Explorers in the page, once there are as many."""
    found = notebook.page.get_by_role("region", name="Checkpoint explorer, thread 1")
    expect(found).to_have_count(count)
    return [Explorer(found.nth(n)) for n in range(count)]


def keys_stay(notebook: Notebook, explorer: Explorer) -> None:
    """After an act the focus is inside, and no key reaches the notebook."""
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")
    before = notebook.sources()
    for key in "ddxba":
        notebook.page.keyboard.press(key)
    assert notebook.sources() == before
    notebook.page.keyboard.press("Escape")


def pictures(notebook: Notebook) -> list[str]:
    """The titles of the pictures in the saved notebook."""
    saved = json.dumps(notebook.save())
    return re.findall(r"<title>(.*?), \d{4}-", saved)


def test_two_views_of_one_widget(open_notebook: Open) -> None:
    notebook = open_notebook(graph_cell("ckpt_viz"), EXPLORE, "explorer", AGAIN)
    first, second = views(notebook, 2)
    for view in (first, second):
        expect(view.rows).to_have_count(8)
    for at in (5, 2, 6, 3):
        first.rows.nth(at).click()
    chosen = first.rows.nth(3).get_attribute("data-checkpoint-id")
    for view in (first, second):
        expect(view.root.locator("[aria-selected=true][data-checkpoint-id]")).to_have_attribute(
            "data-checkpoint-id", chosen or ""
        )
    first.panel("Raw")
    expect(second.root.get_by_role("tab", name="State")).to_have_attribute("aria-selected", "true")
    ids = "[...document.querySelectorAll('.ckpt-viz [id]')].map(e => e.id)"
    assert notebook.page.evaluate(f"() => new Set({ids}).size === {ids}.length")


def test_a_restarted_kernel_is_said_and_the_rest_stays(open_notebook: Open) -> None:
    notebook = open_notebook(graph_cell("ckpt_viz"), TWO_LINES)
    explorer = notebook.explorer()
    expect(explorer.rows).to_have_count(4)
    notebook.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    expect(explorer.root).to_contain_text("Run the cell again")
    expect(explorer.root).to_contain_text("disconnected")
    expect(explorer.button("Fork")).to_have_attribute("aria-disabled", "true")
    explorer.rows.nth(1).click()
    expect(explorer.rows).to_have_count(4)
    notebook.connect()
    notebook.run_all()
    expect(notebook.explorer().root).not_to_contain_text("Run the cell again")


def test_the_saved_picture_follows_a_run(open_notebook: Open) -> None:
    notebook = open_notebook(graph_cell("ckpt_viz"), EXPLORE, AGAIN)
    explorer = notebook.explorer()
    expect(explorer.rows).to_have_count(8)
    notebook.page.wait_for_timeout(2_000)
    assert [title.split(": ")[1] for title in pictures(notebook)] == ["8 checkpoints"]
    explorer.select("node_a")
    explorer.sheet("Replay").get_by_role("button", name="Replay", exact=True).click()
    expect(explorer.rows).not_to_have_count(8)
    notebook.page.wait_for_timeout(2_000)
    count = explorer.rows.count()
    assert [title.split(": ")[1] for title in pictures(notebook)] == [f"{count} checkpoints"]


def test_a_double_click_forks_once_and_stop_stops(open_notebook: Open) -> None:
    notebook = open_notebook(loop_cell(2), EXPLORE, READ)
    explorer = notebook.explorer()
    expect(explorer.button("Stop")).to_have_attribute("aria-disabled", "true")
    explorer.select("node_a")
    dialog = explorer.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill(json.dumps({"bar": ["x"]}))
    dialog.get_by_role("button", name="Fork and run").evaluate("b => { b.click(); b.click(); }")
    expect(explorer.rows.first).to_contain_text("node_b")
    keys_stay(notebook, explorer)
    expect(explorer.root.locator("[data-fork-depth='1'][data-checkpoint-id]")).to_have_count(2)


def test_stop_ends_a_run_before_its_next_step(open_notebook: Open) -> None:
    notebook = open_notebook(loop_cell(2), EXPLORE)
    explorer = notebook.explorer()
    dialog = explorer.sheet("Run")
    dialog.get_by_role("textbox").fill(json.dumps({"foo": "", "bar": []}))
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(explorer.root.get_by_text("running").first).to_be_visible()
    explorer.button("Stop").click()
    expect(explorer.button("Stop")).to_have_attribute("aria-disabled", "true")
    keys_stay(notebook, explorer)
    explorer.rows.first.click()
    resume = explorer.panel("Writes").get_by_role("button", name="Resume")
    before = explorer.rows.count()
    resume.click()
    expect(explorer.rows).not_to_have_count(before)


def test_one_answer_of_two_then_another_answer(open_notebook: Open, root: str) -> None:
    notebook = open_notebook(parallel_cell(root), EXPLORE, READ)
    explorer = notebook.explorer()
    writes = explorer.panel("Writes")
    first = writes.get_by_role("form", name="node_a, question 1 of 2")
    expect(first).to_contain_text("1 other keeps waiting")
    first.get_by_role("textbox").fill("tea")
    first.get_by_role("button", name="Resume").click()
    second = writes.get_by_role("form", name="node_b, question 1 of 1")
    second.get_by_role("radio", name="JSON").check()
    second.get_by_role("textbox").fill("[1]")
    keys = explorer.rows.count()
    second.get_by_role("button", name="Resume").click()
    expect(explorer.rows).to_have_count(keys + 1)
    assert "['tea', [1]]" in notebook.run_cell(2)
    explorer.rows.first.click()
    again = writes.get_by_role("form", name="node_a, answer differently")
    again.get_by_role("textbox").fill("coffee")
    again.get_by_role("button", name="Resume").click()
    expect(explorer.rows).to_have_count(keys + 2)
    keys_stay(notebook, explorer)
    expect(explorer.root.get_by_role("alert")).to_have_count(0)
