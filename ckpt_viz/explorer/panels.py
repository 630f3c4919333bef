"""The JSON shapes that the page shows, made from timeline records. Pure but for reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ckpt_viz.explorer.columns import pack_rows
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.diff import Diff, diff_values
from ckpt_viz.timeline.lines import line
from ckpt_viz.timeline.preview import CHILD_LIMIT, Previewer, clean, mark, short
from ckpt_viz.timeline.records import Capability, Row, TaskView, Unfinished, Writes
from ckpt_viz.timeline.redact import Redaction
from ckpt_viz.timeline.rows import Light
from ckpt_viz.timeline.why import sentence, version_number

Json = dict[str, Any]
STEP_LIMIT = 60
ROUTING_LIMIT = 40
SAFE_INT = 2**53


def rows_json(
    rows: Sequence[Row], head: str | None, unfinished: Sequence[Unfinished], reset: bool
) -> Json:
    """The message that adds rows to the tree, or replaces them all."""
    return {
        "reset": reset,
        "head": head,
        **pack_rows(rows),
        "unfinished": [
            {
                "parent": u.parent,
                "task": u.task,
                "name": u.name,
                "status": u.status,
                "text": clean(u.text),
                "waits": u.waits,
                **({"of": u.of, "counts": u.counts} if u.of > 1 else {}),
            }
            for u in unfinished
        ],
    }


def can_json(can: Capability) -> Json:
    """What is possible, and why not."""
    ables = {one.name: getattr(can, one.name) for one in fields(can)}
    return {name: {"ok": able.ok, "why": able.why} for name, able in ables.items()}


def plain(value: Any, depth: int = 0) -> Any:
    """A JSON-safe, bounded form of metadata and configs; odd values become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < SAFE_INT else short(value)[0]
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, str):
        return clean(value[:2_000])
    if depth < 6 and isinstance(value, Mapping):
        pairs = list(value.items())[:CHILD_LIMIT]
        return {
            clean(k if isinstance(k, str) else repr(k))[:200]: plain(v, depth + 1) for k, v in pairs
        }
    if depth < 6 and isinstance(value, list | tuple):
        return [plain(v, depth + 1) for v in value[:CHILD_LIMIT]]
    return short(value)[0]


def title_of(row: Row | None, snapshot: Any) -> str:
    """Where one is, in words: "After plan (step 2)"."""
    step = (snapshot.metadata or {}).get("step")
    if row is None:
        return f"Step {step}"
    nodes = [n for n in dict.fromkeys(row.nodes) if n != "__start__"]
    if row.event is not None:
        what = f"After {row.event}"
    elif row.source == "input":
        what = "Input"
    elif row.source == "update":
        what = f"After update as {', '.join(nodes)}" if nodes else "After update by you"
    elif row.source == "fork":
        what = "After fork by you"
    else:
        what = f"After {', '.join(nodes)}" if nodes else "Start"
    return f"{what} (step {step})"


def diff_json(a: str | None, b: str, diff: Diff) -> Json:
    """A difference as it crosses."""
    parts = []
    for part in diff.parts:
        out: Json = {"op": part.op, "path": clean(part.path)[:500]}
        for name in ("before", "after", "n"):
            if getattr(part, name) is not None:
                out[name] = getattr(part, name)
        parts.append(out)
    return {"a": a, "b": b, "summary": diff.summary, "parts": parts}


def compare(timeline: GraphTimeline, a: str | None, b: str, redact: Redaction) -> Json:
    """The difference of the states of two checkpoints (a None: of nothing)."""
    before = {} if a is None else timeline.snapshot(a).values
    return diff_json(a, b, hidden_diff(before, timeline.snapshot(b).values, redact))


def hidden_diff(before: Any, after: Any, redact: Redaction) -> Diff:
    """The difference without the values of redacted paths."""
    return diff_values(redact.without(before), redact.without(after))


def checkpoint_json(timeline: GraphTimeline, checkpoint_id: str, session: Any) -> Json:
    """Everything that the inspector's panels show for one checkpoint, in one answer."""
    snapshot = timeline.snapshot(checkpoint_id)
    row = timeline.row(checkpoint_id)
    parent_id = row.parent_id if row else None
    before = timeline.snapshot_or_none(parent_id)
    values = snapshot.values
    old = before.values if before is not None else {}
    previewer = Previewer(session.redact)
    state = mark(previewer.entries(values), old, values)
    diff = hidden_diff(old, values, session.redact)
    return {
        "id": checkpoint_id,
        "title": title_of(row, snapshot),
        "state": state,
        "next": [str(n) for n in snapshot.next],
        "diff": diff_json(parent_id if before is not None else None, checkpoint_id, diff),
        "channels": channels_json(timeline, checkpoint_id),
        "writes": writes_json(timeline.writes(checkpoint_id), session),
        "raw": raw_json(timeline, snapshot),
    }


def writes_json(writes: Writes, session: Any) -> Json:
    """Both parts of the Writes panel."""
    previewer = Previewer(session.redact, budget=600)
    return {
        "made": [task_json(t, previewer, session) for t in writes.made],
        "next": [task_json(t, previewer, session) for t in writes.next],
        "why_not": [
            {"node": w.node, "why": clean(w.why), "versions": clean(w.versions)[:600]}
            for w in writes.why_not
        ],
    }


def task_json(task: TaskView, previewer: Previewer, session: Any) -> Json:
    """One task with its outcome."""
    return {
        "id": task.id,
        "name": task.name,
        "path": clean(", ".join(str(p) for p in task.path))[:200],
        "triggers": list(task.triggers),
        "why": _why(task, session.redact),
        "versions": clean(task.versions)[:2_000],
        "state": task.state,
        "result": [] if task.result is None else previewer.entries(task.result),
        "error": None if task.error is None else clean(task.error[:4_000]),
        "traceback": session.traceback_of(task),
        "began": task.began and round(task.began * 1000),
        "took": None if task.took is None else round(task.took * 1000, 3),
        "interrupts": [
            {"id": i.id, "value": previewer.entry("value", i.value, ()), "answered": i.answered}
            for i in task.interrupts
        ],
    }


def _why(task: TaskView, redact: Iterable[str]) -> str:
    """The sentence why a task runs, without the redacted parts of its values."""
    sent = [line(arg, (), redact) for arg in task.sent]
    resumed = [line(answer, (), redact, 80) for answer in task.resumed]
    return clean(sentence(task.reason or task.why, sent, resumed))[:600]


def channels_json(timeline: GraphTimeline, checkpoint_id: str) -> Json:
    """The matrix of channels by steps along the branch that ends in the checkpoint."""
    lineage = list(reversed(timeline.ancestors(checkpoint_id, STEP_LIMIT + 1)))
    lights = [timeline.light(i) for i in lineage]
    shown = lights[-STEP_LIMIT:]
    previous: dict[str, Light | None] = {
        b.id: a for a, b in zip([None, *lights], lights, strict=False)
    }
    names = list(timeline.topology.channels)
    names += sorted({c for light in shown for c in light.versions} - set(names))
    kinds = timeline.topology.channels
    routing = [n for n in names if n not in kinds or kinds[n].routing]
    left_out = set(routing) - set(_latest(routing, shown))
    return {
        "steps": [{"id": light.id, "step": light.step} for light in shown],
        "rows": [
            {
                "name": name,
                "routing": kinds[name].routing if name in kinds else True,
                "cells": [_cell(timeline, light, previous[light.id], name) for light in shown],
            }
            for name in names
            if name not in left_out
        ],
        "left_out": len(left_out),
        "seen": {
            node: {c: version_number(v) for c, v in seen.items()}
            for node, seen in shown[-1].seen.items()
        }
        if shown
        else {},
    }


def _latest(names: list[str], lights: list[Light]) -> list[str]:
    """The channels that changed last: a large graph has hundreds, a message holds a megabyte."""
    if len(names) <= ROUTING_LIMIT or not lights:
        return names
    found: dict[str, None] = {}
    for light, before in zip(reversed(lights), reversed([None, *lights[:-1]]), strict=True):
        old = before.versions if before else {}
        found |= {n: None for n in names if light.versions.get(n) != old.get(n)}
    return list(found)[:ROUTING_LIMIT]


def _cell(timeline: GraphTimeline, light: Light, before: Light | None, name: str) -> Json | None:
    version = light.versions.get(name)
    if version is None:
        return None
    tag, size = timeline.blob_size(name, version)
    written = before is None or before.versions.get(name) != version
    kind = "empty" if name in light.empty else "written" if written else "shared"
    return {
        "v": version_number(version),
        "full": str(version),
        "kind": kind,
        "bytes": size,
        "tag": tag,
    }


def raw_json(timeline: GraphTimeline, snapshot: Any) -> Json:
    """Config, metadata and ids, and the Python that gets this snapshot."""
    config = plain(snapshot.config)
    return {
        "config": config,
        "metadata": plain(snapshot.metadata),
        "parent_config": plain(snapshot.parent_config),
        "created_at": plain(snapshot.created_at),
        "python": f"config = {python_text(snapshot.config)}\nsnapshot = graph.get_state(config)",
    }


def python_text(config: Any) -> str:
    """The config as Python source."""
    where = (config or {}).get("configurable", {})
    keys = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return json.dumps({"configurable": {k: str(where[k]) for k in keys if k in where}})
