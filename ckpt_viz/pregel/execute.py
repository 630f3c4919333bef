"""Calling a node: in a copy of the caller's context, with the task's scope set."""

from __future__ import annotations

import inspect
import sys
from contextvars import Context
from functools import partial
from time import time
from typing import Any

from ckpt_viz.channels import MISSING
from ckpt_viz.constants import ROOT
from ckpt_viz.errors import GraphInterrupt, NodeCancelledError, ParentCommand
from ckpt_viz.pregel.callables import is_runnable
from ckpt_viz.pregel.langchain import enter
from ckpt_viz.pregel.program import View
from ckpt_viz.pregel.retry import attempts
from ckpt_viz.pregel.run import Run
from ckpt_viz.pregel.scope import TaskScope
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import Command


def fresh_read(run: Run, writes: list[tuple[str, Any]], output: Any, view: View) -> Any:
    """What a router sees: the state with this task's own writes applied, and nothing else's."""
    channels = run.live.channels
    mine: dict[str, list[Any]] = {}
    for name, value in writes:
        mine.setdefault(name, []).append(value)
    state: dict[str, Any] = {}
    for name in view.reads:
        channel = channels[name]
        value = channel.after(mine[name]) if name in mine else channel.peek()
        if value is not MISSING:
            state[name] = value
    if view.managed:
        state |= {name: kind.get(run) for name, kind in view.managed}
    if ROOT in state:
        return state[ROOT]
    if view.schema is not None:
        return view.schema(state)
    return {**output, **state} if view.passes and isinstance(output, dict) else state


def received(sent: ParentCommand) -> Command[Any]:
    """A Command that a graph below sent up is as this task's own answer.

    Raises:
        ParentCommand: it was raised by hand in this very graph, and goes to the one above.
    """
    command: Command[Any] = sent.args[0]
    if command.graph is not None:
        raise ParentCommand(command.without_graph()) from None
    return command


def _call(run: Run, task: Task, own: TaskScope | None = None) -> None:
    node = task.node
    if node.is_async:
        raise TypeError(
            f'No synchronous function provided to "{node.name}".\nEither initialize with a '
            "synchronous function or invoke via the async API (ainvoke, astream, etc.)"
        )
    own = own or TaskScope(task, run)
    enter(own)
    if run.trace is None:
        _body(run, own)
    else:
        with run.trace.task(own):
            _body(run, own)


def _body(run: Run, own: TaskScope) -> None:
    task, node = own.task, own.task.node
    try:
        if run.remote is not None and node.travels:
            output = run.remote.call(own)
        elif node.wants:
            output = node.call(task.input, **own.arguments(node.wants))
        else:
            output = node.call(task.input)
        if output.__class__ is not dict and is_runnable(output) and task.caller is None:
            output = output.invoke(task.input, own.config)  # a node may give what is to be run
    except ParentCommand as sent:
        output = received(sent)
    own.output = output
    task.writes = writes = node.write(output)
    if own.pushed is not None:
        task.writes = writes = own.pushed + writes
    if node.route is not None:
        task.writes = writes + route_now(run, task, output, own)


def routes(run: Run, task: Task, output: Any, own: TaskScope | None) -> Any:
    """The writes of a task's routers, or what to await for them; a trace is told of each."""
    route: Any = task.node.route
    read = partial(fresh_read, run, task.writes, output)
    if run.trace is None:
        return route(read)
    return route(read, partial(run.trace.router, own))


def route_now(
    run: Run, task: Task, output: Any, own: TaskScope | None = None
) -> list[tuple[str, Any]]:
    """The writes of a task's routers, after the node's ``output``.

    Raises:
        TypeError: a router is async, and nobody can await it here.
    """
    found: Any = routes(run, task, output, own)
    if isinstance(found, list):
        return found
    frame = getattr(found, "cr_frame", None)
    asked = None if frame is None else frame.f_locals.get("answer")
    if inspect.iscoroutine(asked):  # nobody will await it
        asked.close()
    found.close()
    routers = getattr(asked, "__name__", "router")
    raise TypeError(
        f'No synchronous function provided to "{routers}", a router after node {task.name!r}: '
        "run the graph with `await graph.ainvoke(…)`, "
        "or give the update as another node."
    )


def settle(task: Task, error: BaseException) -> None:
    """Make what a node raised the task's outcome."""
    if isinstance(error, GraphInterrupt):
        task.outcome = "interrupt"
        task.interrupts = list(error.args[0])
    else:
        task.outcome = "error"
        task.error = error


def is_cancellation(error: BaseException) -> bool:
    """Whether it is ``asyncio.CancelledError``, which nobody can have raised before asyncio is."""
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def cancelled_by_itself(task: Task, error: BaseException) -> NodeCancelledError:
    """The failure that a node makes of itself by raising a cancellation."""
    failure = NodeCancelledError(task.name)
    failure.__cause__ = error
    return failure


def run_task(run: Run, task: Task, context: Context) -> None:
    """Run a task to its outcome; whatever it raises becomes part of the task."""
    task.special = []
    task.began = time()
    try:
        if task.node.guarded:
            context.run(attempts, _call, run, task)
        else:
            context.run(_call, run, task)
        task.outcome = "done"
    except BaseException as error:  # noqa: BLE001 - a worker reports everything to its driver
        if is_cancellation(error):
            error = cancelled_by_itself(task, error)
        settle(task, error)
    task.took = time() - task.began
