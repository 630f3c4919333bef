"""The same acts in JupyterLab, Notebook and marimo: real servers, real kernels, a real browser.

In each host the tree shows, and a click, a fork, an answer, a replay and an export work by what a
person presses; after each of them the keys by which hosts delete, cut and insert cells change none.
No request leaves the machine, and the page neither throws nor complains.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from .conftest import (
    Explorer,
    Server,
    end_kernels,
    free_port,
    jupyter_flags,
    served,
    write_notebook,
)
from .test_jupyterlab import EXPLORE, GRAPH, RUN

NODES = """
def node_a(state: State):
    return {"foo": "from a", "bar": ["a"]}

def node_b(state: State):
    return {"bar": [interrupt("Tea or coffee?")]}
"""
CELLS = (
    GRAPH.format(root="ckpt_viz", nodes=NODES) + RUN + ";",
    EXPLORE,
    "'untouched'",
)
JUPYTER_SOURCES = """() => {
  const { cells } = window.jupyterapp.shell.currentWidget.content.model;
  return Array.from(cells, cell => cell.sharedModel.getSource());
}"""
MARIMO_SOURCES = """() => Array.from(
  document.querySelectorAll("[data-cell-id] .cm-content"), editor => editor.textContent)"""
MARIMO_TOML = """
[runtime]
auto_instantiate = true
[save]
autosave = "off"
"""
OURS = re.compile("ckpt|ckv|anywidget", re.IGNORECASE)
HOST_ERRORS = {"Notebook": re.compile(r"reading 'schema'")}
"""What a host's own scripts throw without us."""


@dataclass
class Place:
    """A host with the Explorer in it."""

    name: str
    page: Page
    folder: Path
    read: str
    url: str
    ready: Callable[[Page], None]
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def open(self) -> Explorer:
        """Load the notebook and run it; the Explorer."""
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self._check(request.url))
        self.page.goto(self.url)
        self.ready(self.page)
        root = self.page.get_by_role("region", name="Checkpoint explorer, thread 1")
        root.get_by_role("treegrid", name="Checkpoints").wait_for(timeout=30_000)
        return Explorer(root)

    def _note(self, error: str) -> None:
        known = HOST_ERRORS.get(self.name)
        if known is None or not known.search(error):
            self.errors.append(error)

    def _hear(self, message: ConsoleMessage) -> None:
        ours = message.location.get("url", "").startswith("blob:") or OURS.search(message.text)
        if message.type == "error" and ours:
            self.errors.append(message.text)

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data") and parts.hostname not in ("127.0.0.1", None):
            self.strangers.append(url)

    def sources(self) -> list[str]:
        """The source of each cell, as it is in the page now."""
        found: list[str] = self.page.evaluate(self.read)
        assert len(found) == len(CELLS), found
        return found


def run_jupyter(page: Page) -> None:
    """Wait for the notebook and its kernel, and run every cell."""
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.evaluate("window.jupyterapp.started")
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
        "?.connectionStatus === 'connected'"
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")


def marimo_script() -> str:
    """The cells as marimo's own file."""
    graph, explore, rest = CELLS
    bodies = (
        ("_()", graph.replace("\n\n\n", "\n"), "return (graph,)"),
        ("_(graph)", explore, "return"),
        ("_()", rest, "return"),
    )
    cells = "".join(
        f"@app.cell\ndef {head}:\n"
        + "".join(f"    {line}\n" if line else "\n" for line in f"{body}\n{end}".split("\n"))
        + "\n\n"
        for head, body, end in bodies
    )
    return f"import marimo\n\napp = marimo.App()\n\n\n{cells}"


@pytest.fixture
def jupyterlab(lab: Server) -> Iterator[Callable[[Page], Place]]:
    write_notebook(lab.folder / "hosts.ipynb", CELLS, None)
    url = f"{lab.url}/lab/tree/hosts.ipynb?token={lab.token}&reset"
    yield lambda page: Place("JupyterLab", page, lab.folder, JUPYTER_SOURCES, url, run_jupyter)
    end_kernels(lab)


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Callable[[Page], Place]]:
    write_notebook(tmp_path / "hosts.ipynb", CELLS, None)
    server = Server(f"http://127.0.0.1:{(port := free_port())}", secrets.token_hex(12), tmp_path)
    command = [
        *(sys.executable, "-m", "notebook", *jupyter_flags(port, server.token, tmp_path)),
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]
    url = f"{server.url}/notebooks/hosts.ipynb?token={server.token}"
    with served(command, f"{server.url}/api/status?token={server.token}", tmp_path / "home"):
        yield lambda page: Place("Notebook", page, tmp_path, JUPYTER_SOURCES, url, run_jupyter)
        end_kernels(server)


@pytest.fixture
def marimo(tmp_path: Path) -> Iterator[Callable[[Page], Place]]:
    (tmp_path / "hosts.py").write_text(marimo_script())
    (tmp_path / ".marimo.toml").write_text(MARIMO_TOML)
    (tmp_path / "marimo.toml").write_text(MARIMO_TOML)
    port, token = free_port(), secrets.token_hex(12)
    command = [
        *(sys.executable, "-m", "marimo", "--yes", "edit", "--headless", "--host", "127.0.0.1"),
        *("--port", str(port), "--token-password", token, "--skip-update-check", "hosts.py"),
    ]
    base = f"http://127.0.0.1:{port}"
    url = f"{base}/?access_token={token}&file=hosts.py"
    with served(command, f"{base}/health", tmp_path / "home", tmp_path):
        yield lambda page: Place("marimo", page, tmp_path, MARIMO_SOURCES, url, lambda _: None)


def press(place: Place, explorer: Explorer, before: list[str]) -> None:
    """After an act the focus is inside, and no key reaches the notebook."""
    assert explorer.root.evaluate("root => root.contains(root.getRootNode().activeElement)")
    for key in "ddxba":
        place.page.keyboard.press(key)
    assert place.sources() == before
    place.page.keyboard.press("Escape")


def fork(explorer: Explorer) -> None:
    """Fork the newest checkpoint of node_a; run nothing."""
    count = explorer.rows.count()
    explorer.select("node_a")
    dialog = explorer.sheet("Fork")
    dialog.get_by_role("textbox", name="Values").fill(json.dumps({"foo": "changed"}))
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(explorer.rows).to_have_count(count + 1)


def answer(explorer: Explorer) -> None:
    """Answer the question of node_b."""
    count = explorer.rows.count()
    explorer.select("node_a")
    form = explorer.panel("Writes").get_by_role("form", name="node_b, question 1 of 1")
    form.get_by_role("textbox").first.fill("tea")
    form.get_by_role("button", name="Resume").click()
    expect(explorer.rows).not_to_have_count(count)
    expect(explorer.row("node_b")).to_have_count(1)


def replay(explorer: Explorer) -> None:
    """Run on from the start once more."""
    count = explorer.rows.count()
    explorer.select("start")
    dialog = explorer.sheet("Replay")
    expect(dialog).to_contain_text("node_a")
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(explorer.rows).not_to_have_count(count)


def export(place: Place, explorer: Explorer) -> None:
    """Write the page that needs no kernel."""
    dialog = explorer.sheet("Export")
    dialog.get_by_role("button", name="Export", exact=True).click()
    expect(explorer.root.get_by_text(re.compile(r"checkpoints-1-.*\.html")).first).to_be_visible()
    (written,) = place.folder.glob("checkpoints-1-*.html")
    assert "from a" in written.read_text()
    written.unlink()


def restart(place: Place, explorer: Explorer) -> None:
    """A new kernel: it is said, what was read can still be browsed, and the cells run again.

    marimo has no such act of its own: its "restart" loads the whole page anew.
    """
    count = explorer.rows.count()
    place.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    expect(explorer.root).to_contain_text("Run the cell again")
    expect(explorer.button("Fork")).to_have_attribute("aria-disabled", "true")
    explorer.rows.nth(1).click()
    expect(explorer.rows).to_have_count(count)
    place.ready(place.page)
    again = place.page.get_by_role("region", name="Checkpoint explorer, thread 1")
    expect(again).not_to_contain_text("Run the cell again")
    expect(Explorer(again).rows).to_have_count(3)
    expect(Explorer(again).button("Fork")).not_to_have_attribute("aria-disabled", "true")


@pytest.mark.parametrize("host", ["jupyterlab", "notebook", "marimo"])
def test_every_act_works_in(host: str, chromium: Browser, request: pytest.FixtureRequest) -> None:
    make: Callable[[Page], Place] = request.getfixturevalue(host)
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(15_000)
    place = make(context.new_page())
    try:
        explorer = place.open()
        expect(explorer.rows).to_have_count(3)
        before = place.sources()
        explorer.select("node_a")
        expect(explorer.panel("State")).to_contain_text("from a")
        press(place, explorer, before)
        for act in (answer, fork, replay):
            act(explorer)
            press(place, explorer, before)
        export(place, explorer)
        press(place, explorer, before)
        expect(explorer.root.get_by_role("alert")).to_have_count(0)
        assert not place.errors, f"the page threw: {place.errors}"
        if host != "marimo":
            restart(place, explorer)
        assert not place.strangers, f"asked outside the machine: {place.strangers}"
    finally:
        context.close()
        shutil.rmtree(place.folder / "__marimo__", ignore_errors=True)
