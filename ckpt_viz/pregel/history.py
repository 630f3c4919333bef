"""Reading history: snapshots of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckpt_viz.constants import INPUT
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.events import snapshot_result
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.pending import caller_writes, hand_back
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.requests import History, Load
from ckpt_viz.pregel.run import Script, count_versions
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import PregelTask, StateSnapshot


def empty_snapshot(config: dict[str, Any]) -> StateSnapshot:
    """What a thread without checkpoints looks like."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


def _task_record(task: Task, keys: Any, live_view: bool) -> PregelTask:
    result = None
    if task.outcome == "done":
        shown = snapshot_result(task.writes, keys)
        result = {} if shown is None and not isinstance(keys, str) else shown
    answered = live_view and task.outcome == "done"
    return PregelTask(
        task.id,
        task.name,
        task.path,
        task.error,
        () if answered else tuple(task.interrupts),
        None,
        result,
    )


def snapshot_of(program: Program, saved: Any, *, live_view: bool = False) -> StateSnapshot:
    """The snapshot of a checkpoint tuple. ``live_view``: with what finished tasks have written."""
    live = Live(program, saved.checkpoint)
    live.updated = None
    step = (saved.metadata or {}).get("step", -1) + 1
    pending = saved.pending_writes or []
    tasks = prepare_next_tasks(live, step)
    hand_back(tasks, pending)
    keys = program.stream_channels
    on_hand = caller_writes(pending)
    if on_hand:
        apply_writes(live, [Writes(INPUT, (), on_hand)], _newer)
    records = tuple(_task_record(t, keys, live_view) for t in tasks)
    waiting = tuple(t.name for t in tasks if t.outcome != "done")
    done = [t for t in tasks if t.outcome == "done" and t.writes]
    if live_view and done:
        apply_writes(live, done, _newer)
    shown = tuple(t.name for t in tasks) if not live_view else waiting
    return StateSnapshot(
        live.read(program.stream_channels),
        shown,
        saved.config,
        saved.metadata,
        saved.checkpoint["ts"],
        saved.parent_config,
        records,
        tuple(i for r in records for i in r.interrupts),
    )


def _newer(current: Any) -> Any:
    """A version for a view that is never saved."""
    if isinstance(current, str):
        return current + "~"
    return count_versions(current)


def state_steps(program: Program, config: dict[str, Any]) -> Script:
    """The snapshot that a config addresses."""
    saved = yield Load(config)
    if saved is None:
        return empty_snapshot(config)
    addressed = "checkpoint_id" in config["configurable"]
    return snapshot_of(program, saved, live_view=not addressed)


def history_steps(program: Program, request: History) -> Script:
    """All snapshots of a thread and namespace, newest first, across branches."""
    found = yield request
    return _snapshots(program, found)


def _snapshots(program: Program, found: Any) -> Iterator[StateSnapshot]:
    for saved in found:
        yield snapshot_of(program, saved)
