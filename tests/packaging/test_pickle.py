"""Pickle runs code of whoever wrote the bytes: two modules name it, and load it when asked to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "ckpt_viz"
IMPORTS = re.compile(r"^\s*(?:import|from)\s+(?:cloud)?pickle\b", re.MULTILINE)


def test_two_modules_import_pickle() -> None:
    found = {p for p in PACKAGE.rglob("*.py") if IMPORTS.search(p.read_text())}
    names = {str(p.relative_to(PACKAGE)) for p in found}
    assert names == {"checkpoint/serde/jsonplus.py", "envelope.py"}


def test_the_engine_itself_loads_no_cloudpickle() -> None:
    code = "import ckpt_viz.graph, ckpt_viz.pregel, sys; print('cloudpickle' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
