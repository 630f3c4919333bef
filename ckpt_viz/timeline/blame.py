"""Who wrote this value: back along the branch to the checkpoint that first held it, and its task.

Walks from a checkpoint to its ancestors and reads only those where the channel has another
version. An element of a list is followed by its ``id``, else by its position or its equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ckpt_viz.timeline.children import Step, items
from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.diff import identity
from ckpt_viz.timeline.paths import child, follow, shown
from ckpt_viz.timeline.preview import same
from ckpt_viz.timeline.records import Topology
from ckpt_viz.timeline.rows import NULL_TASK, Light, ran_nodes

READ_LIMIT = 2_000
UNREAD = "the checkpoint before can't be read"
SEARCH_LIMIT = 1_000
_MISSING: Any = object()


class Reader(Protocol):
    """What this module needs of a timeline."""

    @property
    def topology(self) -> Topology:
        """The graph's shape."""
        ...

    def ancestors(self, checkpoint_id: str, limit: int | None = None) -> list[str]:
        """From a checkpoint to its root."""
        ...

    def light(self, checkpoint_id: str) -> Light:
        """The light record."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's tuple."""
        ...

    def copy_of(self, checkpoint_id: str) -> str | None:
        """The original of a copy."""
        ...


@dataclass(frozen=True, slots=True)
class Blame:
    """Where a value comes from.

    ``checkpoint_id`` and ``step``: the first checkpoint that holds it as it is; ``carried``: how
    many checkpoints since then keep it; ``before_id``: the checkpoint before it. ``by``: the nodes
    (or the person) that wrote it; ``task``: the task, where one is certain. ``note`` says what the
    reducer hides.
    """

    path: str
    checkpoint_id: str
    step: int
    change: Literal["set", "changed"]
    carried: int
    by: str
    before_id: str | None = None
    task: str | None = None
    note: str = ""

    @property
    def text(self) -> str:
        """The same in a sentence."""
        since = f", carried on for {self.carried} more" if self.carried else ""
        note = f" ({self.note})" if self.note else ""
        return f"{self.path}: {self.change} by {self.by} at step {self.step}{since}{note}"


def blame(reader: Reader, checkpoint_id: str, path: Sequence[Step]) -> Blame:
    """Who wrote the value at a path of a checkpoint's state.

    Raises:
        LookupError: there is no such value.
    """
    channel = str(path[0])
    values = reader.snapshot(checkpoint_id).values
    value = follow(values, path)
    lineage = reader.ancestors(checkpoint_id) or [checkpoint_id]
    where = tuple(path)
    version = reader.light(checkpoint_id).versions.get(channel)
    reads = 0
    for carried, before in enumerate(lineage[1:]):
        light = reader.light(before)
        if version is not None and light.versions.get(channel) == version:
            continue  # no version: a state that is no dict, whose steps name no channel
        reads += 1
        try:
            old = reader.snapshot(before).values
        except DAMAGED:
            at = lineage[carried]
            return _found(reader, Origin(at, before, path, where, value, "set", carried, ""))
        was, there = _locate(old, values, where)
        if was is _MISSING or not same(was, value) or reads > READ_LIMIT:
            change: Literal["set", "changed"] = "set" if was is _MISSING else "changed"
            at = lineage[carried]
            note = f"looked back {READ_LIMIT} versions" if reads > READ_LIMIT else ""
            return _found(reader, Origin(at, before, path, where, value, change, carried, note))
        where, values, version = there, old, light.versions.get(channel)
    origin = Origin(lineage[-1], None, path, where, value, "set", len(lineage) - 1, "")
    return _found(reader, origin)


@dataclass(frozen=True, slots=True)
class Origin:
    """The first checkpoint that holds a value, before its writer is known."""

    at: str
    before: str | None
    asked: Sequence[Step]
    path: tuple[Step, ...]
    value: Any
    change: Literal["set", "changed"]
    carried: int
    note: str


def _locate(old: Any, new: Any, path: tuple[Step, ...]) -> tuple[Any, tuple[Step, ...]]:
    """The value in an older state that one in a newer state comes from, and its path there."""
    there: list[Step] = []
    for step in path:
        now = child(new, step)
        found = _match(old, new, step, now)
        if found is None:
            return _MISSING, ()
        there.append(found)
        old, new = child(old, found), now
    return old, tuple(there)


def _match(old: Any, new: Any, step: Step, now: Any) -> Step | None:
    if isinstance(step, int) and isinstance(old, list | tuple) and isinstance(new, list | tuple):
        at = step if step >= 0 else len(new) + step
        name = identity(now)
        if name is not None:
            return next((i for i, one in enumerate(old) if identity(one) == name), None)
        if at < len(old) and same(old[at], now):
            return at
        return _aligned(old, new, at) if len(old) <= SEARCH_LIMIT else None
    try:
        child(old, step)
    except LookupError:
        return None
    return step


def _aligned(old: Sequence[Any], new: Sequence[Any], at: int) -> int | None:
    """The old position of a new item, once equal items at both ends are paired."""
    short = min(len(old), len(new))
    head = next((i for i in range(short) if not same(old[i], new[i])), short)
    grown = len(new) - len(old)
    ends = range(1, short - head + 1)
    tail = next((i - 1 for i in ends if not same(old[-i], new[-i])), short - head)
    if at < head:
        return at
    if at >= len(new) - tail:
        return at - grown
    equal = [i for i in range(head, len(old) - tail) if same(old[i], new[at])]
    if len(equal) == 1:
        return equal[0]
    return None if grown else at


def _found(reader: Reader, origin: Origin) -> Blame:
    light = reader.light(origin.at)
    original = reader.copy_of(origin.at) if light.source == "fork" else None
    if original is not None and original != origin.before:
        told = _found(reader, replace(origin, at=original))
        return replace(told, checkpoint_id=origin.at, step=light.step, note="a copy of that step")
    by, task, note = _writers(reader, origin)
    return Blame(
        shown(origin.asked),
        origin.at,
        light.step,
        origin.change,
        origin.carried,
        by,
        origin.before,
        task,
        "; ".join(n for n in (note, origin.note) if n),
    )


@dataclass(frozen=True, slots=True)
class Makers:
    """Who made a checkpoint: `by` where that is known for all of it, else the writes it got.

    A write is (task, node, channel, value); `ran` are the nodes that made the checkpoint.
    """

    by: str = ""
    note: str = ""
    writes: tuple[tuple[str, str, str, Any], ...] = ()
    ran: tuple[str, ...] = ()


def makers(reader: Reader, at: str, before: str | None) -> Makers:
    """Who made the checkpoint `at`, whose parent is `before` (None: it has none, or it is gone)."""
    light = reader.light(at)
    parent = reader.light(before) if before else None
    if light.source == "input":
        return Makers("the input")
    ran = ran_nodes(light, parent)
    if light.source in ("update", "fork"):
        node = next(iter(ran), "")
        if light.event is not None:
            return Makers(f"the session ({light.event})")
        return Makers(f"you, by fork as {node}" if node else "you, by fork")
    if before is None:
        return Makers("an unknown step", "the checkpoint before is gone")
    try:
        names = {t.id: str(t.name) for t in reader.snapshot(before).tasks}
    except DAMAGED:
        return Makers("an unknown step", UNREAD)
    writes = tuple(
        (task, _name(names.get(task, task)), channel, value)
        for task, channel, value in reader.tuple(before).pending_writes or ()
        if task in names or task == NULL_TASK
    )
    return Makers(writes=writes, ran=tuple(_name(node) for node in ran))


def _writers(reader: Reader, origin: Origin) -> tuple[str, str | None, str]:
    """Who wrote, the one task if it is certain, and what is not."""
    found = makers(reader, origin.at, origin.before)
    if found.by:
        return found.by, None, found.note
    channel = str(origin.path[0])
    writes = [(task, node, value) for task, node, name, value in found.writes if name == channel]
    return _choose(writes, origin, _reducer(reader, channel), found.ran)


def _name(name: str) -> str:
    return {"__start__": "the input", NULL_TASK: "the caller's Command"}.get(name, name)


def _reducer(reader: Reader, channel: str) -> str | None:
    info = reader.topology.channels.get(channel)
    return info.reducer if info else None


def _choose(
    writes: list[tuple[str, str, Any]], origin: Origin, reducer: str | None, ran: Sequence[str]
) -> tuple[str, str | None, str]:
    if not writes:  # a saver that drops a step's writes once the step is over
        return _listed(ran) or "an unknown task", None, "" if len(ran) == 1 else "not exact"
    if len(origin.path) > 1 and len(writes) > 1:
        held = [w for w in writes if _holds(w[2], origin)]
        if len(held) == 1:
            return held[0][1], held[0][0], ""
        return _listed([w[1] for w in writes]), None, f"not exact: {reducer or 'it'} hides which"
    names = [name for _, name, _ in writes]
    task = writes[0][0] if len(writes) == 1 and writes[0][0] != NULL_TASK else None
    note = f"folded by {reducer}" if reducer and len(origin.path) == 1 else ""
    return _listed(names), task, note


def _holds(written: Any, origin: Origin) -> bool:
    """Whether a write brought the value: it is it, or one of its children is or holds it."""
    inner = origin.path[2:]  # below the channel's item
    parts = [written, *(kid for _, _, kid in items(written) or ())]
    return any(_reaches(part, inner, origin.value) for part in parts)


def _reaches(part: Any, path: Sequence[Step], value: Any) -> bool:
    try:
        return same(follow(part, path), value)
    except LookupError:
        return False


def _listed(names: Sequence[str]) -> str:
    told = list(dict.fromkeys(names))
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}" if told else ""
