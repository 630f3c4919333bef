"""From checkpoint tuples to light rows: what ran, what changed, what comes next. Pure.

A `Light` holds all that rows need of one checkpoint (versions, not values), so that a history can
be followed by reading only what is new.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ckpt_viz.checkpoint.times import Span, spans_of
from ckpt_viz.constants import EVENT
from ckpt_viz.timeline.damage import Damaged
from ckpt_viz.timeline.preview import short
from ckpt_viz.timeline.records import Row, Status, TaskState, Topology
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import TASKS, Evidence, fired

UNREADABLE = "unreadable"
"""The source of a checkpoint that can't be read."""
GREGORIAN = 0x01B21DD213814000
"""The epoch in the ticks of an id: 100 ns since 1582."""
NULL_TASK = "00000000-0000-0000-0000-000000000000"
RESERVED = frozenset({"__error__", "__interrupt__", "__resume__", "__scheduled__"})
VERSION, TURN = "graph_version", "turn"
"""What metadata may tell beside the engine's own: the graph's version, and a session's turn."""
Available = Callable[[str, Any], bool]


@dataclass(frozen=True, slots=True)
class TaskNews:
    """What the pending writes say of one task."""

    state: TaskState
    text: str
    interrupts: tuple[Any, ...] = ()
    resumes: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Light:
    """One checkpoint without its values. `ready` are the nodes that would run from it.

    `above` names the checkpoints that it ran under, by namespace; `spans` tells when its tasks ran.
    """

    id: str
    parent_id: str | None
    ns: str
    step: int
    source: str
    time: float
    versions: dict[str, Any]
    seen: dict[str, dict[str, Any]]
    sends: tuple[str, ...]
    ready: tuple[str, ...]
    news: dict[str, TaskNews] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()
    version: str | None = None
    turn: int | None = None
    event: str | None = None
    above: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)


def config_id(config: Any) -> str | None:
    """The checkpoint id in a config dictionary, if there is one."""
    found = ((config or {}).get("configurable") or {}).get("checkpoint_id")
    return None if found is None else str(found)


def lighten(tup: Any, topology: Topology, available: Available) -> Light:
    """The light form of a checkpoint tuple; `available(channel, value)` asks the channel."""
    checkpoint = tup.checkpoint
    values = _map(checkpoint.get("channel_values"))
    versions = dict(_map(checkpoint.get("channel_versions")))
    seen = {n: dict(_map(v)) for n, v in _map(checkpoint.get("versions_seen")).items()}
    where = tup.config["configurable"]
    metadata = _map(tup.metadata)
    step = metadata.get("step")
    evidence = Evidence(topology, versions, seen)
    ready = [
        node
        for node, triggers in topology.triggers.items()
        if any(t in values and available(t, values[t]) for t in fired(evidence, node, triggers))
    ]
    sends = tuple(str(getattr(s, "node", "?")) for s in values.get(TASKS) or ())
    return Light(
        id=str(where["checkpoint_id"]),
        parent_id=config_id(tup.parent_config),
        ns=str(where.get("checkpoint_ns") or ""),
        step=step if isinstance(step, int) else -2,
        source=str(metadata.get("source", "")),
        time=epoch(checkpoint.get("ts")),
        versions=versions,
        seen=seen,
        sends=sends,
        ready=(*sends, *ready),
        news=read_news(tup.pending_writes),
        empty=frozenset(versions) - frozenset(values),
        version=None if metadata.get(VERSION) is None else short_word(metadata[VERSION]),
        turn=metadata[TURN] if type(metadata.get(TURN)) is int else None,
        event=metadata[EVENT][:24] if isinstance(metadata.get(EVENT), str) else None,
        above=dict(_map(metadata.get("parents"))),
        spans=spans_of(tup.pending_writes),
    )


def unreadable_light(found: Damaged) -> Light:
    """The light form of a checkpoint that can't be read: where it is, and no more."""
    where = (found.id, found.parent_id, "", -2, UNREADABLE)
    return Light(*where, id_seconds(found.id), {}, {}, (), ())


def id_seconds(id_: str) -> float:
    """Seconds since the epoch that a checkpoint's id tells; 0.0: none.

    >>> round(id_seconds("1ef663ba-28fe-6528-8002-5a559208592c"))
    1724959180
    """
    try:
        found = uuid.UUID(id_)
    except ValueError:
        return 0.0
    ticks = found.int >> 80 << 12 | found.int >> 64 & 0xFFF
    return (ticks - GREGORIAN) / 1e7 if found.version == 6 and ticks > GREGORIAN else 0.0


def _map(value: Any) -> Mapping[str, Any]:
    """A record's part that should be a map; a damaged or foreign one counts as empty."""
    return value if isinstance(value, Mapping) else {}


def short_word(version: Any) -> str:
    """A version as a row shows it.

    >>> short_word(2), short_word("2024-08"), len(short_word("x" * 99))
    ('2', '2024-08', 24)
    """
    return (version if isinstance(version, str) else short(version)[0])[:24]


def epoch(stamp: Any) -> float:
    """Seconds since the epoch of an ISO time stamp; 0.0 when there is none."""
    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except ValueError:
        return 0.0


def read_news(pending: Iterable[tuple[str, str, Any]] | None) -> dict[str, TaskNews]:
    """Task id -> its state by its pending writes. A task without writes is not in it.

    >>> read_news([("t", "__error__", ValueError("no"))])["t"].text
    'ValueError: no'
    """
    by_task: dict[str, dict[str, list[Any]]] = {}
    for task_id, channel, value in pending or ():
        if task_id != NULL_TASK:
            by_task.setdefault(task_id, {}).setdefault(channel, []).append(value)
    return {task_id: _news(writes) for task_id, writes in by_task.items()}


def _news(writes: dict[str, list[Any]]) -> TaskNews:
    interrupts = tuple(i for v in writes.get("__interrupt__", ()) for i in _listed(v))
    resumes = tuple(r for v in writes.get("__resume__", ()) for r in _listed(v))
    errors = writes.get("__error__", ())
    if any(channel not in RESERVED for channel in writes):
        return TaskNews("done", "", interrupts, resumes)
    if errors and (resumes or not interrupts):
        return TaskNews("error", error_text(errors[-1]), interrupts, resumes)
    if interrupts:
        asked = "; ".join(short(getattr(i, "value", i))[0][:200] for i in interrupts)
        return TaskNews("interrupt", asked, interrupts, resumes)
    return TaskNews("pending", "", interrupts, resumes)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def error_text(error: Any) -> str:
    """One line for an error that was kept as an exception or as its repr."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}"
    return str(error)


def make_row(
    light: Light, parent: Light | None, earlier: Sequence[Light], *, head: bool, has_child: bool
) -> Row:
    """The row of a checkpoint. `earlier` are its older siblings, of which it may be a copy."""
    return Row(
        id=light.id,
        parent_id=light.parent_id,
        ns=light.ns,
        step=light.step,
        source=light.source,
        time=light.time,
        nodes=ran_nodes(light, parent),
        changed=changed_channels(light, parent),
        status=_status(light, has_child),
        head=head,
        next=light.ready,
        copy_of=_copied(light, parent, earlier),
        version=light.version,
        turn=light.turn,
        event=light.event,
        apart=_apart(parent),
        took=busy(parent.spans.values()) if parent and light.source == "loop" else None,
    )


def busy(spans: Iterable[Span]) -> float | None:
    """For how many seconds at least one task ran; None where nothing is known.

    >>> busy([Span(10.0, 2.0), Span(11.0, 2.0), Span(99.0, 1.0)]), busy([])
    (4.0, None)
    """
    total: float | None = None
    end = 0.0
    for began, took in sorted(spans):
        total = (total or 0.0) + max(0.0, began + took - max(began, end))
        end = max(end, began + took)
    return total


def _apart(parent: Light | None) -> bool:
    if parent is None:
        return True
    troubled = any(news.interrupts or news.state == "error" for news in parent.news.values())
    return troubled or parent.source in ("update", "fork")


def ran_nodes(light: Light, parent: Light | None) -> tuple[str, ...]:
    """The nodes whose tasks made this checkpoint."""
    if light.source in ("input", "fork"):
        return ()
    if light.event is not None:
        return (light.event,)
    if parent is not None and parent.source == UNREADABLE:
        return ()
    old = parent.seen if parent else {}
    pulled = [
        n
        for n, seen in light.seen.items()
        if n not in ("__input__", "__interrupt__") and seen and seen != old.get(n)
    ]
    sent = parent.sends if parent and light.source == "loop" else ()
    return (*pulled, *sent)


def changed_channels(light: Light, parent: Light | None) -> tuple[str, ...]:
    """The user's channels with another version than in the parent."""
    if parent is not None and parent.source == UNREADABLE:
        return ()
    old = parent.versions if parent else {}
    return tuple(
        c for c, v in sorted(light.versions.items()) if not is_routing(c) and old.get(c) != v
    )


def written_last(light: Light) -> tuple[str, ...]:
    """The user's channels that have the newest version in a checkpoint."""
    own = {c: v for c, v in light.versions.items() if not is_routing(c)}
    newest = max(own.values(), key=lambda v: (isinstance(v, str), v), default=None)
    return tuple(c for c, v in sorted(own.items()) if v == newest)


def _status(light: Light, has_child: bool) -> Status:
    if light.source == UNREADABLE:
        return "unreadable"
    states = {news.state for news in light.news.values()}
    if "error" in states:
        return "error"
    if "interrupt" in states:
        return "interrupt"
    if not light.ready:
        return "done"
    return "" if has_child else "pending"


def _copied(light: Light, parent: Light | None, earlier: Sequence[Light]) -> str | None:
    if light.source != "fork":
        return None
    for other in (*earlier, *([parent] if parent else [])):
        if other.versions == light.versions:
            return other.id
    return None
