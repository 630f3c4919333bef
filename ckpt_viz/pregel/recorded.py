"""A recorded replay: what a branch's runs told, told again. No node runs and nothing is saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.errors import CheckpointNotFoundError, EmptyInputError
from ckpt_viz.pregel.algo import prepare_next_tasks
from ckpt_viz.pregel.events import task_started
from ckpt_viz.pregel.pending import hand_back
from ckpt_viz.pregel.requests import History
from ckpt_viz.pregel.run import Run, Script


def recorded_steps(run: Run, value: Any) -> Script:
    """Tell a branch from the addressed checkpoint (else the thread's first) to its newest tip.

    Raises:
        EmptyInputError: there is an input, which a recording cannot take.
        CheckpointNotFoundError: there is nothing to replay.
    """
    if value is not None:
        raise EmptyInputError("A recorded replay runs nothing: pass None as its input.")
    rows = list((yield History(run.where(None), None, None, None)))
    wanted = run.settings.config["configurable"].get("checkpoint_id")
    chain = branch_of(rows, wanted or (_id(rows[-1]) if rows else ""))
    if not chain:
        raise CheckpointNotFoundError(f"There is no checkpoint {wanted or ''!r} to replay.")
    for saved in chain:
        run.open(saved)
        tasks = prepare_next_tasks(run.live, run.step)
        hand_back(tasks, run.pending)
        if run.values and run.metadata["source"] != "input":
            yield run.show("values", run.read())
        if run.checkpoints:
            yield from run.show_checkpoint(tasks)
        for task in tasks if run.tasks else ():
            if not task.node.hidden:
                payload = task_started(task, run.settings.config.get("metadata"))
                yield from run.show_both("tasks", "task", run.step, payload)
        for task in tasks:
            if task.outcome:
                yield from run.show_end(task, run.step)
    run.interrupts = [i for t in tasks if t.outcome == "interrupt" for i in t.interrupts]
    run.output = run.read()


def _id(saved: Any) -> str:
    return str(saved.config["configurable"]["checkpoint_id"])


def branch_of(rows: Iterable[Any], start: str) -> list[Any]:
    """The checkpoints from ``start`` to the newest one that descends from it, oldest first.

    ``rows`` are newest first, as savers list them.
    """
    by_id = {_id(row): row for row in rows}
    missed: set[str] = set()
    for tip in by_id:
        path: list[str] = []
        at: str | None = tip
        while at in by_id and at not in missed:
            path.append(at)
            if at == start:
                return [by_id[id_] for id_ in reversed(path)]
            parent = by_id[at].parent_config
            at = parent["configurable"]["checkpoint_id"] if parent else None
        missed.update(path)
    return []
