"""Classes that a graph names are loaded again from a file, by another process's saver."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import dataclasses, sys
from typing import TypedDict
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.graph import START, StateGraph

@dataclasses.dataclass
class Point:
    x: int

class State(TypedDict):
    points: list[Point]

graph = StateGraph(State).add_node("a", lambda s: {"points": [Point(s["points"][0].x + 1)]})
app = graph.add_edge(START, "a").compile(checkpointer=SqliteSaver.from_conn_string(sys.argv[1]))
thread = {"configurable": {"thread_id": "1"}}
if sys.argv[2] == "write":
    app.invoke({"points": [Point(1)]}, thread)
print(app.get_state(thread).values)
"""


def test_a_class_in_the_schema_comes_back_as_itself(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, str(script), str(tmp_path / "x.db")]
    for act in ("write", "read"):
        said = subprocess.run([*command, act], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == "{'points': [Point(x=2)]}", said.stderr
