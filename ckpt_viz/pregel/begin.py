"""Beginning a run: load the checkpoint, take up the Command or the input."""

from __future__ import annotations

import warnings
from typing import Any

from ckpt_viz.constants import INPUT, INTERRUPT, NULL_TASK_ID, RESUME, START, TASKS
from ckpt_viz.errors import CheckpointNotFoundError, EmptyInputError, InvalidUpdateError
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.entry import Found, answers_of, entry_of
from ckpt_viz.pregel.nesting import Replay, wanted_id
from ckpt_viz.pregel.pending import caller_writes, open_interrupts
from ckpt_viz.pregel.program import Program, Write, branch_to
from ckpt_viz.pregel.requests import History, Load, Newest
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.settings import thread_of
from ckpt_viz.pregel.siblings import answered_tasks, sibling_steps
from ckpt_viz.types import Command, Send


def _load(run: Run) -> Script:
    """Open the checkpoint to start from; tells how it was found."""
    told = run.nest.told
    if run.saver is None:
        return Found(told=told)
    config = run.settings.config
    thread_of(config, "run")
    _tell_of_a_namespace(run, config["configurable"])
    wanted = wanted_id(config, run.nest)
    if wanted is None and run.replay is not None and run.replay.visits(run.ns):
        found: Any = ()
        if run.replay.bound:  # else it is the first checkpoint: nothing was before
            before = {"configurable": {"checkpoint_id": run.replay.bound}}
            found = yield History(run.where(None), None, before, 1)
        run.open(next(iter(found), None))
        return Found(addressed=True)
    if wanted is None and run.replay is not None:
        told = False  # a task that is replayed calls its graphs anew, the second time too
    saved = yield Load(run.where(wanted))
    newest = True
    if wanted is not None:
        if saved is None:
            raise CheckpointNotFoundError(
                f"Thread {config['configurable']['thread_id']!r} has no checkpoint {wanted!r}. "
                "Take an id from get_state_history(config)."
            )
        newest = wanted == (yield Newest(run.where(None)))
    if saved is not None:
        run.open(saved)
    return Found(wanted is not None, newest, told)


def begin_steps(run: Run, value: Any) -> Script:
    """Take up a checkpoint and the input. True if finished tasks of the first step run again."""
    if isinstance(value, Command) and value.answers and run.saver is None:
        raise RuntimeError("Cannot use Command(resume=...) without checkpointer")
    found: Found = yield from _load(run)
    again: Any = None
    answering = isinstance(value, Command) and value.answers
    if answering and found.addressed and not run.parents and (asked := answered_tasks(run)):
        again = [(yield from sibling_steps(run, asked, value.resume))]
        found = Found()
    live, source = run.live, run.metadata.get("source", "")
    if run.nest.above is None and not isinstance(value, Command) and _goes_on(run):
        value = None
    inputs = shown_keys(run.program.input_channels)
    entry = entry_of(value, found, bool(live.versions), source, wanted=inputs)
    run.resumed, run.before = entry.resuming, live.max_version
    run.going_on = entry.resuming if run.nest.above is None else run.nest.told
    if entry.travelling and live.id is not None:
        run.replay = Replay(run.parent or "" if source in ("update", "fork") else live.id)
    if RESUME in entry.dropped:
        run.pending = [w for w in run.pending if w[1] != RESUME]
    run.answers.single = [v for t, c, v in run.pending if t == NULL_TASK_ID and c == RESUME][-1:]
    if isinstance(value, Command):
        yield from _take_command(run, value, again)
    on_hand = caller_writes(run.pending)
    if on_hand:
        updated = live.updated
        more = apply_writes(live, [Writes(INPUT, (), on_hand)], run.next_version)
        live.updated = None if updated is None else updated | more
    if entry.resuming:
        _tell_what_is_gone(run)
        live.seen[INTERRUPT] = dict(live.versions)
        live.saw[INTERRUPT] = True
        if entry.forking:
            yield from _fork(run, found.newest)
        yield from _tell_resumed(run)
        return entry.replaying
    yield from _take_input(run, value)
    return entry.replaying


def _tell_resumed(run: Run) -> Script:
    """Show and tell that the run goes on from what is there."""
    if run.trace is not None:
        yield from run.trace.resumed(run)
    if run.program.momentary:
        run.output = run.read()
    if run.values:
        yield run.show("values", run.read())


def _tell_what_is_gone(run: Run) -> None:
    """A node that the checkpoint waits for may be in this graph no more."""
    specs, saved = run.program.channels, run.live.channels.values_saved
    gone = [c[10:] for c in saved if c not in specs and c.startswith("branch:to:")]
    if gone:
        warnings.warn(
            f"Checkpoint {run.live.id} waits for {', '.join(map(repr, gone))}, which this graph "
            "does not have: the run goes on without. Give the graph a node of that name, or "
            "update_state(config, None, as_node=…) to lead the run to another.",
            stacklevel=2,
        )


def _tell_of_a_namespace(run: Run, where: dict[str, Any]) -> None:
    """A namespace given by hand addresses a subgraph's checkpoint, or nothing."""
    ns = where.get("checkpoint_ns")
    if ns and run.nest.above is None and not {"checkpoint_id", "checkpoint_map"} & where.keys():
        warnings.warn(
            f"checkpoint_ns {ns!r} is not a namespace of this run's own: a graph that is run by "
            "itself keeps its history in the namespace ''. Use another thread_id to keep graphs "
            "apart.",
            stacklevel=2,
        )


def _goes_on(run: Run) -> bool:
    """Whether the run has the ``run_id`` of the one that made the checkpoint: then it goes on."""
    mine = run.user.get("run_id")
    return mine is not None and mine == run.metadata.get("run_id")


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
    yield from run.saved("fork")


def _take_command(run: Run, command: Command[Any], again: Any) -> Script:
    """A Command as input: its answer, and its update and goto as writes of the caller."""
    if command.graph is not None:
        raise InvalidUpdateError("There is no parent graph")
    by_id = None
    if command.answers:
        tasks = prepare_next_tasks(run.live, run.step)
        has_next = bool(tasks) or bool(command.update) or bool(command.goto_list())
        asked = open_interrupts(run.pending)
        by_id = again[0] if again else answers_of(command.resume, run.pending, has_next)
        if by_id is None:
            if not asked and not again:
                warnings.warn(
                    "No interrupt is open: the answer of Command(resume=…) was not used; the run "
                    "goes on.",
                    stacklevel=2,
                )
            run.answers.single = [command.resume]
        else:
            run.answers.by_id = by_id
    # Earlier writes of the caller stay, in their places: one task's writes are one list.
    writes = [*caller_writes(run.pending), *command_writes(run, command)]
    if command.answers and by_id is None:
        writes.append((RESUME, command.resume))
    if writes:
        # With durability `exit` an answer is kept by the task that took it, and by nobody else.
        kept = [w for w in writes if not (run.deferring and w[0] == RESUME)]
        begun = run.saver is not None and run.live.id is not None
        if kept and begun and (request := run.keep(kept, NULL_TASK_ID, "")):
            yield request
        run.pending = [w for w in run.pending if w[0] != NULL_TASK_ID]
        run.pending += [(NULL_TASK_ID, c, v) for c, v in writes]


def command_writes(run: Run, command: Command[Any]) -> list[tuple[str, Any]]:
    """The goto and update of a caller's Command."""
    writes: list[tuple[str, Any]] = []
    for target in command.goto_list():
        if isinstance(target, Send):
            writes.append((TASKS, target))
        else:
            writes.append((branch_to(target), START))
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
    taken = Writes(INPUT, (), input_writes(run.program, value))
    apply_writes(live, [*dropped, taken], run.next_version)
    yield from run.saved("input")


def shown_keys(keys: Any) -> Any:
    """Channel names as errors show them: a name, or a list of names."""
    return keys if isinstance(keys, str) else list(keys)


def input_writes(program: Program, value: Any) -> list[Write]:
    """The writes of an input: all of it to the one input channel, or by key to several.

    Raises:
        TypeError: several input channels, but no dictionary. EmptyInputError: none of their keys.
    """
    keys = program.input_channels
    if isinstance(keys, str):
        return [(keys, value)]
    if not isinstance(value, dict):
        raise TypeError(f"Expected chunk to be a dict, got {type(value).__name__}")
    found = [(k, v) for k, v in value.items() if k in keys]
    if not found:
        raise EmptyInputError(f"Received no input for {list(keys)}")
    return found


def _check_input(run: Run, value: Any) -> None:
    """Input that no channel takes is an error, before anything is saved.

    A graph inside another is given that one's state, of which it may know nothing yet.
    """
    if run.nest.above is not None:
        return
    keys = run.program.output_channels
    if run.program.momentary or not isinstance(value, dict) or not value or isinstance(keys, str):
        return
    known = [k for k in run.program.channels if not k.startswith(("branch:", "join:", "__"))]
    if not any(key in run.program.channels for key in value):
        raise InvalidUpdateError(
            f"The input has no key that the graph knows: {sorted(map(str, value))}. "
            f"Known: {sorted(known)}."
        )
