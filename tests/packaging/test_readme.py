"""What the README shows runs as it stands there, on this engine and on LangGraph."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for block in sys.stdin.read().split(chr(0)):
    shell.run_cell(block).raise_error()
explorer = shell.user_ns["explorer"]
print("forked:", explorer.head.values, len(explorer.timeline.rows()), "checkpoints")
"""


def blocks() -> list[str]:
    """The README's Python, block by block."""
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("root", ["ckpt_viz", "langgraph"])
def test_the_readme_runs_cell_by_cell(root: str, tmp_path: Path) -> None:
    example, *others = blocks()
    cells = [example.replace("from ckpt_viz.", f"from {root}."), *others]
    done = subprocess.run(
        [sys.executable, "-c", SHELL],
        input="\0".join(cells),
        cwd=tmp_path,
        env={**os.environ, "IPYTHONDIR": str(tmp_path), "LANGSMITH_TRACING": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "forked: {'foo': 'b', 'bar': ['a', 'x', 'b']} 6 checkpoints" in done.stdout
    assert (tmp_path / "run.html").is_file()
