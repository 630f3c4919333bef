"""The Storage tab in JupyterLab."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Notebook
from .test_jupyterlab import GRAPH, PLAIN, RUN, TWO_LINES

Open = Callable[..., Notebook]


def test_bytes_by_channel_who_shares_them_and_a_dry_run(open_notebook: Open) -> None:
    notebook = open_notebook(GRAPH.format(root="ckpt_viz", nodes=PLAIN) + RUN + ";", TWO_LINES)
    explorer = notebook.explorer()
    explorer.select("node_a")
    panel = explorer.panel("Storage")
    expect(panel.get_by_role("region", name="What the thread takes")).to_contain_text(
        re.compile(r"[\d.]+ k?B.*in this kernel's memory")
    )
    table = panel.get_by_role("region", name="Bytes by channel")
    table.get_by_role("button", name="Versions of foo").click()
    here = table.get_by_role("row").filter(has_text="here")
    expect(here).to_contain_text(re.compile(r"version 3.*only step 1"))
    free = panel.get_by_role("region", name="What a prune would free")
    expect(free).to_contain_text("would remove 3 checkpoints")
    expect(explorer.rows).to_have_count(4)
    table.get_by_role("button", name="step 2").first.click()
    expect(explorer.row("node_b")).to_have_attribute("aria-selected", "true")
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")
