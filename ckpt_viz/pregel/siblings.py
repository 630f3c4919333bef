"""A second answer where the questions have been answered: a sibling branch that asks them anew.

The sibling has the checkpoint's parent and state. What tasks that asked nothing had finished is
copied; those that asked run again, and have no answers but the new ones.
"""

from __future__ import annotations

from typing import Any

from ckpt_viz.constants import NO_WRITES
from ckpt_viz.ids import interrupt_id
from ckpt_viz.pregel.algo import prepare_next_tasks
from ckpt_viz.pregel.entry import is_answer_map
from ckpt_viz.pregel.nesting import Replay
from ckpt_viz.pregel.pending import hand_back, open_interrupts
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.task import Task


def answered_tasks(run: Run) -> list[Task]:
    """The tasks of the loaded checkpoint that asked, when none of their questions is open."""
    if open_interrupts(run.pending):
        return []
    tasks = prepare_next_tasks(run.live, run.step)
    hand_back(tasks, run.pending)
    return [task for task in tasks if task.interrupts]


def sibling_steps(run: Run, asked: list[Task], resume: Any) -> Script:
    """Save the sibling; the answers for it, by the ids of its questions, or None for a single one.

    Raises:
        RuntimeError: one answer for the questions of several tasks, or an id that nobody had.
    """
    tasks = prepare_next_tasks(run.live, run.step)
    hand_back(tasks, run.pending)
    again = {task.id for task in asked}
    places = _places(resume, [task for task in tasks if task.id in again])
    run.live.updated = None
    run.replay = Replay(run.live.id or "")
    run.live.id, run.guarded = run.parent, False  # a sibling extends no head
    run.here = run.where(run.parent)
    yield from run.saved("fork")
    twins = dict(zip(tasks, prepare_next_tasks(run.live, run.step), strict=True))
    for task, twin in twins.items():
        if task.outcome == "done" and task.id not in again:
            writes = task.writes or [(NO_WRITES, None)]
            if (request := run.keep(writes, twin.id, twin.path_text)) is not None:
                yield request
            run.pending += [(twin.id, channel, value) for channel, value in writes]
    if places is None:
        return None
    return {interrupt_id(twins[task].ns, k): answer for (task, k), answer in places.items()}


def _places(resume: Any, tasks: list[Task]) -> dict[tuple[Task, int], Any] | None:
    """Answers by the task and the number of its question; None for a single answer."""
    if not is_answer_map(resume):
        if len(tasks) > 1:
            raise RuntimeError(
                "When there are multiple pending interrupts, you must specify the interrupt id "
                f"when resuming: {', '.join(t.name for t in tasks)} asked here."
            )
        return None
    ids = {
        interrupt_id(task.ns, k): (task, k) for task in tasks for k in range(len(task.resumes) + 1)
    }
    unknown = [i for i in resume if i not in ids]
    if unknown:
        raise RuntimeError(
            f"No question of this checkpoint has the id {', '.join(unknown)}. Those inside nested "
            "graphs get new ids in a new branch: pass the bare answer, Command(resume=answer)."
        )
    return {ids[i]: answer for i, answer in resume.items()}
