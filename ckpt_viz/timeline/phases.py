"""One superstep from the inside: what was planned, what ran, and how its writes made the new state.

Everything is read off two checkpoints and the writes that were kept between them; nothing runs
again. Writes are told in the order in which the engine applies them (by the task's path), and what
is not known is said in `notes`, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ckpt_viz.timeline.records import ChannelInfo, TaskState, Topology
from ckpt_viz.timeline.rows import NULL_TASK, RESERVED, Light, config_id, ran_nodes, read_news
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import PUSH, TASKS, Evidence, fired

NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "nothing"})()
"""Stands where a channel holds no value: None is a value."""
HOW = {
    "LastValue": "the last write stays",
    "LastValueAfterFinish": "the last write stays, and shows when the run would end",
    "AnyValue": "one of the writes stays: they should be equal",
    "EphemeralValue": "kept for one step",
    "UntrackedValue": "never saved",
    "Topic": "collected for the next step",
    "NamedBarrierValue": "waits until all have come",
    "NamedBarrierValueAfterFinish": "waits until all have come and the run would end",
    "saved": "its reducer is not known: only the saved history was given",
}


@dataclass(frozen=True, slots=True)
class Trigger:
    """A channel that starts a node: the version that was there, and the one the node had seen."""

    channel: str
    at: Any
    seen: Any
    fired: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """A task of the step. `sent`: which of how many `Send`s it is, when it is one."""

    id: str
    node: str
    triggers: tuple[Trigger, ...]
    sent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """A node that waits for several: who has come before the step, and who has not."""

    node: str
    has: tuple[str, ...]
    waits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """A task of the step with the writes that it queued, in its order; routing writes too."""

    id: str
    node: str
    state: TaskState
    writes: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Updated:
    """A channel that got a new version: `old` ⊕ `writes` → `new`.

    `writes` are (node, value) in the order they were applied; `how` says what ⊕ is, and `reducer`
    names the function where there is one. `NOTHING` stands for an empty channel. `names` are those
    that a barrier waits for.
    """

    channel: str
    routing: bool
    how: str
    reducer: str | None
    old: Any
    new: Any
    writes: tuple[tuple[str, Any], ...]
    before: Any
    after: Any
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Phases:
    """The step that made a checkpoint. `base_id`: the checkpoint that it started from."""

    base_id: str | None
    base_step: int | None
    source: str
    plan: tuple[Planned, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    idle: tuple[str, ...] = ()
    run: tuple[Ran, ...] = ()
    update: tuple[Updated, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One end of the step: the saved tuple, and the state as the graph sees it."""

    tup: Any = None
    snapshot: Any = None

    @property
    def versions(self) -> dict[str, Any]:
        """The channels' versions."""
        return dict(self.tup.checkpoint.get("channel_versions") or {}) if self.tup else {}

    def value(self, name: str) -> Any:
        """What a channel holds: as the graph sees it, else as it was saved."""
        values = getattr(self.snapshot, "values", None)
        if isinstance(values, Mapping) and name in values and not is_routing(name):
            return values[name]
        saved = {} if self.tup is None else self.tup.checkpoint.get("channel_values") or {}
        return saved.get(name, NOTHING)


class Reader(Protocol):
    """What this module needs of a timeline."""

    @property
    def topology(self) -> Topology:
        """The graph's shape."""
        ...

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's tuple."""
        ...

    def light(self, checkpoint_id: str) -> Light:
        """The light record."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...

    def snapshot_or_none(self, checkpoint_id: str | None) -> Any:
        """The snapshot, or None where there is no such checkpoint."""
        ...


def phases(reader: Reader, checkpoint_id: str) -> Phases:
    """The step that made a checkpoint, in its three phases.

    Raises:
        CheckpointNotFoundError: there is no such checkpoint.
    """
    made = reader.tuple(checkpoint_id)
    source = str((made.metadata or {}).get("source", ""))
    base_id = config_id(made.parent_config)
    before = reader.snapshot_or_none(base_id)
    if source == "fork":
        return Phases(base_id, _step(before), source, notes=("A copy: no step was run.",))
    if before is None or base_id is None:
        return _without_base(reader, made, checkpoint_id, base_id, source)
    base = reader.tuple(base_id)
    ran, notes = _runs(reader, base, before, made, source)
    after = Side(made, reader.snapshot(checkpoint_id))
    update = _updates(reader.topology, Side(base, before), after, ran)
    if source != "loop":
        return Phases(base_id, _step(before), source, run=ran, update=update, notes=notes)
    plan, barriers, idle = _plan(reader.topology, base, before)
    return Phases(base_id, _step(before), source, plan, barriers, idle, ran, update, notes)


def _step(snapshot: Any) -> int | None:
    found = None if snapshot is None else (snapshot.metadata or {}).get("step")
    return found if isinstance(found, int) else None


def _without_base(
    reader: Reader, made: Any, checkpoint_id: str, base_id: str | None, source: str
) -> Phases:
    """A first checkpoint, or one whose parent was removed: there is nothing to compare with."""
    gone = base_id is not None
    note = (
        "The checkpoint before it is gone: what was planned and run is not known." if gone else ""
    )
    after = Side(made, reader.snapshot(checkpoint_id))
    given = made.checkpoint.get("channel_values") or {}
    ran = () if gone or "__start__" not in given else (_input(given["__start__"]),)
    update = _updates(reader.topology, Side(), after, ran)
    return Phases(base_id, None, source, run=ran, update=update, notes=(note,) if gone else ())


def _input(value: Any) -> Ran:
    return Ran("", "input", "done", (("__start__", value),))


# -- plan --------------------------------------------------------------------------------------


def _plan(
    topology: Topology, base: Any, before: Any
) -> tuple[tuple[Planned, ...], tuple[Barrier, ...], tuple[str, ...]]:
    checkpoint = base.checkpoint
    values = checkpoint.get("channel_values") or {}
    versions = dict(checkpoint.get("channel_versions") or {})
    seen = {n: dict(v) for n, v in (checkpoint.get("versions_seen") or {}).items()}
    evidence = Evidence(topology, versions, seen)
    sends = len(values.get(TASKS) or ())
    planned = []
    for task in sorted(before.tasks, key=lambda t: _order(t.path)):
        node, path = str(task.name), tuple(task.path)
        if path and path[0] == PUSH:
            at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
            planned.append(Planned(str(task.id), node, (), (at + 1, max(sends, at + 1))))
        else:
            planned.append(Planned(str(task.id), node, _triggers(evidence, node)))
    runs = {task.node for task in planned}
    barriers = [
        Barrier(end, *_ticks(starts, values.get(f"join:{'+'.join(starts)}:{end}")))
        for starts, end in topology.waiting
        if end not in runs
    ]
    waiting = tuple(b for b in barriers if b.has and b.waits)
    idle = [n for n in topology.triggers if n not in runs and not n.startswith("__")]
    return tuple(planned), waiting, tuple(n for n in idle if n not in {b.node for b in waiting})


def _triggers(evidence: Evidence, node: str) -> tuple[Trigger, ...]:
    names = evidence.topology.triggers.get(node, ())
    new = fired(evidence, node, names)
    seen = evidence.seen.get(node, {})
    return tuple(Trigger(n, evidence.versions.get(n), seen.get(n), n in new) for n in names)


def _ticks(starts: tuple[str, ...], value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    come = set(barrier_names(value))
    return tuple(s for s in starts if s in come), tuple(s for s in starts if s not in come)


def barrier_names(value: Any) -> tuple[str, ...]:
    """Who has come: a barrier holds a set; one that waits for the run's end, a set and a flag."""
    if value is NOTHING or value is None:
        return ()
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], bool):
        value = value[0]
    return tuple(str(n) for n in value) if isinstance(value, set | frozenset | list) else ()


def _order(path: Any) -> str:
    """The engine's order of tasks: by path, the same in every run."""
    return "~".join(f"{p:010d}" if isinstance(p, int) else str(p) for p in tuple(path)[:3])


# -- run ---------------------------------------------------------------------------------------


def _runs(
    reader: Reader, base: Any, before: Any, made: Any, source: str
) -> tuple[tuple[Ran, ...], tuple[str, ...]]:
    writes: dict[str, list[tuple[str, Any]]] = {}
    for task_id, channel, value in base.pending_writes or ():
        if channel not in RESERVED:
            writes.setdefault(task_id, []).append((channel, value))
    tasks = sorted(before.tasks, key=lambda t: _order(t.path))
    known = {str(t.id) for t in tasks} | {NULL_TASK}
    if source == "input":
        given = (made.checkpoint.get("channel_values") or {}).get("__start__", NOTHING)
        return ((_input(given),) if given is not NOTHING else ()), ()
    if source == "update":
        return _by_hand(reader, made, {k: v for k, v in writes.items() if k not in known})
    news = read_news(base.pending_writes)
    ran = [
        Ran(
            str(t.id),
            str(t.name),
            news[str(t.id)].state if str(t.id) in news else "done",
            tuple(writes.get(str(t.id), ())),
        )
        for t in tasks
    ]
    if NULL_TASK in writes:
        ran.insert(0, Ran(NULL_TASK, "the caller's Command", "done", tuple(writes[NULL_TASK])))
    kept = any(r.writes for r in ran)
    note = "The saver dropped the step's writes once it was over." if tasks and not kept else ""
    return tuple(ran), (note,) if note else ()


def _by_hand(
    reader: Reader, made: Any, others: dict[str, list[tuple[str, Any]]]
) -> tuple[tuple[Ran, ...], tuple[str, ...]]:
    """The writes of an edit. Several edits of one checkpoint keep theirs side by side."""
    light = reader.light(str(config_id(made.config)))
    base = reader.light(light.parent_id) if light.parent_id else None
    node = next(iter(ran_nodes(light, base)), "")
    who = f"you, as {node}" if node else "you"
    changed = {c for c, v in light.versions.items() if base is None or base.versions.get(c) != v}
    if light.event is not None:  # saved whole and in one call, so without writes beside it
        values = made.checkpoint.get("channel_values") or {}
        saved = tuple((c, values[c]) for c in sorted(changed) if c in values and not is_routing(c))
        return (Ran("", f"the session ({light.event})", "done", saved),), ()
    fits = [
        (task, kept)
        for task, kept in others.items()
        if {c for c, _ in kept if not is_routing(c)} <= changed
    ]
    if len(fits) == 1:
        return (Ran(fits[0][0], who, "done", tuple(fits[0][1])),), ()
    why = "was edited several times: which writes are of this edit" if fits else "kept no writes"
    return (Ran("", who, "done", ()),), (
        f"The checkpoint before it {why}{' is not known' * bool(fits)}.",
    )


# -- update ------------------------------------------------------------------------------------


def _updates(topology: Topology, old: Side, new: Side, ran: tuple[Ran, ...]) -> tuple[Updated, ...]:
    before, after = old.versions, new.versions
    writes: dict[str, list[tuple[str, Any]]] = {}
    for one in ran:
        for channel, value in one.writes:
            writes.setdefault(channel, []).append((one.node, value))
    out = []
    for name in (*topology.channels, *sorted(set(after) - set(topology.channels))):
        info = topology.channels.get(name) or ChannelInfo(name, "saved", None, is_routing(name))
        unsaved = info.kind == "UntrackedValue" and name in writes
        if after.get(name) == before.get(name) and not unsaved:
            continue
        out.append(
            Updated(
                channel=name,
                routing=info.routing,
                how=_how(info),
                reducer=info.reducer,
                old=old.value(name),
                new=new.value(name),
                writes=tuple(writes.get(name, ())),
                before=before.get(name),
                after=after.get(name),
                names=tuple(name.split(":", 2)[1].split("+")) if name[:5] == "join:" else (),
            )
        )
    return tuple(sorted(out, key=lambda u: u.routing))


def _how(info: ChannelInfo) -> str:
    if info.name.startswith("join:"):
        return HOW["NamedBarrierValue"]
    if info.name.startswith("branch:to:"):
        return HOW["EphemeralValue"]
    if info.reducer == "<lambda>":
        return "a lambda: its code is not kept"
    if info.reducer is not None:
        return info.reducer
    return HOW.get(info.kind, f"{info.kind}, a channel of its own kind")
