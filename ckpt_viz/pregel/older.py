"""Checkpoints that older engines wrote (format 1 to 3), told in the channels of today.

There a node was started by a channel per way that leads to it: ``start:b`` from the input,
``branch:a:router:b`` from a router, ``a`` (the node before it) by an edge; and what was sent to
nodes stood beside the channels. Today all ways to ``b`` share ``branch:to:b`` and what was sent is
a channel. A question was saved by itself, not in a list. What is stored stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.constants import INTERRUPT, TASKS
from ckpt_viz.pregel.pending import PendingWrite
from ckpt_viz.pregel.program import Program, branch_to

FORMAT = 4
SHARED_WAYS = 3
"""The first format in which all ways to a node share a channel."""


def as_written_now(program: Program, saved: Any) -> Any:
    """The checkpoint tuple with the names of today; the same one if it has them."""
    checkpoint = saved.checkpoint
    if checkpoint.get("v", 1) >= FORMAT:
        return saved
    if checkpoint.get("v", 1) < SHARED_WAYS:
        checkpoint = _with_shared_ways(program, checkpoint)
    values, versions = dict(checkpoint["channel_values"]), dict(checkpoint["channel_versions"])
    sends = list(checkpoint.get("pending_sends") or ())
    if sends and versions and TASKS not in values:
        values[TASKS], versions[TASKS] = sends, max(versions.values())
    told = {"channel_values": values, "channel_versions": versions, "pending_sends": []}
    return saved._replace(
        checkpoint={**checkpoint, **told, "v": FORMAT},
        pending_writes=[_as_listed(*write) for write in saved.pending_writes or ()],
    )


def _as_listed(task_id: str, channel: str, value: Any) -> PendingWrite:
    """A pending write; a question that stood by itself is now one of a list."""
    alone = channel == INTERRUPT and not isinstance(value, list | tuple)
    return task_id, channel, [value] if alone else value


def _with_shared_ways(program: Program, checkpoint: Any) -> Any:
    """The checkpoint with one channel a node instead of one for each way to it."""
    values = dict(checkpoint["channel_values"])
    for name in checkpoint["channel_values"]:
        for key in _today(program, name):
            values.setdefault(key, None)
    versions = _renamed(program, checkpoint["channel_versions"])
    seen = {n: _renamed(program, known) for n, known in checkpoint["versions_seen"].items()}
    told = {"channel_values": values, "channel_versions": versions, "versions_seen": seen}
    return {**checkpoint, **told}


def _renamed(program: Program, versions: dict[str, Any]) -> dict[str, Any]:
    """Versions by channel, those of old names at the new ones; of several the latest."""
    found: dict[str, Any] = {}
    for name, version in versions.items():
        for key in _today(program, name) or (name,):
            found[key] = max(version, found.get(key, version))
    return found


def _today(program: Program, name: str) -> Iterable[str]:
    """The channels that do now what an old one did; none for one that is still there."""
    if name in program.channels:
        return ()
    if name.startswith(("start:", "branch:")):
        ends: Iterable[str] = (name.rpartition(":")[2],)
    else:
        ends = program.followers.get(name, ())
    return [key for key in map(branch_to, ends) if key in program.channels]
