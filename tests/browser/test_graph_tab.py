"""The Graph tab in JupyterLab: Graphviz comes over the kernel's wire, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Notebook
from .test_jupyterlab import GRAPH, PLAIN, RUN, TWO_LINES

Open = Callable[..., Notebook]


def test_the_graph_is_drawn_with_what_ran_and_what_runs_next(open_notebook: Open) -> None:
    notebook = open_notebook(GRAPH.format(root="langgraph", nodes=PLAIN) + RUN + ";", TWO_LINES)
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    explorer = notebook.explorer()
    explorer.select("node_a")
    panel = explorer.panel("Graph")
    ran = panel.get_by_role("button", name=re.compile("^node_a, ran to make this"))
    following = panel.get_by_role("button", name="node_b, runs next, leads to end")
    expect(ran).to_be_visible()
    expect(following).to_be_visible()
    expect(panel).to_contain_text("ran to make this")
    explorer.select("node_b")
    expect(panel.get_by_role("button", name=re.compile("^node_b, ran"))).to_be_visible()
    step = panel.get_by_role("region", name="How this step was made")
    expect(step.get_by_role("row", name=re.compile("node_b branch:to:node_b 3"))).to_be_visible()
    step.get_by_role("button", name="Phase after").click()
    expect(step).to_contain_text("One task worked on the same old state")
    step.get_by_role("radio", name="3 update").check(force=True)
    told = step.get_by_role("group", name="Update of bar")
    expect(told).to_contain_text("add")
    expect(told.get_by_role("listitem")).to_have_text(
        ["old['a']", "⊕node_b['b']", "→new['a', 'b']"]
    )
    outside = [url for url in asked if not url.startswith((notebook.server.url, "blob:", "data:"))]
    assert not outside, "nothing leaves the machine"


def test_a_node_is_picked_by_keyboard_and_tells_why(open_notebook: Open) -> None:
    notebook = open_notebook(GRAPH.format(root="ckpt_viz", nodes=PLAIN) + RUN + ";", TWO_LINES)
    explorer = notebook.explorer()
    explorer.select("node_a")
    panel = explorer.panel("Graph")
    panel.get_by_role("button", name=re.compile("^node_a, ran")).focus()
    notebook.page.keyboard.press("ArrowDown")
    focused = panel.get_by_role("button", name=re.compile("^node_b, runs next"))
    if not focused.evaluate("node => node === document.activeElement"):
        notebook.page.keyboard.press("ArrowRight")  # a wide panel reads from left to right
    expect(focused).to_be_focused()
    notebook.page.keyboard.press("Enter")
    card = panel.get_by_role("region", name="Node node_b")
    expect(card).to_contain_text("because node_a's edge leads here")
    card.get_by_role("button", name="Its tasks in Writes").click()
    expect(explorer.root.get_by_role("tab", name="Writes")).to_have_attribute(
        "aria-selected", "true"
    )
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")
