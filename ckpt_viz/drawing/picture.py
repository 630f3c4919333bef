"""A drawing as plain text, as SVG and in Graphviz' language."""

from __future__ import annotations

import itertools
from typing import Any

from ckpt_viz.drawing.layout import Layout, layout_of

_GAP = 3  # columns between boxes


def escape(text: str) -> str:
    """Text as XML holds it; the standard module's twin would cost every import its tables."""
    for sign, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot")):
        text = text.replace(sign, f"&{name};")
    return text


def _placed(graph: Any) -> Layout:
    return layout_of(list(graph.nodes), [(e.source, e.target) for e in graph.edges])


def columns_of(layout: Layout, widths: dict[Any, int], gap: int) -> tuple[dict[Any, int], int]:
    """The middle of each place, every row centred, and the whole width."""
    spans = [sum(widths[p] for p in row) + gap * (len(row) - 1) for row in layout.rows]
    whole = max(spans, default=0)
    middles: dict[Any, int] = {}
    for row, span in zip(layout.rows, spans, strict=True):
        left = (whole - span) // 2
        for place in row:
            middles[place] = left + widths[place] // 2
            left += widths[place] + gap
    return middles, whole


def ascii_of(graph: Any) -> str:
    """Boxes from top to bottom; dotted lines are conditional, loops are listed below."""
    layout = _placed(graph)
    widths = {
        place: len(graph.nodes[place].name) + 4 if isinstance(place, str) else 1
        for row in layout.rows
        for place in row
    }
    middles, width = columns_of(layout, widths, _GAP)
    lines: list[str] = []
    for rank, row in enumerate(layout.rows):
        if rank:
            lines += _lines_between(graph, layout, rank, middles, width)
        lines += _boxes(graph, row, widths, middles, width)
    lines += [
        f"{graph.edges[i].source} {'..>' if graph.edges[i].conditional else '-->'} "
        f"{graph.edges[i].target} (back)"
        for i in layout.loops
    ]
    return "\n".join(line.rstrip() for line in lines)


def _boxes(graph: Any, row: Any, widths: Any, middles: Any, width: int) -> list[str]:
    canvas = [[" "] * width for _ in range(3)]
    for place in row:
        left = middles[place] - widths[place] // 2
        if isinstance(place, str):
            edge = f"+{'-' * (widths[place] - 2)}+"
            texts = (edge, f"| {graph.nodes[place].name} |", edge)
        else:
            texts = (":" if graph.edges[place[0]].conditional else "|",) * 3
        for line, text in zip(canvas, texts, strict=True):
            line[left : left + len(text)] = text
    return ["".join(line) for line in canvas]


def _lines_between(graph: Any, layout: Layout, rank: int, middles: Any, width: int) -> list[str]:
    """The lines from one row to the next; each source has a level of its own to turn at."""
    steps: dict[Any, list[tuple[Any, bool]]] = {}
    for i, chain in layout.chains.items():
        for above, below in itertools.pairwise(chain):
            if above in layout.rows[rank - 1]:
                steps.setdefault(above, []).append((below, graph.edges[i].conditional))
    canvas = [[" "] * width for _ in range(len(steps) + 2)]
    for level, (above, targets) in enumerate(sorted(steps.items(), key=lambda s: middles[s[0]])):
        for below, dotted in targets:
            start, stop = middles[above], middles[below]
            down, across = (":", ".") if dotted else ("|", "-")
            for y in range(level + 1):
                canvas[y][start] = down
            if start != stop:
                for x in range(min(start, stop), max(start, stop) + 1):
                    canvas[level + 1][x] = across
                canvas[level + 1][start] = canvas[level + 1][stop] = "+"
            for y in range(level + 2 if start != stop else level + 1, len(canvas)):
                canvas[y][stop] = down
            if isinstance(below, str):
                canvas[-1][stop] = "v"
    return ["".join(line) for line in canvas]


def dot_of(graph: Any) -> str:
    """Graphviz' language: rounded boxes, dashed conditional edges, a cluster a subgraph."""

    def quoted(text: Any) -> str:
        return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'

    def frame(prefix: str, indent: str) -> list[str]:
        lines = []
        for node in graph.nodes.values():
            if node.id.rpartition(":")[0] == prefix:
                lines.append(f"{indent}{quoted(node.id)} [label={quoted(node.name)}];")
        for inner in sorted(p for p in _prefixes(graph) if p.rpartition(":")[0] == prefix):
            lines.append(f"{indent}subgraph {quoted('cluster_' + inner)} {{")
            lines.append(f"{indent}  label={quoted(inner.rpartition(':')[2])};")
            lines += [*frame(inner, indent + "  "), f"{indent}}}"]
        return lines

    lines = ["digraph {", '  node [shape=box style=rounded fontname="sans-serif"];']
    lines += frame("", "  ")
    for edge in graph.edges:
        told = [f"label={quoted(edge.data)}"] if edge.data else []
        told += ["style=dashed"] if edge.conditional else []
        more = f" [{' '.join(told)}]" if told else ""
        lines.append(f"  {quoted(edge.source)} -> {quoted(edge.target)}{more};")
    return "\n".join([*lines, "}"]) + "\n"


def _prefixes(graph: Any) -> set[str]:
    found = set()
    for id_ in graph.nodes:
        parts = id_.split(":")[:-1]
        found |= {":".join(parts[: i + 1]) for i in range(len(parts))}
    return found


_ROW = 78  # pixels from one row to the next
_BOX = 32  # height of a box
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
    'role="img" aria-label="graph" font-family="sans-serif" font-size="13">'
    '<defs><marker id="ckpt-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>'
)


def svg_of(graph: Any) -> str:
    """One SVG element: rows of boxes, dashed conditional edges, a frame around each subgraph."""
    layout = _placed(graph)
    widths = {
        place: max(60, 8 * len(graph.nodes[place].name) + 24) if isinstance(place, str) else 8
        for row in layout.rows
        for place in row
    }
    middles, width = columns_of(layout, widths, 28)
    spot = {
        place: (middles[place] + 40, 24 + rank * _ROW + _BOX // 2)
        for rank, row in enumerate(layout.rows)
        for place in row
    }
    height = 48 + (len(layout.rows) - 1) * _ROW + _BOX
    parts = [_HEAD.format(w=width + 120, h=height)]
    parts += [_frame(graph, prefix, spot, widths) for prefix in sorted(_prefixes(graph))]
    parts += [_path(graph.edges[i], chain, spot) for i, chain in layout.chains.items()]
    parts += [_back(graph.edges[i], spot, widths) for i in layout.loops]
    parts += [_box(node, spot[id_], widths[id_]) for id_, node in graph.nodes.items()]
    return "".join([*parts, "</svg>"])


def _box(node: Any, spot: tuple[int, int], width: int) -> str:
    x, y = spot
    fill = "#f2f0ff" if not node.name.startswith("__") else "#fff"
    more = f"<title>{escape(str(node.metadata))}</title>" if node.metadata else ""
    return (
        f'<g>{more}<rect x="{x - width // 2}" y="{y - _BOX // 2}" width="{width}" '
        f'height="{_BOX}" rx="8" fill="{fill}" stroke="#88a"/><text x="{x}" y="{y + 5}" '
        f'text-anchor="middle" fill="#223">{escape(node.name)}</text></g>'
    )


def _frame(graph: Any, prefix: str, spot: Any, widths: Any) -> str:
    inside = [id_ for id_ in graph.nodes if id_.startswith(f"{prefix}:")]
    margin = 22 - 5 * prefix.count(":")
    left = min(spot[i][0] - widths[i] // 2 for i in inside) - margin
    right = max(spot[i][0] + widths[i] // 2 for i in inside) + margin
    top = min(spot[i][1] for i in inside) - _BOX // 2 - margin
    bottom = max(spot[i][1] for i in inside) + _BOX // 2 + margin // 2
    return (
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="10" '
        f'fill="#88a" fill-opacity="0.07" stroke="#88a" stroke-dasharray="2 3"/><text '
        f'x="{left + 8}" y="{top + 14}" fill="#667" font-size="11">'
        f"{escape(prefix.rpartition(':')[2])}</text>"
    )


def _line(edge: Any, path: str, label_at: tuple[float, float]) -> str:
    dashed = ' stroke-dasharray="5 4"' if edge.conditional else ""
    drawn = (
        f'<path d="{path}" fill="none" stroke="#667" stroke-width="1.3"{dashed} '
        'marker-end="url(#ckpt-arrow)"/>'
    )
    if edge.data:
        x, y = label_at
        drawn += (
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" font-size="11" fill="#445" '
            f'paint-order="stroke" stroke="#fff" stroke-width="3">{escape(str(edge.data))}</text>'
        )
    return drawn


def _path(edge: Any, chain: Any, spot: Any) -> str:
    points = [spot[place] for place in chain]
    (x, y), (to_x, to_y) = points[0], points[-1]
    text = f"M{x} {y + _BOX // 2}"
    for px, py in points[1:-1]:
        text += f"L{px} {py}"
    text += f"L{to_x} {to_y - _BOX // 2}"
    nx, ny = points[1]
    return _line(edge, text, ((x + nx) / 2, (y + ny) / 2))


def _back(edge: Any, spot: Any, widths: Any) -> str:
    (x, y), (to_x, to_y) = spot[edge.source], spot[edge.target]
    start, end = x + widths[edge.source] // 2, to_x + widths[edge.target] // 2
    out = max(start, end) + 36
    if edge.source == edge.target:
        to_y = y + 10
    text = f"M{start} {y - 4}C{out} {y - 4} {out} {to_y + 4} {end} {to_y + 4}"
    return _line(edge, text, (out - 8, (y + to_y) / 2))
