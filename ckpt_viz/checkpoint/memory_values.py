"""The memory saver's packed values: plain where they are small, told as changes where they grow.

A blob, a write or a checkpoint stays plain bytes unless it is over 1 kB and a change, or a
pointer to the same bytes elsewhere in the thread, saves half. See `delta` for the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.base import Checkpoint
from ckpt_viz.checkpoint.kept import FEW, FLOOR, Changes, Grown, Maps, Spot, cost_of
from ckpt_viz.checkpoint.packing import Packer, Packing
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed

_WORTH = 128
"""Bytes from which a tail is looked for among the writes that it came from."""
_MOST = 1 << 13
"""Places whose chain is remembered."""

Line: TypeAlias = tuple[str, bytes, list[delta.Change]]
"""A chain of changes as it was read: the base's tag and bytes, and the changes, oldest first."""

Place: TypeAlias = tuple[str, str, str | None]
"""Where a checkpoint is put: thread, namespace, and its parent."""


class Values(Packer):
    """Reads and writes the packed values of the three dictionaries."""

    name_of = version_of = staticmethod(lambda version: version)

    def __init__(self, storage: Any, writes: Any, blobs: Any) -> None:
        super().__init__()
        self._storage = storage
        self._writes = writes
        self._blobs = blobs
        self._lines: dict[Any, tuple[Line, int, Typed]] = {}

    def use(self, serde: SerializerProtocol) -> Packing:
        """Read and write by another serializer from now on."""
        self._lines.clear()
        return super().use(serde)

    def body_of(self, row: Any, bases: Any) -> Checkpoint:
        """The checkpoint of a `Row` without its values."""
        return self.checkpoint(row.thread, row.ns, row.id, (row.body, row.meta, row.parent))

    # -- writing -------------------------------------------------------------------------------

    def body(self, place: Place, checkpoint: Checkpoint, new: Mapping[str, Any]) -> Typed:
        """A checkpoint that has no values in it; of long version maps only what changed."""
        codec: Packing = self.codec
        versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
        if (len(versions) <= FEW and len(seen) <= FEW) or not codec.deltas:
            return codec.plain(checkpoint)
        thread, ns, parent = place
        spot = self.kept.spot(thread, ns)
        maps, told = spot.maps, new.__class__ is Changes
        if maps is None or maps.last != parent:
            maps = self._maps_of(place, told)
        if maps is not None and (change := maps.change(checkpoint, new)) is not None:
            spot.maps = maps
            rest = {**checkpoint}
            del rest["channel_versions"], rest["versions_seen"]
            data = codec.plain([delta.BODY, parent, rest, *change])[1]
            maps.cost += len(data)
            if maps.cost <= maps.full and 2 * len(data) <= maps.full:
                return "delta", data
        whole: Typed = codec.plain(checkpoint)
        full = len(whole[1])
        spot.maps = Maps(checkpoint, full, told=told) if full > FLOOR else None
        return whole

    def _maps_of(self, place: Place, told: bool) -> Maps | None:
        """The parent's maps, read from what is stored; only their chain, where changes are told."""
        thread, ns, parent = place
        row = self._storage.get(thread, {}).get(ns, {}).get(parent)
        if row is None or parent is None:
            return None
        rows, (tag, data), cost = self._storage[thread][ns], row[0], 0
        while tag == "delta":
            cost += len(data)
            tag, data = rows[self.codec.loads(("msgpack", data))[1]][0]
        if tag != "msgpack" or len(data) <= FLOOR:
            return None
        found = {"id": parent} if told else self.checkpoint(thread, ns, parent, row)
        return Maps(found, len(data), cost, told=told)

    def smaller(self, place: Place, id_: str, blob: tuple[str, Any], typed: Typed) -> Typed:
        """A big value as it is stored: as a change, as a pointer, or whole.

        Args:
            place: where the checkpoint is put.
            id_: its id.
            blob: channel and version.
            typed: the packed value.
        """
        thread, ns, parent = place
        channel, version = blob
        stored = self._blobs.get((thread, ns, channel, version))
        if stored is not None or not self.codec.deltas:
            return typed
        spot = self.kept.spot(thread, ns)
        if spot.id not in (parent, id_):
            self._go_on(spot, place)
        spot.id = id_
        stored, cost = typed, len(typed[1])
        base = spot.grown.get(channel) or self._of_parent(place, channel)
        if base is not None and (thread, ns, channel, base.version) in self._blobs:
            change, cost = base.grow(typed)
            if change is not None:
                kind, n, tail, sets = change
                told = (kind, n, self._tail(place, tail), sets)
                stored = "delta", delta.record(base.version, told)
        if stored is typed:
            stored = self.piece(thread, ns, typed, parent)
        self.kept.note(spot, channel, Grown(version, typed, cost))
        return stored

    def _versions(self, place: Place) -> dict[str, Any]:
        thread, ns, parent = place
        row = self._storage.get(thread, {}).get(ns, {}).get(parent)
        if row is None or parent is None:
            return {}
        found: dict[str, Any] = self.checkpoint(thread, ns, parent, row)["channel_versions"]
        return found

    def _go_on(self, spot: Spot, place: Place) -> None:
        """Forget what is not the parent's: small puts came between, or this is another line."""
        versions = self._versions(place)
        spot.grown = {c: g for c, g in spot.grown.items() if versions.get(c) == g.version}

    def _of_parent(self, place: Place, channel: str) -> Grown | None:
        """The parent's version of a channel, read from what is stored."""
        thread, ns, _ = place
        version = self._versions(place).get(channel)
        if version is None or (thread, ns, channel, version) not in self._blobs:
            return None
        typed, cost = self._whole_and_cost(thread, ns, (channel, version))
        return Grown(version, typed, cost) if len(typed[1]) > FLOOR else None

    def piece(self, thread: str, ns: str, typed: Typed, parent: str | None = None) -> Typed:
        """A big value as a pointer to where the same bytes are stored, or as it is."""
        if not self.codec.deltas:
            return typed
        found = self.kept.spot(thread, ns).find(typed)
        if found is not None:
            grown, channel, at = found
            if (thread, ns, channel, grown.version) in self._blobs:
                return "delta", delta.part((channel, grown.version), at, len(typed[1]))
        if parent is not None:
            for (task, index), row in self._writes.get((thread, ns, parent), {}).items():
                if row[2] == typed:
                    return "delta", delta.part((parent, task, index), 0, len(typed[1]))
        return typed

    def _tail(self, place: Place, tail: bytes) -> Any:
        """New items as bytes, or as a pointer to the write that they came from."""
        if len(tail) < _WORTH or place[2] is None:
            return tail
        for (task, index), (_, _, (tag, data), _) in self._writes.get(place, {}).items():
            if tag == "msgpack" and data.endswith(tail):
                at = len(data) - len(tail)
                return delta.tail_part((place[2], task, index), at, len(tail))
        return tail

    # -- reading -------------------------------------------------------------------------------

    def checkpoint(self, thread: str, ns: str, id_: str, row: Any) -> Checkpoint:
        """A stored checkpoint without its values, its maps in full."""
        if row[0][0] != "delta" and not self.codec.sealed:
            return self.codec.loads(row[0])  # type: ignore[no-any-return]
        rows, changes = self._storage[thread][ns], []
        while True:
            typed = self.codec.unseal(row[0], thread, ns, id_) if self.codec.sealed else row[0]
            if typed[0] != "delta":
                break
            changes.append(self.codec.loads(("msgpack", typed[1])))
            id_ = changes[-1][1]
            row = rows[id_]
        whole: Checkpoint = self.codec.loads(typed)
        for change in reversed(changes):
            whole = {**whole, **change[2]}
            whole["channel_versions"].update(change[3])
            whole["versions_seen"].update(change[4])
        return whole

    def _at(self, key: tuple[Any, ...]) -> Typed:
        """What is stored under thread, namespace and place."""
        if len(key) == 4:
            return self._blobs[key]  # type: ignore[no-any-return]
        thread, ns, id_, task, index = key
        return self._writes[thread, ns, id_][task, index][2]  # type: ignore[no-any-return]

    def whole(self, thread: str, ns: str, place: Sequence[Any]) -> Typed:
        """The packed value at a place, as it was before it was told as a change and sealed."""
        tag, data, changes = self._line(thread, ns, place)
        return tag, delta.patch(data, changes)

    def _whole_and_cost(self, thread: str, ns: str, place: Sequence[Any]) -> tuple[Typed, int]:
        """The packed value at a place, and what reading its chain costs."""
        tag, data, changes = self._line(thread, ns, place)
        return (tag, delta.patch(data, changes)), len(data) + sum(map(cost_of, changes))

    def _line(self, thread: str, ns: str, place: Sequence[Any]) -> Line:
        """The chain of a place, up to it.

        What was read is kept: the next values are often on the same chain. A value is never
        changed, so what was read at a place holds for as long as the same bytes are stored there.
        """
        changes: list[delta.Change] = []
        passed: list[Any] = []
        while True:
            key = (thread, ns, *place)
            stored = self._at(key)
            known = self._lines.get(key)
            if known is not None and known[2] is stored:
                (tag, data, before), count, _ = known
                changes.reverse()
                changes, first = before[:count] + changes, count + 1
                break
            passed.append((key, stored))
            tag, data = self.codec.unseal(stored, *key)
            found = delta.read(data) if tag == "delta" else None
            if found is None or found[0] == delta.PART:
                if found is not None:
                    tag, data = self._piece(thread, ns, found[1:])
                changes.reverse()
                first = 0
                break
            kind, n, tail, sets = change = delta.change_of(found)
            if tail.__class__ is list:
                change = kind, n, self._tail_at(thread, ns, tail), sets
            changes.append(change)
            place = (place[0], found[1])
        if len(passed) > 1 or first:
            self._note(passed, (tag, data, changes), first)
        return tag, data, changes

    def _note(self, passed: list[Any], line: Line, first: int) -> None:
        """Keep a line for those of its places that were not known: how many changes each takes."""
        if len(self._lines) > _MOST:
            self._lines.clear()
        for count, (key, stored) in enumerate(reversed(passed), first):
            self._lines[key] = line, count, stored

    def _tail_at(self, thread: str, ns: str, piece: Sequence[Any]) -> bytes:
        (id_, task, index), start, length = piece
        tag, data = self._writes[thread, ns, id_][task, index][2]
        if tag == "msgpack":
            return data[start : start + length]  # type: ignore[no-any-return]
        return self._piece(thread, ns, piece)[1]

    def _piece(self, thread: str, ns: str, piece: Sequence[Any]) -> Typed:
        place, start, length = piece
        tag, data = self.whole(thread, ns, place)
        return tag, data[start : start + length]

    # -- moving and removing -------------------------------------------------------------------

    def stand_alone(self, thread: str, ns: str, keep: Sequence[str], used: set[Any]) -> None:
        """Tell anew what is told against something that is about to go.

        Args:
            thread: the thread.
            ns: its namespace.
            keep: the checkpoints that stay.
            used: ``(channel, version)`` of the values that stay.
        """
        rows, seal, stay = self._storage[thread][ns], self.codec.seal, set(keep)
        for id_ in keep:
            body, meta, parent = rows[id_]
            if self.codec.unseal(body, thread, ns, id_)[0] == "delta" and parent not in stay:
                whole = self.codec.dumps(self.checkpoint(thread, ns, id_, rows[id_]))
                rows[id_] = seal(whole, thread, ns, id_), meta, parent
            for key, row in self._writes.get((thread, ns, id_), {}).items():
                if self._leans(thread, ns, (id_, *key), stay, used):
                    whole = self.whole(thread, ns, (id_, *key))
                    whole = seal(whole, thread, ns, id_, *key)
                    self._writes[thread, ns, id_][key] = (row[0], row[1], whole, row[3])
        self._tell_anew(thread, ns, stay, used)

    def _tell_anew(self, thread: str, ns: str, stay: set[str], used: set[Any]) -> None:
        last: dict[str, Grown] = {}
        for place in sorted(used, key=lambda place: (place[0], str(place[1]))):
            channel, version = place
            if (thread, ns, *place) not in self._blobs:
                continue
            leans = self._leans(thread, ns, place, stay, used)
            typed, cost = self._whole_and_cost(thread, ns, place)
            base = last.get(channel)
            if leans:
                change, cost = base.grow(typed) if base is not None else (None, len(typed[1]))
                told = typed
                if change is not None and base is not None:
                    told = "delta", delta.record(base.version, change)
                self._blobs[(thread, ns, *place)] = self.codec.seal(told, thread, ns, *place)
            if len(typed[1]) > FLOOR:
                last[channel] = Grown(version, typed, cost)

    def _leans(
        self, thread: str, ns: str, place: Sequence[Any], stay: set[str], used: set[Any]
    ) -> bool:
        """Whether what is stored at a place is told against something that goes."""
        key = (thread, ns, *place)
        tag, data = self.codec.unseal(self._at(key), *key)
        if tag != "delta":
            return False
        found = delta.read(data)
        on = [found[1] if found[0] == delta.PART else (place[0], found[1])]
        if found[0] in (delta.LIST, delta.MAP) and type(found[3]) is list:
            on.append(found[3][0])
        return any(tuple(p) not in used if len(p) == 2 else p[0] not in stay for p in on)
