"""An exported page answers as the kernel does: the same questions to both, the page's by node."""

import contextlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from graphs import CONFIG, chain_graph, engine
from runs import PROGRAMS

from ckpt_viz import explore
from ckpt_viz.explorer.bundle import STATIC
from ckpt_viz.explorer.messages import answer
from ckpt_viz.timeline.children import items

SCRIPT = Path(__file__).with_name("offline.mjs")
QUERIES = (
    *("node:a", "-node:a source:loop", "step:0..1", "step>0", "status:done", "head", "error", "b"),
    *('xs~"a"', "len(xs)>1", "n=1", "n!=1", '"a"', 'xs=["a"]', "metadata.source=input", "n<2"),
    *("odd.x=1", "odd~yes", 'metadata.step="1"', "-xs~b waits", "id:1", 'xs[-1]="b"'),
)
PATHS = (
    "xs",
    "xs[0]",
    "xs[-1]",
    "len(xs)",
    "n",
    "odd",
    "odd.k",
    "len(n)",
    "nowhere",
    "odd['a b'][0]",
)


def opened(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        path.read_text().split('id="ckpt-viz-data">')[1].split("</script>")[0]
    )
    return found


def by_page(path: Path, questions: list[dict[str, Any]]) -> list[Any]:
    node = shutil.which("node")
    assert node, "node builds the page: install Node 20 or newer"
    ran = subprocess.run(
        [node, str(SCRIPT), str(path), str(STATIC / "offline.js")],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(ran.stdout)
    return found


def by_kernel(explorer: Any, question: dict[str, Any]) -> Any:
    told = answer(explorer._session, {"id": 1, **question})
    if not told["ok"]:
        return {"error": told["error"]["message"]}
    found = told["result"]
    while found.get("after"):  # a search comes in parts
        more = answer(explorer._session, {"id": 1, **question, "after": found["after"]})["result"]
        found = {"ids": found["ids"] + more["ids"], "after": more["after"]}
    return found


def values_of(state: Any) -> list[list[Any]]:
    """Paths into a state: its channels, their children, and one level more; of bytes an export
    holds the beginning alone.
    """
    out: list[list[Any]] = []
    for _, channel, value in items(state) or ():
        out.append([channel])
        for _, step, child in items(value) or ():
            if isinstance(child, bytes):
                continue
            out.append([channel, step])
            out += [[channel, step, deeper] for _, deeper, _ in items(child) or ()]
    return out[:12]


def asked(explorer: Any, ns: str) -> list[dict[str, Any]]:
    timeline = explorer.timeline.inside(ns)
    ids = [row.id for row in timeline.rows()]
    where = {"at": ns} if ns else {}
    out: list[dict[str, Any]] = [{"kind": "search", "query": q, **where} for q in QUERIES]
    for id_ in ids[-3:]:
        out += [{"kind": "watch", "path": p, "checkpoint": id_, **where} for p in PATHS]
        for path in values_of(timeline.snapshot(id_).values):
            for kind in ("blame", "value"):
                out.append({"kind": kind, "path": path, "checkpoint": id_, **where})
        a, b = (f"{one}\x01{ns}" if ns else one for one in (ids[0], id_))
        out += [
            {"kind": "diff", "a": a, "b": b},
            {"kind": "align", "a": ids[-1], "b": id_, **where},
        ]
    return out


def told(found: Any) -> Any:
    """An answer as both tell it: an error is an error, each in its words."""
    return {"error": True} if "error" in found else found


def odd(e: Any, saver: Any, c: dict[str, Any]) -> Any:
    """Messages with ids that move, nested dictionaries, and what JSON has not."""
    first = {"k": (1, {2}), "a b": [{"id": "m1", "t": "é\u202e😀"}], 3: b"\0" * 300}
    then = {"k": [1.5, None, True], "a b": [{"id": "m0"}, {"id": "m1", "t": "é"}]}
    last = {"odd": float("nan"), "foo": "long " * 900}
    nodes = {"a": lambda s: {"odd": first}, "b": lambda s: {"odd": then}, "c": lambda s: last}
    graph = chain_graph(e, nodes, saver)
    graph.invoke({"xs": []}, c)
    return graph


ALL = (*PROGRAMS, "odd")
CASES = [*(("ckpt_viz", name) for name in ALL), ("langgraph", "edited"), ("langgraph", "odd")]


@pytest.mark.parametrize("name, program", CASES)
def test_a_page_answers_as_the_kernel_does(name, program, tmp_path):
    e, program = engine(name), {**PROGRAMS, "odd": odd}[program]
    with contextlib.closing(explore(program(e, e.Saver(), CONFIG), "1", follow=False)) as explorer:
        path = explorer.export(tmp_path / "run.html")
        data = opened(path)
        spaces = explorer.timeline.namespaces()
        assert {"", *data["spaces"]} == set(spaces) == set(data["hello"]["namespaces"])
        assert data["cut"] == ""
        for ns in spaces:
            kept = data["spaces"][ns] if ns else data
            assert list(kept["checkpoints"]) == [
                row.id for row in reversed(explorer.timeline.inside(ns).rows())
            ]
        questions = [one for ns in spaces for one in asked(explorer, ns)]
        for question, found in zip(questions, by_page(path, questions), strict=True):
            assert told(found) == told(by_kernel(explorer, question)), question
