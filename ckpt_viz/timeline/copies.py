"""Copies of a history in memory: one checkpoint for a preview, a whole lineage for scratch runs.

Rules: the source is only read; ids, versions, metadata and pending writes are the source's own, so
that what runs on the copy is what would have run on the source.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.timeline.rows import config_id


def copy_tuple(saver: Any, tup: Any, thread_id: str, checkpoint_ns: str, known: Any = None) -> None:
    """Puts one checkpoint into `saver`. `known`: the versions that its parent put there already."""
    parent = config_id(tup.parent_config)
    where = {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns}
    config = {"configurable": {**where, **({"checkpoint_id": parent} if parent else {})}}
    versions = dict(tup.checkpoint["channel_versions"])
    new = {c: v for c, v in versions.items() if (known or {}).get(c) != v}
    saved = saver.put(config, tup.checkpoint, tup.metadata, new)
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in tup.pending_writes or ():
        by_task.setdefault(task_id, []).append((channel, value))
    for task_id, writes in by_task.items():
        saver.put_writes(saved, writes, task_id)


def copy_lineage(saver: Any, thread_id: str, tuples: Iterable[Any]) -> None:
    """Copies checkpoints of one lineage, oldest first, and nested ones that belong to them."""
    known: dict[str, Any] = {}
    for tup in tuples:
        space = str(tup.config["configurable"].get("checkpoint_ns") or "")
        copy_tuple(saver, tup, thread_id, space, known.get(space))
        known[space] = dict(tup.checkpoint["channel_versions"])
