"""A thread's history as JSON: written from any timeline, and opened again as a source.

Form: `{"format": "ckpt-viz-history", "version": 1, "thread", "title", "notes", "spaces": [...]}`;
a space is a namespace with its `shape`, its `labels`, a table of `values` and its `checkpoints`,
which name values by their place in the table: what did not change is written once. Values are in
the form of `wire`. Beyond the limits the oldest checkpoints and the largest values are left out,
and noted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from ckpt_viz.checkpoint.times import Span
from ckpt_viz.timeline.event_log import interrupts
from ckpt_viz.timeline.preview import same
from ckpt_viz.timeline.recorded import Recorded, RecordedSaver, RecordedTask
from ckpt_viz.timeline.records import ChannelInfo, Topology
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import TASKS
from ckpt_viz.timeline.wire import TooDeepError, check_depth, from_json, to_json

FORMAT = "ckpt-viz-history"
VERSION = 1
CHECKPOINT_LIMIT = 2_000
VALUE_LIMIT = 5 * 2**20
TOTAL_LIMIT = 100 * 2**20
"""Characters of JSON: of one value, and of all values of a file."""

Shown = Callable[[Any], Any]
"""Takes a dict of values by channel, and gives the part that may be shown."""


class HistoryFileError(ValueError):
    """A file is no history, or one of another version."""


class HistoryFile(RecordedSaver):
    """The checkpoints of an exported file."""

    why = "This is an exported history: it can be read, and there is no graph here to run"
    name = "export"
    spoken = "An exported history"

    def __init__(self) -> None:
        super().__init__()
        self.named: dict[str, list[dict[str, Any]]] = {}
        """The labels of each thread."""

    def labels(self, thread_id: str) -> Sequence[dict[str, Any]]:
        """What somebody named checkpoints of a thread, as a saver tells it."""
        return self.named.get(thread_id, [])


# -- writing ---------------------------------------------------------------------------------


class _Table:
    """The values of one namespace, each once; and what is left of the budget."""

    def __init__(self, shown: Shown, notes: list[str], left: int) -> None:
        self.values: list[Any] = []
        self.left = left
        self._places: dict[Any, int] = {}
        self._shown = shown
        self._notes = notes

    def json(self, channel: str, value: Any) -> Any:
        """The JSON form of a value, without what must not be shown."""
        return to_json(self._shown({channel: value})[channel])

    def at(self, key: Any, channel: str, value: Any) -> int:
        """The place of a value; `key` names it where it may be met again."""
        if key in self._places:
            return self._places[key]
        told = self.json(channel, value)
        size = len(json.dumps(told, allow_nan=False))
        if size > min(VALUE_LIMIT, self.left):
            self._notes.append(f"{channel}: a value of {size} characters was left out")
            told = f"[left out: {size} characters]"
        self.left -= size if size <= min(VALUE_LIMIT, self.left) else 0
        self.values.append(told)
        self._places[key] = len(self.values) - 1
        return self._places[key]


def history_json(timeline: Any, shown: Shown = lambda values: values) -> dict[str, Any]:
    """The history of a timeline's thread, in all its namespaces.

    `shown` hides what must not leave Python: it is asked for every value, by its channel.
    """
    notes: list[str] = list(getattr(timeline, "notes", ()))
    spaces, left = [], TOTAL_LIMIT
    for ns in timeline.namespaces():
        space, left = _space(timeline.at(timeline.thread_id, ns), shown, notes, left)
        spaces.append(space)
    return {
        "format": FORMAT,
        "version": VERSION,
        "thread": timeline.thread_id,
        "title": timeline.title,
        "notes": list(dict.fromkeys(notes))[:50],
        "spaces": spaces,
    }


def _space(timeline: Any, shown: Shown, notes: list[str], left: int) -> tuple[dict[str, Any], int]:
    rows = list(islice(timeline.newest_first(), CHECKPOINT_LIMIT + 1))[::-1]
    if len(rows) > CHECKPOINT_LIMIT:
        notes.append(f"what is older than the newest {CHECKPOINT_LIMIT} checkpoints was left out")
    lost = [row.id for row in rows if row.status == "unreadable"]
    notes += [f"checkpoint {id_} can't be read, and was left out" for id_ in lost]
    rows = [row for row in rows if row.id not in lost]
    table = _Table(shown, notes, left)
    checkpoints = [_checkpoint(timeline, row, table) for row in rows[-CHECKPOINT_LIMIT:]]
    space = {
        "ns": timeline.checkpoint_ns,
        "shape": _shape_json(timeline.topology),
        "labels": [{"id": id_, "text": text} for id_, text in timeline.labels().items()],
        "checkpoints": checkpoints,
        "head": _head(timeline, rows[-1].id, table) if rows else None,
        "values": table.values,
    }
    return space, table.left


def _head(timeline: Any, id_: str, table: _Table) -> dict[str, Any] | None:
    """The newest state where it is more than its checkpoint's: some tasks of it have ended."""
    head, base = timeline.snapshot(None), timeline.snapshot(id_)
    if (
        same(head.next, base.next)
        and same(head.tasks, base.tasks)
        and same(head.values, base.values)
    ):
        return None
    state = head.values if isinstance(head.values, dict) else {"__root__": head.values}
    return {
        "values": {str(c): table.at(("head", c), str(c), v) for c, v in state.items()},
        "next": [str(name) for name in head.next],
        "tasks": [_task_json(task, "head", table) for task in head.tasks],
    }


def _checkpoint(timeline: Any, row: Any, table: _Table) -> dict[str, Any]:
    snapshot, tup, light = timeline.snapshot(row.id), timeline.tuple(row.id), timeline.light(row.id)
    versions = light.versions

    def place(channel: str, value: Any) -> int:
        version = versions.get(channel)
        key = (channel, row.id if version is None else str(version))
        return table.at(key, channel, value)

    values = snapshot.values if isinstance(snapshot.values, dict) else {"__root__": snapshot.values}
    hidden = {
        c: v for c, v in (tup.checkpoint.get("channel_values") or {}).items() if is_routing(c)
    }
    return {
        "id": row.id,
        "parent": row.parent_id,
        "bare": not isinstance(snapshot.values, dict),
        "values": {str(c): place(str(c), v) for c, v in values.items()},
        "routing": {c: table.json(c, v) for c, v in hidden.items() if c == TASKS or c[:2] != "__"},
        "metadata": table.json("metadata", dict(snapshot.metadata or {})),
        "created_at": snapshot.created_at,
        "next": [str(n) for n in snapshot.next],
        "ready": list(row.next),
        "versions": to_json(versions),
        "seen": to_json(light.seen),
        "pending": [
            [str(task), str(channel), table.at((row.id, n), str(channel), value)]
            for n, (task, channel, value) in enumerate(tup.pending_writes or ())
            if channel != "__interrupt__"
        ],
        "tasks": [_task_json(task, row.id, table) for task in snapshot.tasks],
        "spans": {task: list(span) for task, span in light.spans.items()},
    }


def _task_json(task: Any, id_: str, table: _Table) -> dict[str, Any]:
    result = task.result
    if isinstance(result, dict):
        result = {c: table.at((id_, task.id, c), str(c), v) for c, v in result.items()}
    elif result is not None:
        result = table.at((id_, task.id, ""), "__root__", result)
    return {
        "id": str(task.id),
        "name": str(task.name),
        "path": [p if isinstance(p, str | int) else str(p) for p in task.path],
        "error": None if task.error is None else _error_text(task.error),
        "interrupts": [
            {"id": str(i.id), "value": table.at((id_, i.id), "__interrupt__", i.value)}
            for i in task.interrupts
        ],
        "result": result,
    }


def _error_text(error: Any) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)


def _shape_json(shape: Topology) -> dict[str, Any]:
    return {
        "triggers": {k: list(v) for k, v in shape.triggers.items()},
        "edges": sorted(list(edge) for edge in shape.edges),
        "waiting": [[list(starts), end] for starts, end in shape.waiting],
        "branches": {
            node: {name: None if ends is None else list(ends) for name, ends in routers.items()}
            for node, routers in shape.branches.items()
        },
        "channels": [asdict(info) for info in shape.channels.values()],
    }


# -- reading ---------------------------------------------------------------------------------


def is_history(data: Any) -> bool:
    """Whether parsed JSON is a history, or an export that holds one."""
    return isinstance(data, dict) and (
        data.get("format") == FORMAT
        or (isinstance(data.get("history"), dict) and data["history"].get("format") == FORMAT)
    )


def read_history(data: dict[str, Any]) -> HistoryFile:
    """The history that parsed JSON holds.

    Raises:
        HistoryFileError: it is of a newer version, or lacks what a history has.
    """
    history = data if data.get("format") == FORMAT else data["history"]
    if history.get("version") != VERSION:
        raise HistoryFileError(
            f"The file is of version {history.get('version')!r} of the form; this package reads "
            f"version {VERSION}. Update it, or export again."
        )
    saver = HistoryFile()
    try:
        check_depth(history)
        saver.name = str(history.get("title") or saver.name)
        saver.notes = [str(note)[:400] for note in history.get("notes") or ()][:50]
        for space in history["spaces"]:
            _read_space(saver, str(history["thread"]), space)
    except (LookupError, TypeError, AttributeError, ValueError, TooDeepError) as error:
        raise HistoryFileError(
            f"The history is damaged: {type(error).__name__}: {error}. Export it again."
        ) from error
    if not saver.size:
        raise HistoryFileError("The history holds no checkpoint")
    return saver


def _read_space(saver: HistoryFile, thread: str, space: dict[str, Any]) -> None:
    values = [from_json(value) for value in space["values"]]
    ns = str(space["ns"])
    saver.shapes["|".join(part.split(":", 1)[0] for part in ns.split("|"))] = _read_shape(
        space["shape"]
    )
    saver.named.setdefault(thread, []).extend(
        {"checkpoint_ns": ns, "checkpoint_id": str(one["id"]), "label": str(one["text"])}
        for one in space.get("labels") or ()
    )
    for told in space["checkpoints"]:
        saver.put(_read_checkpoint(thread, ns, told, values))
    head, record = space["head"], saver.record(thread, ns, None)
    if head is not None and record is not None:
        state = {str(c): values[n] for c, n in head["values"].items()}
        saver.heads[thread, ns] = replace(
            record,
            values=state.get("__root__", state),
            next=tuple(str(n) for n in head["next"]),
            tasks=[_read_task(task, values) for task in head["tasks"]],
        )


def _read_checkpoint(thread: str, ns: str, told: dict[str, Any], values: list[Any]) -> Recorded:
    state = {str(c): values[n] for c, n in told["values"].items()}
    tasks = [_read_task(task, values) for task in told["tasks"]]
    asked = [(t.id, "__interrupt__", t.interrupts) for t in tasks if t.interrupts]
    pending = [(str(task), str(c), values[n]) for task, c, n in told["pending"]]
    parent = told["parent"]
    return Recorded(
        id=str(told["id"]),
        parent_id=None if parent is None else str(parent),
        thread=thread,
        ns=ns,
        values=state.get("__root__") if told["bare"] else state,
        metadata=dict(from_json(told["metadata"])),
        next=tuple(str(n) for n in told["next"]),
        tasks=tasks,
        created_at=None if told["created_at"] is None else str(told["created_at"]),
        versions=dict(from_json(told["versions"])),
        seen={str(n): dict(v) for n, v in from_json(told["seen"]).items()},
        pending=[*asked, *pending],
        routing={str(c): from_json(v) for c, v in told["routing"].items()},
        ready=tuple(str(n) for n in told["ready"]),
        spans={
            str(task): Span(float(began), float(took))
            for task, (began, took) in (told.get("spans") or {}).items()
        },
    )


def _read_task(told: dict[str, Any], values: list[Any]) -> RecordedTask:
    result = told["result"]
    if isinstance(result, dict):
        result = {str(c): values[n] for c, n in result.items()}
    elif result is not None:
        result = values[result]
    asked = [{"id": i["id"], "value": values[i["value"]]} for i in told["interrupts"]]
    return RecordedTask(
        id=str(told["id"]),
        name=str(told["name"]),
        path=tuple(told["path"]),
        result=result,
        error=told["error"],
        interrupts=interrupts(asked),
    )


def _read_shape(told: dict[str, Any]) -> Topology:
    return Topology(
        triggers={str(k): tuple(str(t) for t in v) for k, v in told["triggers"].items()},
        edges=frozenset((str(a), str(b)) for a, b in told["edges"]),
        waiting=tuple((tuple(str(s) for s in starts), str(end)) for starts, end in told["waiting"]),
        branches={
            str(node): {
                str(name): None if ends is None else tuple(str(e) for e in ends)
                for name, ends in routers.items()
            }
            for node, routers in told["branches"].items()
        },
        channels={
            str(c["name"]): ChannelInfo(
                str(c["name"]),
                str(c["kind"]),
                c["reducer"] and str(c["reducer"]),
                bool(c["routing"]),
            )
            for c in told["channels"]
        },
    )
