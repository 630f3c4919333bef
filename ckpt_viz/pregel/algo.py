"""The two pure functions at the heart: what a superstep's writes do, and what runs next.

Rules kept here: channels are frozen during a step; versions never decrease; a node runs if and
only if a trigger is newer than the node has seen; the result depends on the tasks' paths, never
on the order in which they finished.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ckpt_viz.channels import MISSING
from ckpt_viz.constants import CONTROL, PULL, PUSH, TASKS
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.program import Node, Write
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import TimeoutPolicy

NextVersion = Callable[[Any], Any]


class Writer(Protocol):
    """What `apply_writes` needs of a task."""

    name: str
    path: tuple[Any, ...]
    triggers: tuple[str, ...]
    writes: list[Write]


class Writes:
    """Writes that no task made: the caller's, the input's, or an update's."""

    __slots__ = ("name", "path", "triggers", "writes")

    def __init__(self, name: str, triggers: tuple[str, ...], writes: list[Write]) -> None:
        self.name = name
        self.path: tuple[Any, ...] = ()
        self.triggers = triggers
        self.writes = writes


def _order(task: Writer) -> tuple[Any, ...]:
    path = task.path
    if len(path) == 2 and path[0] == PULL:
        return path
    return tuple([f"{p:010d}" if isinstance(p, int) else str(p) for p in path[:3]])


def _group(live: Live, tasks: Sequence[Writer]) -> dict[str, list[Any]]:
    """The step's values by channel, in task order."""
    specs = live.program.channels
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


def _mark_seen(live: Live, tasks: Sequence[Writer], version: Any) -> bool:
    """Note what each task saw, and empty the barriers that started it."""
    seen, versions, nodes, saw = live.seen, live.versions, live.program.nodes, live.saw
    bump = False
    barriers: list[str] = []
    for task in tasks:
        saw[task.name] = True
        mine = seen.get(task.name)
        if mine is None:
            mine = seen[task.name] = {}
        for trigger in task.triggers:
            bump = True
            current = versions.get(trigger)
            if current is not None:
                mine[trigger] = current
        node = nodes.get(task.name)
        if node is not None and node.consumable and task.triggers is node.triggers:
            barriers += node.consumable
    for trigger in barriers:
        if live.channels[trigger].consume():
            versions[trigger] = version
            live.max_version = version
            live.changed[trigger] = version
    return bump


def apply_writes(live: Live, tasks: Sequence[Writer], next_version: NextVersion) -> set[str]:
    """Apply one superstep's writes; the names of channels that changed and hold a value.

    Raises:
        InvalidUpdateError: a channel refuses its values (from the channel).
    """
    if len(tasks) > 1:
        tasks = sorted(tasks, key=_order)
    channels, versions, volatile, changed = (
        live.channels,
        live.versions,
        live.volatile,
        live.changed,
    )
    version = next_version(live.max_version)
    bump = _mark_seen(live, tasks, version)
    groups = _group(live, tasks)
    updated: set[str] = set()
    stale = volatile.difference(groups) if bump and volatile else ()
    for name, values in groups.items():
        channel = channels[name]
        if channel.update(values):
            versions[name] = live.max_version = version
            changed[name] = version
            if channel.peek() is not MISSING:
                updated.add(name)
                if channel.volatile:
                    volatile.add(name)
    if stale:
        _sweep(live, stale, updated, version)
    if bump and live.program.late and not any(c in live.program.triggered for c in updated):
        _finish(live, updated, version)
    live.updated = updated
    return updated


def _sweep(live: Live, stale: Iterable[str], updated: set[str], version: Any) -> None:
    """The step brought these channels nothing: those that live for one step are emptied."""
    for name in stale:
        channel = live.channels[name]
        if channel.is_available() and channel.update([]):
            live.versions[name] = live.max_version = version
            live.changed[name] = version
            if channel.is_available():
                updated.add(name)
            else:
                live.volatile.discard(name)


def _finish(live: Live, updated: set[str], version: Any) -> None:
    """The run would end: let the deferred channels show what they hold."""
    for name in live.program.late:
        channel = live.channels[name]
        if channel.finish():
            live.versions[name] = version
            live.max_version = version
            live.changed[name] = version
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
