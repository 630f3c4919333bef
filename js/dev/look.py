"""Takes pictures of the explorer on a page with a paper kernel: `python dev/look.py OUT_DIR`."""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SHOTS = [  # name, hash, width, what to do
    ("story-light", "rows=story&theme=light", 1000, None),
    ("story-dark", "rows=story&theme=dark", 1000, None),
    ("channels-dark", "rows=story&theme=dark", 1000, "tab:Channels"),
    ("writes-light", "rows=story&theme=light", 1000, "writes"),
    ("diff-light", "rows=story&theme=light", 1000, "tab:Diff"),
    ("raw-dark", "rows=story&theme=dark", 1000, "tab:Raw"),
    ("fork-dark", "rows=story&theme=dark", 1000, "fork"),
    ("replay-light", "rows=story&theme=light", 1000, "sheet:Replay"),
    ("help-light", "rows=story&theme=light", 1000, "sheet:Help"),
    ("narrow-light", "rows=story&theme=light", 420, None),
    ("narrow-detail", "rows=story&theme=dark", 420, "click"),
    ("mid-light", "rows=30&theme=light", 760, None),
    ("three-light", "rows=3&theme=light", 1000, None),
    ("none-light", "rows=0&theme=light", 1000, None),
    ("many-light", "rows=5000&theme=light", 1000, None),
    ("huge-dark", "rows=100000&theme=dark", 1000, None),
    ("busy-light", "rows=story&theme=light&deaf=checkpoint", 1000, "wait"),
]


def do(page: Page, what: str | None) -> None:
    """Brings the page to the state that a picture shows."""
    if what is None:
        return
    kind, _, name = what.partition(":")
    if kind == "tab":
        page.get_by_role("tab", name=name).click()
    elif kind == "sheet":
        page.get_by_role("button", name=name, exact=True).click()
    elif kind == "click":
        page.locator('[data-checkpoint-id="f4"]').click()
    elif kind == "writes":
        page.locator('[data-checkpoint-id="u3"]').click()
        page.get_by_role("tab", name="Writes").click()
    elif kind == "fork":
        page.get_by_role("button", name="Fork", exact=True).click()
        page.get_by_role("textbox", name="Values").fill(
            '{\n  "messages": [["tool", "Use exa only."]]\n}'
        )
        page.get_by_role("button", name="Preview").click()
    elif kind == "wait":
        page.wait_for_timeout(1800)


def esbuild(source: str, target: Path, *options: str) -> str:
    """The text of a bundle."""
    command = ["npx", "esbuild", source, "--bundle", f"--outfile={target}", "--log-level=warning"]
    subprocess.run([*command, *options], cwd=HERE.parent, check=True)
    return target.read_text()


def build(folder: Path) -> Path:
    """One file with the page and its made-up kernel."""
    jsx = ("--jsx=automatic", "--jsx-import-source=preact")
    script = esbuild("dev/page.ts", folder / "page.js", *jsx).replace("</script", "<\\/script")
    css = esbuild("src/widget.css", folder / "page.css")
    html = folder / "page.html"
    html.write_text(
        f"<!doctype html><meta charset=utf-8><style>body{{margin:12px}}{css}</style>"
        f'<div id="here"></div><script>{script}</script>'
    )
    return html


def main() -> None:
    """Builds the page and takes all pictures."""
    out = Path(sys.argv[1])
    only = sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        html = build(Path(folder))
        with sync_playwright() as p:
            browser = p.chromium.launch(
                executable_path="/usr/bin/chromium", headless=True, args=FLAGS
            )
            for name, query, width, what in SHOTS:
                if only and name not in only:
                    continue
                page = browser.new_page(viewport={"width": width + 24, "height": 510})
                errors: list[str] = []
                page.on("pageerror", lambda error, to=errors: to.append(str(error)))
                page.goto(f"file://{html}#{query}")
                page.wait_for_timeout(250)
                do(page, what)
                page.wait_for_timeout(250)
                page.screenshot(path=str(out / f"{name}.png"))
                print(name, errors or "ok")
                page.close()
            browser.close()


if __name__ == "__main__":
    main()
