"""What two readings of one history have in common: values as JSON, and a timeline's records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.timeline.diff import diff_values

DATABASES = Path(__file__).parent / "databases"
KEY = "0123456789abcdef"


def fixtures(kind: str) -> list[str]:
    """The names of the databases of a kind ("db" or "sql") that older versions wrote."""
    return sorted(p.name.removesuffix(f".{kind}.gz") for p in DATABASES.glob(f"*.{kind}.gz"))


def unpacked(name: str, folder: Path) -> Path:
    """A fresh copy of a SQLite database."""
    path = folder / f"{name}.db"
    path.write_bytes(gzip.decompress((DATABASES / f"{name}.db.gz").read_bytes()))
    return path


def truth(name: str) -> dict[str, Any]:
    """What the version that wrote a database read in it."""
    found: dict[str, Any] = json.loads(
        gzip.decompress((DATABASES / f"{name}.json.gz").read_bytes())
    )
    return found


def plain(value: Any) -> Any:
    """A value as JSON; a message by its kind and fields, whatever stands for it."""
    if hasattr(value, "content") and hasattr(value, "type"):
        kept = {"type": value.type, "content": value.content, "id": getattr(value, "id", None)}
        if getattr(value, "tool_calls", None):
            calls = value.tool_calls
            kept["tool_calls"] = [{k: c[k] for k in ("name", "args", "id")} for c in calls]
        return kept
    if isinstance(value, View):
        return {"class": value.name, **plain(value.fields)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(v) for v in value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _number(ids: list[str], id_: str | None) -> int | None:
    return None if id_ is None else ids.index(id_) if id_ in ids else -1


def told(timeline: Any) -> dict[str, Any]:
    """All that a timeline tells of its thread, by namespace, in labels that no run changes."""
    found: dict[str, Any] = {}
    for ns in timeline.namespaces():
        here = timeline.at(timeline.thread_id, ns)
        found[spoken(ns, found)] = told_here(here)
    return found


def spoken(ns: str, taken: Any) -> str:
    """A namespace without ids: the first of a name, the second, …"""
    name = "|".join(part.split(":")[0] for part in ns.split("|"))
    again = sum(1 for known in taken if known.split("#")[0] == name)
    return f"{name}#{again}" if ns else ""


def told_here(here: Any) -> dict[str, Any]:
    """All that a timeline tells of one namespace."""
    rows = here.rows()
    ids = [row.id for row in rows]
    return {
        "rows": [_row(row, ids) for row in rows],
        "states": [_state(here.snapshot(i)) for i in ids],
        "head": _state(here.snapshot(None)),
        "diffs": [_diff(here, row) for row in rows if row.parent_id in ids],
        "writes": [_writes(here.writes(i)) for i in ids],
        "unfinished": sorted(
            [_number(ids, u.parent), u.name, u.status, _error(u.text)] for u in here.unfinished()
        ),
    }


def _row(row: Any, ids: list[str]) -> dict[str, Any]:
    return {
        "parent": _number(ids, row.parent_id),
        "step": row.step,
        "source": row.source,
        "nodes": sorted(row.nodes),
        "changed": sorted(row.changed),
        "status": row.status,
        "head": row.head,
        "next": sorted(row.next),
        "copy": _number(ids, row.copy_of),
    }


def _state(found: Any) -> dict[str, Any]:
    values = found.values
    kept = {k: plain(v) for k, v in values.items()} if isinstance(values, dict) else plain(values)
    tasks = [
        [t.name, None if t.error is None else "error", [plain(i.value) for i in t.interrupts]]
        for t in found.tasks
    ]
    return {"values": kept, "next": sorted(found.next), "tasks": sorted(tasks, key=repr)}


def _diff(here: Any, row: Any) -> list[Any]:
    """What a step changed; a value that nothing wrote yet counts as none."""
    before, after = (
        dict(sorted((k, v) for k, v in plain(values).items() if v != []))
        if isinstance(values, dict)
        else values
        for values in (here.snapshot(id_).values for id_ in (row.parent_id, row.id))
    )
    return [(p.op, p.path, p.before, p.after) for p in diff_values(before, after).parts]


def _writes(found: Any) -> dict[str, Any]:
    return {
        "made": [_task(t) for t in sorted(found.made, key=_order)],
        "next": [_task(t) for t in sorted(found.next, key=_order)],
        "why_not": sorted((w.node, w.why) for w in found.why_not),
    }


def _error(text: str | None) -> str | None:
    """A saver may keep an error itself, where LangGraph's keep its repr."""
    return text and text.replace("ValueError('no')", "ValueError: no")


def _order(task: Any) -> Any:
    return task.name, repr(task.path)


def _task(task: Any) -> dict[str, Any]:
    return {
        "name": task.name,
        "kind": task.path[0] if task.path else "",
        "state": task.state,
        "triggers": sorted(task.triggers),
        "error": _error(task.error),
        "result": plain(task.result),
        "asked": [[plain(i.value), i.answered] for i in task.interrupts],
        "why": task.why,
    }


def shapeless(found: Any) -> Any:
    """What is left of all that is told where the graph's shape is not known (`can.shape`).

    Reasons name edges; empty values that nothing wrote are the reducers' beginning; and it takes
    reducers to tell what the finished tasks of the head will have made of the state.
    """
    if isinstance(found, list):
        return [shapeless(one) for one in found]
    if not isinstance(found, dict):
        return found
    out = {k: shapeless(v) for k, v in found.items() if k not in ("why", "why_not")}
    if isinstance(out.get("values"), dict):
        out["values"] = {k: v for k, v in out["values"].items() if v != []}
    if "head" in out and "states" in out:
        del out["head"]["values"]
    return out
