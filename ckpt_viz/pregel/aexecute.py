"""Calling a node on the event loop: like `execute`, awaiting. Imported only for async runs."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Coroutine
from contextlib import nullcontext
from contextvars import copy_context
from typing import Any

from ckpt_viz.errors import NodeTimeoutError, ParentCommand
from ckpt_viz.pregel.callables import is_runnable
from ckpt_viz.pregel.execute import cancelled_by_itself, received, routes, settle
from ckpt_viz.pregel.langchain import enter
from ckpt_viz.pregel.progress import hear_callbacks
from ckpt_viz.pregel.retry import AttemptScope, tell, wait_of
from ckpt_viz.pregel.run import Run
from ckpt_viz.pregel.scope import TaskScope
from ckpt_viz.pregel.task import Task


def _acall(run: Run, task: Task, own: TaskScope | None = None) -> Coroutine[Any, Any, None]:
    """What to await, in the context that this is called in."""
    if own is None:
        own = TaskScope(task, run)
    enter(own)
    return _abody(run, own) if run.trace is None and not own.hears else _told(run, own)


async def _told(run: Run, own: TaskScope) -> None:
    async with nullcontext() if run.trace is None else run.trace.atask(own):
        if own.hears:
            hear_callbacks(own)
        await _abody(run, own)


async def _abody(run: Run, own: TaskScope) -> None:
    task, node = own.task, own.task.node
    call = node.acall or node.call
    try:
        if run.remote is not None and node.travels:
            remote = run.remote
            output = remote.finish(own, await asyncio.wrap_future(remote.begin(own)))
        elif node.wants:
            output = call(task.input, **own.arguments(node.wants))
        else:
            output = call(task.input)
        if inspect.isawaitable(output):
            output = await output
        if output.__class__ is not dict and is_runnable(output) and task.caller is None:
            output = await output.ainvoke(task.input, own.config)  # see `execute`
    except ParentCommand as sent:
        output = received(sent)
    own.output = output
    task.writes = writes = node.write(output)
    if own.pushed is not None:
        task.writes = writes = own.pushed + writes
    if node.route is not None:
        more = routes(run, task, output, own)
        task.writes = writes + (more if isinstance(more, list) else await more)


async def _attempts(run: Run, task: Task) -> None:
    """`ckpt_viz.pregel.retry.attempts`, awaiting, and with the node's timeout."""
    node, attempt, began = task.node, 1, time.time()
    call = _acall if node.timeout is None else _timed
    while True:
        task.writes = []
        try:
            return await call(run, task, AttemptScope(task, run, attempt, began))
        except Exception as error:
            wait = wait_of(node.retry, error, attempt)
            if wait is None:
                raise
            tell(task, error, wait, attempt)
        await asyncio.sleep(wait)
        attempt += 1


async def _timed(run: Run, task: Task, own: AttemptScope) -> None:
    """One attempt, cancelled when a limit of its timeout is reached.

    Raises:
        NodeTimeoutError: it took too long, whatever it made of its cancellation.
    """
    policy: Any = task.node.timeout
    clock = asyncio.get_running_loop().time
    start = last = clock()

    def beat() -> None:
        nonlocal last
        last = clock()

    own.beat = beat
    own.hears = policy.refresh_on == "auto" and policy.idle_timeout is not None
    inner = asyncio.ensure_future(_acall(run, task, own))
    limits = [("idle", policy.idle_timeout), ("run", policy.run_timeout)]
    try:
        while True:
            ends = {k: (last if k == "idle" else start) + t for k, t in limits if t is not None}
            kind: Any = min(ends, key=ends.__getitem__) if ends else ""
            left = ends[kind] - clock() if ends else None
            if left is not None and left <= 0:
                break
            done, _ = await asyncio.wait({inner}, timeout=left)
            if done:
                return _result(task, inner)
    except asyncio.CancelledError:
        await _end(inner, own)
        raise
    elapsed = clock() - start
    await _end(inner, own)
    more: Any = {"idle_timeout": policy.idle_timeout, "run_timeout": policy.run_timeout}
    raise NodeTimeoutError(task.name, elapsed, kind=kind, **more) from TimeoutError()


def _result(task: Task, inner: asyncio.Future[None]) -> None:
    try:
        inner.result()
    except asyncio.CancelledError as error:
        raise cancelled_by_itself(task, error) from error


async def _end(inner: asyncio.Future[None], own: AttemptScope) -> None:
    """Cancel an attempt and wait until it has ended; what it does meanwhile counts no more."""
    own.silent = True
    inner.cancel()
    await asyncio.wait({inner})
    if not inner.cancelled():
        inner.exception()  # looked at, so that nobody is told it never was
    own.task.writes = []


def _is_asked() -> bool:
    """Whether a cancellation is meant for the one who awaits, not of what the node awaits."""
    current = asyncio.current_task()
    return current is None or bool(current.cancelling())


class TaskRun:
    """Awaits a task to its outcome, like `run_task`, inside a context of its own without a Task.

    A cancellation from outside goes into the node, and comes out again when the node has ended,
    whatever it made of it; the task then has its outcome as always. One that the node raises by
    itself is a failure like any other.
    """

    __slots__ = ("run", "task")

    def __init__(self, run: Run, task: Task) -> None:
        self.run = run
        self.task = task

    def __await__(self) -> Any:
        task = self.task
        task.special = []
        task.began = time.time()
        context = copy_context()
        body = _attempts if task.node.guarded else _acall
        coro = context.run(body, self.run, task)
        step, value = coro.send, None
        cancelled: BaseException | None = None
        try:
            while True:
                try:
                    waits = context.run(step, value)
                except StopIteration:
                    task.outcome = "done"
                    break
                try:
                    value = yield waits
                    step = coro.send
                except GeneratorExit:
                    context.run(coro.close)
                    raise
                except BaseException as error:  # noqa: BLE001 - cancellation goes into the node
                    step, value = coro.throw, error
                    if isinstance(error, asyncio.CancelledError) and _is_asked():
                        cancelled = error
        except GeneratorExit:
            raise
        except asyncio.CancelledError as error:
            settle(task, error if cancelled is not None else cancelled_by_itself(task, error))
        except BaseException as error:  # noqa: BLE001 - the driver decides what a failure stops
            settle(task, error)
        task.took = time.time() - task.began
        if cancelled is not None:
            raise cancelled
