"""The Graph and Storage tabs with the real Python side: any graph, any name, any source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ckpt_viz import explore
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.store.memory import InMemoryStore

from . import gardens
from .stage import Stage
from .story import CONFIG, THREAD, State, tell
from .test_access import AXE, LOOK, RULES

Open = Callable[..., Stage]
HOSTILE = (
    "<img src=x onerror=window.pwned=1>",
    'quo"te\\N\\n</script><script>window.pwned=1</script>',
    "a_really_long_name_that_goes_on_" * 8,
    "日本語のノードの名前です",
    "evil\u202egnp.exe",
    "nul\x00and\x1bescape",
    "javascript_alert(1)",
)


def chain(names: list[str], fan: int = 1) -> Any:
    """A graph of these nodes that has run; node k leads to the next `fan` nodes."""
    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, lambda state: {})
    graph.add_edge(START, names[0])
    for k, name in enumerate(names):
        for other in names[k + 1 : k + 1 + fan]:
            graph.add_edge(name, other)
    graph.add_edge(names[-1], END)
    made = graph.compile(checkpointer=InMemorySaver())
    with suppress(Exception):
        made.invoke({"budget": 1}, {**CONFIG, "recursion_limit": 6})
    return made


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Open]:
    """Shows a source on a fresh page; the test fails when the page complained."""
    stages: list[Stage] = []

    def show(source: Any, theme: str = "light", width: int = 1100, thread: str = THREAD) -> Stage:
        context = chromium.new_context(viewport={"width": width, "height": 700})
        context.set_default_timeout(8_000)
        explorer = explore(source, thread_id=thread, theme=theme, follow=False)
        stages.append(Stage(context.new_page(), explorer, theme=theme))
        return stages[-1]

    yield show
    for stage in stages:
        stage.explorer.close()
        stage.page.context.close()
    assert not [error for stage in stages for error in stage.errors]
    assert not [url for stage in stages for url in stage.strangers]


def drawn(stage: Stage) -> Any:
    """The picture of the Graph tab."""
    if stage.button("Back").count() == 0 and stage.root.get_attribute("class") != "ckpt-viz":
        stage.rows.first.click()
    picture = stage.tab("Graph").get_by_role("group", name=re.compile(r"^Graph, \d+ nodes?$"))
    picture.wait_for()
    return picture


@pytest.mark.parametrize("count", [1, 8, 60])
def test_a_graph_of_any_size_is_drawn_inside_its_frame(opened: Open, count: int) -> None:
    stage = opened(chain([f"node_{k:02d}" for k in range(count)], fan=2))
    picture = drawn(stage)
    expect(picture).to_have_attribute("aria-label", f"Graph, {count} node{'s' * (count > 1)}")
    nodes = picture.get_by_role("button")
    expect(nodes).to_have_count(count)
    letters = nodes.first.locator("text").first.bounding_box()["height"]
    assert letters > 6, "it opens no smaller than can be read"
    stage.button("Fit the graph").click()
    room = picture.bounding_box()
    boxes = [nodes.nth(k).bounding_box() for k in range(count)]
    for box in boxes:
        assert box["x"] >= room["x"] - 1
        assert box["x"] + box["width"] <= room["x"] + room["width"] + 1
        assert box["y"] >= room["y"] - 1
        assert box["y"] + box["height"] <= room["y"] + room["height"] + 1


def test_a_graph_too_long_to_be_read_opens_at_what_ran(opened: Open) -> None:
    stage = opened(chain([f"node_{k:02d}" for k in range(60)], fan=1))
    stage.rows.nth(0).click()
    picture = drawn(stage)
    lit = picture.locator("[data-node].ckv-made").first
    room, box = picture.bounding_box(), lit.bounding_box()
    assert room["x"] <= box["x"]
    assert box["x"] + box["width"] <= room["x"] + room["width"]
    assert room["y"] <= box["y"]
    assert box["y"] + box["height"] <= room["y"] + room["height"]


def test_nodes_inside_a_node_are_marked(opened: Open) -> None:
    stage = opened(gardens.nested(), thread="1")
    stage.rows.first.click()  # the second run waits in the graph inside
    stage.settle()
    picture = drawn(stage)
    expect(picture.get_by_role("button", name="ask in field, waits for an answer")).to_be_visible()
    done = "dig in field:mine, done, the step is not over"
    expect(picture.get_by_role("button", name=done)).to_be_visible()
    stage.select("tell")
    expect(picture.get_by_role("button", name=re.compile("^ask in field, leads"))).to_be_visible()
    stage.root.locator("[role=row][aria-level='1']", has_text="field").last.click()
    expect(picture.get_by_role("button", name="look in field, ran to make this")).to_be_visible()
    expect(picture.locator(".ckv-frame.ckv-g-ran")).to_have_count(2)


@pytest.mark.parametrize("theme, width", [("light", 1100), ("dark", 480)])
def test_hostile_names_are_text(opened: Open, theme: str, width: int) -> None:
    stage = opened(chain(list(HOSTILE)), theme, width)
    if width < 720:
        stage.rows.first.click()
    picture = drawn(stage)
    expect(picture.get_by_role("button")).to_have_count(len(HOSTILE))
    assert picture.locator("img, script, foreignObject").count() == 0
    assert stage.page.evaluate("window.pwned") is None
    named = picture.get_by_role("button").evaluate_all(
        "nodes => nodes.map(n => n.getAttribute('aria-label'))"
    )
    assert not [name for name in named if re.search("[\x00\x1b\u202e]", name)]
    stage.button("Fit the graph").click()
    picture.get_by_role("button").first.click()
    card = stage.root.get_by_role("region", name=re.compile("^Node <img"))
    expect(card).to_contain_text("<img src=x")
    fits = "nodes => nodes.filter(n => n.querySelector('text').getBBox().width > "
    fits += "n.querySelector('.ckv-box').getBBox().width).length"
    assert picture.locator("[data-node]").evaluate_all(fits) == 0, "labels stay in their boxes"


def test_the_keyboard_walks_zooms_and_picks(opened: Open) -> None:
    stage = opened(tell())
    stage.select("plan")
    picture = drawn(stage)
    picture.get_by_role("button", name=re.compile("^plan, ran")).focus()
    seen = {"plan"}
    for key in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowDown") * 3:
        stage.page.keyboard.press(key)
        name = stage.page.evaluate("document.activeElement.getAttribute('aria-label')")
        seen.add(re.split(r"[, ]", name)[0])
    assert len(seen) >= 3
    before = picture.get_attribute("viewBox")
    stage.page.keyboard.press("+")
    assert picture.get_attribute("viewBox") != before
    stage.page.keyboard.press("0")
    stage.page.keyboard.press("Enter")
    expect(stage.root.get_by_role("region", name=re.compile("^Node "))).to_be_visible()
    stage.page.keyboard.press("Escape")
    inside = stage.root.evaluate("root => root.contains(document.activeElement)")
    assert inside


def test_the_mouse_pans_and_zooms_and_the_wheel_alone_scrolls_the_panel(opened: Open) -> None:
    stage = opened(chain([f"node_{k:02d}" for k in range(60)], fan=2))
    picture = drawn(stage)
    mouse, room = stage.page.mouse, picture.bounding_box()
    x, y = room["x"] + room["width"] / 2, room["y"] + room["height"] / 2
    seen = [picture.get_attribute("viewBox")]
    mouse.move(x, y)
    stage.page.keyboard.down("Control")
    for _ in range(4):  # the whole graph is seen: there is nothing to pan
        mouse.wheel(0, -300)
    stage.page.keyboard.up("Control")
    expect(picture).not_to_have_attribute("viewBox", seen[-1])
    stage.page.wait_for_timeout(100)
    seen.append(picture.get_attribute("viewBox"))
    mouse.down()
    mouse.move(x - 60, y - 40, steps=4)
    mouse.up()
    seen.append(picture.get_attribute("viewBox"))
    mouse.wheel(0, 90)
    panel = stage.root.get_by_role("tabpanel")
    stage.page.wait_for_function("el => el.scrollTop > 0", arg=panel.element_handle())
    assert picture.get_attribute("viewBox") == seen[-1]
    assert len(set(seen)) == 3


def test_forced_colours_draw_with_the_system_s(chromium: Browser) -> None:
    context = chromium.new_context(forced_colors="active", viewport={"width": 1100, "height": 700})
    explorer = explore(tell(), thread_id=THREAD, follow=False)
    stage = Stage(context.new_page(), explorer)
    text = drawn(stage).locator(".ckv-node text").first
    box = drawn(stage).locator(".ckv-node .ckv-box").first
    ink, paper = (
        text.evaluate("el => getComputedStyle(el).fill"),
        box.evaluate("el => getComputedStyle(el).fill"),
    )
    assert {ink, paper} == {"rgb(0, 0, 0)", "rgb(255, 255, 255)"}
    explorer.close()
    context.close()


def test_failed_waiting_and_many_are_marked_and_said(opened: Open) -> None:
    stage = opened(tell())
    stage.rows.filter(has_text="worker").first.click()
    picture = drawn(stage)
    worker = picture.get_by_role(
        "button", name=re.compile("^worker \u00d730, ran to make this \u00d730")
    )
    expect(worker).to_contain_text("\u00d730")
    expect(picture.get_by_role("button", name=re.compile("^summarize, failed"))).to_be_visible()
    stage.root.locator("[role=row]").filter(has_text="approve").first.click()
    expect(picture.get_by_role("button", name=re.compile("^approve, waits"))).to_be_visible()
    expect(picture.get_by_role("button", name="draft_review in review")).to_have_count(1)


def test_a_source_without_its_graph_says_why(opened: Open) -> None:
    stage = opened(tell().checkpointer)
    panel = stage.tab("Graph")
    expect(panel).to_contain_text("add the graph: explore(source, graph=graph)")
    step = panel.get_by_role("region", name="How this step was made")
    step.get_by_role("radio", name="3 update").check(force=True)
    expect(step).to_contain_text("its reducer is not known")


def test_a_node_opens_the_steps_inside_it(opened: Open) -> None:
    stage = opened(tell())
    stage.select("review")
    drawn(stage).get_by_role("button", name=re.compile("^draft_review in review")).click()
    stage.button("Open the steps of review").click()
    stage.settle()
    expect(stage.rows.filter(has_text="draft_review").first).to_be_visible()
    expect(drawn(stage).get_by_role("button", name=re.compile("^draft_review"))).to_be_visible()


def test_a_module_that_does_not_come_can_be_asked_for_again(opened: Open, monkeypatch: Any) -> None:
    from ckpt_viz.explorer import tabs

    real = tabs.packed_asset

    def gone(name: str) -> str:
        raise FileNotFoundError("viz.js is not built")

    stage = opened(tell())
    monkeypatch.setattr(tabs, "packed_asset", gone)
    panel = stage.tab("Graph")
    expect(panel.get_by_role("alert")).to_contain_text("viz.js is not built")
    monkeypatch.setattr(tabs, "packed_asset", real)
    panel.get_by_role("button", name="Retry").click()
    drawn(stage)


def test_an_exported_page_has_the_tabs_offline(chromium: Browser, tmp_path: Path) -> None:
    explorer = explore(tell(), thread_id=THREAD, follow=False)
    path = explorer.export(tmp_path / "run.html")
    explorer.close()
    context = chromium.new_context(offline=True, viewport={"width": 1100, "height": 700})
    page: Page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(path.as_uri())
    page.get_by_role("tab", name="Graph").click()
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_role("button", name=re.compile("^review|^draft_review"))).to_be_visible()
    panel.get_by_role("radio", name="3 update").check(force=True)
    expect(panel.get_by_role("group", name="Update of answer")).to_be_visible()
    page.get_by_role("tab", name="Storage").click()
    expect(panel).to_contain_text("Measured by the saver")
    assert errors == []
    context.close()


@pytest.mark.parametrize("theme, width", [("light", 1100), ("dark", 480)])
def test_the_memory_is_searched_and_tells_what_a_step_wrote(
    opened: Open, theme: str, width: int
) -> None:
    store = InMemoryStore()
    store.put(("ada", "likes"), "food", {"text": "pizza with olives", "since": 2021})
    for k in range(60):
        store.put(("log",), f"k{k:02d}", {"text": f"entry {k}"})

    def note(state: State) -> State:
        store.put(("ada", "facts"), "city", {"text": "<img src=x onerror=window.pwned=1>"})
        return {"budget": 1}

    graph = StateGraph(State)
    graph.add_node("note", note)
    graph.add_edge(START, "note").add_edge("note", END)
    made = graph.compile(checkpointer=InMemorySaver(), store=store)
    made.invoke({"budget": 2}, CONFIG)
    stage = opened(made, theme, width)
    if width < 720:
        stage.rows.first.click()
    panel = stage.tab("Memory")
    wrote = panel.get_by_role("region", name="Written during this step")
    expect(wrote).to_contain_text("city")
    expect(wrote).to_contain_text("<img src=x onerror=window.pwned=1>")
    expect(wrote).to_contain_text("new")
    everything = panel.get_by_role("region", name="All that is remembered")
    expect(everything.get_by_role("listitem")).to_have_count(50)
    panel.get_by_role("button", name="More").click()
    expect(everything.get_by_role("listitem")).to_have_count(62)
    panel.get_by_label("Namespace of the memory").select_option(label="ada \u203a likes")
    expect(everything.get_by_role("listitem")).to_have_count(1)
    expect(everything).to_contain_text("pizza with olives")
    panel.get_by_label("Search the memory").fill("pizza")
    expect(everything.get_by_role("listitem")).to_have_count(1)
    assert stage.page.evaluate("window.pwned") is None
    stage.page.evaluate(AXE.read_text())
    assert stage.page.evaluate(LOOK, RULES) == []
