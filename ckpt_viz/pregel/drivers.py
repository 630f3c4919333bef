"""The sync driver: it answers a script's requests by blocking calls.

A failure of a request is thrown into the script, so ``try`` in the core means what it says.
A single ready task runs in the caller's thread. Of several, the quick ones do too where nothing is
told of them (see `together`); else they run on the run's own threads.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextvars import Context, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, get_ident
from typing import Any

from ckpt_viz.debug import switch, tell_of_a_running_loop
from ckpt_viz.pregel import lease
from ckpt_viz.pregel.execute import run_task
from ckpt_viz.pregel.requests import (
    Ask,
    CacheGet,
    CacheSet,
    Emit,
    History,
    Load,
    Newest,
    Next,
    RunOne,
    Save,
    SaveWrites,
    Start,
    Together,
    Told,
)
from ckpt_viz.pregel.run import Run, Script, stops
from ckpt_viz.pregel.streams import SILENT
from ckpt_viz.pregel.task import Task
from ckpt_viz.pregel.together import Step, has_a_loop, stores_anywhere
from ckpt_viz.pregel.whole_config import saver_of
from ckpt_viz.pregel.workers import PATIENCE, Workers


class Chunk:
    """A custom chunk on its way from a node to the caller."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def counts(item: Any) -> int:
    """How an item changes the number of tasks that are still to end."""
    if item.__class__ is Told:
        return -1 if item.ended else 1
    return 0 if item.__class__ is Chunk else -1


def time_left(run: Run) -> float | None:
    """Seconds until the step's deadline; None without one."""
    return None if run.deadline is None else max(0.0, run.deadline - time.monotonic())


def is_suspended(script: Script) -> bool:
    """Whether a script waits for an answer: then what was raised is not its own."""
    return inspect.getgeneratorstate(script) == inspect.GEN_SUSPENDED


class _Sync:
    """Answers requests in the calling thread."""

    awaits = False

    def __init__(self, run: Run) -> None:
        self.run = run
        self.saver = saver = saver_of(run)
        run.owner = get_ident()
        if switch.active:
            tell_of_a_running_loop()
        self.inline = stores_anywhere(run) and run.remote is None and not has_a_loop()
        self.workers: Workers | None = None
        self.done: SimpleQueue[Any] = SimpleQueue()
        self.left = 0
        self.crew: Any = None
        run.driver = self
        run.post = lambda chunk: self.done.put(Chunk(chunk))
        self.table: dict[type, Any] = {
            Load: lambda r: saver.get_tuple(r.config),
            Newest: lambda r: saver.newest_id(r.config),
            Save: self.save,
            SaveWrites: lambda r: saver.put_writes(*r.arguments),
            RunOne: lambda r: run_task(run, r.task, copy_context()),
            Start: self.start,
            Together: self.together,
            CacheGet: lambda r: run.cache.get(r.keys),
            CacheSet: lambda r: run.cache.set(r.pairs),
            Ask: lambda r: r.call(False),
            History: lambda r: saver.list(
                r.config, filter=r.filter, before=r.before, limit=r.limit
            ),
            lease.Turn: lambda r: None,
            lease.Wait: self.wait,
        }

    def save(self, r: Save) -> Any:
        if r.writes is None:
            return self.saver.put(*r.arguments)
        return self.saver.put_step(r.writes.arguments, *r.arguments)

    def staff(self) -> Workers:
        """The run's threads."""
        if self.workers is None:
            self.workers = Workers(self.run.settings.config.get("max_concurrency"))
        return self.workers

    def together(self, request: Together) -> Task | None:
        if self.inline:
            return Step(self.run, self.saver, self.staff()).go(request.tasks)
        self.start(Start(request.tasks))
        failed: Task | None = None
        while (item := self.next(Next(stops(failed)))) is not None:
            if item.__class__ is Told:
                continue
            if (writes := self.run.ended(item)) is not None:
                self.saver.put_writes(*writes.arguments)
            if failed is None and item.outcome == "error":
                failed = item
        return failed

    def start(self, request: Start) -> None:
        self.left += len(request.tasks)
        self.staff().start([partial(self._work, t, copy_context()) for t in request.tasks])

    def _work(self, task: Task, context: Context) -> None:
        run_task(self.run, task, context)
        self.done.put(task)

    def next(self, request: Next) -> Any:
        """The next ended task or custom chunk; None when all has been told.

        ``cancel``: what no thread has begun never runs; what runs is waited for, its writes kept.

        Raises:
            TimeoutError: the graph's ``step_timeout`` is over.
        """
        if request.cancel:
            if self.workers is not None:
                self.left -= self.workers.drop()
            if self.crew is not None:
                self.crew.drop()
        if not self.left and self.done.empty():
            return None
        if self.workers is not None and self.workers.waiting:
            try:
                item = self.done.get(timeout=PATIENCE)
            except Empty:
                self.workers.spread()
            else:
                self.left += counts(item)
                return item
        try:
            item = self.done.get(timeout=time_left(self.run))
        except Empty:
            raise TimeoutError("Timed out") from None
        self.left += counts(item)
        return item

    def begin(self, task: Task, crew: Any) -> Any:
        """Run a task that a node called, beside it; its future. ``crew`` makes what runs it."""
        if self.crew is None:
            self.crew = crew(self)
        return self.crew.begin(task)

    def wait(self, request: lease.Wait) -> None:
        """Until the thread's lease is handed over."""
        event = Event()
        request.wake = event.set
        if not request.ready:
            event.wait()

    def leave(self, script: Script) -> None:
        """After an error that is not the script's: the caller leaves, Ctrl-C, a timeout. What runs
        is waited for, and what is finished is stored."""
        if not is_suspended(script):
            return
        script.close()
        lease.leave(self.run)
        self.close()
        items = [self.done.get() for _ in range(self.done.qsize())]
        for request in self.run.left_over([i for i in items if isinstance(i, Task)]):
            self.table[request.__class__](request)

    def end(self) -> None:
        """Let go of the run, so that no circle keeps it when the caller has it no more."""
        self.table.clear()
        self.run.driver = self.run.post = None

    def close(self) -> None:
        if self.crew is not None:
            self.crew.close()
        if self.workers is not None:
            self.workers.drop()
            self.workers.close(wait=True)
            self.workers = None


def drive(run: Run, script: Script) -> Iterator[Any]:
    """Run a script to its end, yielding its chunks. Closing the iterator closes the script."""
    own = _Sync(run)
    answer: Any = None
    error: BaseException | None = None
    lay_down = run.baton.append
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration:
                break
            answer, error = None, None
            kind = request.__class__
            if kind is RunOne:
                run_task(run, request.task, copy_context())
            elif kind is Emit:
                if request.chunk is not SILENT:
                    lay_down(None)
                    yield request.chunk
                    lease.pick_up(run)
            elif kind is Next:
                while (answer := own.next(request)).__class__ is Chunk:
                    lay_down(None)
                    yield answer.value
                    lease.pick_up(run)
            else:
                try:
                    answer = own.table[kind](request)
                except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                    error = failure
    except BaseException:
        own.leave(script)
        raise
    finally:
        del error, answer
        script.close()
        own.close()
        own.end()


def finish(run: Run, script: Script) -> Any:
    """Run a script that shows nothing, and return its result."""
    own = _Sync(run)
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration as stop:
                return stop.value
            answer, error = None, None
            try:
                answer = own.table[request.__class__](request)
            except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                error = failure
    finally:
        del error, answer
        own.close()
        own.end()
