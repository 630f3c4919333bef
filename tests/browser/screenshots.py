"""Pictures of the Explorer's main views: `python -m tests.browser.screenshots [FOLDER [NAME…]]`.

`make screenshots` calls this. It shows the story on a page with the real Python side behind it, in
both themes and four widths, and writes a PNG for each view to FOLDER (`js/pictures/all`, which git
ignores); those that `README.md` shows go to `js/pictures`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from ckpt_viz import explore

from .conftest import BROWSERS, CHROMIUM_FLAGS
from .gardens import many_threads
from .stage import Stage
from .story import THREAD, tell

PICTURES = Path(__file__).parents[2] / "js" / "pictures"
WIDTHS = (480, 680, 900, 1600)
THEMES = ("light", "dark")
KEPT = (
    "state-1600-light",
    "graph-900-dark",
    "fork-900-light",
    "channels-900-dark",
    "storage-900-light",
    "writes-680-light",
    "diff-680-dark",
    "tree-480-light",
    "state-480-dark",
)
"""The pictures that the README shows."""


def fork(stage: Stage) -> None:
    """The sheet of a fork, filled, with its preview."""
    stage.select("plan")
    dialog = stage.sheet("Fork")
    values = {"messages": [["human", "Use exa only."]], "budget": 2}
    dialog.get_by_role("textbox", name="Values").fill(json.dumps(values, indent=2))
    dialog.get_by_role("button", name="Preview").click()
    dialog.get_by_role("region", name="Preview").wait_for()


def edit(stage: Stage) -> None:
    """Two values edited in their places, and a third that is being written."""
    stage.select("plan")
    dialog = stage.sheet("Fork")
    for name, path, value in (
        ("budget", "budget", "2"),
        ("messages", "messages[1].content", "No."),
    ):
        if path != name:
            dialog.get_by_role("button", name=f"Open {name}").click()
        dialog.get_by_role("button", name=f"Edit {path}", exact=True).click()
        field = dialog.get_by_role("textbox", name=f"New value of {path}")
        field.fill(value)
        field.press("Enter")
    dialog.get_by_role("button", name="Preview").click()
    dialog.get_by_text("may run again").wait_for()
    dialog.get_by_role("button", name="Edit plan", exact=True).click()
    dialog.get_by_role("textbox", name="New value of plan").wait_for()


def breakpoints(stage: Stage) -> None:
    """Two breakpoints, one of them inside."""
    dialog = stage.sheet("Breakpoints")
    for place in ("before review:grade_review", "after plan"):
        dialog.get_by_label(f"Break {place}").check()


def forked(stage: Stage) -> None:
    """What is said after a fork, and its code where there is no clipboard."""
    stage.page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no')); 0")
    stage.select("plan")
    dialog = stage.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill('{"budget": 1}')
    dialog.get_by_role("button", name="Fork", exact=True).click()
    strip = stage.root.get_by_role("group", name="The last act")
    strip.get_by_role("button", name="Copy as Python").click()
    strip.get_by_role("textbox", name="Code").wait_for()


def scratch(stage: Stage) -> None:
    """A scratch copy."""
    if stage.button("Dismiss").is_visible():
        stage.button("Dismiss").click()
    stage.select("plan")
    stage.button("Scratch").click()
    stage.button("Back to the thread").wait_for()
    stage.settle()


def writes(stage: Stage) -> None:
    """The question that waits."""
    stage.select("approve")
    stage.tab("Writes")


def failed(stage: Stage) -> None:
    """The node that raised."""
    stage.root.locator("[role=row]").filter(has_text="summarize").filter(has_text="Error").click()
    stage.tab("Writes")


def tree(stage: Stage) -> None:
    """What one sees first."""


def state(stage: Stage) -> None:
    """The values of a state."""
    stage.select("plan")
    stage.tab("State")


def on_tab(name: str) -> Callable[[Stage], None]:
    """A tab of the inspector."""

    def show(stage: Stage) -> None:
        stage.select("exa_search")
        panel = stage.tab(name)
        if name == "Graph":
            panel.locator("[data-node]").first.wait_for()

    return show


def phases(stage: Stage) -> None:
    """A node that is picked in the graph, and how the step's writes became the new state."""
    stage.root.locator("[role=row]").filter(has_text="worker").first.click()
    panel = stage.tab("Graph")
    panel.locator("[data-node]").filter(has_text="worker").click()
    step = panel.get_by_role("region", name="How this step was made")
    step.get_by_role("radio", name="3 update").check(force=True)
    step.get_by_role("button", name=re.compile("^routing: ")).click()
    panel.evaluate("panel => panel.scrollTo(0, 1e6)")


def versions(stage: Stage) -> None:
    """Who shares the versions of a channel."""
    stage.select("exa_search")
    panel = stage.tab("Storage")
    panel.get_by_role("button", name="Versions of messages").click()


def compared(stage: Stage) -> None:
    """Two branches beside each other, from where they part."""
    for name, mark in (("exa_search", "mark A"), ("worker", "mark B")):
        stage.select(name)
        stage.button(mark).click()
    stage.tab("Diff").get_by_role("radio", name="branches, step by step").check(force=True)


def sheet(name: str) -> Callable[[Stage], None]:
    """A sheet of the toolbar."""

    def show(stage: Stage) -> None:
        stage.select("plan")
        stage.sheet(name)

    return show


VIEWS: dict[str, Callable[[Stage], None]] = {
    "tree": tree,
    "state": state,
    "writes": writes,
    "failed": failed,
    "fork": fork,
    **{name.lower(): on_tab(name) for name in ("Diff", "Channels", "Graph", "Raw", "Storage")},
    "phases": phases,
    "versions": versions,
    **{name.lower(): sheet(name) for name in ("Replay", "Run", "Export", "Help")},
    "compared": compared,
    "edit": edit,
    "breakpoints": breakpoints,
    "forked": forked,
    "scratch": scratch,
}


@dataclass(frozen=True)
class Shot:
    """One picture."""

    view: str
    width: int
    theme: str

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return f"{self.view}-{self.width}-{self.theme}"


def take(browser: Browser, shot: Shot, folder: Path) -> None:
    """Show a view and write its picture; fail when the page complained."""
    context = browser.new_context(viewport={"width": shot.width + 16, "height": 620})
    context.set_default_timeout(8_000)
    if shot.view == "threads":
        explorer = explore(many_threads(101), theme=shot.theme, follow=False)
    else:
        explorer = explore(tell(), thread_id=THREAD, theme=shot.theme, follow=False)
    try:
        stage = Stage(context.new_page(), explorer, theme=shot.theme)
        VIEWS.get(shot.view, tree)(stage)
        stage.settle()
        stage.page.wait_for_timeout(150)
        stage.root.screenshot(path=str(folder / f"{shot.name}.png"))
        assert not stage.errors, stage.errors
    finally:
        explorer.close()
        context.close()


def main() -> int:
    """Take the pictures that were asked for, all without a word."""
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURES / "all"
    wanted = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    shots = [Shot(v, w, t) for v in (*VIEWS, "threads") for w in WIDTHS for t in THEMES]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=CHROMIUM_FLAGS
        )
        for shot in shots:
            if wanted and not any(part in shot.name for part in wanted):
                continue
            take(browser, shot, folder)
            if shot.name in KEPT and folder == PICTURES / "all":
                shutil.copy(folder / f"{shot.name}.png", PICTURES / f"{shot.name}.png")
        browser.close()
    print(f"pictures in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
