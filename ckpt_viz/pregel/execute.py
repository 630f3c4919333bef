"""Calling a node: in a copy of the caller's context, with the task's scope set."""

from __future__ import annotations

import inspect
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from ckpt_viz.channels import MISSING
from ckpt_viz.constants import ROOT
from ckpt_viz.errors import GraphInterrupt
from ckpt_viz.pregel.langchain import enter
from ckpt_viz.pregel.run import Run
from ckpt_viz.pregel.scope import TaskScope
from ckpt_viz.pregel.task import Task


def fresh_read(run: Run, task: Task, writes: list[tuple[str, Any]]) -> Any:
    """What a router sees: the state with this task's own writes applied, and nothing else's."""
    node, channels = task.node, run.live.channels
    mine: dict[str, list[Any]] = {}
    for name, value in writes:
        mine.setdefault(name, []).append(value)
    state: dict[str, Any] = {}
    for name in run.program.output_channels if node.hidden else node.reads:
        channel = channels[name]
        value = channel.after(mine[name]) if name in mine else channel.peek()
        if value is not MISSING:
            state[name] = value
    if ROOT in state:
        return state[ROOT]
    return state if node.schema is None else node.schema(state)


def _call(run: Run, task: Task) -> None:
    node = task.node
    if node.is_async:
        raise TypeError(
            f'No synchronous function provided to "{node.name}".\nEither initialize with a '
            "synchronous function or invoke via the async API (ainvoke, astream, etc.)"
        )
    own = TaskScope(task, run)
    enter(own)
    if run.trace is None or task.node.hidden:
        _body(run, own)
    else:
        with run.trace.task(own):
            _body(run, own)


def _body(run: Run, own: TaskScope) -> None:
    task, node = own.task, own.task.node
    own.output = output = (
        node.call(task.input, **own.arguments(node.wants)) if node.wants else node.call(task.input)
    )
    task.writes = writes = node.write(output)
    if node.route is not None:
        task.writes = writes + route_now(run, task)


def route_now(run: Run, task: Task) -> list[tuple[str, Any]]:
    """The writes of a task's routers.

    Raises:
        TypeError: a router is async, and nobody can await it here.
    """
    assert task.node.route is not None
    found = task.node.route(partial(fresh_read, run, task, task.writes))
    if isinstance(found, list):
        return found
    found.close()
    raise TypeError(
        f"A router after node {task.name!r} is async: run the graph with `await graph.ainvoke(…)`, "
        "or give the update as another node."
    )


def _settle(task: Task, error: BaseException) -> None:
    if isinstance(error, GraphInterrupt):
        task.outcome = "interrupt"
        task.interrupts = list(error.args[0])
    else:
        task.outcome = "error"
        task.error = error


def run_task(run: Run, task: Task, context: Context) -> None:
    """Run a task to its outcome; whatever it raises becomes part of the task."""
    task.special = []
    try:
        context.run(_call, run, task)
        task.outcome = "done"
    except BaseException as error:  # noqa: BLE001 - a worker reports everything to its driver
        _settle(task, error)


async def _acall(run: Run, task: Task) -> None:
    own = TaskScope(task, run)
    enter(own)
    if run.trace is None or task.node.hidden:
        await _abody(run, own)
    else:
        async with run.trace.atask(own):
            await _abody(run, own)


async def _abody(run: Run, own: TaskScope) -> None:
    task, node = own.task, own.task.node
    output = (
        node.call(task.input, **own.arguments(node.wants)) if node.wants else node.call(task.input)
    )
    if inspect.isawaitable(output):
        output = await output
    own.output = output
    task.writes = writes = node.write(output)
    if node.route is not None:
        more = node.route(partial(fresh_read, run, task, writes))
        task.writes = writes + (more if isinstance(more, list) else await more)


class TaskRun:
    """Awaits a task to its outcome, like `run_task`, inside a context of its own without a Task."""

    __slots__ = ("run", "task")

    def __init__(self, run: Run, task: Task) -> None:
        self.run = run
        self.task = task

    def __await__(self) -> Any:
        task = self.task
        task.special = []
        context = copy_context()
        coro = context.run(_acall, self.run, task)
        step, value = coro.send, None
        try:
            while True:
                try:
                    waits = context.run(step, value)
                except StopIteration:
                    task.outcome = "done"
                    return
                try:
                    value = yield waits
                    step = coro.send
                except GeneratorExit:
                    context.run(coro.close)
                    raise
                except BaseException as error:  # noqa: BLE001 - cancellation goes into the node
                    step, value = coro.throw, error
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001 - the driver decides what a failure stops
            _settle(task, error)
