"""A real JupyterLab and a real Chromium, for tests that see what a person sees.

One server serves the whole session; each test gets its own notebook, kernel and page. Playwright's
sync face keeps an event loop in the thread that it runs in, so it is closed after each module:
async tests that come later need a thread without one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from .stage import Stage

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NEWS = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: where it listens and which folder it serves."""

    url: str
    token: str
    folder: Path


def fresh_environment(home: Path) -> dict[str, str]:
    """An environment in which no setting of the person who runs the tests is seen."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    places = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        "XDG_CONFIG_HOME": home / "xdg",
    }
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    news = home / "settings" / NEWS
    news.parent.mkdir(parents=True)
    news.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    return {**env, **{k: str(v) for k, v in places.items()}, "LANGSMITH_TRACING": "false"}


def free_port() -> int:
    """A port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Return when the server answers; fail with its log when it ends or takes a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"the server did not start (code {process.poll()}):\n{log.read_text()[-3000:]}")


@contextmanager
def served(command: list[str], ready: str, home: Path, cwd: Path | None = None) -> Iterator[None]:
    """A server that runs while the block does; it listens once `ready` answers."""
    log = home / "server.log"
    environment = fresh_environment(home)
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=cwd
        )
    try:
        wait_until_ready(process, ready, log)
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def jupyter_flags(port: int, token: str, folder: Path) -> list[str]:
    """What both of Jupyter's servers are told."""
    return [
        *("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
        "--ServerApp.terminals_enabled=False",
    ]


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab on a free port, ended with the session."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    server = Server(f"http://127.0.0.1:{(port := free_port())}", secrets.token_hex(12), folder)
    command = [
        *(sys.executable, "-m", "jupyterlab", *jupyter_flags(port, server.token, folder)),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--LabApp.expose_app_in_browser=True",
    ]
    with served(command, f"{server.url}/api/status?token={server.token}", home):
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium; a machine without one is told what to type."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail("no Chromium: apt-get install -y --no-install-recommends chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=CHROMIUM_FLAGS
        )
        yield browser
        browser.close()


def call_server(server: Server, method: str, path: str) -> Any:
    """Ask JupyterLab's own REST interface; what it answers, if anything."""
    request = urllib.request.Request(
        f"{server.url}/api/{path}",
        headers={"Authorization": f"token {server.token}"},
        method=method,
        data=b"" if method == "POST" else None,
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read() or "null")


def end_kernels(server: Server) -> None:
    """End the kernels that a test left, so that the next one has the machine for itself."""
    for kernel in call_server(server, "GET", "kernels"):
        call_server(server, "DELETE", f"kernels/{kernel['id']}")


@dataclass
class Notebook:
    """One notebook open in JupyterLab, and what the page complained about."""

    page: Page
    server: Server
    path: Path
    errors: list[str] = field(default_factory=list)

    def open(self) -> None:
        """Show the notebook in a fresh workspace."""
        self.page.goto(
            f"{self.server.url}/lab/tree/{self.path.name}?token={self.server.token}&reset"
        )
        # `reset` navigates once more, so nothing is evaluated before the notebook itself is there
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.evaluate("window.jupyterapp.started")

    def connect(self) -> None:
        """Wait for the kernel."""
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
            "?.connectionStatus === 'connected'"
        )

    def command(self, name: str) -> None:
        """Run one of JupyterLab's own commands and wait for it."""
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)

    def run_all(self) -> None:
        """Run every cell, to the end."""
        self.command("notebook:run-all-cells")

    def run_cell(self, index: int) -> str:
        """Run one cell; its printed text."""
        self.page.evaluate(
            "i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", index
        )
        self.command("notebook:run-cell")
        return self.text_of(index)

    def text_of(self, index: int) -> str:
        """The text that a cell printed or returned, as the notebook's model holds it."""
        outputs: list[dict[str, Any]] = self.page.evaluate(
            "i => window.jupyterapp.shell.currentWidget.content.model"
            ".cells.get(i).outputs.toJSON()",
            index,
        )
        texts = [out.get("text") or out.get("data", {}).get("text/plain", "") for out in outputs]
        return "".join("".join(text) for text in texts)

    def sources(self) -> list[str]:
        """The source of each cell, as it is in the page now."""
        sources: list[str] = self.page.evaluate(
            "() => Array.from(window.jupyterapp.shell.currentWidget.content.model.cells)"
            ".map(cell => cell.sharedModel.getSource())"
        )
        return sources

    def save(self) -> nbformat.NotebookNode:
        """Save, and read back what was saved."""
        self.command("docmanager:save")
        return nbformat.read(self.path, as_version=4)

    def explorer(self, thread: str = "1") -> Explorer:
        """The Explorer of a thread, when it is there."""
        root = self.page.get_by_role("region", name=f"Checkpoint explorer, thread {thread}")
        root.get_by_role("treegrid", name="Checkpoints").wait_for()
        return Explorer(root)


@dataclass(frozen=True)
class Explorer:
    """The widget in the page, by the names that a screen reader uses."""

    root: Locator

    @property
    def rows(self) -> Locator:
        """The rows of checkpoints: neither the header nor tasks that did not finish."""
        return self.root.locator("[role=treegrid] [role=row][data-checkpoint-id]")

    def row(self, node: str) -> Locator:
        """The newest row of a checkpoint that `node` made."""
        header = self.root.page.locator("[role=rowheader]", has_text=re.compile(rf"\b{node}\b"))
        return self.rows.filter(has=header).first

    def select(self, node: str) -> str:
        """Click the newest row made by `node`; its checkpoint id."""
        if self.button("Back").is_visible():  # narrow: the tree is behind the panels
            self.button("Back").click()
        row = self.row(node)
        row.click()
        chosen = self.root.locator("[role=row][aria-selected=true]").filter(has_text=node)
        chosen.wait_for(state="attached")
        return chosen.get_attribute("data-checkpoint-id") or ""

    def button(self, name: str) -> Locator:
        """A button by its exact name."""
        return self.root.get_by_role("button", name=name, exact=True)

    def panel(self, name: str) -> Locator:
        """Open a tab; its panel."""
        self.root.get_by_role("tab", name=name, exact=True).click()
        return self.root.get_by_role("tabpanel", name=name)

    def sheet(self, name: str) -> Locator:
        """Open the sheet behind a button of the toolbar."""
        self.button(name).click()
        dialog = self.root.get_by_role("dialog", name=name)
        dialog.wait_for()
        return dialog


def write_notebook(path: Path, cells: tuple[str, ...], saved: nbformat.NotebookNode | None) -> None:
    """Write a notebook of the given cells, or a saved one with a kernel that isn't there.

    Such a kernel makes JupyterLab ask for one.
    """
    if saved is not None:
        saved.metadata = {"kernelspec": {"display_name": "Gone", "language": "", "name": "gone"}}
    content = saved or new_notebook(
        cells=[new_code_cell(cell) for cell in cells], metadata={"kernelspec": KERNELSPEC}
    )
    nbformat.write(content, path)


@pytest.fixture
def open_notebook(
    lab: Server, chromium: Browser, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Notebook]]:
    """A function that opens a notebook of the given cells and runs them all.

    With `saved` it opens that notebook as it is and without a kernel; `trusted` says whether it is
    one's own or came from somebody else.
    The test fails at its end when the page threw an error in between.
    """
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(20_000)
    notebooks: list[Notebook] = []

    def start(
        *cells: str, saved: nbformat.NotebookNode | None = None, trusted: bool = False
    ) -> Notebook:
        stem = re.sub(r"\W+", "-", request.node.name).strip("-")
        path = lab.folder / f"{stem}-{len(notebooks)}.ipynb"
        write_notebook(path, cells, saved)
        notebook = Notebook(context.new_page(), lab, path)
        notebook.page.on("pageerror", lambda error: notebook.errors.append(str(error)))
        notebooks.append(notebook)
        if trusted:
            call_server(lab, "POST", f"contents/{path.name}/trust")
        notebook.open()
        if saved is not None:
            notebook.page.locator(".jp-Dialog button", has_text="No Kernel").click()
        else:
            notebook.connect()
            notebook.run_all()
        return notebook

    yield start
    errors = [error for notebook in notebooks for error in notebook.errors]
    context.close()
    end_kernels(lab)
    assert not errors, f"the page threw: {errors}"


@pytest.fixture
def stage_of(chromium: Browser) -> Iterator[Callable[..., Stage]]:
    """A function that shows an Explorer on a page of its own (see `stage.py`).

    The test fails at its end when the page complained or asked for anything elsewhere.
    """
    stages: list[Stage] = []

    def make(explorer: Any, width: int = 1100, height: int = 700, **options: Any) -> Stage:
        how = {name: options.pop(name) for name in ("head", "theme") if name in options}
        script = options.pop("script", None)
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(8_000)
        if script:
            context.add_init_script(script)
        stages.append(Stage(context.new_page(), explorer, **how))
        return stages[-1]

    yield make
    for stage in stages:
        stage.explorer.close()
        stage.page.context.close()
    assert not [error for stage in stages for error in stage.errors]
    assert not [url for stage in stages for url in stage.strangers]
