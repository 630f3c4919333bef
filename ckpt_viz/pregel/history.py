"""Reading history: snapshots of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ckpt_viz.constants import INPUT, NULL_TASK_ID
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.events import inner_state, snapshot_result
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.migrate import migrated
from ckpt_viz.pregel.nesting import recast
from ckpt_viz.pregel.older import FORMAT, as_written_now
from ckpt_viz.pregel.past import Past
from ckpt_viz.pregel.pending import by_task, caller_writes, give_back
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.requests import History, Load
from ckpt_viz.pregel.run import Script, count_versions
from ckpt_viz.pregel.settings import with_parents
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import PregelTask, StateSnapshot

_new = tuple.__new__
"""Makes the records of a history: a named tuple's own way is a call of Python code more."""


def empty_snapshot(config: dict[str, Any]) -> StateSnapshot:
    """What a thread without checkpoints looks like."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


class View:
    """How checkpoints of one graph are looked at: where, and with what.

    ``live``: with what finished tasks have written.
    """

    __slots__ = ("live", "ns", "program", "thread")

    def __init__(self, program: Program, config: dict[str, Any]) -> None:
        where = config["configurable"]
        self.program = program
        self.ns = where.get("checkpoint_ns") or ""
        self.thread = where["thread_id"]
        self.live = "checkpoint_id" not in where


def snapshot(view: View, saved: Any) -> StateSnapshot:
    """The snapshot of a checkpoint tuple; the state of a nested graph is its config."""
    program, live = view.program, view.live
    if saved.checkpoint.get("v", 1) < FORMAT:
        saved = as_written_now(program, saved)
    if program.version is not None or program.migrate is not None:
        saved = migrated(program, saved)
    config, checkpoint, metadata, parent, pending = saved
    past = Past(program, checkpoint, view.ns)
    tasks = prepare_next_tasks(past, (metadata or {}).get("step", -1) + 1)
    filed = by_task(pending or ())
    records, waiting, interrupts = [], [], []
    for task in tasks:
        mine = filed.get(task.id)
        if mine is not None:
            give_back(task, mine)
        done = live and task.outcome == "done"
        if not done:
            waiting.append(task.name)
            interrupts += task.interrupts
        records.append(_record(task, view, () if done else tuple(task.interrupts)))
    on_hand = caller_writes(pending) if NULL_TASK_ID in filed else ()
    now: Live = past
    if on_hand or live:
        now = _written(view, past, checkpoint, on_hand, tasks)
    if metadata and metadata.get("parents"):
        config, parent = with_parents(config, metadata), with_parents(parent, metadata)
    return _new(
        StateSnapshot,
        (
            now.read(program.stream_channels),
            tuple(waiting),
            config,
            metadata,
            checkpoint["ts"],
            parent,
            tuple(records),
            tuple(interrupts),
        ),
    )


def _record(task: Task, view: View, interrupts: tuple[Any, ...]) -> PregelTask:
    """What a snapshot tells of a task."""
    result, keys = None, view.program.stream_channels
    if task.outcome == "done":
        result = snapshot_result(task.writes, keys)
    state = inner_state(task, view.thread) if task.node.graphs else None
    told = task.id, task.name, task.path, task.error, interrupts, state, result
    return _new(PregelTask, told)


def _written(
    view: View, past: Past, checkpoint: Any, on_hand: Sequence[Any], tasks: Sequence[Task]
) -> Live:
    """The state with what its caller and finished tasks have written."""
    done = [t for t in tasks if t.outcome == "done" and t.writes] if view.live else ()
    if not on_hand and not done:
        return past
    live = Live(view.program, checkpoint, view.ns)
    if on_hand:
        apply_writes(live, [Writes(INPUT, (), list(on_hand))], _newer)
    if done:
        apply_writes(live, done, _newer)
    return live


def _newer(current: Any, channel: None = None) -> Any:
    """A version for a view that is never saved."""
    if isinstance(current, str):
        return current + "~"
    return count_versions(current)


def state_steps(program: Program, config: dict[str, Any], *, deep: bool = False) -> Script:
    """The snapshot that a config addresses; ``deep``: with those of nested graphs in it."""
    saved = yield Load(config)
    if saved is None:
        return empty_snapshot(config)
    found = snapshot(View(program, config), saved)
    if not deep or all(task.state is None for task in found.tasks):
        return found
    tasks = []
    for task in found.tasks:
        state = task.state
        if state is not None:
            graph = program.nodes[task.name].graphs[0]
            where = state["configurable"]
            if graph.checkpointer is True:
                where["checkpoint_ns"] = recast(where["checkpoint_ns"])
            state = yield from state_steps(graph.program, state, deep=True)
        tasks.append(task._replace(state=state))
    return found._replace(tasks=tuple(tasks))


def history_steps(program: Program, request: History) -> Script:
    """All snapshots of a thread and namespace, newest first, across branches."""
    found = yield request
    view = View(program, request.config)
    view.live = False
    return map(partial(snapshot, view), found)
