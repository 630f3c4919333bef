"""The tasks of a superstep that made no checkpoint, as the tree shows them: a row a node. Pure.

Many tasks of one node are one row, with how they stand: `28 done 1 failed 1 waits`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.timeline.records import TaskState, Unfinished
from ckpt_viz.timeline.rows import Light, TaskNews

TEXT = 300
_WORDS: Mapping[str, str] = {
    "done": "done",
    "error": "failed",
    "interrupt": "waits",
    "running": "running",
    "pending": "pending",
}
_WORST: tuple[TaskState, ...] = ("error", "interrupt", "running")


def unfinished_of(light: Light, names: Mapping[str, str], running: bool) -> list[Unfinished]:
    """What hangs on a checkpoint. ``names``: task id -> node; ``running``: a run is under way."""
    idle: TaskState = "running" if running else "pending"
    by_node: dict[str, dict[str, TaskNews]] = {}
    for task in [*names, *(k for k in light.news if k not in names)]:
        news = light.news.get(task) or TaskNews(idle, "")
        by_node.setdefault(names.get(task, "a node"), {})[task] = news
    out = []
    for name, tasks in by_node.items():
        worst = next((s for s in _WORST if any(n.state == s for n in tasks.values())), None)
        if worst is None:
            continue
        task, news = next((k, n) for k, n in tasks.items() if n.state == worst)
        of = len(tasks)
        waits = sum(n.state == "interrupt" for n in tasks.values())
        counts = told(tasks) if of > 1 else ""
        out.append(Unfinished(light.id, task, name, worst, news.text[:TEXT], of, counts, waits))
    return out


def told(tasks: Mapping[str, TaskNews]) -> str:
    """How many tasks stand how, in words.

    >>> told({"a": TaskNews("done", ""), "b": TaskNews("done", ""), "c": TaskNews("error", "no")})
    '2 done 1 failed'
    """
    states = [news.state for news in tasks.values()]
    return " ".join(f"{states.count(s)} {w}" for s, w in _WORDS.items() if s in states)
