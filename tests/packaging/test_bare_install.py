"""The wheel holds the page, and without any extra it runs a graph and shows it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import importlib.util, sys
import ckpt_viz

loaded = {"ipywidgets", "langgraph", "anywidget"} & set(sys.modules)
assert not loaded, f"`import ckpt_viz` alone imported {loaded}"

from operator import add
from typing import Annotated, TypedDict
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph

class State(TypedDict):
    bar: Annotated[list[str], add]

builder = StateGraph(State)
builder.add_node("node_a", lambda state: {"bar": ["a"]})
builder.add_edge(START, "node_a")
builder.add_edge("node_a", END)
graph = builder.compile(checkpointer=InMemorySaver())
graph.invoke({"bar": []}, {"configurable": {"thread_id": "1"}})
explorer = ckpt_viz.explore(graph, thread_id="1")
assert explorer.head.values == {"bar": ["a"]}, explorer.head
explorer.export("run.html")
assert "node_a" in open("run.html").read()

import asyncio
from ckpt_viz.agents import MultiTurnAgent, OptimizedStateManager
from ckpt_viz.checkpoint.sqlite import SqliteSaver

manager = OptimizedStateManager(SqliteSaver.from_conn_string("sessions.db"))
agent = MultiTurnAgent(manager, lambda messages: "hi")
turn = asyncio.run(agent.handle_turn("s", "hello"))
assert turn["turn_count"] == 1, turn
assert ckpt_viz.explore(manager).head.values["session_id"] == "s"
for extra in ("langgraph", "jupyterlab", "numpy", "pydantic"):
    assert importlib.util.find_spec(extra) is None, f"{extra} is no hard dependency"
print("well")
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside the checkout; fail with what it wrote."""
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**env, "SKIP_JS_BUILD": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, with the page that is built there."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, ROOT, cwd=folder)
    return next(folder.glob("ckpt_viz-*.whl"))


def test_the_wheel_holds_every_asset_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for asset in ("widget.js", "widget.css", "more.js", "tabs.js", "viz.js"):
        assert f"ckpt_viz/explorer/static/{asset}" in names
    assert "ckpt_viz/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"ckpt_viz"}


def test_the_bare_package_runs_engine_and_explorer(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    assert run(python, "-c", PROGRAM, cwd=tmp_path).strip() == "well"
    command = tmp_path / "venv" / "bin" / "ckpt-viz"
    assert "8 checkpoints" in run(command, "demo", tmp_path / "demo.html", cwd=tmp_path)
    assert (tmp_path / "demo.html").is_file()
