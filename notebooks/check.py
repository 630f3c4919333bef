"""Run the tour without a person, and look at what it made with a real browser.

`make demo CHECK=1` calls this. It executes `tour.ipynb` in a fresh kernel and a fresh folder, opens
the Explorer that the tour exported in headless Chromium, and prints what it saw. Anything wrong is
named, and the exit code is then 1. It needs nothing but the `demo` extra and a Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TOUR = Path(__file__).with_name("tour.ipynb")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=8000",
    "--window-size=1200,900",
    "--dump-dom",
]


def run_tour(folder: Path) -> nbformat.NotebookNode:
    """Execute the tour with `folder` as its working directory."""
    notebook = nbformat.read(TOUR, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],  # its notice about loopback TCP is not ours to heed
    )
    client.execute()
    return notebook


def faults_in_notebook(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """What is wrong with the outputs of the executed tour."""
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    widgets = [out for out in outputs if WIDGET_VIEW in out.get("data", {})]
    text = "".join(out.get("text", "") for out in outputs if out.output_type == "stream")
    print(f"tour: {len(notebook.cells)} cells ran, {len(widgets)} Explorers shown")
    if len(widgets) != 4:
        yield f"4 Explorers should be shown, there are {len(widgets)}"
    for wanted in ("another ending: b", "waits in ('ask',)"):
        if wanted not in text:
            yield f"the tour never printed {wanted!r}; it printed:\n{text}"
    for out in outputs:
        if out.get("name") == "stderr":
            yield f"a cell wrote to stderr: {out.text.strip()}"


def dump_page(page: Path) -> tuple[str, list[str]]:
    """The page's DOM after its scripts ran (without them), and what the console complained about."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"no Chromium on PATH (looked for {', '.join(BROWSERS)})")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise SystemExit(f"{browser} ended with code {done.returncode}:\n{done.stderr[-2000:]}")
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL), console


def faults_in_page(page: Path) -> Iterator[str]:
    """What is wrong with the exported file, as a browser shows it."""
    if not page.is_file():
        yield f"the tour exported no {page.name}"
        return
    dom, console = dump_page(page)
    roles = {role: len(re.findall(f'role="{role}"', dom)) for role in ("treegrid", "tab", "alert")}
    ids = set(re.findall(r'data-checkpoint-id="([^"]+)"', dom))
    tabs = re.findall(r'role="tab"[^>]*>\s*([A-Z]\w+)', dom)
    print(f"page: {page.stat().st_size / 1000:.0f} kB, {len(ids)} checkpoints in the tree")
    print(f"page: {roles['treegrid']} treegrid, tabs {', '.join(tabs) or 'none'}")
    if roles["treegrid"] != 1:
        yield f"one treegrid should be there, there are {roles['treegrid']}"
    if len(ids) != 6:
        yield f"6 checkpoints should be there (4, and 2 of the fork), there are {len(ids)}"
    if "Checkpoint explorer, thread 1" not in dom:
        yield "no region is named 'Checkpoint explorer, thread 1'"
    if "State" not in tabs:
        yield "there is no tab 'State'"
    if re.search(r'(src|href)="https?://', dom):
        yield "the page asks the network for something"
    yield from (f"the console says: {line}" for line in console)


def main() -> int:
    """Print what was seen; 0 when all is well."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            notebook = run_tour(folder)
        except CellExecutionError as error:
            print(f"WRONG: a cell of the tour failed\n{error}", file=sys.stderr)
            return 1
        faults = [*faults_in_notebook(notebook), *faults_in_page(folder / "run.html")]
    for fault in faults:
        print(f"WRONG: {fault}", file=sys.stderr)
    print("the tour is well" if not faults else f"{len(faults)} things are wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
