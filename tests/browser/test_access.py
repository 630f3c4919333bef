"""The Explorer for everyone: axe, contrast, the keyboard alone, small pages and forced colours.

The page shows the story with the real Python side behind it; every panel is filled with data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ckpt_viz import explore

from . import gardens
from .screenshots import VIEWS
from .stage import Stage
from .story import THREAD, make_graph, tell

Show = Callable[..., Stage]
SECOND = {"configurable": {"thread_id": "support-8"}}

AXE = Path(__file__).parents[2] / "js" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOK = """async (rules) => {
  const options = { runOnly: rules, resultTypes: ["violations"] };
  const { violations } = await axe.run(".ckpt-viz", options);
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`);
}"""
COLOURS = """(root) => {
  const style = getComputedStyle(root);
  const names = new Set();
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      for (const name of rule.style ?? []) if (name.startsWith("--ckv-")) names.add(name);
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const out = {};
  for (const name of names) {
    const value = style.getPropertyValue(name).trim();
    if (!CSS.supports("color", value)) continue;
    canvas.fillStyle = value;
    canvas.fillRect(0, 0, 1, 1);
    out[name.slice(6)] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }
  return out;
}"""
INKS = ("fg", "fg2", "mut", "acc", "ok", "bad", "warn", "num")
SURFACES = ("bg", "bg2", "sel", "hover", "badbg", "warnbg", "addbg")
SIGNS = ("ctl", "block", "route", "badfill", *(f"lane{n}" for n in range(6)))
"""Edges of controls, lines and blocks: they need 3:1 on what they stand on."""
GROUNDS = ("bg", "bg2", "sel", "hover")
OTHER = ("line", "onacc")
OVERFLOW = """(root) => {
  const room = root.getBoundingClientRect();
  const scrolls = (el) => {
    for (let up = el.parentElement; up && up !== root; up = up.parentElement)
      if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  const out = [...root.querySelectorAll("button, input, select, textarea, h3, p, [role=tab]")]
    .filter((el) => {
      const box = el.getBoundingClientRect();
      const out = box.right > room.right + 1 || box.left < room.left - 1;
      return box.width > 0 && out && !scrolls(el);
    })
    .map((el) => el.outerHTML.slice(0, 120));
  const view = (el) => {
    const box = el.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, wide: box.width };
  };
  const seen = (el, { x, y }) => {
    for (let up = el.parentElement; up; up = up.parentElement) {
      const box = up.getBoundingClientRect();
      if (getComputedStyle(up).overflow !== "visible" && up !== document.documentElement)
        if (x < box.left || x > box.right || y < box.top + 7 || y > box.bottom - 7) return false;
    }
    return true;
  };
  for (const el of root.querySelectorAll("button, select, input:not([type=radio])")) {
    const place = view(el);
    if (place.wide === 0 || !seen(el, place)) continue;
    const top = document.elementFromPoint(place.x, place.y);
    const under = top && !el.contains(top) && !top.contains(el);
    if (under) out.push(`covered: ${el.outerHTML.slice(0, 99)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) out.push("the page scrolls sideways");
  return out;
}"""


@pytest.fixture
def show(stage_of: Callable[..., Stage]) -> Show:
    """Shows the story on a fresh page."""

    def make(theme: str = "light", width: int = 1100, height: int = 700, **options: Any) -> Stage:
        explorer = explore(tell(), thread_id=THREAD, theme=theme, follow=False)
        return stage_of(explorer, width, height, theme=theme, **options)

    return make


def leave(stage: Stage) -> None:
    """Back to the tree."""
    while stage.root.get_by_role("dialog").count():
        stage.page.keyboard.press("Escape")
        stage.page.wait_for_timeout(30)
    if stage.button("Back").is_visible():
        stage.button("Back").click()


def every_view(stage: Stage) -> Iterator[str]:
    """Brings up one panel after the other, filled; each tab that is there among them."""
    for name, view in VIEWS.items():
        leave(stage)
        view(stage)
        yield name
    for name in stage.tabs:
        if name.lower() not in VIEWS:
            leave(stage)
            stage.select("plan")
            stage.tab(name)
            yield name


@pytest.mark.parametrize("theme, width", [("light", 1100), ("dark", 480)])
def test_axe_finds_nothing(show: Show, theme: str, width: int) -> None:
    stage = show(theme, width)
    stage.page.evaluate(AXE.read_text())
    found = {}
    for name in every_view(stage):
        stage.page.wait_for_timeout(100)  # a change of colours takes 80 ms
        found[name] = stage.page.evaluate(LOOK, RULES)
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) >= len(VIEWS)


WIDTHS = (320, 480, 680, 900, 1600)
MIXED = tuple(zip(WIDTHS, ("light", "dark") * 3, strict=False))
ALL = tuple((width, theme) for width in WIDTHS for theme in ("light", "dark"))


@pytest.mark.parametrize("places", [MIXED, pytest.param(ALL, marks=pytest.mark.soak)])
def test_axe_finds_nothing_in_any_tab_at_any_width(show: Show, places: Any) -> None:
    """One page that is resized: every tab, filled; by soak in both themes at each width."""
    stage = show(width=places[0][0])
    stage.page.evaluate(AXE.read_text())
    stage.select("plan")
    found = {}
    for width, theme in places:
        stage.page.set_viewport_size({"width": width, "height": 700})
        while stage.root.get_attribute("data-theme") != theme:
            stage.button("Theme").click()
        for name in stage.tabs:
            stage.tab(name)
            stage.page.wait_for_timeout(300 if name == "Graph" else 100)
            found[f"{name} at {width}, {theme}"] = stage.page.evaluate(LOOK, RULES)
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) == len(places) * len(stage.tabs) >= 7 * len(places)


def luminance(colour: list[int]) -> float:
    parts = [c / 255 for c in colour]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[int], other: list[int]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_ink_can_be_read_on_every_surface(show: Show, theme: str) -> None:
    colours = show(theme).root.evaluate(COLOURS)
    assert set(colours) == {*INKS, *SURFACES, *SIGNS, *OTHER}, "each colour is an ink or a surface"
    pairs = [(ink, surface, 4.5) for ink in INKS for surface in SURFACES]
    pairs += [("onacc", "acc", 4.5)]
    pairs += [(sign, ground, 3.0) for sign in SIGNS for ground in GROUNDS]
    weak = {
        f"{a} on {b}": round(contrast(colours[a], colours[b]), 2)
        for a, b, least in pairs
        if contrast(colours[a], colours[b]) < least
    }
    assert weak == {}


class Keys:
    """A person with a keyboard and no pointer."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.page = stage, stage.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def name(self) -> str:
        """The name and role of what has the focus."""
        told: str = self.page.evaluate(
            "() => { const el = document.activeElement; return (el.getAttribute('role') ??"
            " el.tagName.toLowerCase()) + ' ' + (el.getAttribute('aria-label') ??"
            " el.closest('label')?.textContent ?? el.textContent).slice(0, 60); }"
        )
        return told

    def tab_to(self, wanted: str, key: str = "Tab") -> None:
        """Tab until something of this role and name has the focus."""
        seen = []
        for _ in range(60):
            self.press(key)
            seen.append(self.name())
            if re.search(wanted, seen[-1]):
                return
        raise AssertionError(f"{wanted!r} is never reached: {seen}")


def test_every_act_by_the_keyboard_alone(show: Show) -> None:
    stage = show()
    keys = Keys(stage)
    count = stage.rows.count()
    keys.tab_to("^row ")
    keys.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    stage.settle()
    keys.press("f")
    expect(stage.root.get_by_role("textbox", name="Values")).to_be_focused()
    keys.press("Control+a")
    keys.page.keyboard.type('{"budget": 2}')
    keys.tab_to("^button Preview")
    keys.press("Enter")
    expect(stage.root.get_by_role("region", name="Preview")).to_contain_text("budget")
    keys.tab_to("^button Fork$")
    keys.press("Enter")
    expect(stage.rows).to_have_count(count + 1)
    expect(stage.root.locator("[role=row]:focus")).to_have_count(1)  # in the tree again
    keys.press("r")
    expect(stage.root.get_by_role("dialog", name="Replay")).to_be_visible()
    keys.tab_to("^button Replay$")
    keys.press("Enter")
    expect(stage.rows).not_to_have_count(count + 1)
    answer_with(keys)
    export_with(keys)


def answer_with(keys: Keys) -> None:
    """`i` goes to the question, Resume in the toolbar to its form."""
    stage = keys.stage
    expect(stage.button("Stop")).to_have_attribute("aria-disabled", "true")
    count = stage.rows.count()
    keys.press("Home", "i")
    stage.settle()
    keys.tab_to("^button Resume$", "Shift+Tab")
    keys.press("Enter")
    expect(stage.root.get_by_role("form").locator("input").first).to_be_focused()
    keys.page.keyboard.type("yes")
    keys.press("Enter")
    expect(stage.rows).not_to_have_count(count)


def export_with(keys: Keys) -> None:
    """The sheets, the search box, the slider and the pane's edge are reached and left."""
    stage = keys.stage
    for name in ("Run", "Export", "Help"):
        keys.tab_to(f"^button {name}$", "Shift+Tab")
        keys.press("Enter")
        expect(stage.root.get_by_role("dialog", name=name)).to_be_visible()
        keys.press("Escape")
        expect(stage.root.get_by_role("dialog")).to_have_count(0)
    assert keys.name().startswith("row "), "Escape leads back to the tree"
    keys.press("/")
    keys.page.keyboard.type("node:plan")
    keys.press("Enter", "Escape")
    keys.tab_to("^separator Tree width")
    keys.press("ArrowLeft")
    keys.tab_to("^tab ")
    keys.press("Home", "ArrowRight")
    expect(stage.root.get_by_role("tab", name="Diff")).to_be_focused()
    keys.tab_to("^input Time")
    keys.press("Home")
    stage.settle()
    expect(stage.root.get_by_role("slider", name="Time")).to_have_attribute(
        "aria-valuetext", re.compile("step -1")
    )


@pytest.mark.parametrize("width", [320, 720])
def test_a_small_page_shows_everything(show: Show, width: int) -> None:
    stage = show(width=width, height=600)
    found = {name: stage.root.evaluate(OVERFLOW) for name in every_view(stage)}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_forced_colours_keep_the_signs(show: Show) -> None:
    stage = show(forced_colors="active")
    chosen = stage.root.locator("[role=row][aria-selected=true]")
    other = stage.root.locator("[role=row][aria-selected=false]").first
    edge = "el => getComputedStyle(el).outlineStyle"
    assert (chosen.evaluate(edge), other.evaluate(edge)) == ("solid", "none")
    inks = "el => getComputedStyle(el).getPropertyValue('--ckv-lane0')"
    assert stage.root.evaluate(inks).strip() == "CanvasText"


def test_reduced_motion_moves_nothing(show: Show) -> None:
    stage = show(reduced_motion="reduce")
    stage.select("plan")
    step = stage.root.get_by_role("slider", name="Time").input_value()
    stage.button("Play").click()
    stage.page.wait_for_timeout(1_000)
    assert stage.root.get_by_role("slider", name="Time").input_value() == step
    assert stage.page.evaluate("document.getAnimations().length") == 0


def test_a_removed_element_leaves_the_focus_inside(show: Show) -> None:
    stage = show()
    ways = {
        "Run": "el.disabled = true",
        "Theme": "el.style.display = 'none'",
        "Help": "el.remove()",
    }
    for name, way in ways.items():
        stage.button(name).focus()
        stage.button(name).evaluate(f"el => {{ {way}; }}")
        expect(stage.root).to_be_focused()


def test_axe_finds_nothing_where_something_is_missing(stage_of: Callable[..., Stage]) -> None:
    """No thread yet, no checkpoint yet, several threads, an error in a pane, a lost kernel."""
    bare, several = make_graph(), tell()
    several.invoke({"messages": [("human", "again")], "budget": 2}, SECOND)
    failing = explore(tell(), thread_id=THREAD, follow=False)
    shown = {
        "no thread": explore(bare, follow=False),
        "no checkpoint": explore(bare, thread_id="new", follow=False),
        "threads": explore(several, follow=False),
        "error": failing,
        "lost": explore(tell(), thread_id=THREAD, follow=False),
    }
    found = {}
    for theme, (name, explorer) in zip(["light", "dark"] * 3, shown.items(), strict=False):
        stage = stage_of(explorer, theme=theme)
        stage.page.evaluate(AXE.read_text())
        if name == "error":
            failing.timeline.saver.delete_thread(THREAD)
            stage.root.locator("[role=row]").filter(has_text="plan").first.click()
            expect(stage.root.get_by_role("alert")).to_be_visible()
        elif name == "lost":
            stage.page.evaluate("window.cut = true; window.stage.emit('comm_live_update')")
            expect(stage.root).to_contain_text("run the cell again", ignore_case=True)
        stage.page.wait_for_timeout(100)
        found[name] = stage.page.evaluate(LOOK, RULES)
    assert {name: faults for name, faults in found.items() if faults} == {}


CUT = """(root) => {
  const panel = root.querySelector("[role=tabpanel]");
  const room = panel.getBoundingClientRect();
  const out = panel.scrollWidth > panel.clientWidth + 1 ? ["the panel scrolls sideways"] : [];
  const scrolls = (el) => {
    for (let up = el.parentElement; up && up !== panel; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  for (const el of panel.querySelectorAll("p, b, i, code, span, td, th, button, h4, summary")) {
    const box = el.getBoundingClientRect();
    if (box.width > 1 && box.right > room.right + 1 && !scrolls(el))
      out.push(el.outerHTML.slice(0, 90));
  }
  for (const el of panel.querySelectorAll(".ckv-part > .ckv-val"))
    if (el.getBoundingClientRect().width < room.width * 0.4) out.push("a diff's value is squeezed");
  return out;
}"""


def test_long_names_and_values_are_not_cut(stage_of: Callable[..., Stage]) -> None:
    """Every tab, with names of eighty characters, ids of seventy and words without a space."""
    stage = stage_of(explore(gardens.lengthy(), follow=False), 1600)
    found = {}
    for width in (1600, 900, 680, 480, 320):
        stage.page.set_viewport_size({"width": width, "height": 620})
        stage.page.wait_for_timeout(100)
        if width < 720 and not stage.button("Back").is_visible():
            stage.rows.first.click()
        for name in stage.tabs:
            stage.tab(name)
            stage.page.wait_for_timeout(300 if name == "Graph" else 60)
            found[f"{name} at {width}"] = stage.root.evaluate(CUT)
    faulty = {name: faults for name, faults in found.items() if faults}
    assert not faulty, json.dumps(faulty, indent=1)
