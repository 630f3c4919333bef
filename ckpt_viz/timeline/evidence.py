"""Gathers the tasks around a checkpoint from the source, and asks `why` for their sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from ckpt_viz.checkpoint.times import spans_of
from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.lines import line
from ckpt_viz.timeline.records import InterruptView, TaskView, Topology, WhyNot, Writes
from ckpt_viz.timeline.rows import (
    NULL_TASK,
    Light,
    TaskNews,
    config_id,
    error_text,
    ran_nodes,
    read_news,
)
from ckpt_viz.timeline.why import (
    EDIT,
    Evidence,
    argument,
    explain,
    explain_versions,
    fired,
    sentence,
)
from ckpt_viz.timeline.why_not import explain_not


class Reader(Protocol):
    """What this module needs of a timeline."""

    @property
    def topology(self) -> Topology:
        """The graph's shape."""
        ...

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's tuple."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...

    def light(self, checkpoint_id: str) -> Light:
        """The light record."""
        ...

    def copy_of(self, checkpoint_id: str) -> str | None:
        """The original of a copy."""
        ...


def gather(reader: Reader, checkpoint_id: str) -> Writes:
    """The tasks that made the checkpoint, those that run next, and why no others."""
    tup = reader.tuple(checkpoint_id)
    parent_id = config_id(tup.parent_config)
    parent = _maybe(reader, parent_id)
    made: tuple[TaskView, ...] = ()
    source = (tup.metadata or {}).get("source")
    if source == "loop" and parent is not None and parent_id is not None:
        grand = _maybe(reader, config_id(parent.parent_config))
        made = _views(reader, parent_id, parent, _evidence(reader, parent, grand))
    elif source in ("input", "update", "fork"):
        made = (_by_hand(reader, checkpoint_id, parent_id, str(source)),)
    evidence = _evidence(reader, tup, parent)
    following = _views(reader, checkpoint_id, tup, evidence)
    names = {t.name for t in following}
    comes = {t.name: t.state for t in reversed(following)}
    why_not = tuple(
        WhyNot(node, explain_not(evidence, node, comes), explain_versions(evidence, node))
        for node in reader.topology.triggers
        if node not in names and not node.startswith("__")
    )
    return Writes(made, following, why_not)


def _maybe(reader: Reader, checkpoint_id: str | None) -> Any:
    if checkpoint_id is None:
        return None
    try:
        return reader.tuple(checkpoint_id)
    except (LookupError, ValueError, *DAMAGED):
        return None  # a pruned parent, or a damaged one, is a stub and no failure


def _evidence(reader: Reader, tup: Any, parent: Any) -> Evidence:
    checkpoint = tup.checkpoint
    source = (tup.metadata or {}).get("source")
    writers: list[tuple[str, str, Any]] = []
    by_hand: str | None = None
    parent_id = config_id(tup.parent_config)
    if source == "fork":
        original = _maybe(reader, reader.copy_of(str(config_id(tup.config))))
        if original is not None:
            return _evidence(reader, original, _maybe(reader, config_id(original.parent_config)))
    if source == "update":
        light = reader.light(str(config_id(tup.config)))
        before = reader.light(parent_id) if parent is not None and parent_id else None
        by_hand = next(iter(ran_nodes(light, before)), EDIT)
    if parent is not None and parent_id is not None and source == "loop":
        names = {t.id: str(t.name) for t in reader.snapshot(parent_id).tasks}
        writers = [
            (names.get(task, "the caller"), channel, value)
            for task, channel, value in parent.pending_writes or ()
            if task in names or task == NULL_TASK
        ]
    return Evidence(
        reader.topology,
        dict(checkpoint.get("channel_versions") or {}),
        dict(checkpoint.get("versions_seen") or {}),
        tuple(writers),
        dict(checkpoint.get("channel_values") or {}),
        by_hand,
    )


def _views(
    reader: Reader, checkpoint_id: str, tup: Any, evidence: Evidence
) -> tuple[TaskView, ...]:
    news = read_news(tup.pending_writes)
    rank = {"error": 0, "interrupt": 1}
    spans = spans_of(tup.pending_writes)
    tasks = [
        replace(
            _view(evidence, task, news.get(task.id)),
            **({} if task.id not in spans else spans[task.id]._asdict()),
        )
        for task in reader.snapshot(checkpoint_id).tasks
    ]
    return tuple(sorted(tasks, key=lambda t: rank.get(t.state, 2)))


def _view(evidence: Evidence, task: Any, news: TaskNews | None) -> TaskView:
    resumed = list(news.resumes) if news else []
    path = tuple(task.path)
    node = str(task.name)
    state = news.state if news else "pending"
    answered = len(resumed)
    asked = tuple(news.interrupts) if news else tuple(task.interrupts)
    reason, sent = explain(evidence, node, path), argument(evidence, path)
    return TaskView(
        id=str(task.id),
        name=node,
        path=path,
        triggers=fired(evidence, node, evidence.topology.triggers.get(node, ())),
        why=sentence(reason, [line(s) for s in sent], [line(r, limit=80) for r in resumed]),
        versions=explain_versions(evidence, node),
        state=state,
        result=task.result,
        error=error_text(task.error) if task.error and state == "error" else None,
        interrupts=tuple(
            InterruptView(
                str(getattr(i, "id", k)),
                getattr(i, "value", i),
                state == "done" or (state != "interrupt" and k < answered),
            )
            for k, i in enumerate(asked)
        ),
        reason=reason,
        sent=sent,
        resumed=tuple(resumed),
    )


def _by_hand(reader: Reader, checkpoint_id: str, parent_id: str | None, source: str) -> TaskView:
    light = reader.light(checkpoint_id)
    before = reader.light(parent_id) if parent_id and _maybe(reader, parent_id) else None
    node = next(iter(ran_nodes(light, before)), "")
    names = {"input": "input", "fork": "copy", "update": node or "your edit"}
    whys = {
        "input": "you gave this input",
        "fork": "a copy of another checkpoint, made to run on from",
        "update": f"you wrote it, as if {node} had" if node else "you wrote it, by fork",
    }
    if light.event is not None:
        whys["update"] = f"the session's state was saved: {light.event}"
    told = whys[source]
    return TaskView("", names[source], (), (), told, "", "done", reason=told)
