"""The acts as a person does them: in JupyterLab on both engines, and details on a page alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from playwright.sync_api import Browser, Locator, expect

from ckpt_viz import explore
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import interrupt

from .conftest import Explorer, Notebook
from .stage import Stage
from .story import THREAD, make_graph, tell
from .test_jupyterlab import GRAPH, PLAIN, press_all

Open = Callable[..., Notebook]
Show = Callable[..., Stage]


class Asked(TypedDict):
    """A list that grows."""

    log: Annotated[list[Any], add]


ASKS = PLAIN.replace('return {"bar": ["b"]}', "").replace(
    'return {"foo": state["foo"] + " and b", "bar": ["b"]}',
    'return {"foo": state["foo"] + " and " + interrupt("Tea or coffee?"), "bar": ["b"]}',
)
SHOW = "%load_ext ckpt_viz\n%ckpt graph --thread 1"
READ = 'state = graph.get_state(config); print(state.values["foo"], state.next)'
WRITE = """text => window.jupyterapp.shell.currentWidget.content.model.cells.get(3)
  .sharedModel.setSource(text)"""
NEW = """%%ckpt
def node_b(state: State):
    return {"foo": state["foo"] + " and NEW", "bar": ["b"]}

workflow = StateGraph(State)
workflow.add_node(node_a)
workflow.add_node(node_b)
workflow.add_node("node_c", lambda state: {"bar": ["c"]})
workflow.add_edge(START, "node_a")
workflow.add_edge("node_a", "node_b")
workflow.add_edge("node_b", "node_c")
graph = workflow.compile(checkpointer=InMemorySaver())
"""


def strip(root: Locator, text: str) -> Locator:
    """The line below the toolbar that tells this."""
    return root.locator(".ckv-banner").filter(has_text=text)


def set_value(dialog: Locator, path: str, text: str) -> None:
    """Write one value in its place."""
    field = dialog.get_by_role("textbox", name=f"New value of {path}")
    field.fill(text)
    field.press("Enter")
    expect(field).to_have_count(0)


@pytest.mark.parametrize("root", ["ckpt_viz", "langgraph"])
def test_the_acts_in_jupyterlab(open_notebook: Open, root: str) -> None:
    run = 'graph.invoke({"foo": "", "bar": []}, config);'
    notebook = open_notebook(GRAPH.format(root=root, nodes=ASKS) + run, SHOW, READ, "'later'")
    explorer = notebook.explorer()
    before = notebook.sources()
    answer(explorer)
    stays(notebook, explorer, before, "from a and tea ()")
    edit_and_run(explorer)
    stays(notebook, explorer, before, "EDITED ('node_b',)")
    explorer.button("Make the old head the head again").click()
    expect(explorer.rows.first).to_have_attribute("aria-selected", "true")
    stays(notebook, explorer, before, "from a and tea ()")
    try_on_scratch(explorer)
    stays(notebook, explorer, before, "from a and tea ()")
    new_code(notebook, explorer)


def stays(notebook: Notebook, explorer: Explorer, sources: list[str], state: str) -> None:
    """The focus is still inside, no key reaches a cell, and the thread's head is this."""
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")
    press_all(notebook)
    assert notebook.sources() == sources
    assert notebook.run_cell(2).strip() == state


def answer(explorer: Explorer) -> None:
    """Answer, and then answer the same question differently: a branch beside the first."""
    explorer.select("node_a")
    asked = explorer.rows.first.get_attribute("data-checkpoint-id")
    for count, said, name in ((4, "coffee", "question 1 of 1"), (6, "tea", "answer differently")):
        explorer.root.locator(f"[data-checkpoint-id='{asked}']").click()
        expect(explorer.root).to_have_attribute("aria-busy", "false")
        form = explorer.panel("Writes").get_by_role("form", name=f"node_b, {name}")
        form.get_by_role("textbox").fill(said)
        form.get_by_role("button", name="Resume").dblclick()
        expect(explorer.rows).to_have_count(count)
        expect(strip(explorer.root, "The run ended")).to_be_visible()
    expect(explorer.rows).to_have_count(6)


def edit_and_run(explorer: Explorer) -> None:
    """One value of the state, edited where it stands, and what follows run with it."""
    count = explorer.rows.count()
    explorer.select("node_a")
    explorer.panel("State").get_by_role("button", name="Edit foo").click()
    dialog = explorer.root.get_by_role("dialog", name="Fork")
    set_value(dialog, "foo", "EDITED")
    dialog.get_by_role("button", name="Preview").click()
    preview = dialog.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("EDITED")
    expect(preview).to_contain_text("asks again")
    dialog.get_by_role("button", name="Fork and run").dblclick()
    expect(strip(explorer.root, "waits for an answer")).to_be_visible()
    expect(explorer.rows).to_have_count(count + 1)


def try_on_scratch(explorer: Explorer) -> None:
    """The same on a copy: the history itself stays as it is."""
    count = explorer.rows.count()
    explorer.select("node_a")
    explorer.button("Scratch").click()
    expect(strip(explorer.root, "Scratch copy of thread 1")).to_be_visible()
    before = explorer.rows.count()
    dialog = explorer.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill('{"foo": "scratch"}')
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(explorer.rows).to_have_count(before + 1)
    explorer.button("Back to the thread").click()
    expect(explorer.rows).to_have_count(count)


def new_code(notebook: Notebook, explorer: Explorer) -> None:
    """A cell that makes the graph anew: the history is kept, and runs on with the new code."""
    count = explorer.rows.count()
    notebook.page.evaluate(WRITE, NEW)
    assert "goes on with the new code (new: node_c)" in notebook.run_cell(3)
    expect(strip(explorer.root, "New code, old history. New: node_c.")).to_be_visible()
    expect(explorer.rows).to_have_count(count)
    explorer.select("node_a")
    dialog = explorer.sheet("Replay")
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(explorer.rows).not_to_have_count(count)
    expect(strip(explorer.root, "The run ended")).to_be_visible()
    explorer.rows.first.click()
    expect(explorer.panel("State")).to_contain_text("from a and NEW")


# -- on a page alone ----------------------------------------------------------------------------


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    """Shows an Explorer on a fresh page; the test fails when the page complained."""
    stages: list[Stage] = []

    def make(explorer: Any = None) -> Stage:
        context = chromium.new_context(viewport={"width": 1100, "height": 700})
        context.set_default_timeout(8_000)
        explorer = explorer or explore(tell(), thread_id=THREAD, follow=False)
        stages.append(Stage(context.new_page(), explorer))
        return stages[-1]

    yield make
    for stage in stages:
        stage.explorer.close()
        stage.page.context.close()
    assert not [error for stage in stages for error in stage.errors]


def test_a_deep_value_is_edited_and_the_rest_stays_itself(show: Show) -> None:
    stage = show()
    stage.select("plan")
    old = stage.explorer.selected.values
    dialog = stage.sheet("Fork")
    dialog.get_by_role("button", name="Open plan").click()
    dialog.get_by_role("button", name="Edit plan.depth", exact=True).click()
    field = dialog.get_by_role("textbox", name="New value of plan.depth")
    field.fill("nine")
    expect(field).to_have_attribute("aria-invalid", "true")
    set_value(dialog, "plan.depth", "9")
    expect(dialog.get_by_role("button", name="Edit plan.depth", exact=True)).to_be_focused()
    lock = dialog.get_by_role("button", name="Edit image", exact=True)
    expect(lock).to_have_attribute("aria-disabled", "true")
    expect(lock).to_have_attribute("aria-description", re.compile("JSON has no form for bytes"))
    dialog.get_by_role("button", name="Open messages").click()
    dialog.get_by_role("button", name="Edit messages[0].content", exact=True).click()
    set_value(dialog, "messages[0].content", "In Oslo?")
    ways = dialog.get_by_role("radiogroup", name="Write messages")
    expect(ways.get_by_role("radio", name="replace")).to_be_checked()
    expect(ways.get_by_role("radio", name="through the reducer")).to_be_disabled()
    expect(dialog).to_contain_text("Writes 1 checkpoint to this kernel's memory")
    dialog.get_by_role("button", name="Fork", exact=True).click()
    strip(stage.root, "Forked").wait_for()
    new = stage.explorer.selected.values
    assert new["plan"] == {**old["plan"], "depth": 9}
    assert new["messages"][0].content == "In Oslo?"
    assert len(new["messages"]) == len(old["messages"])
    assert (new["embedding"] == old["embedding"]).all()


def test_redo_and_pretend_start_before_the_node(show: Show) -> None:
    stage = show()
    stage.select("plan")
    parent = stage.explorer.selected.snapshot.parent_config["configurable"]["checkpoint_id"]
    dialog = stage.sheet("Fork")
    dialog.get_by_role("radio", name="pretend plan returned").check()
    values = dialog.get_by_role("textbox", name="Values")
    expect(values).to_have_value(re.compile('"tool": "exa"'))
    expect(dialog.get_by_role("combobox", name="As node")).to_have_value("plan")
    expect(dialog.get_by_role("group", name="Edit in place")).to_have_count(0)
    values.fill('{"plan": {"tool": "none"}, "budget": 1}')
    dialog.get_by_role("button", name="Fork", exact=True).click()
    strip(stage.root, "Forked").wait_for()
    made = stage.explorer.selected
    assert made.values["plan"] == {"tool": "none"}
    assert made.snapshot.parent_config["configurable"]["checkpoint_id"] == parent
    assert made.snapshot.next == ("approve",)
    stage.root.locator(f"[data-checkpoint-id='{parent}']").click()
    stage.select("call_model")
    dialog = stage.sheet("Fork")
    dialog.get_by_role("radio", name="redo call_model").check()
    dialog.get_by_role("button", name="Preview").click()
    next_ = dialog.get_by_role("region", name="Preview").locator("dd").first
    expect(next_).to_have_text("call_model")


def test_breakpoints_hold_and_go_on(show: Show) -> None:
    graph = make_graph()
    explorer = explore(graph, thread_id="b", follow=False)
    stage = show(explorer)
    dialog = stage.sheet("Breakpoints")
    dialog.get_by_role("checkbox", name="Break before plan").check()
    dialog.get_by_role("checkbox", name="Break before review:grade_review").check()
    expect(stage.button("Breakpoints")).to_have_attribute("title", "Breakpoints: 2 set")
    assert explorer.breakpoints.before == ("plan", "review:grade_review")
    dialog.get_by_role("button", name="Close").click()
    dialog = stage.sheet("Run")
    dialog.get_by_role("textbox", name="Input").fill('{"messages": [["human", "?"]], "budget": 2}')
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(strip(stage.root, "holds at a breakpoint")).to_contain_text("Next: plan")
    stage.button("Go on").click()
    expect(strip(stage.root, "holds at a breakpoint")).to_contain_text("Next: review")
    stage.button("Go on").click()
    strip(stage.root, "The run ended").wait_for()
    assert explorer.head.values["grade"] == 0.9
    explorer.set_breakpoints()
    expect(stage.button("Breakpoints")).to_have_attribute("title", "Breakpoints")


def test_a_double_click_is_one_act_and_a_click_one_message(show: Show) -> None:
    stage = show()
    stage.select("call_model")
    stage.asked.clear()
    stage.root.locator("[role=row]").filter(has_text="start").last.click()
    stage.settle()
    told = [message["kind"] for message in stage.asked if message["kind"] != "nested"]
    assert told == ["checkpoint"]
    assert stage.explorer.selected.snapshot.metadata["step"] == 0
    count = stage.rows.count()
    dialog = stage.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill('{"budget": 7}')
    stage.asked.clear()
    dialog.get_by_role("button", name="Fork", exact=True).dblclick()
    expect(stage.rows).to_have_count(count + 1)
    stage.page.wait_for_timeout(300)
    assert [message["kind"] for message in stage.asked].count("fork") == 1
    assert stage.rows.count() == count + 1
    kinds = {message["kind"] for message in stage.asked}
    assert "checkpoint" not in kinds, "the panels came with the answer"


def test_explorers_and_views_are_in_step(show: Show) -> None:
    graph = tell()
    first = show(explore(graph, thread_id=THREAD, follow=False))
    second = show(explore(graph, thread_id=THREAD, follow=False))
    first.page.evaluate("window.stage.show(); 0")
    views = first.page.locator(".ckpt-viz")
    expect(views).to_have_count(2)
    count = second.rows.count()
    first.select("plan")
    expect(views.nth(1).get_by_role("heading", name="After plan")).to_be_visible()
    dialog = first.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill('{"budget": 7}')
    dialog.get_by_role("button", name="Fork", exact=True).click()
    for rows in (second.rows, views.nth(1).locator("[role=row][data-checkpoint-id]")):
        expect(rows).to_have_count(count + 1)
    expect(views.nth(1).get_by_role("dialog")).to_have_count(0)
    second.explorer.make_head()
    expect(first.rows).to_have_count(count + 2)


def test_code_is_copied_and_without_a_clipboard_shown_selected(show: Show, tmp_path: Path) -> None:
    stage = show()
    stage.select("call_model")
    stage.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    panel = stage.tab("Raw")
    panel.get_by_role("button", name="Copy as Python").click()
    expect(panel.get_by_role("status").filter(has_text="Copied: Python")).to_be_visible()
    assert "graph.get_state(config)" in stage.page.evaluate("window.copied")
    stage.page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no')); 0")
    panel.get_by_role("button", name="Copy as pytest").click()
    code = panel.get_by_role("textbox", name="Code")
    expect(code).to_be_focused()
    chosen = code.evaluate("el => el.value.slice(el.selectionStart, el.selectionEnd)")
    assert chosen == code.input_value()
    test = tmp_path / "test_copied.py"
    test.write_text(chosen)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "1 passed" in done.stdout, done.stdout
    panel.get_by_role("button", name="Close the code").click()
    assert stage.root.evaluate("root => root.contains(document.activeElement)")


def test_stop_ends_a_run_between_two_steps(show: Show) -> None:
    import threading

    from ckpt_viz.checkpoint.memory import InMemorySaver
    from ckpt_viz.graph import START, StateGraph

    gate = threading.Event()
    builder = StateGraph(dict)
    builder.add_node("slow", lambda state: gate.wait(10) and {"n": 1})
    builder.add_node("after", lambda state: {"n": 2})
    builder.add_edge(START, "slow").add_edge("slow", "after")
    graph = builder.compile(checkpointer=InMemorySaver())
    stage = show(explore(graph, thread_id="s", follow=False))
    dialog = stage.sheet("Run")
    dialog.get_by_role("textbox", name="Input").fill('{"n": 0}')
    dialog.get_by_role("button", name="Run", exact=True).click()
    stop = stage.button("Stop")
    expect(stop).not_to_have_attribute("aria-disabled", "true")
    stop.click()
    expect(stage.root.get_by_text("Stops before the next step.")).to_be_attached()
    gate.set()
    strip(stage.root, "The run was stopped").wait_for()
    assert stage.explorer.head.values == {"n": 1}
    assert stage.explorer.head.snapshot.next == ("after",)


def test_what_can_only_be_read_says_so_once_and_why(stage_of: Show) -> None:
    stage = stage_of(explore(tell().checkpointer, THREAD, follow=False))
    lock = stage.button("read-only: why?")
    lock.click()
    note = strip(stage.root, "Read-only.")
    expect(note).to_contain_text("graph=graph")
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)
    expect(lock).to_have_attribute("aria-expanded", "false")


def test_nothing_runs_before_a_thread_is_chosen(stage_of: Show) -> None:
    graph = tell()
    graph.update_state({"configurable": {"thread_id": "other"}}, {"budget": 1}, as_node="plan")
    stage = stage_of(explore(graph, follow=False))
    expect(stage.button("Run")).to_have_attribute("aria-disabled", "true")


def test_an_answer_deep_inside_shows_what_it_made_there(stage_of: Show) -> None:
    stage = stage_of(explore(two_questions(), "1"))
    stage.select("outer")
    expect(stage.root.locator("[role=row][aria-expanded=false]")).to_have_count(1)
    stage.page.keyboard.press("ArrowRight")
    stage.select("inner")
    levels = stage.root.locator("[role=row]", has_text="inner")
    expect(levels.first).to_have_attribute("aria-level", "2")
    form = stage.tab("Writes").get_by_role("form")
    form.get_by_role("textbox").fill("yes")
    form.get_by_role("button", name="Resume").click()
    expect(stage.root.locator(".ckv-title")).to_contain_text("After inner")
    expect(stage.root.locator("[role=row]", has_text="not finished")).to_have_count(1)
    expect(stage.button("Resume").first).not_to_have_attribute("aria-disabled", "true")


def two_questions() -> Any:
    """A question in a nested graph and one beside it."""

    def ask(state: Asked) -> Asked:
        return {"log": [interrupt("?")]}

    inside = StateGraph(Asked).add_node("first", lambda state: {"log": ["first"]})
    inside.add_node("inner", ask).add_edge(START, "first").add_edge("first", "inner")
    graph = StateGraph(Asked).add_node("outer", inside.compile()).add_node("beside", ask)
    graph.add_edge(START, "outer").add_edge(START, "beside")
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke({"log": []}, {"configurable": {"thread_id": "1"}})
    return compiled
