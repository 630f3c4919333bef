"""A picture of the tree without a kernel: pure SVG attributes, and text with box characters.

Hosts strip `<style>` and scripts, pages may be white or black: so every mark is an attribute, in
mid tones that show on both. At most 200 rows and 100 kB; no values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import Row, Unfinished

ROWS = 200
SIZE_LIMIT = 100_000
LINE = 22
LANE = 14
LANES = 8
INK = "#7a828e"
COLOURS = ("#4f83cc", "#8a6fd1", "#2a9aa0", "#b0709d", "#6f8f4e", "#9a7b4f", "#5f7fa8", "#a06fb0")
WORDS = {"error": "failed", "interrupt": "waits", "pending": "pending", "done": "end"}
MARKS = {"error": "#d1242f", "interrupt": "#bf7700", "pending": "#7a828e", "done": "#2f8f4e"}


def label(row: Row) -> str:
    """The nodes that ran to make a row, in words; many tasks of a node as `worker x30`."""
    counts: dict[str, int] = {}
    for node in row.nodes:
        counts[node] = counts.get(node, 0) + 1
    names = [n if k == 1 else f"{n} ×{k}" for n, k in counts.items() if n != "__start__"]  # noqa: RUF001
    text = clean(", ".join(names))
    if row.event is not None:
        return clean(row.event)
    if row.source == "loop":
        return text or "start"
    words = {"input": "input", "update": "edit", "fork": "copy"}
    word = words.get(row.source, row.source)
    return f"{word} as {text}" if text else word


def lanes(rows: Sequence[Row]) -> dict[str, int]:
    """A lane for each row (oldest first): the first child goes on in its parent's lane."""
    out: dict[str, int] = {}
    used: set[str] = set()
    count = 0
    for row in rows:
        parent = row.parent_id
        if parent in out and parent not in used and parent is not None:
            used.add(parent)
            out[row.id] = out[parent]
        else:
            out[row.id] = count
            count += 1
    return out


def _words(row: Row, waits: dict[str, list[Unfinished]]) -> str:
    told = ["head"] if row.head else []
    told += [f"turn {row.turn}"] if row.turn is not None else []
    told += [f"v{clean(row.version)}"] if row.version is not None else []
    if row.status in WORDS and (row.status != "done" or row.head):
        told.append(WORDS[row.status])
    told += [f"{clean(u.name)}: {clean(u.text)[:60]}" for u in waits.get(row.id, [])[:3] if u.text]
    return " · ".join(told)


def _noted(row: Row, waits: dict[str, list[Unfinished]], notes: Mapping[str, str] | None) -> str:
    note = clean((notes or {}).get(row.id, ""))[:60]
    return " · ".join(part for part in (note, _words(row, waits)) if part)


def _by_parent(unfinished: Sequence[Unfinished]) -> dict[str, list[Unfinished]]:
    out: dict[str, list[Unfinished]] = {}
    for item in unfinished:
        out.setdefault(item.parent, []).append(item)
    return out


def svg_tree(
    rows: Sequence[Row],
    title: str,
    unfinished: Sequence[Unfinished] = (),
    values: bool = False,
    *,
    more: bool = False,
    notes: Mapping[str, str] | None = None,
) -> str:
    """The tree as SVG, newest first. Interrupt and error texts only with `values`.

    `more`: there are checkpoints older than `rows`; `notes` are shown beside their checkpoints.
    """
    shown = list(rows)[-ROWS:]
    waits = _by_parent(unfinished) if values else {}
    lane = lanes(shown)
    width = min(LANES, max(lane.values(), default=0) + 1)
    left = 16 + width * LANE
    place = {row.id: i for i, row in enumerate(reversed(shown))}
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    head = f"{title}: {_counted(rows, more)}, {stamp}"
    height = 34 + LINE * max(1, len(shown))
    parts = [
        '<svg class="ckpt-viz-tree" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 720 {height}" width="720" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(clean(head))}</title>",
        f'<text x="8" y="18" fill="{INK}" font-weight="600">{escape(clean(head)[:110])}</text>',
    ]
    parts += [_edge(row, place, lane) for row in shown]
    budget = SIZE_LIMIT - sum(len(p) for p in parts) - 1_000
    for row in reversed(shown):
        text = _row(row, place[row.id], lane[row.id], left, _noted(row, waits, notes))
        budget -= len(text.encode())
        if budget < 0:
            break
        parts.append(text)
    if not shown:
        parts.append(f'<text x="8" y="44" fill="{INK}">No checkpoints yet</text>')
    return "".join(parts) + "</svg>"


def _xy(index: int, lane: int) -> tuple[int, int]:
    return 14 + min(lane, LANES - 1) * LANE, 40 + index * LINE


def _colour(lane: int) -> str:
    return COLOURS[lane % len(COLOURS)]


def _edge(row: Row, place: dict[str, int], lane: dict[str, int]) -> str:
    if row.parent_id not in place or row.parent_id is None:
        return ""
    x1, y1 = _xy(place[row.id], lane[row.id])
    x2, y2 = _xy(place[row.parent_id], lane[row.parent_id])
    bend = f"M{x1} {y1}V{y2 - LINE // 2}L{x2} {y2}" if x1 != x2 else f"M{x1} {y1}V{y2}"
    dash = ' stroke-dasharray="3 2"' if row.source in ("update", "fork") else ""
    colour = _colour(lane[row.id])
    return f'<path d="{bend}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _row(row: Row, index: int, lane: int, left: int, words: str) -> str:
    x, y = _xy(index, lane)
    fill = MARKS[row.status] if row.status in ("error", "interrupt") else _colour(lane)
    name = label(row)
    bold = ' font-weight="700"' if row.head else ""
    changed = clean(", ".join(row.changed))
    out = f'<circle cx="{x}" cy="{y}" r="{5 if row.head else 4}" fill="{fill}"/>'
    out += f'<text x="{left}" y="{y + 4}" fill="{INK}">{row.step}</text>'
    out += f'<text x="{left + 34}" y="{y + 4}" fill="{INK}"{bold}>{escape(name[:36])}</text>'
    out += f'<text x="{left + 270}" y="{y + 4}" fill="{INK}">{escape(changed[:24])}</text>'
    if words:
        tone = MARKS.get(row.status, INK)
        out += f'<text x="{left + 430}" y="{y + 4}" fill="{tone}">{escape(words[:40])}</text>'
    return out


def _counted(rows: Sequence[Row], more: bool) -> str:
    return f"{len(rows)} {'or more ' if more else ''}checkpoints"


def text_tree(
    rows: Sequence[Row],
    title: str,
    unfinished: Sequence[Unfinished] = (),
    *,
    more: bool = False,
    notes: Mapping[str, str] | None = None,
) -> str:
    """The tree as text, newest first; a branch that was left is indented above its base.

    `more` and `notes` as of `svg_tree`.
    """
    shown = list(rows)[-ROWS:]
    waits = _by_parent(unfinished)
    children = _children(shown)
    told: list[str] = []  # oldest first: a parent before its children
    stack = [(row, "") for row in reversed(children.get(None, []))]
    while stack:
        row, indent = stack.pop()
        words = _noted(row, waits, notes)
        tail = f"  [{words}]" if words else ""
        told.append(f"{indent}{'●' if row.head else '○'} {row.step:>3}  {label(row)}{tail}")
        beside = indent.replace("├─", "│ ")
        for item in waits.get(row.id, []):
            word = WORDS.get(item.status, item.status)
            told.append(f"{beside}┊      {clean(item.name)}: {word}, not finished")
        kids = children.get(row.id, [])
        stack += [(kid, beside) for kid in kids[-1:]]
        stack += [(kid, f"{beside}├─") for kid in reversed(kids[:-1])]
    lines = [clean(f"{title}: {_counted(rows, more)}"), *reversed(told)]
    if len(rows) > len(shown):
        lines.append(f"… {len(rows) - len(shown)} older")
    if not shown:
        lines.append("no checkpoints yet")
    return "\n".join(lines)


def _children(rows: Sequence[Row]) -> dict[str | None, list[Row]]:
    """The children of each row (None: the roots); the one that leads to the newest row is last."""
    newest = {row.id: row.id for row in rows}
    for row in reversed(rows):
        if row.parent_id in newest:
            newest[row.parent_id] = max(newest[row.parent_id], newest[row.id])
    out: dict[str | None, list[Row]] = {}
    for row in sorted(rows, key=lambda row: newest[row.id]):
        out.setdefault(row.parent_id if row.parent_id in newest else None, []).append(row)
    return out
