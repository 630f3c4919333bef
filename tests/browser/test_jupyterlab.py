"""What a person does with the Explorer in JupyterLab, on both kinds of graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from .conftest import Notebook

Open = Callable[..., Notebook]

GRAPH = """
from operator import add
from typing import Annotated, TypedDict

from {root}.checkpoint.memory import InMemorySaver
from {root}.graph import END, START, StateGraph
from {root}.types import interrupt


class State(TypedDict):
    foo: str
    bar: Annotated[list[str], add]


{nodes}

workflow = StateGraph(State)
workflow.add_node(node_a)
workflow.add_node(node_b)
workflow.add_edge(START, "node_a")
workflow.add_edge("node_a", "node_b")
workflow.add_edge("node_b", END)
graph = workflow.compile(checkpointer=InMemorySaver())
config = {{"configurable": {{"thread_id": "1"}}}}
"""
PLAIN = """
def node_a(state: State):
    return {"foo": "from a", "bar": ["a"]}

def node_b(state: State):
    return {"foo": state["foo"] + " and b", "bar": ["b"]}
"""
ASKS = PLAIN.replace('return {"foo": "from a"', 'return {"foo": interrupt("Tea or coffee?")')
RAISES = """
def node_a(state: State):
    return {"foo": "from a", "bar": ["a"]}

def node_b(state: State):
    raise ValueError("the kettle is empty")
"""
IMG = "<img src=x onerror=\"window.pwned = 'yes'\">"
EVIL = PLAIN.replace('"from a"', repr(IMG))
RUN = 'graph.invoke({"foo": "", "bar": []}, config)'
TWO_LINES = "%load_ext ckpt_viz\n%ckpt graph --thread 1"
EXPLORE = 'import ckpt_viz\nexplorer = ckpt_viz.explore(graph, thread_id="1")\nexplorer'


@pytest.fixture(params=["ckpt_viz", "langgraph"])
def root(request: pytest.FixtureRequest) -> str:
    """The package that the notebook's graph comes from."""
    return str(request.param)


def graph_cell(root: str, nodes: str = PLAIN, run: str = RUN) -> str:
    """The cell that makes a graph of `root` and runs it once."""
    return GRAPH.format(root=root, nodes=nodes) + run + ";"


def test_two_lines_show_the_tree(open_notebook: Open, root: str) -> None:
    explorer = open_notebook(graph_cell(root), TWO_LINES).explorer()
    expect(explorer.rows).to_have_count(4)
    expect(explorer.row("node_b")).to_have_count(1)
    parents = explorer.rows.evaluate_all("rows => rows.map(r => r.dataset.parentId || null)")
    ids = explorer.rows.evaluate_all("rows => rows.map(r => r.dataset.checkpointId)")
    assert parents[:-1] == ids[1:], "newest first, each hung on the one below it"


def test_a_click_on_a_row_shows_its_state(open_notebook: Open, root: str) -> None:
    explorer = open_notebook(graph_cell(root), TWO_LINES).explorer()
    explorer.select("node_a")
    state = explorer.panel("State")
    expect(state).to_contain_text("from a")
    expect(state).not_to_contain_text("from a and b")
    explorer.select("node_b")
    expect(state).to_contain_text("from a and b")


def test_fork_previews_and_grows_a_second_lane(open_notebook: Open, root: str) -> None:
    notebook = open_notebook(graph_cell(root), TWO_LINES, "print(graph.get_state(config).values)")
    explorer = notebook.explorer()
    base = explorer.select("node_a")
    dialog = explorer.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill(json.dumps({"foo": "changed"}))
    dialog.get_by_role("button", name="Preview").click()
    preview = dialog.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("changed")
    expect(preview).to_contain_text("node_b")
    expect(explorer.rows).to_have_count(4)
    dialog.get_by_role("button", name="Fork and run", exact=True).click()
    expect(explorer.rows).to_have_count(6)
    forked = explorer.rows.and_(explorer.root.locator(f"[data-parent-id='{base}']"))
    expect(forked).to_have_count(2)
    depths = explorer.rows.evaluate_all("rows => rows.map(r => r.dataset.forkDepth)")
    assert sorted(depths) == ["0"] * 4 + ["1"] * 2
    assert "'changed and b'" in notebook.run_cell(2)


def test_the_next_cell_reads_the_selection(open_notebook: Open, root: str) -> None:
    read = 'print(explorer.selected.config["configurable"]["checkpoint_id"])'
    notebook = open_notebook(graph_cell(root), EXPLORE, read)
    selected = notebook.explorer().select("node_a")
    assert notebook.run_cell(2).strip() == selected


def test_replay_names_the_nodes_that_run_again(open_notebook: Open, root: str) -> None:
    explorer = open_notebook(graph_cell(root), TWO_LINES).explorer()
    explorer.select("node_a")
    dialog = explorer.sheet("Replay")
    expect(dialog).to_contain_text("node_b")
    expect(dialog).not_to_contain_text("node_a")
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(explorer.rows).not_to_have_count(4)


def test_an_answered_interrupt_continues(open_notebook: Open, root: str) -> None:
    read = "print(graph.get_state(config).values)"
    notebook = open_notebook(graph_cell(root, ASKS), TWO_LINES, read)
    explorer = notebook.explorer()
    expect(explorer.rows).to_have_count(2)
    explorer.rows.first.click()
    form = explorer.panel("Writes").get_by_role("form", name="node_a, question 1 of 1")
    expect(form).to_contain_text("Tea or coffee?")
    form.get_by_role("textbox").first.fill("tea")
    form.get_by_role("button", name="Resume").click()
    expect(explorer.rows).to_have_count(4)
    assert "'tea and b'" in notebook.run_cell(2)


def test_a_node_that_raises_shows_its_error(open_notebook: Open, root: str) -> None:
    fails = f"try:\n    {RUN}\nexcept ValueError as error:\n    print('caught', error)"
    explorer = open_notebook(graph_cell(root, RAISES, fails), TWO_LINES).explorer()
    expect(explorer.rows).to_have_count(3)
    explorer.rows.first.click()
    expect(explorer.panel("Writes")).to_contain_text("the kettle is empty")


def test_markup_in_a_value_is_text(open_notebook: Open, root: str) -> None:
    notebook = open_notebook(graph_cell(root, EVIL), TWO_LINES)
    explorer = notebook.explorer()
    explorer.select("node_a")
    expect(explorer.panel("State")).to_contain_text("<img src=x onerror=")
    for tab in ("Diff", "Channels", "Writes", "Graph", "Raw", "Storage"):
        explorer.panel(tab).wait_for()
    assert explorer.root.locator("img[src=x]").count() == 0
    assert notebook.page.evaluate("window.pwned") is None


def test_who_wrote_this_and_watching_it(open_notebook: Open, root: str) -> None:
    explorer = open_notebook(graph_cell(root), TWO_LINES).explorer()
    explorer.select("node_b")
    state = explorer.panel("State")
    state.get_by_role("button", name="Who wrote 0?").click()
    told = state.get_by_role("status").filter(has_text="set by node_a at step 1")
    told.get_by_role("button", name="Go to step 1").click()
    expect(explorer.rows.nth(1)).to_have_attribute("aria-selected", "true")
    explorer.panel("State").get_by_role("button", name="Watch bar").click()
    watched = explorer.root.get_by_role("group", name="Watched paths")
    expect(watched).to_contain_text("bar1 item")
    watched.get_by_role("button", name="Next change of bar").click()
    expect(watched).to_contain_text("bar2 items")
    watched.get_by_role("button", name="Stop watching bar").click()
    expect(watched).to_have_count(0)
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")


def test_a_filter_finds_values(open_notebook: Open, root: str) -> None:
    explorer = open_notebook(graph_cell(root), TWO_LINES).explorer()
    search = explorer.root.get_by_role("searchbox", name="Search checkpoints")
    found = explorer.root.locator(".ckv-hits")
    search.fill("bar~b node:node_b")
    expect(found).to_have_text("1")
    search.press("Enter")
    expect(explorer.rows.first).to_have_attribute("aria-selected", "true")
    search.fill("colour:red")
    expect(found).to_have_text("not understood")
    expect(search).to_have_attribute("aria-description", re.compile("the fields are node:"))


def test_channels_show_versions_and_what_nodes_have_seen(open_notebook: Open) -> None:
    explorer = open_notebook(graph_cell("ckpt_viz"), TWO_LINES).explorer()
    explorer.select("node_b")
    seen = explorer.panel("Channels").get_by_role("table", name="Versions seen")
    row = seen.get_by_role("row").filter(has_text="branch:to:node_b")
    expect(row).to_have_text(re.compile("node_b.*branch:to:node_b34 emptied"))


def test_keys_never_reach_the_notebook(open_notebook: Open) -> None:
    notebook = open_notebook(graph_cell("ckpt_viz"), TWO_LINES, "'untouched'")
    explorer = notebook.explorer()
    before = notebook.sources()
    explorer.select("node_a")
    press_all(notebook)
    explorer.panel("Raw").wait_for()
    press_all(notebook)
    explorer.sheet("Fork").get_by_role("button", name=re.compile("Fork|Cancel|Close")).first.focus()
    press_all(notebook)
    explorer.button("Help").focus()
    press_all(notebook)
    assert notebook.sources() == before
    inside = explorer.root.evaluate("root => root.contains(document.activeElement)")
    assert inside, "the focus is still in the Explorer"


def press_all(notebook: Notebook) -> None:
    """The keys by which JupyterLab deletes, cuts, inserts and turns cells."""
    for key in ("d", "d", "x", "b", "a", "m", "y"):
        notebook.page.keyboard.press(key)


def test_a_saved_notebook_shows_the_tree_without_a_kernel(open_notebook: Open, root: str) -> None:
    notebook = open_notebook(graph_cell(root), TWO_LINES)
    expect(notebook.explorer().rows).to_have_count(4)
    static = notebook.page.locator(".jp-OutputArea-output[data-mime-type='image/svg+xml']")
    expect(static.filter(visible=True)).to_have_count(0)
    saved = notebook.save()
    assert "from a and b" not in json.dumps(saved["cells"][1]["outputs"]), "no value is saved"
    own = open_notebook(saved=saved, trusted=True)
    picture = own.page.locator(".jp-RenderedSVG img[src^='data:image/svg+xml']")
    expect(picture).to_be_visible()
    source = unquote(picture.get_attribute("src") or "")
    assert "node_a" in source
    assert "node_b" in source


def test_a_notebook_from_elsewhere_shows_the_tree_as_text(open_notebook: Open, root: str) -> None:
    notebook = open_notebook(graph_cell(root), TWO_LINES)
    expect(notebook.explorer().rows).to_have_count(4)
    theirs = open_notebook(saved=notebook.save())
    text = theirs.page.locator(".jp-RenderedText").filter(has_text="node_a")
    expect(text).to_be_visible()
    expect(text).to_contain_text("node_b")
