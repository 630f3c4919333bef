"""The rules of VS Code's notebook webview: its content policy, no clipboard, no download.

The page is the built bundle with the real Python side behind it, and a saved page without a kernel.
`blob:` is allowed as anywidget itself needs it there: it imports every widget's module from one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect

from ckpt_viz import explore

from .stage import Stage
from .story import THREAD, tell

StageOf = Callable[..., Stage]

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src https: http: data:; font-src https:; "
    "connect-src https:; child-src https: data:"
)
HEAD = (
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    "<script>addEventListener('DOMContentLoaded', () => {"
    "document.body.className = 'vscode-dark';"
    "document.body.dataset.vscodeThemeKind = 'vscode-dark'; });</script>"
)
NO_CLIPBOARD = "delete Navigator.prototype.clipboard; document.execCommand = () => false;"


def test_every_panel_and_act_under_its_rules(stage_of: StageOf, tmp_path: Path) -> None:
    explorer = explore(tell(), thread_id=THREAD, follow=False)
    stage = stage_of(explorer, theme="auto", head=HEAD, script=NO_CLIPBOARD, accept_downloads=False)
    stage.page.on("download", lambda found: stage.errors.append(f"a download: {found.url}"))
    expect(stage.root).to_have_attribute("data-theme", "dark")
    count = stage.rows.count()
    stage.select("plan")
    for name in stage.tabs:
        stage.tab(name)
    raw = stage.tab("Raw")
    raw.get_by_role("button", name="Copy id").click()
    expect(raw.get_by_role("status").first).to_contain_text("select the text")
    dialog = stage.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill(json.dumps({"budget": 2}))
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(stage.rows).to_have_count(count + 1)
    stage.sheet("Replay").get_by_role("button", name="Replay", exact=True).click()
    expect(stage.rows).not_to_have_count(count + 1)
    sheet = stage.sheet("Export")
    sheet.get_by_role("button", name="Export", exact=True).click()
    told = sheet.get_by_text(re.compile("Written to")).first
    expect(told).to_be_visible()
    written = Path(told.locator("code").inner_text())
    assert written.is_file(), "the kernel writes it; nothing is downloaded"
    written.unlink()


def test_the_saved_page_under_its_rules(chromium: Browser, tmp_path: Path) -> None:
    explorer = explore(tell(), thread_id=THREAD, follow=False)
    text = explorer.export(tmp_path / "run.html").read_text()
    explorer.close()
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    page.add_init_script(NO_CLIPBOARD)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    page.route(
        "**/*",
        lambda route: route.fulfill(
            body=text.replace("<head>", f"<head>{policy}"), content_type="text/html; charset=utf-8"
        ),
    )
    page.goto("http://localhost/run.html")
    rows = page.locator("[role=row][data-checkpoint-id]")
    expect(rows.first).to_be_visible()
    rows.nth(3).click()
    for name in page.get_by_role("tab").all_text_contents():
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
    expect(page.get_by_role("button", name="Fork", exact=True)).to_have_attribute(
        "aria-disabled", "true"
    )
    assert not errors
    page.close()
