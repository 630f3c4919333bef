"""What in a history would surprise the person who ran it: each with the checkpoint to look at.

Most is told by the shape of the history alone. What takes reading states (a value that changed
without a write, one that grew tenfold, an unknown type) is looked for along the newest branch,
newest first, within a time limit. Nothing here changes a history.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.timeline.children import items
from ckpt_viz.timeline.preview import same
from ckpt_viz.timeline.records import Row
from ckpt_viz.timeline.rows import Light
from ckpt_viz.timeline.topology import is_routing

Kind = Literal["mutation", "heads", "lost", "dead-end", "grew", "exit", "unknown", "parent"]
TIMES = 10
FLOOR, FLOOR_ITEMS = 1_000, 30
"""What is smaller than so many bytes or characters, or items, may grow tenfold."""

LIMIT = 40
DEPTH = 12
Sized = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class Surprise:
    """One of them, in a sentence; ``checkpoint_id`` is where to look, ``channel`` at what."""

    kind: Kind
    text: str
    checkpoint_id: str
    channel: str | None = None


class Reader(Protocol):
    """What this module needs of a timeline."""

    @property
    def head(self) -> str | None:
        """The newest checkpoint."""
        ...

    @property
    def more(self) -> bool:
        """Whether older checkpoints were not read yet."""
        ...

    def known(self, limit: int | None = None) -> list[Row]:
        """The rows that were read, oldest first."""
        ...

    def light(self, checkpoint_id: str) -> Light:
        """A light record."""
        ...

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's tuple of one checkpoint."""
        ...

    def blob_size(self, channel: str, version: Any) -> Sized:
        """The tag and the bytes of a stored value, where the saver tells."""
        ...


def surprises(reader: Reader, seconds: float = 0.5) -> tuple[Surprise, ...]:
    """What surprises, the newest checkpoint first; reads states for at most ``seconds``."""
    rows = reader.known()
    found = [*of_shape(rows, reader.more), *of_values(reader, rows, seconds)]
    kinds: dict[tuple[str, str | None], int] = {}
    out = []
    for one in sorted(found, key=lambda s: s.checkpoint_id, reverse=True):
        key = one.kind, one.channel
        kinds[key] = kinds.get(key, 0) + 1
        if kinds[key] <= LIMIT // 4:
            out.append(one)
    return tuple(out[:LIMIT])


def of_shape(rows: Sequence[Row], more: bool = False) -> Iterator[Surprise]:
    """What rows alone tell, oldest first. ``more``: there are older rows, which may be parents."""
    known = {row.id: row for row in rows}
    children: dict[str | None, list[Row]] = {}
    for row in rows:
        children.setdefault(row.parent_id, []).append(row)
    alive = _line(known, rows[-1].id if rows else None)
    for row in rows:
        parent = known.get(row.parent_id or "")
        if row.parent_id is not None and parent is None and not more:
            yield Surprise("parent", f"{_at(row)} names a parent that is not there", row.id)
        yield from _of_row(row, parent, children, alive, more)
    yield from _heads(rows, children)


def _of_row(
    row: Row,
    parent: Row | None,
    children: Mapping[str | None, list[Row]],
    alive: set[str],
    more: bool,
) -> Iterator[Surprise]:
    kids = children.get(row.id, [])
    before = parent.step if parent else -2
    root = row.parent_id is None and not more
    if row.source == "loop" and row.step > before + 1 and (parent is not None or root):
        text = f"{_at(row)} was saved with durability 'exit': the steps before it were not kept"
        yield Surprise("exit", text, row.id)
    if row.source == "input" and row.id not in alive and not any(k.source == "loop" for k in kids):
        yield Surprise("lost", f"the input at {_at(row)} was never worked on: it is lost", row.id)
    if row.source in ("fork", "update") and not row.next and not kids:
        text = f"the fork at {_at(row)} is a dead end: no node runs next, so a run does nothing"
        yield Surprise("dead-end", text, row.id)


def _heads(rows: Sequence[Row], children: Mapping[str | None, list[Row]]) -> Iterator[Surprise]:
    """Two runs that wrote at once: a branch by no act of anyone's, and both sides went on."""
    newest: dict[str, str] = {}
    for row in reversed(rows):
        below = [newest[k.id] for k in children.get(row.id, [])]
        newest[row.id] = max([row.id, *below])
    for family in children.values():
        runs = [row for row in family if row.source in ("input", "loop")]
        for first, second in pairwise(runs):
            if first.parent_id is not None and newest[first.id] > second.id:
                text = (
                    f"two runs went on from one checkpoint at the same time: {_at(first)} and "
                    f"{_at(second)}; one of them is not the head"
                )
                yield Surprise("heads", text, second.id)


def of_values(reader: Reader, rows: Sequence[Row], seconds: float) -> Iterator[Surprise]:
    """What states tell, along the branch of the head, newest first."""
    known = {row.id: row for row in rows}
    end = time.monotonic() + seconds
    after: tuple[Row, Any] | None = None
    at = reader.head
    opaque: set[str] = set()
    while at is not None and at in known and time.monotonic() < end:
        row = known[at]
        if row.status == "unreadable":
            yield Surprise("unknown", "a checkpoint can't be read: look at it for why", row.id)
            after, at = None, row.parent_id
            continue
        values = reader.tuple(at).checkpoint.get("channel_values") or {}
        for channel, value in values.items():
            if not is_routing(channel) and channel not in opaque and (name := unknown_in(value)):
                opaque.add(channel)
                text = (
                    f"{channel} at {_at(row)} holds a {name}, a class that may not be loaded here"
                )
                yield Surprise("unknown", text, row.id, channel)
        if after is not None:
            yield from _between(reader, row, values, *after)
        after, at = (row, values), row.parent_id


def _between(
    reader: Reader, row: Row, values: Mapping[str, Any], later: Row, changed: Mapping[str, Any]
) -> Iterator[Surprise]:
    old, new = reader.light(row.id).versions, reader.light(later.id).versions
    for channel in changed:
        if is_routing(channel) or channel not in values:
            continue
        if old.get(channel) == new.get(channel):
            if not same(values[channel], changed[channel]):
                ran = ", ".join(dict.fromkeys(later.nodes)) or "something"
                text = (
                    f"{channel} changed at {_at(later)} without a write: {ran} changed it in place"
                )
                yield Surprise("mutation", text, later.id, channel)
            continue
        was = _size(reader, channel, old.get(channel), values[channel])
        now = _size(reader, channel, new.get(channel), changed[channel])
        if now[0] >= max(was[0] * TIMES, now[2]) and was[0] > 0:
            text = f"{channel} grew from {was[0]:,} to {now[0]:,} {now[1]} at {_at(later)}"
            yield Surprise("grew", text, later.id, channel)


def _size(reader: Reader, channel: str, version: Any, value: Any) -> tuple[int, str, int]:
    """How big a value is, in what unit, and from which size on growth is told."""
    if isinstance(value, str | bytes):
        return len(value), "characters", FLOOR
    if isinstance(value, list | tuple | dict | set):
        return len(value), "items", FLOOR_ITEMS
    _, size = reader.blob_size(channel, version)
    return size or 0, "bytes", FLOOR


def unknown_in(value: Any, depth: int = DEPTH) -> str | None:
    """The name of a class inside a value that was not loaded, if there is one.

    >>> unknown_in({"a": [Opaque("shop.models", "Cart", {})]})
    'shop.models.Cart'
    """
    if isinstance(value, Opaque):
        return f"{value.module}.{value.name}"
    if not Opaque.made or isinstance(value, str | bytes | int | float) or not depth:
        return None
    inner: Iterable[Any] = (child for _, _, child in items(value) or ())
    return next((name for child in inner if (name := unknown_in(child, depth - 1))), None)


def _line(known: Mapping[str, Row], at: str | None) -> set[str]:
    out: set[str] = set()
    while at is not None and at in known and at not in out:
        out.add(at)
        at = known[at].parent_id
    return out


def _at(row: Row) -> str:
    return f"step {row.step}"
