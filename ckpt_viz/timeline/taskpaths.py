"""The paths of tasks that wrote from a checkpoint, for savers that tell them: they name the node.

A path is text such as ``~__pregel_pull, NODE`` or ``~__pregel_push, 0000000002, 0000000000``.
"""

from __future__ import annotations

from typing import Any

from ckpt_viz.timeline.why import PUSH

PULL = "__pregel_pull"


def task_paths(saver: Any, config: Any) -> dict[str, str]:
    """Task id -> path, as far as the saver tells; at most those that wrote from the checkpoint."""
    where = config["configurable"]
    place = where["thread_id"], where.get("checkpoint_ns") or "", where["checkpoint_id"]
    inner = getattr(saver, "saver", saver)  # an adapter names the saver that it stands for
    told = getattr(inner, "task_paths", None)
    if callable(told):
        found: dict[str, str] = told(*place)
        return found
    writes = getattr(inner, "writes", None)
    if not isinstance(writes, dict):
        return {}
    kept = writes.get(place) or {}
    return {str(row[0]): str(row[3]) for row in list(kept.values()) if len(row) > 3 and row[3]}


def pulled(path: str) -> str | None:
    """The node of a task that channels started; None for other kinds.

    >>> pulled("~__pregel_pull, plan"), pulled("~__pregel_push, 0000000001, 0000000000")
    ('plan', None)
    """
    start = f"~{PULL}, "
    return path.removeprefix(start) if path.startswith(start) else None


def sent(path: str) -> int | None:
    """The number of a task that a Send started; None for other kinds.

    >>> sent("~__pregel_push, 0000000001, 0000000000"), sent("~__pregel_pull, plan")
    (1, None)
    """
    parts = path.split(", ")
    if parts[0] != f"~{PUSH}" or len(parts) < 2 or not parts[1].isdigit():
        return None
    return int(parts[1])
