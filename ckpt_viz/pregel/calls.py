"""Tasks that a node calls: children of the running task, in the same superstep.

Rules kept here: what a caller sees of a child is saved before; the n-th call of a task has the
same id at every attempt from the same checkpoint, so a finished child is not run again.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from ckpt_viz.constants import PUSH, RETURN
from ckpt_viz.errors import GraphInterrupt
from ckpt_viz.pregel.cached import key_of
from ckpt_viz.pregel.pending import by_task, give_back
from ckpt_viz.pregel.program import Node
from ckpt_viz.pregel.requests import CacheGet, CacheSet, RunOne, Told
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import scope

MANY = 1_000  # threads: a caller that waits holds one, so a small bound would dead-lock
_counting = threading.Lock()


def call(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Start a node as a child of the running task; a future of what it returns.

    Raises:
        RuntimeError: no task is running here.
    """
    own: Any = scope.get(None)
    if own is None or own.run is None:
        raise RuntimeError(
            "Called get_config outside of a runnable context\n"
            f"{node.name!r} is a task: call it from an entrypoint, a node or another task, "
            "in the process of the run."
        )
    run: Run = own.run
    task = _child(run, own.task, node, (args, kwargs))
    run.children.append(task)
    return run.driver.begin(task, Crew)


def _child(run: Run, caller: Task, node: Node, value: Any) -> Task:
    if node.is_async and not run.driver.awaits:
        raise RuntimeError(
            "In an sync context async tasks cannot be called\n"
            f"Run the graph with `await graph.ainvoke(…)`, or make {node.name!r} a plain function."
        )
    with _counting:
        index = caller.calls
        caller.calls += 1
    caller.node.calls = True
    task = Task(node, (PUSH, caller.path, index, True), (PUSH,), value, caller.step)
    task.caller = caller
    task.base, task.within = caller.base, caller.ns
    if run.pending:
        if run.filed is None or run.filed[0] is not run.pending:
            run.filed = run.pending, by_task(run.pending)
        give_back(task, run.filed[1].get(task.id, ()))
    if task.outcome != "done":
        task.outcome, task.error, task.interrupts = "", None, []
    return task


def called_steps(run: Run, task: Task) -> Script:
    """A called task from its beginning to its end: taken from the cache, or run and saved."""
    policy: Any = task.node.cache if run.cache is not None else None
    key = None if policy is None else key_of(task)
    if key is not None:
        found = yield CacheGet([key])
        if key in found:
            task.writes = [(channel, value) for channel, value in found[key]]
            task.outcome, task.cached = "done", True
    if not task.cached:
        yield RunOne(task)
    if (request := run.ended(task)) is not None:
        yield request
    if key is not None and task.outcome == "done" and not task.cached:
        yield CacheSet({key: ([tuple(w) for w in task.writes], policy.ttl)})


def outcome_of(task: Task) -> Any:
    """What an ended child returned; what it raised is raised."""
    if task.outcome == "done":
        return next(value for name, value in task.writes if name == RETURN)
    if task.outcome == "interrupt":
        raise GraphInterrupt(task.interrupts)
    raise task.error


class Crew:
    """The threads of one run's children, under the sync driver."""

    __slots__ = ("below", "driver", "futures", "pool")

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.futures: set[Future[Any]] = set()
        limit = driver.run.settings.config.get("max_concurrency")
        self.pool = ThreadPoolExecutor(limit or MANY, "ckpt_viz-task")
        # Children of children wait for no place: their callers hold the places they would need.
        self.below = ThreadPoolExecutor(MANY, "ckpt_viz-task") if limit else self.pool

    def begin(self, task: Task) -> Future[Any]:
        """The future of a child, which begins now or when a thread is free."""
        done = self.driver.done
        done.put(Told(task, False))
        if task.outcome:
            future: Future[Any] = Future()
            future.set_result(outcome_of(task))
            done.put(Told(task, True, quiet=True))
            return future
        caller = task.caller
        nested = caller is not None and caller.caller is not None
        pool = self.below if nested else self.pool
        future = pool.submit(copy_context().run, self._work, task)
        self.futures.add(future)

        def settled(one: Future[Any]) -> None:
            self.futures.discard(one)
            if one.cancelled():
                done.put(Told(task, True))

        future.add_done_callback(settled)
        return future

    def _work(self, task: Task) -> Any:
        driver = self.driver
        try:
            script = called_steps(driver.run, task)
            answer = None
            try:
                while True:
                    request = script.send(answer)
                    answer = driver.table[request.__class__](request)
            except StopIteration:
                return outcome_of(task)
        finally:
            driver.done.put(Told(task, True))

    def drop(self) -> None:
        """Forget the children that no thread has begun."""
        for future in tuple(self.futures):
            future.cancel()

    def close(self) -> None:
        """End the threads, after what they have begun."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.below.shutdown(wait=True, cancel_futures=True)
