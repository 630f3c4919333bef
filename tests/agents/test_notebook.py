"""The notebook that tells of sessions: run in a real kernel, and what its cells print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "sessions.ipynb"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def executed(folder: Path) -> Any:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # saved as it was written
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute()
    return notebook


def test_the_notebook_tells_the_story(tmp_path: Path) -> None:
    notebook = executed(tmp_path)
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    printed = "".join(o.text for o in outputs if o.output_type == "stream" and o.name == "stdout")
    complaints = "".join(o.text for o in outputs if o.get("name") == "stderr")
    assert complaints == ""
    for line in (
        "{'language': 'en'} messages: 2",
        "4 I can refund ORD-12345. Shall I?",
        "back: {'language': 'en'}",
        "[('before_refund', 4)]",
        "3 ORD-777 is on its way.",
        "Session 'sess-1' has gone on since this state was read",
        "version 1 to 2 changes ['tags', 'version']",
        "tags: ['ORD-777']",
        "Session 'sess-1' has a state of version 2",
        "of 24",
        "one branch:   ['I have a cat', 'and a dog']",
        "another one:  ['I have a cat', 'and a parrot']",
        "I ordered a red bicycle last week {'topic': 'order'}",
    ):
        assert line in printed, printed
    shown = [out.data for out in outputs if WIDGET_VIEW in out.get("data", {})]
    assert len(shown) == 3
    texts = [out.data["text/plain"] for out in outputs if "image/svg+xml" in out.get("data", {})]
    assert "rollback" in texts[1]
    assert "migrate  [head · turn 3 · v2" in texts[2]
