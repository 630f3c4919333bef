"""The run script: how a run begins, and one superstep after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ckpt_viz.constants import (
    ERROR,
    INPUT,
    INTERRUPT,
    NULL_TASK_ID,
    RESUME,
    START,
    TASKS,
)
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    GraphRecursionError,
    InvalidUpdateError,
)
from ckpt_viz.pregel import events
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.entry import answers_of, entry_of
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.pending import caller_writes, hand_back, open_interrupts
from ckpt_viz.pregel.requests import Load, Next, RunOne, Start
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.settings import place, thread_of
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import Command, Send


def run_steps(run: Run, value: Any) -> Script:
    """The whole run. Ends with ``run.output`` and ``run.interrupts`` set.

    Raises:
        CheckpointNotFoundError, EmptyInputError, NothingToResumeError, InvalidUpdateError: the
            run cannot begin; nothing is saved.
        GraphRecursionError: more supersteps than allowed. What a node raises comes out as it is.
    """
    replaying = yield from _begin(run, value)
    try:
        yield from _loop(run, replaying)
    except Exception:
        yield from run.flush()
        raise
    if not run.interrupts:
        run.output = _read(run)
    yield from run.flush()


def _read(run: Run) -> Any:
    return run.live.read(run.keys)


def _load(run: Run) -> Script:
    """The checkpoint to start from; tells whether it was addressed, and is the newest."""
    if run.saver is None:
        return False, True
    config = run.settings.config
    thread_of(config, "run")
    wanted = config["configurable"].get("checkpoint_id")
    saved = yield Load(place(config, wanted))
    newest = True
    if wanted is not None:
        if saved is None:
            raise CheckpointNotFoundError(
                f"Thread {config['configurable']['thread_id']!r} has no checkpoint {wanted!r}. "
                "Take an id from get_state_history(config)."
            )
        head = yield Load(place(config, None))
        newest = head.checkpoint["id"] == wanted
    if saved is not None:
        run.open(saved)
    return wanted is not None, newest


def _begin(run: Run, value: Any) -> Script:
    """Take up a checkpoint and the input. True if finished tasks of the first step run again."""
    if isinstance(value, Command) and value.answers and run.saver is None:
        raise RuntimeError("Cannot use Command(resume=...) without checkpointer")
    addressed, newest = yield from _load(run)
    live = run.live
    entry = entry_of(value, addressed, newest, bool(live.versions), run.metadata.get("source", ""))
    if RESUME in entry.dropped:
        run.pending = [w for w in run.pending if w[1] != RESUME]
    run.answers.single = [v for t, c, v in run.pending if t == NULL_TASK_ID and c == RESUME][-1:]
    if isinstance(value, Command):
        yield from _take_command(run, value)
    on_hand = caller_writes(run.pending)
    if on_hand:
        apply_writes(live, [Writes(INPUT, (), on_hand)], run.next_version)
        live.updated = None
    if entry.resuming:
        live.seen[INTERRUPT] = dict(live.versions)
        if entry.forking:
            yield from _fork(run, newest)
        if run.values:
            yield run.show("values", _read(run))
        return entry.replaying
    yield from _take_input(run, value)
    return entry.replaying


def _fork(run: Run, newest: bool) -> Script:
    """Begin a branch of its own; at a finished head there is nothing to branch."""
    tasks = prepare_next_tasks(run.live, run.step)
    if not tasks and newest:
        return
    if not tasks:
        warnings.warn(
            f"Checkpoint {run.live.id} has no next node: the replay runs nothing and only makes "
            "it the head again.",
            stacklevel=2,
        )
    run.live.updated = None
    yield from run.save("fork")


def _take_command(run: Run, command: Command[Any]) -> Script:
    """A Command as input: its answer, and its update and goto as writes of the caller."""
    if command.graph is not None:
        raise InvalidUpdateError("There is no parent graph")
    writes: list[tuple[str, Any]] = []
    if command.answers:
        tasks = prepare_next_tasks(run.live, run.step)
        has_next = bool(tasks) or bool(command.update) or bool(command.goto_list())
        asked = open_interrupts(run.pending)
        by_id = answers_of(command.resume, run.pending, has_next)
        if by_id is None:
            if not asked:
                warnings.warn(
                    "No interrupt is open: the answer of Command(resume=…) was not used; the run "
                    "goes on.",
                    stacklevel=2,
                )
            run.answers.single = [command.resume]
            writes.append((RESUME, command.resume))
        else:
            run.answers.by_id = by_id
    # Earlier writes of the caller stay: one task's writes are stored as one list.
    writes += [*caller_writes(run.pending), *command_writes(run, command)]
    if writes:
        if run.live.id is not None:
            yield from run.save_writes(writes, NULL_TASK_ID, "")
        run.pending = [w for w in run.pending if w[0] != NULL_TASK_ID]
        run.pending += [(NULL_TASK_ID, c, v) for c, v in writes]


def command_writes(run: Run, command: Command[Any]) -> list[tuple[str, Any]]:
    """The goto and update of a caller's Command."""
    writes: list[tuple[str, Any]] = []
    for target in command.goto_list():
        if isinstance(target, Send):
            writes.append((TASKS, target))
        else:
            writes.append((f"branch:to:{target}", START))
    update = command.update
    if update is not None:
        pairs = update.items() if isinstance(update, dict) else update
        writes += list(pairs)
    return writes


def _take_input(run: Run, value: Any) -> Script:
    """New input: the tasks that waited are dropped, and the input becomes a checkpoint."""
    _check_input(run, value)
    live = run.live
    dropped = prepare_next_tasks(live, run.step)
    taken = Writes(INPUT, (), [(START, value)])
    apply_writes(live, [*dropped, taken], run.next_version)
    yield from run.save("input")


def _check_input(run: Run, value: Any) -> None:
    """Input that no channel takes is an error, before anything is saved."""
    keys = run.program.output_channels
    if not isinstance(value, dict) or not value or isinstance(keys, str):
        return
    known = [k for k in run.program.channels if not k.startswith(("branch:", "join:", "__"))]
    if not any(key in run.program.channels for key in value):
        raise InvalidUpdateError(
            f"The input has no key that the graph knows: {sorted(map(str, value))}. "
            f"Known: {sorted(known)}."
        )


def _loop(run: Run, replaying: bool) -> Script:
    settings, live = run.settings, run.live
    tasks = yield from _plan(run, replaying)
    while not run.stopping:
        if run.step > run.stop:
            raise GraphRecursionError(
                f"Recursion limit of {settings.limit} reached without hitting a stop condition. "
                "You can increase the limit by setting the `recursion_limit` config key."
            )
        if not tasks:
            return
        if settings.before and should_interrupt(run, settings.before, tasks):
            yield from _show_break(run)
            return
        yield from _show_started(run, tasks)
        if not (yield from _execute(run, tasks)):
            yield from _stop_waiting(run, tasks)
            return
        updated = apply_writes(live, tasks, run.next_version)
        if run.values and not updated.isdisjoint(_output_keys(run)):
            yield run.show("values", _read(run))
        yield from run.save("loop")
        ran, tasks = tasks, (yield from _plan(run, False))
        if settings.after and should_interrupt(run, settings.after, ran):
            yield from _show_break(run)
            return


def _plan(run: Run, replaying: bool) -> Script:
    """The next tasks, with what earlier attempts left them; shown with their checkpoint."""
    tasks = prepare_next_tasks(run.live, run.step)
    if run.pending and not replaying:
        hand_back(tasks, run.pending)
    if run.checkpoints and run.saver is not None:
        yield from run.show_checkpoint(tasks)
    return tasks


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
    if run.updates:
        yield run.show("updates", {INTERRUPT: ()})


def _show_started(run: Run, tasks: Sequence[Task]) -> Script:
    if run.tasks:
        config = run.settings.config
        metadata = dict(config.get("metadata") or {})
        if config.get("tags"):
            metadata["tags"] = config["tags"]
        for task in tasks:
            if not task.node.hidden:
                payload = events.task_started(task, metadata)
                yield from run.show_both("tasks", "task", run.step, payload)
    if run.updates and run.pending:
        keys = run.keys
        for task in tasks:
            if task.outcome == "done" and not task.node.hidden:
                shown = {task.name: events.shown_writes(task.writes, keys)}
                yield run.show("updates", {**shown, "__metadata__": {"cached": True}})


def _execute(run: Run, tasks: Sequence[Task]) -> Script:
    """Run the tasks that have not finished, committing each as it ends. False: a question waits.

    Raises:
        BaseException: the first failure, when every other task has ended or was cancelled.
    """
    todo = [t for t in tasks if t.outcome != "done"]
    for task in todo:
        task.outcome, task.error, task.interrupts = "", None, []
    if len(todo) == 1 and "custom" not in run.settings.modes:
        yield RunOne(todo[0])
        yield from _end(run, todo[0])
    elif todo:
        yield Start(todo)
        failed = False
        while (task := (yield Next(failed))) is not None:
            yield from _end(run, task)
            failed = failed or task.outcome == "error"
    for task in todo:
        if task.outcome == "error":
            error, task.error = task.error, None
            assert error is not None
            try:
                raise error
            finally:
                del error
    return all(t.outcome == "done" for t in tasks)


def _end(run: Run, task: Task) -> Script:
    if task.outcome == "error":
        task.special.append((ERROR, repr(task.error)))
        assert task.error is not None
        task.error.add_note(f"During task with name '{task.name}' and id '{task.id}'")
    elif task.outcome == "interrupt":
        task.special.append((INTERRUPT, list(task.interrupts)))
    if task.outcome == "done" and not (run.identified or run.settings.modes):
        return
    yield from run.commit(task)


def _stop_waiting(run: Run, tasks: Sequence[Task]) -> Script:
    """Questions wait: show the state with what the finished siblings wrote."""
    run.interrupts = [i for t in tasks if t.outcome == "interrupt" for i in t.interrupts]
    done: list[Task] = [t for t in tasks if t.outcome == "done" and t.writes]
    run.output = _read(run)
    if done:
        view: Live = run.live.fork()
        updated = apply_writes(view, done, run.next_version)
        run.output = view.read(run.keys)
        if run.values and not updated.isdisjoint(_output_keys(run)):
            yield run.show("values", run.output)
