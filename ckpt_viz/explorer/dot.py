"""The tree as DOT, for Graphviz and whatever reads it: a box a checkpoint, newest at the top.

No values are in it. Names are quoted, so that nothing in them can end a string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckpt_viz.explorer.static import COLOURS, MARKS, label, lanes
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import Row, Unfinished

TEXT = 200
SHAPES = {"input": "oval", "fork": "diamond", "update": "diamond"}


def dot_tree(
    rows: Sequence[Row],
    title: str,
    unfinished: Sequence[Unfinished] = (),
    notes: Mapping[str, str] | None = None,
) -> str:
    """The tree of checkpoints as DOT source; ``notes`` by checkpoint id."""
    lane = lanes(rows)
    known = {row.id for row in rows}
    parts = [
        f"digraph {quoted(title)} {{",
        '  rankdir="BT"; node [shape=box, fontname="sans-serif", fontsize=11];',
        f"  label={quoted(title)};",
    ]
    parts += [_node(row, lane[row.id], (notes or {}).get(row.id, "")) for row in rows]
    for row in rows:
        parts += _links(row, known)
    for item in unfinished:
        if item.parent in known:
            told = quoted(f"{item.name}: {item.counts or item.status}")
            name = quoted(f"{item.parent} {item.task}")
            parts.append(f'  {name} [label={told}, style=dashed, color="{MARKS["error"]}"];')
            parts.append(f"  {quoted(item.parent)} -> {name} [style=dashed];")
    return "\n".join([*parts, "}", ""])


def _links(row: Row, known: set[str]) -> list[str]:
    out = []
    if row.parent_id is not None:
        parent = quoted(row.parent_id)
        if row.parent_id not in known:
            out.append(f'  {parent} [label="parent missing", style=dashed];')
        style = "" if row.parent_id in known else " [style=dotted]"
        out.append(f"  {parent} -> {quoted(row.id)}{style};")
    if row.copy_of is not None and row.copy_of in known:
        link = f"{quoted(row.copy_of)} -> {quoted(row.id)}"
        out.append(f"  {link} [style=dotted, dir=none, constraint=false];")
    return out


def _node(row: Row, lane: int, note: str) -> str:
    lines = [f"{row.step}  {label(row)}"]
    if row.head:
        lines.append("head")
    if note:
        lines.append(note)
    style = ', style="bold"' if row.head else ""
    colour = MARKS.get(row.status) if row.status in ("error", "interrupt") else None
    return (
        f"  {quoted(row.id)} [label={quoted(chr(10).join(lines))}, "
        f'shape={SHAPES.get(row.source, "box")}, color="{colour or COLOURS[lane % len(COLOURS)]}"'
        f"{style}];"
    )


def quoted(text: str) -> str:
    r"""A DOT string: quotes and backslashes are escaped, line ends are shown as line ends.

    >>> print(quoted('a "b" \\N'))
    "a \"b\" \\N"
    """
    body = clean(text.replace("\n", "\x00"))[: TEXT * 4]
    body = body.replace("\\u0000", "\n").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + body.replace("\n", "\\n") + '"'
