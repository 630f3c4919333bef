"""The page's questions about a whole history: what surprises, and how two branches differ."""

from __future__ import annotations

from typing import Any

from ckpt_viz.explorer.columns import row_json
from ckpt_viz.explorer.panels import Json
from ckpt_viz.explorer.request import Handler, need
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline.alignment import Alignment, Pair, align, branch, differing
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import Row
from ckpt_viz.timeline.surprises import surprises

SURPRISE_SECONDS = 0.4
NOTE_LIMIT = 500
PAIR_LIMIT = 600
COMPARED = 120
"""So many pairs of steps are compared by value; the others by the nodes that ran."""


def _surprises(session: Session, request: Json) -> Json:
    found = surprises(session.timeline, SURPRISE_SECONDS)
    return {
        "surprises": [
            {"kind": s.kind, "text": clean(s.text), "checkpoint": s.checkpoint_id} for s in found
        ]
    }


def _align(session: Session, request: Json) -> Json:
    """Two branches step by step; only what follows their common ancestor crosses."""
    timeline = session.timeline
    rows = timeline.rows()
    line_a, line_b = branch(rows, need(request, "a")), branch(rows, need(request, "b"))
    left = [COMPARED]

    def differ(a: Row, b: Row) -> list[str]:
        if not left[0]:
            return []
        left[0] -= 1
        states = [session.redact.without(timeline.snapshot(r.id).values) for r in (a, b)]
        return differing(*states)

    found = align(line_a, line_b, differ)
    shared = sum(pair.a is pair.b for pair in found.pairs)
    shown = found.pairs[shared : shared + PAIR_LIMIT]
    return {
        "ancestor": found.ancestor,
        "shared": shared,
        "kind": found.kind,
        "text": clean(found.text),
        "first": None if found.first is None else _pair_ids(found.pairs[found.first]),
        "summary": _summary(found, shared, left[0] == 0),
        "pairs": [_pair(pair) for pair in shown],
        "more": len(found.pairs) - shared - len(shown),
    }


def _summary(found: Alignment, shared: int, cut: bool) -> str:
    pairs = found.pairs[shared:]
    told = [f"{shared} steps in common"]
    counts = {
        "alike": sum(pair.same for pair in pairs),
        "with other values": sum(pair.nodes and bool(pair.differs) for pair in pairs),
        "with other nodes": sum(bool(p.a and p.b and not p.nodes) for p in pairs),
        "only in A": sum(pair.b is None for pair in pairs),
        "only in B": sum(pair.a is None for pair in pairs),
    }
    told += [f"{n} {word}" for word, n in counts.items() if n]
    if cut:
        told.append(f"values of the first {COMPARED} pairs were compared")
    return ", ".join(told)


def _pair_ids(pair: Pair) -> list[str | None]:
    return [row.id if row else None for row in (pair.a, pair.b)]


def _pair(pair: Pair) -> Json:
    return {
        "a": pair.a and row_json(pair.a),
        "b": pair.b and row_json(pair.b),
        "nodes": pair.nodes,
        "differs": [clean(name) for name in pair.differs],
    }


def _note(session: Session, request: Json) -> Json:
    """Writes a note on a checkpoint, or takes it away; all pages are told."""
    text: Any = request.get("text")
    told = str(text or "").strip()[:NOTE_LIMIT]
    session.timeline.set_label(need(request, "checkpoint"), told or None)
    notes = session.notes()
    session.send({"event": "notes", "notes": notes})
    return {"notes": notes}


QUESTIONS: dict[str, Handler] = {"surprises": _surprises, "align": _align, "note": _note}
