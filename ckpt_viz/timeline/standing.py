"""How the nodes of graphs inside a graph stand to one of its checkpoints.

Read off the namespaces that exist, not off the graph: which inner nodes ran to make the
checkpoint, and, where a task from it did not finish, which are done, come next, wait or failed.
Names and counts only; no value is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ckpt_viz.timeline.nested import Nested, nested
from ckpt_viz.timeline.records import Row

DEPTH = 8
STATES: Final = {"done": "kept", "error": "failed", "interrupt": "waits", "pending": "next"}

Standing = dict[str, dict[str, dict[str, int]]]
"""By the path of nodes (`outer:inner`) and the node in it: how many times it stands how."""


def standing(timeline: Any, checkpoint_id: str) -> Standing:
    """The nodes inside, as they stand to a checkpoint; empty where no graph ran in it."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for path, node, state, times in _told(timeline, checkpoint_id):
        found.setdefault(path, {}).setdefault(node, Counter())[state] += times
    return {path: {node: dict(n) for node, n in nodes.items()} for path, nodes in found.items()}


Told = Iterator[tuple[str, str, str, int]]


def _told(timeline: Any, checkpoint_id: str) -> Told:
    row = timeline.row(checkpoint_id)
    if row is None:
        return
    spaces = nested(timeline)
    for one in spaces:
        made = row.source == "loop" and one.owner == row.parent_id and one.node in row.nodes
        if made:
            yield from _inside(timeline, one, one.node, "ran", row.id)
    if not any(one.owner == row.id for one in spaces):
        return
    tasks = timeline.writes(row.id).next
    if all(task.state == "done" for task in tasks):
        return  # the step is over: what ran in it made another checkpoint
    open_nodes = {task.name for task in tasks}
    for one in spaces:
        if one.owner == row.id and one.node in open_nodes:
            yield from _inside(timeline, one, one.node, "kept", None)


def _inside(above: Any, space: Nested, path: str, state: str, before: str | None) -> Told:
    """The nodes of one namespace on the way to its newest checkpoint, made before another one."""
    if path.count(":") >= DEPTH:
        return
    inner = above.inside(space.ns)
    inner.refresh()
    way = _way(inner, above.checkpoint_ns, space.owner, before)
    deeper = nested(inner)
    for row, parent in zip(way, [*way[1:], None], strict=True):
        for node in row.nodes if row.source == "loop" else ():
            yield path, node, state, 1
        for one in deeper:
            if parent is not None and one.owner == parent.id and one.node in row.nodes:
                yield from _inside(inner, one, f"{path}:{one.node}", state, row.id)
    if state != "kept" or not way:
        return
    for task in inner.writes(way[0].id).next:
        yield path, task.name, STATES[task.state], 1
    for one in deeper:
        if one.owner == way[0].id:
            yield from _inside(inner, one, f"{path}:{one.node}", state, None)


def _way(inner: Any, here: str, owner: str, before: str | None) -> list[Row]:
    """From the newest checkpoint under an owner back to the first one under it."""
    rows: dict[str, Row] = {
        row.id: row
        for row in inner.known()
        if inner.light(row.id).above.get(here, owner) == owner
        and (before is None or row.id < before)
    }
    row = next(reversed(rows.values()), None)
    way: list[Row] = []
    while row is not None:
        way.append(row)
        row = rows.get(row.parent_id or "")
    return way
