"""Sync nodes of an async run: a thread runs them, and goes on with the run's script meanwhile.

Handing a node to a thread and taking its outcome back costs more than most nodes do. So the thread
answers the script's next requests too, as long as it can: until one has to be awaited, or the loop
has been kept from this run for a while. The script is advanced by one of the two at a time, under
a lock; who leaves the run takes it back for good, and what ends on the thread later is not stored.
"""

from __future__ import annotations

import time
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Any

from ckpt_viz.pregel.execute import run_task
from ckpt_viz.pregel.inbox import Inbox
from ckpt_viz.pregel.requests import RunOne, Save, SaveWrites, Together
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.task import Task
from ckpt_viz.pregel.together import Step, stores_anywhere

LONG = 0.002
"""Seconds after which a thread gives a script back, so that no loop waits long for its turn."""


def advance(script: Script, answer: Any, error: BaseException | None) -> Any:
    """A script's next request; None at its end."""
    try:
        return script.send(answer) if error is None else script.throw(error)
    except StopIteration:
        return None


class Away:
    """The thread's side of one async run."""

    __slots__ = ("_driver", "_left", "_lock", "_outcome", "_step", "_table", "task")

    def __init__(self, driver: Any, run: Run, saver: Any) -> None:
        self._driver = driver
        self._lock = Lock()
        self._left = False
        self._outcome = Inbox(driver.loop)
        self._step: Step | None = None
        self.task: Task | None = None
        """The sole task that runs here."""
        self._table: dict[type, Any] = {RunOne: lambda r: run_task(run, r.task, copy_context())}
        if driver.plain:
            self._table |= {Save: driver.table[Save], SaveWrites: driver.table[SaveWrites]}
        if stores_anywhere(run) and (driver.plain or saver is None) and run.remote is None:
            self._table[Together] = partial(self._together, run, saver)

    def takes(self, request: Any) -> bool:
        """Whether a request is worth going to the thread for."""
        kind = request.__class__
        if kind is RunOne:
            return not request.task.node.awaited
        return kind is Together and self._can(request)

    def _can(self, request: Any) -> bool:
        kind = request.__class__
        if kind is RunOne:
            return not request.task.node.awaited
        if kind is Together and any(t.node.awaited for t in request.tasks):
            return False
        return kind in self._table

    async def go(self, script: Script, request: Any) -> Any:
        """Answer a request on the thread, and those after it; the first that is not for it.

        Raises:
            BaseException: what the script raised.
        """
        self._driver.staff().start([partial(copy_context().run, self._go, script, request)])
        request, failure = await self._outcome.get(True)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure
        return request

    def _go(self, script: Script, request: Any) -> None:
        end = time.monotonic() + LONG
        failure: BaseException | None = None
        try:
            while not self._left:
                answer, error = self._answer(request)
                with self._lock:
                    if self._left:
                        return
                    request = advance(script, answer, error)
                    self.task = None
                if request is None or not self._can(request) or time.monotonic() > end:
                    break
        except BaseException as raised:  # noqa: BLE001 - raised on the loop
            failure = raised
        self._outcome.put((request, failure))

    def _answer(self, request: Any) -> tuple[Any, Exception | None]:
        if request.__class__ is RunOne:
            self.task = request.task
        try:
            return self._table[request.__class__](request), None
        except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
            return None, failure

    def _together(self, run: Run, saver: Any, request: Together) -> Task | None:
        with self._lock:
            if self._left:
                return None
            self._step = step = Step(run, saver, self._driver.staff())
        return step.go(request.tasks)

    def leave(self) -> None:
        """Take the script back, whatever the thread is at."""
        with self._lock:
            self._left = True
        if self._step is not None:
            self._step.leave()
