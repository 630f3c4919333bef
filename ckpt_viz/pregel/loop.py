"""The run script: one superstep after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.constants import INTERRUPT, RETURN
from ckpt_viz.errors import GraphDrained, GraphInterrupt, GraphRecursionError
from ckpt_viz.ids import interrupt_id
from ckpt_viz.pregel import events
from ckpt_viz.pregel.algo import apply_writes, prepare_next_tasks
from ckpt_viz.pregel.begin import begin_steps
from ckpt_viz.pregel.cached import put_result, take_results
from ckpt_viz.pregel.handlers import resume_handlers, take_over
from ckpt_viz.pregel.lease import take, take_steps
from ckpt_viz.pregel.pending import hand_back
from ckpt_viz.pregel.recorded import recorded_steps
from ckpt_viz.pregel.requests import Next, RunOne, Start, Together, Told
from ckpt_viz.pregel.run import Run, Script, is_signal, stops
from ckpt_viz.pregel.task import Task
from ckpt_viz.pregel.unreadable import refuse_readers, refuse_reducers


def run_steps(run: Run, value: Any) -> Script:
    """The whole run. Ends with ``run.output`` and ``run.interrupts`` set.

    Raises:
        CheckpointNotFoundError, EmptyInputError, NothingToResumeError, InvalidUpdateError: the
            run cannot begin; nothing is saved.
        GraphRecursionError: more supersteps than allowed. What a node raises comes out as it is.
    """
    script = _run_steps(run, value)
    return script if run.trace is None else run.trace.around(run, script, value)


def _run_steps(run: Run, value: Any) -> Script:
    if run.settings.recorded:
        run.lease = None
        yield from recorded_steps(run, value)
        return
    if run.lease is not None and not take(run):
        yield from take_steps(run, run.settings.queue)
    replaying = yield from begin_steps(run, value)
    try:
        stopped = yield from _loop(run, replaying)
        if stopped and run.nest.above is not None:
            raise GraphInterrupt(run.interrupts)
    except GeneratorExit:
        raise  # left early: the driver stores what is finished
    except BaseException:
        if run.held is not None:  # what was to be stored with the step is stored without it
            yield run.held
        yield from run.flush()
        raise
    if not run.interrupts and not run.program.momentary:
        run.output = run.read() if run.resumed or _is_written(run) else None
    if stopped and run.trace is not None:
        yield from run.trace.paused(run, stopped)
    yield from run.finish()


def _loop(run: Run, replaying: bool) -> Script:
    """The supersteps. What stopped them, if a question or a break point did; else nothing."""
    settings, live = run.settings, run.live
    tasks = yield from _plan(run, replaying)
    while not run.stopping:
        if run.step > run.stop or (tasks and run.control.drain_reason is not None):
            raise _barred(run)
        if not tasks:
            return ""
        if settings.before and should_interrupt(run, settings.before, tasks):
            yield from _show_break(run)
            return "interrupt_before"
        if run.announces or (run.updates and run.pending):
            yield from _show_started(run, tasks)
        _make_ready(run, tasks)
        by_itself = len(tasks) == 1 and not tasks[0].outcome
        failed = yield from (_by_itself if by_itself else _side_by_side)(run, tasks)
        updated = _applied(run, tasks, failed)
        if updated is None:
            yield from _stop_waiting(run, tasks)
            return "pending"
        run.going_on = False
        step = run.step
        if (request := run.save("loop")) is not None:
            yield request
        ran, tasks = tasks, prepare_next_tasks(live, run.step)
        if run.listened:
            if not tasks:
                yield from run.finish()
            yield from _show_step(run, step, updated)
        if run.checkpoints and run.saver is not None:
            yield from run.show_checkpoint(tasks)
        if settings.after and should_interrupt(run, settings.after, ran):
            yield from _show_break(run)
            return "interrupt_after"
    return ""


def _barred(run: Run) -> Exception:
    if run.step <= run.stop:
        return GraphDrained(str(run.control.drain_reason))
    return GraphRecursionError(
        f"Recursion limit of {run.settings.limit} reached without hitting a stop condition. "
        "You can increase the limit by setting the `recursion_limit` config key."
    )


def _show_step(run: Run, step: int, updated: set[str]) -> Script:
    """What a step tells once it is saved: a listener who looks now finds its checkpoint."""
    if run.alone is not None:
        yield from run.show_end(run.alone, step)
    if (run.values or run.program.momentary) and not updated.isdisjoint(_output_keys(run)):
        run.output = run.read()
        if run.values:
            yield run.show("values", run.output)


def _plan(run: Run, replaying: bool) -> Script:
    """The next tasks, with what earlier attempts left them; shown with their checkpoint."""
    tasks = prepare_next_tasks(run.live, run.step)
    if run.pending and not replaying:
        hand_back(tasks, run.pending)
    if run.checkpoints and run.saver is not None:
        shown = tasks
        if run.pending and replaying:  # what runs again is shown with what came of it before
            shown = prepare_next_tasks(run.live, run.step)
            hand_back(shown, run.pending)
        yield from run.show_checkpoint(shown)
    if run.pending and not replaying:
        tasks += resume_handlers(run.live, tasks, run.pending)
    if replaying:
        run.pending = []  # what the tasks call runs again too
    return tasks


def _is_written(run: Run) -> bool:
    """Whether the run wrote any of the keys that it returns; one that did not returns nothing."""
    versions, before = run.live.versions, run.before
    written = (versions[key] for key in _output_keys(run) if key in versions)
    return any(before is None or version > before for version in written)


def _output_keys(run: Run) -> Sequence[str]:
    keys = run.keys
    return (keys,) if isinstance(keys, str) else keys


def should_interrupt(run: Run, points: Sequence[str] | str, tasks: Sequence[Task]) -> bool:
    """Whether a break point stops here: something is newer than at the last stop."""
    live = run.live
    seen = live.seen.get(INTERRUPT, {})
    newer = any(v > seen[c] if c in seen else True for c, v in live.versions.items())
    if not newer:
        return False
    if points == "*":
        return any(not t.node.hidden for t in tasks)
    return any(t.name in points for t in tasks)


def _show_break(run: Run) -> Script:
    if run.updates and run.nest.above is None:
        yield run.show("updates", {INTERRUPT: ()})


def _show_started(run: Run, tasks: Sequence[Task]) -> Script:
    if run.progress is not None:
        run.progress()
    if run.cache is not None:
        yield from take_results(run, tasks)
    if run.tasks:
        for task in tasks:
            yield from _show_start(run, task)
    if run.updates and (run.pending or run.cache is not None):
        keys = run.keys
        for task in tasks:
            if task.outcome == "done" and not task.node.hidden:
                shown = {task.name: events.shown_writes(task.writes, keys)}
                yield run.show("updates", {**shown, "__metadata__": {"cached": True}})


def _show_start(run: Run, task: Task) -> Script:
    config = run.settings.config
    metadata = dict(config.get("metadata") or {})
    if tags := [*(config.get("tags") or ()), *task.node.tags]:
        metadata["tags"] = tags
    if not task.node.hidden:
        payload = events.task_started(task, metadata)
        yield from run.show_both("tasks", "task", run.step, payload)


def _show_called(run: Run, told: Told) -> Script:
    """What is told of a task that a node called; its questions are shown as its caller's."""
    task = told.task
    if not told.ended:
        if run.tasks:
            yield from _show_start(run, task)
    elif task.cached:
        if run.updates:
            shown = {task.name: events.shown_writes(task.writes, RETURN)}
            yield run.show("updates", {**shown, "__metadata__": {"cached": True}})
    elif task.outcome in ("done", "error") and not told.quiet and not is_signal(task):
        yield from run.show_end(task, run.step)


def _make_ready(run: Run, tasks: list[Task]) -> None:
    """A step begins; a node that reads what cannot be read stops it before any has run."""
    run.alone = None
    if Opaque.made:
        refuse_readers(run.live.channels, tasks)
    if run.step_timeout is not None:
        run.deadline = time.monotonic() + run.step_timeout


def _applied(run: Run, tasks: list[Task], failed: Task | None) -> set[str] | None:
    """Apply what the tasks wrote; the channels that it changed, or None if a question waits.

    Raises:
        BaseException: the first failure. InvalidUpdateError: a channel refuses its values.
    """
    if failed is not None:
        error, failed.error = failed.error, None
        try:
            raise error
        finally:
            del error
    if run.alone is None and "interrupt" in [t.outcome for t in tasks]:
        return None
    if run.children:
        tasks += run.children
        run.children = []
    if Opaque.made:
        refuse_reducers(run.live.channels, tasks)
    return apply_writes(run.live, tasks, run.next_version)


def _by_itself(run: Run, tasks: list[Task]) -> Script:
    """The last task runs here; what it tells is held back until its step is saved.

    What handles its failure, and what it called, are added to the tasks; the failed task, if none
    handles it.
    """
    task = tasks[-1]
    live = run.beside or (run.listened and task.node.calls)
    yield Start((task,)) if live else RunOne(task)
    if (live or run.children) and (yield from _with_children(run, tasks, live)):
        pass
    elif task.outcome == "done":
        run.alone = task
        request = run.ended(task)
        if run.joins and len(tasks) == 1 and not run.cache_keys:
            run.held = request
        elif request is not None:
            yield request
        if run.cache_keys:
            yield from put_result(run, task)
        return None
    else:
        yield from _settle(run, tasks, task)
    if tasks[-1] is not task:
        return (yield from _by_itself(run, tasks))
    return task if task.outcome == "error" else None


def _with_children(run: Run, tasks: list[Task], live: bool) -> Script:
    """Follow a sole task and those that it called; True if it has been told before one of them."""
    task = tasks[-1]
    running, told = 0, False
    while (item := (yield Next((told or not live) and task.outcome == "error"))) is not None:
        if item.__class__ is Told:
            running += -1 if item.ended else 1
            if not (told and task.outcome == "error"):
                yield from _show_called(run, item)
        elif item is task and running:
            told = True
            yield from _settle(run, tasks, task)
    return told


def _settle(run: Run, tasks: list[Task], task: Task) -> Script:
    """Save and show what an ended task left; what handles its failure is added to the tasks."""
    if task.outcome == "error" and task.node.handler is not None and not is_signal(task):
        handler = take_over(run.live, task)
        tasks += () if handler is None else (handler,)
    if (request := run.ended(task)) is not None:
        yield request
    if run.cache_keys:
        yield from put_result(run, task)
    if run.listened and not is_signal(task):
        yield from run.show_end(task, run.step)


def _side_by_side(run: Run, tasks: list[Task]) -> Script:
    """Run what has not finished, committing each as it ends; the task that failed first, if any.

    The handlers of failures, and what nodes called, are added to the tasks.

    Raises:
        TimeoutError: the step took longer than the graph's ``step_timeout``.
    """
    todo = [t for t in tasks if t.outcome not in ("done", "handled")]
    asking = [t for t in todo if _still_asks(run, t)] if run.answers.by_id else []
    todo = [t for t in todo if t not in asking]
    for task in todo:
        task.outcome, task.error, task.interrupts = "", None, []
    failed = (yield from _until_all_ended(run, tasks, todo)) if todo else None
    for task in asking if run.listened else ():  # last, where who looks for questions looks
        yield from run.show_end(task, run.step)
    return failed


def _until_all_ended(run: Run, tasks: list[Task], todo: list[Task]) -> Script:
    """Start tasks and follow them to their ends; the task that failed first, if one did."""
    failed: Task | None = None
    if _is_plain(run, todo):
        failed = yield Together(todo)
        while run.children and (yield Next(stops(failed))) is not None:
            pass  # tasks that a node called and did not wait for
        return failed
    yield Start(todo)
    while (task := (yield Next(stops(failed)))) is not None:
        if task.__class__ is Told:
            yield from _show_called(run, task)
            continue
        known = len(tasks)
        yield from _settle(run, tasks, task)
        if failed is None and task.outcome == "error":
            failed = task
        if len(tasks) > known and failed is None:
            yield Start(tasks[known:])
    return failed


def _is_plain(run: Run, tasks: list[Task]) -> bool:
    """Whether nothing has to be told or decided while these tasks run."""
    if run.listened or run.cache_keys or run.step_timeout is not None:
        return False
    return not any(t.node.handler for t in tasks)


def _still_asks(run: Run, task: Task) -> bool:
    """Whether the answers by id are all for others: then the task need not run to ask again.

    One whose question came from a graph inside of it does run, for what that graph tells.
    """
    if task.outcome != "interrupt" or not task.interrupts:
        return False
    own = interrupt_id(task.ns, len(task.resumes))
    return all(i.id == own and own not in run.answers.by_id for i in task.interrupts)


def _stop_waiting(run: Run, tasks: Sequence[Task]) -> Script:
    """Questions wait: show the state with what the finished siblings wrote."""
    run.interrupts = [i for t in tasks if t.outcome == "interrupt" for i in t.interrupts]
    done: list[Task] = [t for t in tasks if t.outcome != "interrupt" and t.writes]
    run.output = run.read()
    if run.nest.above is not None:
        return
    if done:
        view = run.live.fork()
        updated = apply_writes(view, done, run.next_version)
        run.output = view.read(run.keys)
        if run.values and not updated.isdisjoint(_output_keys(run)):
            yield run.show("values", run.output)
    if not run.interrupts:  # a break point inside a nested graph
        yield from _show_break(run)
