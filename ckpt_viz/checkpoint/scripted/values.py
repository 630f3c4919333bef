"""Packed values on their way into rows and out: told as changes, compressed, sealed.

A value over 1 kB is stored as a change of its parent's version if that saves half, or as a piece
of a value that is stored already. Every `SEGMENT` changes one tells all of them again, told
against the version before the first: so reading a version takes few rows, however long the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.base import Checkpoint, without_values
from ckpt_viz.checkpoint.kept import FEW, FLOOR, Grown, Maps, Spot, cost_of
from ckpt_viz.checkpoint.packing import Packer
from ckpt_viz.checkpoint.scripted.rows import Blob, BlobKey, Row
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.errors import SerializationError

SEGMENT = 64


class Segment(NamedTuple):
    """Changes since the last one that told all before it: from which version, of how many items."""

    version: str
    items: int
    changes: list[delta.Change]


class Values(Packer):
    """The packing of a saver whose values are told against versions."""

    # -- checkpoints ---------------------------------------------------------------------------

    def body(
        self, spot: Spot, parent: str | None, checkpoint: Checkpoint, new: Mapping[str, Any]
    ) -> tuple[Typed, str | None]:
        """A checkpoint without its values; of long maps what changed since its parent."""
        codec = self.codec
        versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
        if (len(versions) <= FEW and len(seen) <= FEW) or not codec.deltas:
            spot.maps = None
            return codec.dumps(without_values(checkpoint)), None
        maps = spot.maps
        if maps is not None and (change := maps.change(checkpoint, new)) is not None:
            rest = without_values(checkpoint)
            del rest["channel_versions"], rest["versions_seen"]
            told = codec.dumps([delta.BODY, None, rest, *change])[1]
            maps.cost += len(told)
            if maps.cost <= maps.full and 2 * len(told) <= maps.full:
                return ("delta", told), parent
        whole: Typed = codec.dumps(without_values(checkpoint))
        spot.maps = Maps(checkpoint, len(whole[1])) if len(whole[1]) > FLOOR else None
        return whole, None

    def body_of(self, row: Row, bases: Mapping[tuple[str, str, str], Row]) -> Checkpoint:
        """The checkpoint of a row, without its values."""
        changes: list[Any] = []
        while True:
            if len(changes) > len(bases):
                raise SerializationError(f"Checkpoint {row.id!r} is told against itself.")
            typed = self.open(row.body, row.thread, row.ns, row.id)
            if typed[0] != "delta":
                break
            changes.append(self.codec.loads(("msgpack", typed[1])))
            base = bases.get((row.thread, row.ns, row.base or ""))
            if base is None:
                raise SerializationError(
                    f"Checkpoint {row.id!r} of thread {row.thread!r} is told against "
                    f"{row.base!r}, which is gone; it cannot be read."
                )
            row = base
        whole: Checkpoint = self.codec.loads(typed)
        for change in reversed(changes):
            whole.update(change[2])
            whole["channel_versions"].update(change[3])
            whole["versions_seen"].update(change[4])
        return whole

    # -- telling values ------------------------------------------------------------------------

    def smaller(self, spot: Spot, channel: str, version: str, typed: Typed) -> Blob:
        """A value as a change of the one before it, as a piece of another, or whole."""
        if len(typed[1]) <= FLOOR or not self.codec.deltas:
            return Blob(typed)
        base, cost, segment = spot.grown.get(channel), len(typed[1]), None
        stored = None
        if base is not None:
            change, cost = base.grow(typed)
            if change is not None:
                stored, segment = _told(base, channel, version, change)
        if stored is None:
            stored = self.piece(spot, typed)
        self.kept.note(spot, channel, Grown(version, typed, cost, segment))
        return stored

    def piece(self, spot: Spot, typed: Typed) -> Blob:
        """A value as a piece of one that is stored already, or whole."""
        found = spot.find(typed) if len(typed[1]) > FLOOR and self.codec.deltas else None
        if found is None:
            return Blob(typed)
        grown, channel, at = found
        return Blob(("delta", delta.part((), at, len(typed[1]))), (channel, grown.version))

    # -- reading values ------------------------------------------------------------------------

    def whole(
        self,
        thread: str,
        key: BlobKey,
        blobs: Mapping[BlobKey, Blob],
        memo: dict[BlobKey, Typed],
        seen: frozenset[BlobKey] = frozenset(),
    ) -> tuple[Typed, int]:
        """The packed value at a key, and what reading it costs.

        Args:
            thread: its thread.
            key: where it is.
            blobs: it, and all that it is told against.
            memo: what was found before.
            seen: the keys that are told against this one.
        """
        changes: list[delta.Change] = []
        at, cost = key, 0
        while True:
            if at in seen or len(changes) > len(blobs):
                raise SerializationError(
                    f"Channel {key.channel!r} of thread {thread!r} is told against itself."
                )
            typed = memo.get(at)
            if typed is not None:
                break
            blob = blobs.get(at)
            if blob is None:
                raise SerializationError(
                    f"Channel {key.channel!r} of thread {thread!r}: a value that it is told "
                    f"against (version {at.version!r}) is gone; it cannot be read."
                )
            typed = self.open(blob.typed, thread, *at)
            if typed[0] != "delta" or blob.base is None:
                break
            found = delta.read(typed[1])
            at = BlobKey(at.ns, *blob.base)
            if found[0] == delta.PART:
                typed, _ = self.whole(thread, at, blobs, memo, seen | {key})
                typed = typed[0], typed[1][found[2] : found[2] + found[3]]
                break
            change = delta.change_of(found)
            cost += cost_of(change)
            changes.append(change)
        cost += len(typed[1])
        made = typed[0], delta.patch(typed[1], changes[::-1])
        if made[0] != "empty":
            memo[key] = made
        return made, cost

    def write(
        self,
        typed: Typed,
        base: tuple[str, str] | None,
        place: Sequence[Any],
        blobs: Mapping[BlobKey, Blob],
        memo: dict[BlobKey, Typed],
    ) -> Typed:
        """The packed value of a write at ``place``: thread, namespace, checkpoint, task, index."""
        plain = self.open(typed, *place)
        if base is None:
            return plain
        _, _, start, length = delta.read(plain[1])
        (tag, data), _ = self.whole(place[0], BlobKey(place[1], *base), blobs, memo)
        return tag, data[start : start + length]


def _told(
    base: Grown, channel: str, version: str, change: delta.Change
) -> tuple[Blob, Segment | None]:
    """A change as it is stored, and the segment that goes on with it."""
    segment: Segment | None = base.at
    if segment is None:
        segment = Segment(base.version, count_of(base.typed[1]), [])
    segment.changes.append(change)
    on = base.version
    if len(segment.changes) >= SEGMENT:
        merged = merge(segment.changes, segment.items)
        if merged is not None:
            change, on = merged, segment.version
        segment = None
    return Blob(("delta", delta.record(None, change)), (channel, on)), segment


def count_of(packed: bytes) -> int:
    """How many items a packed list or dict has."""
    return delta._header(packed)[2]


def merge(changes: Sequence[delta.Change], count: int) -> delta.Change | None:
    """One change that does what these do, oldest first, to ``count`` items; None if it can't be."""
    real = [change for change in changes if change[0] != delta.SAME]
    if not real:
        return delta.NOTHING
    kind, added = real[0][0], sum(change[1] for change in real)
    if not any(change[3] for change in real):
        return kind, added, b"".join(change[2] for change in real), None
    sets: dict[int, bytes] = {}
    items: list[bytes] = []
    for _, n, tail, inside in real:
        for at, item in (inside or {}).items():
            if at < count:
                sets[at] = item
            else:
                items[at - count] = item
        more = delta.split(delta._head(kind, n) + tail)
        if more is None:
            return None
        items += more
    return kind, added, b"".join(items), sets or None


__all__ = ["Segment", "Values", "merge"]
