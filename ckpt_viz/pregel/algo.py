"""The two pure functions at the heart: what a superstep's writes do, and what runs next.

Rules kept here: channels are frozen during a step; versions never decrease; a node runs if and
only if a trigger is newer than the node has seen; the result depends on the tasks' paths, never
on the order in which they finished.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Protocol

from ckpt_viz.constants import CONTROL, PUSH, TASKS
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.program import Node, Program, Write
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import TimeoutPolicy

_PATH = attrgetter("path_text")
NextVersion = Callable[[Any, None], Any]


class Writer(Protocol):
    """What `apply_writes` needs of a task."""

    name: str
    triggers: tuple[str, ...]
    writes: list[Write]

    @property
    def path_text(self) -> str:
        """What the step's writers are ordered by."""


class Writes:
    """Writes that no task made: the caller's, the input's, or an update's."""

    __slots__ = ("name", "triggers", "writes")
    path_text = ""

    def __init__(self, name: str, triggers: tuple[str, ...], writes: list[Write]) -> None:
        self.name = name
        self.triggers = triggers
        self.writes = writes


def _group(program: Program, tasks: Sequence[Writer]) -> dict[str, list[Any]]:
    """The step's values by channel, in task order."""
    specs = program.channels
    groups: dict[str, list[Any]] = {}
    for task in tasks:
        for name, value in task.writes:
            if name in groups:
                groups[name].append(value)
            elif name in specs:
                groups[name] = [value]
            elif name not in CONTROL:
                warnings.warn(
                    f"Task {task.name!r} wrote to channel {name!r}, which the graph does not "
                    "have: the write is dropped.",
                    stacklevel=2,
                )
    return groups


def _mark_seen(live: Live, tasks: Sequence[Writer]) -> bool:
    """Note what each task saw. True if one was triggered."""
    seen, versions, saw = live.seen, live.versions, live.saw
    bump = False
    for task in tasks:
        name = task.name
        saw[name] = True
        mine = seen.get(name)
        if mine is None:
            mine = seen[name] = {}
        for trigger in task.triggers:
            bump = True
            if trigger in versions:
                mine[trigger] = versions[trigger]
    return bump


def _consume(live: Live, tasks: Sequence[Writer], version: Any) -> None:
    """Empty the barriers that started tasks."""
    nodes = live.program.nodes
    for task in tasks:
        node = nodes.get(task.name)
        if node is None or task.triggers is not node.triggers:
            continue
        for trigger in node.consumable:
            if live.channels[trigger].consume():
                live.note(trigger, version)


def apply_writes(live: Live, tasks: Sequence[Writer], next_version: NextVersion) -> set[str]:
    """Apply one superstep's writes; the names of channels that changed and hold a value.

    Raises:
        InvalidUpdateError: a channel refuses its values (from the channel).
    """
    if len(tasks) > 1:
        tasks = sorted(tasks, key=_PATH)
    program, volatile = live.program, live.volatile
    version = next_version(live.max_version, None)
    bump = _mark_seen(live, tasks)
    if program.consuming:
        _consume(live, tasks, version)
    channels, versions, changed = live.channels, live.versions, live.changed
    groups = _group(program, tasks)
    updated: set[str] = set()
    stale = volatile.difference(groups) if bump and volatile else ()
    for name, values in groups.items():
        channel = channels[name]
        if channel.update(values):
            versions[name] = changed[name] = live.max_version = version
            if channel.is_available():
                updated.add(name)
                if channel.volatile:
                    volatile.add(name)
    if stale:
        _sweep(live, stale, updated, version)
    if bump and program.late and program.triggered.keys().isdisjoint(updated):
        _finish(live, updated, version)
    live.updated = updated
    return updated


def _sweep(live: Live, stale: Iterable[str], updated: set[str], version: Any) -> None:
    """The step brought these channels nothing: those that live for one step are emptied."""
    for name in stale:
        channel = live.channels[name]
        if channel.is_available() and channel.update([]):
            live.note(name, version)
            if channel.is_available():
                updated.add(name)
            else:
                live.volatile.discard(name)


def _finish(live: Live, updated: set[str], version: Any) -> None:
    """The run would end: let the deferred channels show what they hold."""
    for name in live.program.late:
        channel = live.channels[name]
        if channel.finish():
            live.note(name, version)
            if channel.is_available():
                updated.add(name)


def prepare_next_tasks(live: Live, step: int) -> list[Task]:
    """The tasks of the next superstep: the waiting Sends first, then the triggered nodes."""
    tasks: list[Task] = []
    nodes = live.program.nodes
    if TASKS in live.versions:
        for index, send in enumerate(live.sends()):
            node = nodes.get(send.node)
            if node is None:
                warnings.warn(
                    f"Ignoring a Send to {send.node!r}: the graph has no such node.", stacklevel=2
                )
                continue
            if send.timeout is not None:
                node = replace(node, timeout=TimeoutPolicy.coerce(send.timeout))
            task = Task(node, (PUSH, index, False), (PUSH,), send.arg, step)
            task.base, task.within = live.id, live.ns
            tasks.append(task)
    for node in live.candidates():
        if is_ready(live, node):
            ok, value = live.input_of(node, step)
            if ok:
                task = Task(node, node.path, node.triggers, value, step)
                task.base, task.within = live.id, live.ns
                tasks.append(task)
    return tasks


def is_ready(live: Live, node: Node) -> bool:
    """Whether a trigger holds a value newer than the node has seen."""
    seen = live.seen.get(node.name)
    versions = live.versions
    for trigger in node.triggers:
        version = versions.get(trigger)
        if version is None:
            if seen is None and versions and trigger in live.program.born:
                return live.holds(trigger)
            continue
        if seen is not None:
            last = seen.get(trigger)
            if last is not None and version <= last:
                continue
        if live.holds(trigger):
            return True
    return False
