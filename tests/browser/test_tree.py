"""The tree in a real browser: what opens, folds, pans and is told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ckpt_viz import explore

from . import gardens
from .stage import Stage

Show = Callable[..., Stage]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    """Shows a graph's history on a page of its own; the page must not complain."""
    stages: list[Stage] = []

    def start(graph: Any, *, width: int = 1000, theme: str = "light", **options: Any) -> Stage:
        page = chromium.new_page(viewport={"width": width, "height": 620})
        page.set_default_timeout(8_000)
        stages.append(Stage(page, explore(graph, follow=False, **options), theme=theme))
        return stages[-1]

    yield start
    errors = [error for stage in stages for error in stage.errors]
    for stage in stages:
        stage.page.close()
        stage.explorer.close()
    assert not errors


def named(stage: Stage, text: str) -> Any:
    """The rows with this text."""
    return stage.root.locator("[role=row]", has_text=text)


def test_nested_graphs_open_under_their_owner(show: Show) -> None:
    stage = show(gardens.nested())
    owners = stage.root.locator("[role=row][aria-expanded=false]")
    expect(owners).to_have_count(2)
    before = stage.rows.count()
    owners.last.click()
    owners.last.press("ArrowRight")
    inner = stage.root.locator("[role=row][aria-level='2'][data-checkpoint-id]")
    expect(inner).to_have_count(5)
    inner.filter(has_text="mine").click()
    stage.settle()
    expect(stage.root.locator(".ckv-title")).to_contain_text("After mine")
    inner.filter(has_text="mine").press("ArrowRight")
    expect(stage.root.locator("[role=row][aria-level='3'][data-checkpoint-id]")).to_have_count(4)
    inner.filter(has_text="mine").press("ArrowLeft")
    expect(stage.root.locator("[role=row][aria-level='3']")).to_have_count(0)
    stage.root.locator("[role=row][aria-expanded=true]").last.locator(".ckv-twisty").click()
    expect(stage.rows).to_have_count(before)


def test_many_tasks_of_a_node_are_one_row(show: Show) -> None:
    stage = show(gardens.workers())
    row = named(stage, "worker \u00d730")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("28 done 1 failed 1 waits")
    expect(row).to_contain_text("ValueError")
    assert row.get_attribute("data-checkpoint-id") is None
    expect(stage.root).to_contain_text("3 checkpoints")


def test_finished_branches_fold_to_a_row(show: Show) -> None:
    stage = show(gardens.forks(count=3))
    whole = stage.rows.count()
    tip = stage.root.locator("[role=row][aria-expanded=true]", has_text="fork B")
    tip.locator(".ckv-twisty").click()
    folded = named(stage, "fork B, 3 steps")
    expect(folded).to_have_attribute("aria-expanded", "false")
    assert stage.rows.count() == whole - 2
    folded.press("ArrowRight")
    expect(stage.rows).to_have_count(whole)
    stage.rows.first.click()
    stage.button("Fold finished branches").click()
    expect(named(stage, "fork B, 3 steps")).to_have_count(1)
    hidden = [row.id for row in stage.explorer.timeline.rows() if row.step == 6][1]
    stage.explorer.select(hidden)
    shown = stage.root.locator(f"[role=row][data-checkpoint-id='{hidden}']")
    expect(shown).to_have_attribute("aria-selected", "true")


def test_lanes_pan_and_long_names_keep_both_ends(show: Show) -> None:
    stage = show(gardens.forks())
    assert stage.page.locator("canvas").evaluate("c => c.getBoundingClientRect().width") < 125
    name = stage.root.locator("[role=rowheader]", has_text="summarize").first
    expect(name.locator(".ckv-tail")).to_have_text("_reader_2")
    expect(name.locator(".ckv-head")).to_have_text(re.compile("^summarize_the_answers"))
    box = name.locator(".ckv-tail").bounding_box()
    assert box is not None
    assert box["width"] > 30


def test_copies_and_missing_parents_are_told(show: Show) -> None:
    stage = show(gardens.copies())
    expect(named(stage, "copy by you")).to_contain_text("copy of step 2")
    expect(named(stage, "parent missing")).to_have_count(1)


def test_threads_sort_and_filter(show: Show) -> None:
    graph = gardens.many_threads(120)
    stage = show(graph, redact=["note"])
    table = stage.root.get_by_role("table", name="Threads")
    expect(table.get_by_role("row")).to_have_count(101)
    stage.root.get_by_role("button", name=re.compile("More threads")).click()
    expect(table.get_by_role("row")).to_have_count(121)
    stage.button("Failed only").click()
    expect(table.get_by_role("row")).to_have_count(4)
    stage.button("Failed only").click()
    stage.root.get_by_role("combobox", name="State of threads").select_option("waits")
    expect(table.get_by_role("row")).to_have_count(4)
    stage.root.get_by_role("combobox", name="State of threads").select_option("")
    stage.root.get_by_role("searchbox", name="Filter threads").fill("support-77")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(table).to_contain_text("note: [redacted]")
    expect(table).not_to_contain_text("weather")
    table.get_by_role("button", name="support-77").click()
    expect(stage.rows).to_have_count(4)
    stage.root.get_by_role("combobox", name="Thread").select_option("all threads…")
    expect(table.get_by_role("row")).to_have_count(101)


def test_a_long_history_comes_in_pages(show: Show) -> None:
    stage = show(gardens.long(6_000))
    grid = stage.root.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", "6001")
    assert any(one["kind"] == "older" for one in stage.asked)
    stage.rows.first.click()
    stage.rows.first.press("End")
    expect(named(stage, "input")).to_have_attribute("aria-selected", "true")


def test_two_branches_are_compared_step_by_step(show: Show) -> None:
    stage = show(gardens.forks(count=2))
    tips = [row.id for row in stage.explorer.timeline.rows() if row.status == "done"]
    for tip in (tips[0], tips[-1]):
        row = stage.root.locator(f"[role=row][data-checkpoint-id='{tip}']")
        row.click()
        row.press(" ")
    expect(named(stage, "fork B").locator(".ckv-b-mark")).to_have_text("B")
    panel = stage.tab("Diff")
    expect(panel).to_contain_text("added")
    panel.get_by_role("radio", name="branches, step by step").check(force=True)
    steps = panel.get_by_role("table", name="Steps of both branches")
    expect(steps).to_contain_text("update by you")
    expect(panel).to_contain_text("First difference")
    panel.get_by_role("button", name="Common ancestor").click()
    selected = stage.root.locator("[role=row][aria-selected=true]")
    lines = [stage.explorer.timeline.ancestors(tip) for tip in (tips[0], tips[-1])]
    ancestor = next(i for i in lines[0] if i in lines[1])
    expect(selected).to_have_attribute("data-checkpoint-id", ancestor)
    panel.get_by_role("button", name="Swap").click()
    expect(named(stage, "fork B").locator(".ckv-b-mark")).to_have_text("A")
    panel.get_by_role("button", name="Clear marks").click()
    expect(stage.root.locator(".ckv-row .ckv-b-mark")).to_have_count(0)


def test_surprises_are_told_with_a_jump(show: Show) -> None:
    stage = show(gardens.copies())
    strip = stage.root.get_by_role("group", name="Surprises")
    strip.get_by_role("button", name=re.compile("more")).click()
    strip.get_by_role("button", name=re.compile("names a parent")).click()
    expect(named(stage, "parent missing")).to_have_attribute("aria-selected", "true")
    strip.get_by_role("button", name=re.compile("dead end")).click()
    expect(stage.rows.first).to_have_attribute("aria-selected", "true")
    strip.get_by_role("button", name="Dismiss the surprises").click()
    expect(strip).to_have_count(0)
    assert stage.root.evaluate("root => root.contains(document.activeElement)")


def test_notes_stay_and_travel(show: Show, tmp_path: Any) -> None:
    graph = gardens.answered()
    stage = show(graph)
    stage.select("boil")
    stage.root.get_by_role("button", name="note", exact=True).click()
    form = stage.root.get_by_role("form", name="Note")
    form.get_by_role("textbox").fill("the kettle <b>was</b> cold")
    form.get_by_role("textbox").press("Enter")
    badge = stage.root.locator("[role=row] .ckv-b-note")
    expect(badge).to_have_attribute("title", "the kettle <b>was</b> cold")
    (label,) = graph.checkpointer.labels("1")
    assert label["label"] == "the kettle <b>was</b> cold"
    again = show(graph)
    expect(again.root.locator("[role=row] .ckv-b-note")).to_have_count(1)
    for kind in ("html", "svg", "json", "dot"):
        told = stage.explorer.export(tmp_path / f"run.{kind}").read_text()
        assert "the kettle" in told, kind


def test_any_checkpoint_becomes_the_head(show: Show) -> None:
    stage = show(gardens.answered())
    stage.rows.last.click()
    stage.root.get_by_role("button", name="make this the head").click()
    expect(stage.rows.first).to_contain_text("copy of step -1")
    expect(stage.rows.first).to_contain_text("head")


def test_a_watched_path_is_a_column(show: Show) -> None:
    stage = show(gardens.forks(count=1))
    stage.rows.first.click()
    stage.settle()
    stage.button("Watch count").click()
    head = stage.root.get_by_role("columnheader", name="count")
    expect(head).to_have_count(1)
    cells = stage.rows.first.locator(".ckv-c-watch")
    expect(cells).to_have_text("5")
    expect(named(stage, "step_3").first.locator(".ckv-c-watch")).to_have_text("3")
    stage.button("Stop watching count").click()
    expect(head).to_have_count(0)


def test_a_step_of_several_branches(show: Show) -> None:
    stage = show(gardens.forks(count=3))
    search = stage.root.get_by_role("searchbox", name="Search checkpoints")
    search.fill("go to 4")
    places = stage.root.get_by_role("group", name="Branches with step 4").get_by_role("button")
    expect(places).to_have_count(2)
    places.filter(has_text="main").click()
    chosen = stage.root.locator("[role=row][aria-selected=true]")
    expect(chosen.locator(".ckv-c-step")).to_have_text("4")
    search.fill("count>3")
    stage.button("First checkpoint where this appears").click()
    first = stage.explorer.search("count>3")[-1].id
    expect(chosen).to_have_attribute("data-checkpoint-id", first)


def test_the_slider_spans_what_was_not_read(show: Show) -> None:
    stage = show(gardens.long(9_000, 0))
    slider = stage.root.get_by_role("slider", name="Time")
    expect(slider).to_have_attribute("max", "8999")
    slider.fill("1")
    chosen = stage.root.locator("[role=row][aria-selected=true]")
    expect(chosen.locator(".ckv-c-step")).to_have_text("0")


MOVES = """async (place) => {
  const list = document.querySelector(".ckv-scroll");
  const seen = [];
  const look = (all) => seen.push(...all.filter((one) => one.type === "childList"
    ? one.target.matches(".ckv-window") : one.target.matches(".ckv-datarow")));
  const watch = new MutationObserver(look);
  watch.observe(list, { subtree: true, childList: true, attributeFilter: ["style"] });
  if (typeof place === "number") {
    list.scrollTop = place;
    list.dispatchEvent(new Event("scroll"));
  } else
    window.stage.emit("msg:custom",
      { event: "rows", reset: false, head: place[0], rows: [place], unfinished: [] }, []);
  await new Promise((done) => setTimeout(done, 100));
  look(watch.takeRecords());
  watch.disconnect();
  return seen.length;
}"""
FIRST = """() => {
  const top = document.querySelector(".ckv-scroll").getBoundingClientRect().top;
  return [...document.querySelectorAll("[role=row][data-checkpoint-id]")]
    .find((row) => row.getBoundingClientRect().top >= top).textContent;
}"""


def new_row(stage: Stage, number: int) -> list[Any]:
    """A row on the newest, as the kernel tells it."""
    id_, last = f"ffffffff-0000-6000-8000-{number:012x}", stage.explorer.timeline.known(1)[0]
    parent = last.id if number == 0 else f"ffffffff-0000-6000-8000-{number - 1:012x}"
    step = last.step + 1 + number
    return [id_, parent, step, "loop", step * 1000, ["act"], ["n"], "", [], None]


def test_a_jump_and_a_new_row_move_the_window_and_not_each_row(show: Show) -> None:
    """To move a row costs style and layout: after a jump rows stand where they were in a window."""
    stage = show(gardens.long(3_000, 20))
    grid = stage.root.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", "3001")  # all has been read
    stage.page.wait_for_timeout(600)
    stage.page.evaluate(MOVES, 9_000)
    jumps = [stage.page.evaluate(MOVES, at) for at in (30_000, 52_000, 21_000, 60_000)]
    assert max(jumps) <= 3, f"a jump moves rows one by one: {jumps}"
    stage.page.evaluate(MOVES, 0)
    stage.rows.nth(5).click()  # it keeps the focus, also out of sight
    stage.settle()
    moves = [stage.page.evaluate(MOVES, new_row(stage, k)) for k in range(30)]
    assert max(moves[1:]) <= 5, f"a new row moves the others: {moves}"


def test_new_rows_leave_the_list_where_a_reader_scrolled_it(show: Show) -> None:
    stage = show(gardens.long(600, 3))
    stage.rows.nth(5).click()
    stage.settle()
    stage.root.locator(".ckv-scroll").evaluate("el => { el.scrollTop = 7000; }")
    stage.page.wait_for_timeout(100)
    before = stage.page.evaluate(FIRST)
    for number in range(3):
        stage.page.evaluate(MOVES, new_row(stage, number))
    assert stage.page.evaluate(FIRST) == before


def test_the_next_error_is_found_in_a_folded_branch(show: Show) -> None:
    stage = show(gardens.mended())
    errors = stage.root.locator("[role=row]", has_text="ValueError")
    expect(errors).to_have_count(1)
    stage.root.locator("[role=row][aria-expanded=true]").last.click()
    stage.page.keyboard.press("ArrowLeft")
    stage.page.keyboard.press("Home")
    expect(stage.root.locator("[role=row][aria-expanded=false]")).to_have_count(1)
    expect(errors).to_have_count(0)
    stage.page.keyboard.press("e")
    expect(errors).to_have_attribute("aria-selected", "true")
    expect(errors).to_be_focused()
    stage.page.keyboard.press("i")
    expect(stage.root.get_by_role("status").first).to_contain_text("no open question")


def test_from_a_row_to_its_cells_and_values(show: Show) -> None:
    stage = show(gardens.mended())
    stage.select("second")
    stage.page.keyboard.press("ArrowRight")
    cell = stage.root.locator("[role=row] > :focus")
    expect(cell).to_have_attribute("role", "gridcell")
    stage.page.keyboard.press("ArrowRight")
    stage.page.keyboard.press("ArrowRight")
    expect(cell).to_have_attribute("role", "rowheader")
    for _ in range(3):
        stage.page.keyboard.press("ArrowLeft")
    expect(stage.root.locator("[role=row]:focus")).to_contain_text("second")
    stage.page.keyboard.press("b")
    expect(stage.root.locator(".ckv-blame").first).to_contain_text("second")
    expect(stage.root.locator("[role=tabpanel] :focus")).to_have_count(1)
