"""What streams show of a run: the payloads of each mode. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ckpt_viz.pregel.settings import PLACED
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import Interrupt

Keys = str | tuple[str, ...]


def shown_writes(writes: Sequence[tuple[str, Any]], keys: Keys) -> Any:
    """A task's writes as its update: the keys that the graph shows, or None for none.

    >>> shown_writes([("foo", 1), ("branch:to:b", None)], ("foo", "bar"))
    {'foo': 1}
    """
    if isinstance(keys, str):
        values = [v for k, v in writes if k == keys]
        return values[-1] if values else None
    found: dict[str, Any] = {}
    repeated = False
    for name, value in writes:
        if name in keys:
            repeated = repeated or name in found
            found[name] = value
    if repeated:
        return [{k: v} for k, v in writes if k in keys]
    return found or None


def result_of(writes: Sequence[tuple[str, Any]], keys: Keys) -> Any:
    """A finished task's result by channel; several values of one are in ``$writes``."""
    keys = (keys,) if isinstance(keys, str) else keys
    found: dict[str, Any] = {}
    several: dict[str, list[Any]] = {}
    for name, value in writes:
        if name not in keys:
            continue
        if name not in found:
            found[name] = value
        elif name in several:
            several[name].append(value)
        else:
            several[name] = [found[name], value]
            found[name] = {"$writes": several[name]}
    return found


def snapshot_result(writes: Sequence[tuple[str, Any]], keys: Keys) -> Any:
    """A finished task's result as a snapshot shows it: the bare value where there is one key."""
    return shown_writes(writes, keys) if isinstance(keys, str) else result_of(writes, keys)


def interrupt_dict(one: Interrupt) -> dict[str, Any]:
    """An interrupt in the form that task and checkpoint events carry."""
    return {"value": one.value, "id": one.id, "response_schema": one.response_schema}


def task_started(task: Task, metadata: dict[str, Any] | None) -> dict[str, Any]:
    """The payload that tells that a task starts."""
    payload = {
        "id": task.id,
        "name": task.name,
        "input": task.input,
        "triggers": task.triggers,
    }
    merged = {k: v for k, v in (metadata or {}).items() if k not in PLACED}
    merged |= task.node.metadata or {}
    if merged:
        payload["metadata"] = merged
    return payload


def task_ended(task: Task, keys: Keys) -> dict[str, Any]:
    """The payload that tells what came of a task."""
    shown = None if task.outcome != "done" else result_of(task.writes, keys)
    return {
        "id": task.id,
        "name": task.name,
        "error": task.error,
        "result": {} if shown is None else shown,
        "interrupts": [interrupt_dict(i) for i in task.interrupts],
    }


def inner_state(task: Task, thread: Any) -> dict[str, Any] | None:
    """The config of the state of the graph that runs in a task; None where none does."""
    if not task.node.graphs:
        return None
    found = {"checkpoint_ns": task.ns}
    return {"configurable": found if thread is None else {"thread_id": str(thread), **found}}


def known_task(task: Task, keys: Keys, thread: Any) -> dict[str, Any]:
    """A task of a checkpoint event, with what pending writes tell of it."""
    state = inner_state(task, thread)
    if task.error is not None:
        return {"id": task.id, "name": task.name, "error": str(task.error), "state": state}
    payload: dict[str, Any] = {"id": task.id, "name": task.name}
    if task.outcome == "done":
        shown = result_of(task.writes, keys)
        if shown:
            payload["result"] = shown
    payload["interrupts"] = tuple(interrupt_dict(i) for i in task.interrupts)
    payload["state"] = state
    return payload


def debug_event(kind: str, step: int, payload: Any) -> dict[str, Any]:
    """A payload in the wrapping of the debug mode."""
    stamp = datetime.now(UTC).isoformat()
    return {"step": step, "timestamp": stamp, "type": kind, "payload": payload}
