"""A step's tasks side by side, each stored as it ends, where nothing of them is told.

With a saver that never blocks, the thread that ran a task stores what it left: then the driver's
own thread may run tasks too, and a step of quick nodes wakes no other thread. Other savers are
called by the driver alone, between the ends of tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Lock, get_ident
from typing import Any

from ckpt_viz.pregel.execute import run_task
from ckpt_viz.pregel.run import Run
from ckpt_viz.pregel.task import Task
from ckpt_viz.pregel.workers import Workers


def stores_anywhere(run: Run) -> bool:
    """Whether what a task of a run left may be stored by the thread that ran it."""
    saver = run.saver
    return saver is None or getattr(saver, "never_blocks", False) is True


def has_a_loop() -> bool:
    """Whether an event loop runs in this thread: a node that starts one needs another thread."""
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


class Step:
    """The tasks of one step, on the caller's thread and, where that is held up, beside it."""

    __slots__ = (
        "_context",
        "_dropped",
        "_ends",
        "_here",
        "_left",
        "_lock",
        "_run",
        "_saver",
        "_trouble",
        "_workers",
        "failed",
    )

    def __init__(self, run: Run, saver: Any, workers: Workers) -> None:
        self._run = run
        self._saver = saver
        self._workers = workers
        self._context = copy_context()
        self._here = get_ident()
        self._lock = Lock()
        self._ends: SimpleQueue[None] = SimpleQueue()
        self._dropped = 0
        self._left = False
        self._trouble: BaseException | None = None
        self.failed: Task | None = None

    def go(self, tasks: Sequence[Task]) -> Task | None:
        """Run the tasks to their ends; the one that failed first, if one did.

        Raises:
            SerializationError: what a task left cannot be saved. The others have ended.
        """
        left = len(tasks) - self._workers.work([partial(self._do, task) for task in tasks])
        while left > self._dropped:
            self._ends.get()
            left -= 1
        if self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            try:
                raise trouble
            finally:
                del trouble
        return self.failed

    def leave(self) -> None:
        """The run is left: what ends from now on is not stored."""
        with self._lock:
            self._left = True

    def _do(self, task: Task) -> None:
        run_task(self._run, task, self._context.copy())
        with self._lock:
            try:
                request = None if self._left else self._run.ended(task)
                if request is not None:
                    self._saver.put_writes(*request.arguments)
            except BaseException as trouble:  # noqa: BLE001 - raised where the step was begun
                self._trouble = self._trouble or trouble
            if self.failed is None and (self._trouble is not None or task.outcome == "error"):
                self.failed = task
                self._dropped = self._workers.drop()
        if get_ident() != self._here:
            self._ends.put(None)
