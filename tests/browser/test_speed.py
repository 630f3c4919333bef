"""How fast the Explorer is in a real JupyterLab, against a bare echo and a blank list beside it."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Explorer, Notebook

Open = Callable[..., Notebook]

CHECKPOINTS = 5_000
GRAPH = f"""
from typing import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph


class State(TypedDict):
    n: int


workflow = StateGraph(State)
workflow.add_node("tick", lambda state: {{"n": state["n"] + 1}})
workflow.add_edge(START, "tick")
workflow.add_conditional_edges("tick", lambda s: END if s["n"] >= {CHECKPOINTS - 2} else "tick")
graph = workflow.compile(checkpointer=InMemorySaver())
config = {{"configurable": {{"thread_id": "1"}}, "recursion_limit": {2 * CHECKPOINTS}}}
graph.invoke({{"n": 0}}, config);
"""
ECHO = """
import anywidget


class Echo(anywidget.AnyWidget):
    _esm = '''
    export default { render({ model }) {
      window.echo = () => new Promise((resolve) => {
        const start = performance.now();
        const got = () => { model.off("msg:custom", got); resolve(performance.now() - start); };
        model.on("msg:custom", got);
        model.send({});
      });
    } }'''


echo = Echo()
echo.on_msg(lambda widget, content, buffers: widget.send({}))
echo
"""
SHOW = 'import ckpt_viz\nckpt_viz.explore(graph, thread_id="1")'
WATCH = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.anyMessage.connect((_, { msg, direction }) => {
    if (direction === "recv" && msg.content.data?.content?.result?.rows)
      window.arrived = performance.now();
  });
  new MutationObserver((_, observer) => {
    if (!document.querySelector("[role=row][data-checkpoint-id]")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.shown = performance.now(); }));
  }).observe(document.body, { subtree: true, childList: true });
}"""
CLICK = """(at) => new Promise((resolve, reject) => {
  const row = document.querySelectorAll("[role=row][data-checkpoint-id]")[at];
  const step = row.querySelectorAll("[role=gridcell]")[1].textContent;
  const panel = document.querySelector("[role=tabpanel]");
  const start = performance.now();
  const shown = () => {
    if (panel.querySelector(".ckv-val")?.textContent !== step) return;
    observer.disconnect();
    resolve(performance.now() - start);
  };
  const observer = new MutationObserver(shown);
  observer.observe(panel, { subtree: true, childList: true, characterData: true });
  row.click();
  setTimeout(() => reject(new Error("no state after 5 s")), 5000);
})"""
JUMPS = """async () => {
  const tree = document.querySelector("[role=treegrid] [role=rowgroup]");
  const rowHeight = document.querySelector("[role=row][data-checkpoint-id]").offsetHeight;
  const { scrollHeight, clientHeight } = tree;
  const blank = document.createElement("div");
  blank.style.cssText = `overflow:auto;position:relative;height:${clientHeight}px;width:400px`;
  const space = document.createElement("div");
  space.style.cssText = `height:${scrollHeight}px`;
  blank.append(space);
  const rows = Array.from({ length: Math.ceil(clientHeight / rowHeight) + 4 }, () => {
    const row = document.createElement("div");
    row.style.cssText = `position:absolute;top:0;left:0;right:0;height:${rowHeight}px`;
    space.append(row);
    return row;
  });
  blank.addEventListener("scroll", () => {
    const first = Math.floor(blank.scrollTop / rowHeight);
    rows.forEach((row, n) => {
      row.style.transform = `translateY(${(first + n) * rowHeight}px)`;
      row.textContent = `row ${first + n}`;
    });
  });
  document.querySelector(".ckpt-viz").after(blank);
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const places = Array.from({ length: 200 }, () => random() * (scrollHeight - clientHeight));
  const spend = async (list) => {
    let sum = 0;
    for (const place of places) {
      await new Promise(requestAnimationFrame);
      const start = performance.now();
      list.scrollTop = place;
      list.dispatchEvent(new Event("scroll"));
      document.body.getBoundingClientRect();
      sum += performance.now() - start;
    }
    return sum;
  };
  await spend(blank); await spend(tree);
  const spent = [await spend(blank), await spend(tree), await spend(blank), await spend(tree)];
  blank.remove();
  return (spent[1] + spent[3]) / (spent[0] + spent[2]);
}"""


@pytest.fixture
def many(open_notebook: Open) -> tuple[Notebook, Explorer]:
    """An Explorer on many checkpoints, beside an echo; the page notes when its data came."""
    notebook = open_notebook(GRAPH, "None", ECHO)
    notebook.page.wait_for_function("window.echo")
    notebook.page.evaluate(WATCH)
    notebook.page.evaluate(
        "source => window.jupyterapp.shell.currentWidget.content.model.cells.get(1)"
        ".sharedModel.setSource(source)",
        SHOW,
    )
    notebook.run_cell(1)
    explorer = notebook.explorer()
    explorer.rows.first.wait_for()
    return notebook, explorer


def test_many_checkpoints(many: tuple[Notebook, Explorer]) -> None:
    notebook, explorer = many
    page = notebook.page
    page.wait_for_function("window.shown")
    grid = explorer.root.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", str(CHECKPOINTS + 1), timeout=20_000)
    arrival = page.evaluate("window.shown - window.arrived")
    assert arrival < 1_000, f"shown {arrival:.0f} ms after the data came"

    page.wait_for_timeout(1_000)
    echo = statistics.median(page.evaluate("window.echo()") for _ in range(15))
    click = statistics.median(page.evaluate(CLICK, at) for at in range(2, 13))
    assert click < echo + 100, f"a click takes {click:.0f} ms, an echo {echo:.0f} ms"

    ratio = page.evaluate(JUMPS)
    assert ratio < 6, f"random jumps cost {ratio:.1f} times those of a blank list"
    print(f"arrival {arrival:.0f} ms, click {click:.0f}, echo {echo:.0f}, jumps {ratio:.2f}")
