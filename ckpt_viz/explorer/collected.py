"""All that an exported page shows: every namespace's rows, panels and values, within a size.

Rules: what a page asks a kernel for is answered here beforehand (rows, panels, tabs) or can be
answered from the table of values (search, who wrote this, watched paths, differences). The newest
checkpoints come first; what does not fit is left out and named in `cut`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.explorer.columns import row_json
from ckpt_viz.explorer.kept_values import KeptValues
from ckpt_viz.explorer.messages import HANDLERS
from ckpt_viz.explorer.panels import Json, can_json, rows_json
from ckpt_viz.explorer.session import Session, shape_of
from ckpt_viz.timeline.blame import makers
from ckpt_viz.timeline.records import Capability, Row

CHECKPOINT_LIMIT = 300
INNER_LIMIT = 600
SPACE_LIMIT = 400
ROW_LIMIT = 20_000
PANEL_CHARS = 24 * 2**20
"""Checkpoints with panels: of the graph in view, and of all others; namespaces; rows of one; and
characters of all panels."""
WHY = "This page is an export: it has no kernel. Open the notebook to act."
WHOLE = ("graph", "storage", "nested", "surprises")


@dataclass(slots=True)
class Gathered:
    """What was collected of all namespaces, and what is left of the budget."""

    values: KeptValues
    left: int = PANEL_CHARS
    inner: int = INNER_LIMIT
    panels: int = 0
    states: int = 0
    cut: list[str] = field(default_factory=list)


def collect(session: Session) -> Json:
    """The hello answer, the answers of the newest checkpoints, and the values of all."""
    timeline = session.timeline
    here = {"id": timeline.thread_id, "checkpoints": 0, "last_step": 0, "last_time": 0}
    rows = timeline.rows()
    overview = session.overview()
    shown = [row_json(row) for row in rows[-ROW_LIMIT:]]
    overview["rows"] = {**overview["rows"], "rows": shown, "columns": None, "more": False}
    if rows:
        last = shown[-1]
        here |= {"checkpoints": len(shown), "last_step": last[2], "last_time": last[4]}
    hello: Json = {"session": "export", "threads": [{**here, "status": ""}], **overview}
    hello["can"] = can_json(Capability.none(WHY))
    hello["store"] = False  # what is remembered across threads is no part of one thread's history
    hello |= {"height": 560, "theme": "auto"}
    gathered = Gathered(KeptValues(session.redact))
    found = _space(session, rows, CHECKPOINT_LIMIT, gathered)
    if len(rows) > ROW_LIMIT:
        gathered.cut.append(f"{len(rows) - ROW_LIMIT} older rows")
    spaces = dict(_spaces(session, gathered))
    hello["namespaces"] = [ns for ns in hello["namespaces"] if ns in spaces or ns == hello["ns"]]
    cut = _told(gathered, len(_read(rows)) + sum(len(s["makers"]) for s in spaces.values()))
    values = gathered.values.json()
    return {"hello": hello, **found, "spaces": spaces, "values": values, "cut": cut}


def _spaces(session: Session, gathered: Gathered) -> Iterator[tuple[str, Json]]:
    """The other namespaces of the thread, those with the newest checkpoints first."""
    timeline = session.timeline
    others = {ns: timeline.inside(ns) for ns in timeline.namespaces()}
    others.pop(timeline.checkpoint_ns, None)
    known = [(inner.rows()[-ROW_LIMIT:], ns, inner) for ns, inner in others.items()]
    known = [one for one in known if one[0]]
    known.sort(key=lambda one: one[0][-1].id, reverse=True)
    if len(known) > SPACE_LIMIT:
        gathered.cut.append(f"{len(known) - SPACE_LIMIT} older namespaces")
    for rows, ns, inner in known[:SPACE_LIMIT]:
        before = gathered.panels
        found = _space(session.place(ns), rows, gathered.inner, gathered)
        gathered.inner -= gathered.panels - before
        tree = {**rows_json(rows, inner.head, inner.unfinished(), True), "more": False}
        hello = {"ns": ns, **shape_of(inner), "rows": tree, "selected": inner.head}
        yield ns, {"hello": hello, **found}


def _space(session: Session, rows: list[Row], limit: int, gathered: Gathered) -> Json:
    """Panels, answers and values of one namespace."""
    answers: Json = {kind: HANDLERS[kind](session, {}) for kind in WHOLE}
    for ns, owner, _ in answers["nested"]["nested"]:
        asked = {"ns": ns, "owner": owner}
        answers[f"inside {ns} {owner}"] = HANDLERS["inside"](session, asked)
    panels: Json = {}
    for row in reversed(_read(rows)):
        if len(panels) >= limit or gathered.left <= 0:
            break
        panels[row.id] = HANDLERS["checkpoint"](session, {"checkpoint": row.id})
        phases = HANDLERS["phases"](session, {"checkpoint": row.id})
        answers[f"phases {row.id}"] = phases
        gathered.left -= len(json.dumps((panels[row.id], phases)))
        gathered.panels += 1
    states = _states(session, rows, gathered)
    gathered.states += len(states["states"])
    return {"checkpoints": panels, "answers": answers, **states}


def _read(rows: list[Row]) -> list[Row]:
    """The rows whose checkpoints can be read."""
    return [row for row in rows if row.status != "unreadable"]


def _states(session: Session, rows: list[Row], gathered: Gathered) -> Json:
    """The state, metadata and makers of each checkpoint, newest first, by numbers of values."""
    states: Json = {}
    made: Json = {}
    for row in reversed(_read(rows)):
        if gathered.values.full:
            break
        snapshot = session.timeline.snapshot(row.id)
        metadata = gathered.values.at(snapshot.metadata or {}, ("metadata",))
        states[row.id] = [gathered.values.at(snapshot.values), metadata]
        made[row.id] = _makers(session, row, gathered.values)
    return {"states": states, "makers": made}


def _makers(session: Session, row: Row, values: KeptValues) -> Json:
    """Who made a checkpoint; of a copy, the checkpoint that it copies."""
    timeline = session.timeline
    if row.copy_of is not None and row.copy_of != row.parent_id:
        return {"copy": row.copy_of}
    known = row.parent_id is not None and timeline.row(row.parent_id) is not None
    found = makers(timeline, row.id, row.parent_id if known else None)
    if found.by:
        return {"by": found.by, "note": found.note}
    writes: dict[str, list[Any]] = {}
    for task, node, channel, value in found.writes:
        if not channel.startswith("__"):
            writes.setdefault(channel, []).append([task, node, values.at(value, (channel,))])
    return {"writes": writes, "ran": list(found.ran)}


def _told(gathered: Gathered, rows: int) -> str:
    """What an export left out, in a sentence; empty where it holds all."""
    told = list(gathered.cut)
    if gathered.panels < rows:
        told.append(f"the panels of {rows - gathered.panels} older checkpoints")
    if gathered.states < rows:
        told.append(f"the values of {rows - gathered.states} older checkpoints")
    for what, number in gathered.values.cut.items():
        told.append(f"the ends of {number} long {what}")
    return f"Left out of this file: {'; '.join(told)}." if told else ""
