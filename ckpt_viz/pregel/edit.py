"""Editing history: `update_state` in all its cases."""

from __future__ import annotations

import inspect
import warnings
from collections import deque
from collections.abc import Sequence, Set
from contextvars import copy_context
from typing import Any
from uuid import UUID, uuid5

from ckpt_viz.constants import COPY, END, EVENT, INPUT, INTERRUPT, START
from ckpt_viz.errors import CheckpointNotFoundError, InvalidUpdateError
from ckpt_viz.pregel.algo import Writes, apply_writes, prepare_next_tasks
from ckpt_viz.pregel.begin import input_writes, shown_keys
from ckpt_viz.pregel.execute import route_now
from ckpt_viz.pregel.lease import release, take, take_steps
from ckpt_viz.pregel.pending import caller_writes, hand_back, open_interrupts
from ckpt_viz.pregel.program import Node, Program
from ckpt_viz.pregel.requests import Load, Newest, SaveWrites
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.scope import TaskScope
from ckpt_viz.pregel.settings import with_parents
from ckpt_viz.pregel.subgraphs import is_graph
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import Command, StateUpdate, scope

_ENGINE_METADATA = frozenset({"source", "step", "parents", EVENT})


def update_steps(run: Run, rounds: Sequence[Sequence[StateUpdate]]) -> Script:
    """Apply rounds of updates, one checkpoint a round; the config of the last one.

    Raises:
        CheckpointNotFoundError: the addressed checkpoint does not exist.
        InvalidUpdateError: an unknown key or node, or no single node to write as.
    """
    for (
        updates
    ) in rounds:  # all of them first: a later round's mistake leaves no earlier one written
        for update in updates:
            _check_update(run.program, *update)
    if not take(run):
        yield from take_steps(run, run.settings.queue)
    try:
        return (yield from _rounds(run, rounds))
    finally:
        release(run)


def _rounds(run: Run, rounds: Sequence[Sequence[StateUpdate]]) -> Script:
    config: dict[str, Any] = {}
    where = run.settings.config
    wanted = where["configurable"].get("checkpoint_id")
    latest = wanted is None or wanted == (yield Newest(run.where(None)))
    waiting = deque(rounds)
    while waiting:
        updates = [StateUpdate(*u) for u in waiting.popleft()]
        copied = updates[0].as_node == COPY and isinstance(updates[0].values, list)
        if copied and updates[0].values:  # what is to be written onto the copy
            waiting.appendleft([_pair(*u) for u in updates[0].values])
        saved = yield Load(run.where(wanted))
        if saved is None and wanted is not None:
            raise CheckpointNotFoundError(
                f"Thread {where['configurable']['thread_id']!r} has no checkpoint {wanted!r}: "
                "nothing was written. Take an id from get_state_history(config)."
            )
        run.open(saved)
        run.parents = run.metadata.get("parents") or {}
        run.user = {**inherited(run.metadata), **run.user}
        config = yield from round_steps(run, updates, saved, latest)
        wanted = config["configurable"]["checkpoint_id"]
        latest = latest or updates[0].as_node == COPY
    return with_parents(config, run.metadata)


def _pair(values: Any, as_node: str, task_id: str | None = None) -> StateUpdate:
    """An update onto a copy; its task is the copy's own, whatever id is given."""
    return StateUpdate(values, as_node)


def inherited(metadata: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint that is edited passes on: its user's metadata."""
    return {k: v for k, v in metadata.items() if k not in _ENGINE_METADATA}


def round_steps(run: Run, updates: Sequence[StateUpdate], saved: Any, latest: bool) -> Script:
    """One round of updates on the checkpoint that the run has opened; the new one's config.

    ``latest``: they are also the results of the tasks they speak for, kept with ``saved``.
    """
    first = updates[0]
    if len(updates) > 1:
        _check_bulk(updates)
    if first.as_node != INPUT:
        run.step = max(run.step, 0)
    if first.as_node == COPY:
        return (yield from _copy(run, saved))
    if first.as_node == END:
        return (yield from _clear(run, first))
    if first.as_node == INPUT:
        return (yield from _input(run, first, saved is not None and latest))
    asking = _asking_graphs(run)
    _apply_on_hand(run)
    tasks = []
    for index, update in enumerate(updates):
        node = _node_of(run, update.as_node, update.values)
        task = Task(
            run.program.nodes[node], (INTERRUPT, index), (INTERRUPT,), update.values, run.step
        )
        task.within = run.ns
        task.writes = _writes_as(run, task, update.values)
        tasks.append(task)
    if saved is not None and latest:
        yield from _keep_writes(run, tasks, [u.task_id for u in updates])
    apply_writes(run.live, tasks, run.next_version)
    run.live.updated = None
    yield from run.saved("update")
    _warn_dead_end(run, saved, tasks)
    _warn_restart(run, asking)
    return run.where(run.live.id)


def _check_bulk(updates: Sequence[StateUpdate]) -> None:
    """Several updates of one round each name a node, and none of them clears the state."""
    if updates[0].as_node == INPUT:
        raise InvalidUpdateError("Cannot apply multiple updates when updating as input")
    if updates[0].as_node == COPY:
        raise InvalidUpdateError("Cannot copy checkpoint with multiple updates")
    if any(u.as_node in (END, INPUT, COPY) for u in updates):
        raise InvalidUpdateError("Cannot apply multiple updates when clearing state")
    if any(u.as_node is None for u in updates):
        raise InvalidUpdateError("as_node is required when applying multiple updates")


def _apply_on_hand(run: Run) -> None:
    """What the caller's Command has already written; the step's finished tasks are dropped."""
    on_hand = caller_writes(run.pending)
    if on_hand:
        apply_writes(run.live, [Writes(INPUT, (), on_hand)], run.next_version)
        run.live.updated = None


def _tasks(run: Run) -> list[Task]:
    run.live.updated = None
    tasks = prepare_next_tasks(run.live, run.step)
    hand_back(tasks, run.pending)
    return tasks


def _keep_writes(run: Run, tasks: Sequence[Task], ids: Sequence[str | None]) -> Script:
    """The update is also the result of the task it speaks for, on the base checkpoint."""
    assert run.live.id is not None
    waiting: dict[str, list[Task]] = {}
    for one in prepare_next_tasks(run.live, run.step):
        waiting.setdefault(one.name, []).append(one)
    base = run.live.id
    for task, given in zip(tasks, ids, strict=True):
        stands = waiting.get(task.name)
        if given is not None:
            id_ = given
        elif stands:
            id_ = stands.pop(0).id
        else:
            try:
                index = task.path[1]
                id_ = str(uuid5(UUID(base), f"{INTERRUPT}{index}" if index else INTERRUPT))
            except ValueError:
                id_ = task.id
        if task.writes:
            yield SaveWrites(run.where(base), task.writes, id_, task.path_text)


def _writes_as(run: Run, task: Task, values: Any) -> list[tuple[str, Any]]:
    """What the node's writers and routers make of the values; the node itself does not run."""

    def write() -> list[tuple[str, Any]]:
        scope.set(TaskScope(task, run))
        task.writes = task.node.write(values)
        routed = route_now(run, task, values) if task.node.route is not None else []
        return task.writes + routed

    return copy_context().run(write)


def _node_of(run: Run, as_node: str | None, values: Any) -> str:
    """The node to write as, given or inferred; the values' keys are checked.

    Raises:
        InvalidUpdateError: no such node, an ambiguous update, or an unknown key.
    """
    nodes = run.program.nodes
    name = infer_node(run) if as_node is None else as_node
    if name not in nodes:
        raise InvalidUpdateError(f"Node {name} does not exist\nNodes: {sorted(nodes)}.")
    check_keys(run.program, values, _told_by(run.program, name))
    return name


def _check_update(
    program: Program, values: Any, as_node: str | None = None, task_id: str | None = None
) -> None:
    """Check an update's keys, and those of the updates that follow a copy."""
    if as_node == COPY and isinstance(values, list):
        for update in values:
            _check_update(program, *update)
    elif as_node is None or as_node == INPUT or as_node in program.nodes:
        names = program.nodes if as_node is None else [as_node]
        check_keys(program, values, {key for name in names for key in _told_by(program, name)})


def _told_by(program: Program, name: str) -> Set[str]:
    """The keys of its own that a node which is a graph may tell; this graph ignores them."""
    node = program.nodes.get(name)
    if node is None or not is_graph(node.func):
        return frozenset()
    told = node.func.output_channels
    return {told} if isinstance(told, str) else set(told)


def _named_keys(values: Any) -> list[Any]:
    """The state keys that values name, as a dictionary, by a Command or in a list with Commands."""
    if isinstance(values, dict):
        return list(values)
    if isinstance(values, Command) and values.graph is None:
        if isinstance(values.update, list | tuple):
            return [p[0] for p in values.update if isinstance(p, tuple) and len(p) == 2]
        return _named_keys(values.update)
    if isinstance(values, list | tuple) and any(isinstance(v, Command) for v in values):
        return [key for value in values for key in _named_keys(value)]
    return []


def check_keys(program: Program, values: Any, also: Set[str] = frozenset()) -> None:
    """Refuse a key that no channel takes and that is not among ``also``.

    Raises:
        InvalidUpdateError: names the unknown keys and the known ones.
    """
    known = program.keys
    unknown = [k for k in _named_keys(values) if k not in known and k not in also]
    if known and unknown:
        raise InvalidUpdateError(
            f"Unknown key{'s' if len(unknown) > 1 else ''} {unknown} in the update; nothing was "
            f"written. Known keys: {sorted(known)}."
        )


def infer_node(run: Run) -> str:
    """The node that wrote last.

    Raises:
        InvalidUpdateError: several did.
    """
    if len(run.program.nodes) == 1:
        return next(iter(run.program.nodes))
    nodes = run.program.nodes
    found = run.live.seen.items()
    newest = sorted([(max(seen.values()), name) for name, seen in found if seen and name in nodes])
    if not newest and START in run.program.nodes:
        return START
    if not newest:
        names = list(run.program.nodes)
        raise InvalidUpdateError(f"Ambiguous update, specify as_node\nOne of {names}.")
    if len(newest) == 1 or newest[-1][0] > newest[-2][0]:
        return newest[-1][1]
    tied = sorted(name for version, name in newest if version == newest[-1][0])
    raise InvalidUpdateError(f"Ambiguous update, specify as_node\nOne of {tied}.")


def _copy(run: Run, saved: Any) -> Script:
    """A sibling of the checkpoint, with the same parent and state."""
    if saved is None:
        raise InvalidUpdateError("Cannot copy a non-existent checkpoint")
    run.live.updated = None
    run.live.id = run.parent
    run.guarded = False  # a sibling extends no head
    run.here = run.where(run.parent)
    yield from run.saved("fork")
    return run.where(run.live.id)


def _clear(run: Run, update: StateUpdate) -> Script:
    """As END: take what finished tasks wrote, and drop the rest of the step."""
    if update.values is not None:
        raise InvalidUpdateError(
            f"Node {END} does not exist\nTo end the run here, pass None as its values."
        )
    on_hand = caller_writes(run.pending)
    if on_hand:
        apply_writes(run.live, [Writes(INPUT, (), on_hand)], run.next_version)
    tasks = _tasks(run)
    if tasks:
        apply_writes(run.live, tasks, run.next_version)
    run.live.updated = None
    yield from run.saved("update")
    return run.where(run.live.id)


def _input(run: Run, update: StateUpdate, keep: bool) -> Script:
    """As ``__input__``: new input, without running anything."""
    if update.values is None:
        wanted = shown_keys(run.program.input_channels)
        raise InvalidUpdateError(f"Received no input writes for {wanted}")
    check_keys(run.program, update.values)
    writes = input_writes(run.program, update.values)
    if keep:
        node = run.program.nodes.get(START) or Node(START, (), (), list, list)
        task = Task(node, (INTERRUPT, 0), (INTERRUPT,), None, run.step)
        task.writes = writes
        yield from _keep_writes(run, [task], [update.task_id])
    apply_writes(run.live, [Writes(INPUT, (), writes)], run.next_version)
    run.live.updated = None
    yield from run.saved("input")
    return run.where(run.live.id)


def _asking_graphs(run: Run) -> set[str]:
    """The nodes that wait for an answer inside of a graph of theirs."""
    asked = open_interrupts(run.pending)
    waiting = prepare_next_tasks(run.live, run.step) if asked else ()
    return {task.name for task in waiting if task.id in asked and task.node.graphs}


def _warn_restart(run: Run, asking: set[str]) -> None:
    """A graph inside of a node keeps its progress with the node's task, which is a new one now."""
    run.live.updated = None
    again = asking and asking & {t.name for t in prepare_next_tasks(run.live, run.step)}
    if again:
        warnings.warn(
            f"The update makes a checkpoint from which {', '.join(sorted(again))} starts again at "
            "its first node: a graph inside keeps its progress with the checkpoint it waits at. To "
            "edit it where it waits, update the state of its own config (tasks[…].state).",
            stacklevel=2,
        )


def _warn_dead_end(run: Run, saved: Any, tasks: Sequence[Task]) -> None:
    """A fork from a checkpoint that had a next node, to one that has none, is told."""
    if saved is None or any(
        c.startswith(("branch:", "join:", "__")) for t in tasks for c, _ in t.writes
    ):
        return
    names = [t.name for t in tasks]
    run.live.updated = None
    if prepare_next_tasks(run.live, run.step):
        return
    if any(task.node.route is not None or _goes_on(task) for task in tasks):
        warnings.warn(
            f"The update written as {', '.join(names)} leads nowhere: no node is next, so a run "
            "from here does nothing. Choose another as_node, or pass a Command with goto.",
            stacklevel=2,
        )


def _goes_on(task: Task) -> bool:
    """Whether the node seems to route by a Command, which an update of plain values lacks."""
    if isinstance(task.input, Command):
        return False
    func = inspect.unwrap(task.node.func) if callable(task.node.func) else None
    code = getattr(func, "__code__", None)
    hint = getattr(func, "__annotations__", {}).get("return", "")
    return "Command" in str(hint) or (code is not None and "Command" in code.co_names)
