"""The graph's picture on its way to the page: DOT by `graphviz`, and what each of its names means.

The page lays the DOT out with Graphviz itself and draws it by its own hand. So DOT carries plain
names (`n0`, `e0`, `cluster_0`), sizes and cut labels; the whole names cross beside it, as data.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import graphviz

from ckpt_viz.explorer.panels import Json
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.shape import END, START, Shape, ShapeNode

NODE_LIMIT = 400
LABEL_LIMIT = 26
HEIGHT = 30
POINTS = 72  # an inch, in which Graphviz takes sizes
SPACING = {"nodesep": "0.25", "ranksep": "0.36", "pad": "0.1"}
MANY = {"splines": "line", "nslimit": "1", "mclimit": "0.1"}
"""For graphs of many nodes: curves around boxes would hold up the page for a second."""
MANY_NODES = 100
SPECIAL = {START: "start", END: "end"}


def middle(text: str, limit: int = LABEL_LIMIT) -> str:
    """Cut in the middle, as both ends of a name tell something.

    >>> middle("a_rather_long_name_of_a_node", 11)
    'a_rat…_node'
    """
    if len(text) <= limit:
        return text
    keep = limit - 1
    return f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"


def width_of(text: str) -> int:
    """About how many pixels a label takes at 12.5 px; wide scripts count double."""
    return round(sum(13 if unicodedata.east_asian_width(c) in "WF" else 7.6 for c in text))


def shape_json(shape: Shape) -> Json:
    """What the page draws, or why there is nothing."""
    why = shape.why
    if len(shape.nodes) > NODE_LIMIT:
        why = f"{len(shape.nodes)} nodes are more than can be drawn here ({NODE_LIMIT})."
    if why:
        return {"dot": "", "nodes": {}, "edges": {}, "frames": {}, "why": why, "note": ""}
    ids = {node.id: f"n{i}" for i, node in enumerate(shape.nodes)}
    frames = {path: f"cluster_{i}" for i, path in enumerate(shape.subgraphs)}
    return {
        "dot": _dot(shape, ids, frames),
        "nodes": {ids[n.id]: _node_json(n) for n in shape.nodes},
        "edges": {
            f"e{i}": {
                "source": ids[e.source],
                "target": ids[e.target],
                "kind": e.kind,
                "label": clean(e.label)[:200],
                "router": clean(e.router)[:200],
            }
            for i, e in enumerate(shape.edges)
            if e.source in ids and e.target in ids
        },
        "frames": {name: {"path": path, "name": _last(path)} for path, name in frames.items()},
        "why": "",
        "note": clean(shape.note),
    }


def _last(path: str) -> str:
    return clean(path.rpartition(":")[2])


def _label(name: str) -> str:
    """One line, cut."""
    return SPECIAL.get(name) or " ".join(clean(middle(name)).split()) or " "


def _node_json(node: ShapeNode) -> Json:
    return {
        "id": node.id,
        "name": node.name,
        "label": _label(node.name),
        "kind": SPECIAL.get(node.name, "node"),
        "inside": node.inside,
    }


def _dot(shape: Shape, ids: dict[str, str], frames: dict[str, str]) -> str:
    dot = graphviz.Digraph(
        "graph",
        graph_attr={**SPACING, **(MANY if len(shape.nodes) > MANY_NODES else {})},
        node_attr={"shape": "box", "fixedsize": "true", "fontname": "Helvetica", "fontsize": "12"},
        edge_attr={"arrowsize": "0.6", "fontname": "Helvetica", "fontsize": "10"},
    )
    _fill(dot, shape, "", ids, frames)
    for i, edge in enumerate(shape.edges):
        if edge.source not in ids or edge.target not in ids:
            continue
        told: dict[str, str] = {"id": f"e{i}"}
        if edge.label:
            told["label"] = graphviz.escape(clean(middle(edge.label, 18)))
        if edge.kind == "branch":
            told["style"] = "dashed"
        dot.edge(ids[edge.source], ids[edge.target], **told)
    return str(dot.source)


def _fill(dot: Any, shape: Shape, path: str, ids: dict[str, str], frames: dict[str, str]) -> None:
    for node in shape.nodes:
        if node.inside != path:
            continue
        label = _label(node.name)
        wide = 44 if node.name in SPECIAL else max(64, width_of(label) + 46)
        high = 22 if node.name in SPECIAL else HEIGHT
        dot.node(
            ids[node.id],
            graphviz.escape(label),
            width=f"{wide / POINTS:.3f}",
            height=f"{high / POINTS:.3f}",
        )
    for inner in shape.subgraphs:
        if inner.rpartition(":")[0] == path:
            with dot.subgraph(name=frames[inner]) as frame:
                frame.attr(label=graphviz.escape(middle(_last(inner))), labeljust="l", margin="12")
                _fill(frame, shape, inner, ids, frames)
