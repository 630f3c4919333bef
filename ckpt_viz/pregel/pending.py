"""What pending writes say of a checkpoint's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ckpt_viz.constants import ERROR, ERROR_SOURCE, INTERRUPT, NO_WRITES, NULL_TASK_ID, RESUME
from ckpt_viz.pregel.task import Task

PendingWrite = tuple[str, str, Any]
_STATE = (ERROR, ERROR_SOURCE, INTERRUPT, RESUME)


def caller_writes(pending: Iterable[PendingWrite]) -> list[tuple[str, Any]]:
    """The channel writes that a caller's Command left on a checkpoint."""
    return [(c, v) for t, c, v in pending if t == NULL_TASK_ID and c not in _STATE]


def open_interrupts(pending: Sequence[PendingWrite]) -> dict[str, list[Any]]:
    """The questions without an answer, by the id of the task that asks."""
    finished = {t for t, c, _ in pending if c not in _STATE}
    return {t: list(v) for t, c, v in pending if c == INTERRUPT and t not in finished}


def hand_back(tasks: Sequence[Task], pending: Sequence[PendingWrite]) -> None:
    """Give tasks what earlier attempts left: finished writes, answers, questions and errors."""
    filed = by_task(pending)
    for task in tasks:
        give_back(task, filed.get(task.id, ()))


def by_task(pending: Iterable[PendingWrite]) -> dict[str, list[tuple[str, Any]]]:
    """Pending writes by the id of their task."""
    filed: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in pending:
        filed.setdefault(task_id, []).append((channel, value))
    return filed


def give_back(task: Task, mine: Sequence[tuple[str, Any]]) -> None:
    """Give one task what its earlier attempt left."""
    for write in mine:
        channel = write[0]
        if channel not in _STATE:
            task.outcome = "done"
            if channel != NO_WRITES:
                task.writes.append(write)
        elif channel == RESUME:
            task.resumes = list(write[1])
        elif channel == INTERRUPT:
            task.interrupts = list(write[1])
        elif channel == ERROR:
            task.error = write[1]
    if task.outcome:
        return
    if task.error is not None:
        task.outcome = "error"
    elif task.interrupts:
        task.outcome = "interrupt"
