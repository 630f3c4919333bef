"""Reading history: snapshots of checkpoints."""

from __future__ import annotations

from typing import Any

from ckpt_viz.constants import INPUT
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.events import inner_state, snapshot_result
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.migrate import migrated
from ckpt_viz.pregel.nesting import recast
from ckpt_viz.pregel.older import as_written_now
from ckpt_viz.pregel.pending import caller_writes, hand_back
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.requests import History, Load
from ckpt_viz.pregel.run import Script, count_versions
from ckpt_viz.pregel.settings import with_parents
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import PregelTask, StateSnapshot


def empty_snapshot(config: dict[str, Any]) -> StateSnapshot:
    """What a thread without checkpoints looks like."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


class View:
    """How checkpoints of one graph are looked at: where, and with what.

    ``live``: with what finished tasks have written. ``deep``: the states of nested graphs are
    snapshots instead of configs.
    """

    __slots__ = ("deep", "live", "ns", "program", "thread")

    def __init__(self, program: Program, config: dict[str, Any], *, deep: bool = False) -> None:
        where = config["configurable"]
        self.program = program
        self.ns = where.get("checkpoint_ns") or ""
        self.thread = where["thread_id"]
        self.live = "checkpoint_id" not in where
        self.deep = deep


def _task_record(task: Task, view: View, state: Any) -> PregelTask:
    result, keys = None, view.program.stream_channels
    if task.outcome == "done":
        shown = snapshot_result(task.writes, keys)
        result = {} if shown is None and not isinstance(keys, str) else shown
    answered = view.live and task.outcome == "done"
    return PregelTask(
        task.id,
        task.name,
        task.path,
        task.error,
        () if answered else tuple(task.interrupts),
        state,
        result,
    )


def _inner_state(task: Task, view: View) -> Script:
    """The state of the graph that runs in a task: its config, or its own snapshot."""
    state = inner_state(task, view.thread)
    if state is None or not view.deep:
        return state
    graph = task.node.graphs[0]
    if graph.checkpointer is True:
        state["configurable"]["checkpoint_ns"] = recast(task.ns)
    return (yield from state_steps(graph.program, state, deep=True))


def snapshot_steps(view: View, saved: Any) -> Script:
    """The snapshot of a checkpoint tuple."""
    saved = as_written_now(view.program, saved)
    if view.program.version is not None or view.program.migrate is not None:
        saved = migrated(view.program, saved)
    live = Live(view.program, saved.checkpoint, view.ns)
    live.updated = None
    step = (saved.metadata or {}).get("step", -1) + 1
    pending = saved.pending_writes or []
    tasks = prepare_next_tasks(live, step)
    hand_back(tasks, pending)
    on_hand = caller_writes(pending)
    if on_hand:
        apply_writes(live, [Writes(INPUT, (), on_hand)], _newer)
    records = []
    for task in tasks:
        state = (yield from _inner_state(task, view)) if task.node.graphs else None
        records.append(_task_record(task, view, state))
    waiting = tuple(t.name for t in tasks if t.outcome != "done")
    done = [t for t in tasks if t.outcome == "done" and t.writes]
    if view.live and done:
        apply_writes(live, done, _newer)
    return StateSnapshot(
        live.read(view.program.stream_channels),
        waiting if view.live else tuple(t.name for t in tasks),
        with_parents(saved.config, saved.metadata),
        saved.metadata,
        saved.checkpoint["ts"],
        with_parents(saved.parent_config, saved.metadata),
        tuple(records),
        tuple(i for r in records for i in r.interrupts),
    )


def _newer(current: Any) -> Any:
    """A version for a view that is never saved."""
    if isinstance(current, str):
        return current + "~"
    return count_versions(current)


def state_steps(program: Program, config: dict[str, Any], *, deep: bool = False) -> Script:
    """The snapshot that a config addresses."""
    saved = yield Load(config)
    if saved is None:
        return empty_snapshot(config)
    return (yield from snapshot_steps(View(program, config, deep=deep), saved))


def history_steps(program: Program, request: History) -> Script:
    """All snapshots of a thread and namespace, newest first, across branches."""
    found = yield request
    view = View(program, request.config)
    view.live = False
    return (_now(snapshot_steps(view, saved)) for saved in found)


def _now(script: Script) -> Any:
    """The result of a script that asks for nothing."""
    try:
        next(script)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a shallow snapshot asked its saver for more")
