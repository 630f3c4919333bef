"""What a saver remembers of a thread between two puts, so that a put costs what changed.

One packed copy of each big value, the newest of its line, bounded in all; and where a graph has
many channels or nodes, the version maps of the last checkpoint. Everything here can be read
again from what is stored: whoever finds nothing here asks the saver.

Rules kept here:

- A value over `FLOOR` bytes is stored as a change if that saves half.
- It is stored whole again when reading it would cost twice its size: a change counts as its
  bytes and `OVERHEAD`. So what is stored stays within twice the content.
- Version maps of up to `FEW` entries are stored whole; larger ones as what changed, until the
  changes reach their size.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.serde.base import Typed

FLOOR = 1024
OVERHEAD = 32
FEW = 16
_PROBE = 64


class Changes(dict[str, Any]):
    """The ``new_versions`` of a put whose maker knows them to be all that changed.

    ``seen`` names the nodes whose entry of ``versions_seen`` changed. It is a hint: a saver that
    gets a plain dictionary compares the maps itself.
    """

    __slots__ = ("seen",)

    def __init__(self, versions: Mapping[str, Any], seen: Any) -> None:
        super().__init__(versions)
        self.seen = seen


def cost_of(change: delta.Change) -> int:
    """What reading a change costs, in bytes."""
    _, _, tail, sets = change
    return len(tail) + OVERHEAD + (sum(map(len, sets.values())) if sets else 0)


class Grown:
    """One version of a big value: its packed bytes, and what reading its chain costs."""

    __slots__ = ("at", "cost", "typed", "version")

    def __init__(self, version: Any, typed: Typed, cost: int, at: Any = None) -> None:
        self.version = version
        self.typed = typed
        self.cost = cost
        self.at = at

    def grow(self, typed: Typed) -> tuple[delta.Change | None, int]:
        """The change from this version to a new value, and what its chain costs then.

        The change is None where the value is to be stored whole.
        """
        new, size = typed[1], len(typed[1])
        if self.typed[0] != typed[0] or (change := delta.diff(self.typed[1], new)) is None:
            return None, size
        length = len(change[2]) + OVERHEAD
        if change[3]:
            length += sum(map(len, change[3].values())) + 3 * len(change[3])
        cost = self.cost + length
        if 2 * length > size or cost > 2 * size:
            return None, size
        return change, cost


class Maps:
    """The version maps of a checkpoint, and what their chain costs.

    ``last`` is the checkpoint, ``whole`` the last one whose maps were stored whole. ``told``:
    changes are told by their maker, so that the maps need not be kept to compare with.
    """

    __slots__ = ("cost", "full", "last", "seen", "told", "versions", "whole")

    def __init__(
        self, checkpoint: Mapping[str, Any], full: int, cost: int = 0, *, told: bool = False
    ) -> None:
        self.told = told
        self.versions: dict[str, Any] = {}
        self.seen: dict[str, dict[str, Any]] = {}
        if not told:
            self.versions.update(checkpoint["channel_versions"])
            self.seen.update((n, dict(seen)) for n, seen in checkpoint["versions_seen"].items())
        self.full = full
        self.cost = cost
        self.whole: str = checkpoint["id"]
        self.last: str = checkpoint["id"]

    def change(
        self, checkpoint: Mapping[str, Any], new: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The entries that differ, to be packed at once.

        None if one is gone, which a change cannot tell; or if that is not known.
        """
        versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
        if self.told:
            self.last = checkpoint["id"]
            if type(new) is not Changes:
                return None
            return dict(new), {name: seen[name] for name in new.seen}
        if type(new) is Changes:
            changed = dict(new)
            saw = {name: dict(seen[name]) for name in new.seen}
        else:
            mine = self.versions
            changed = {c: v for c, v in versions.items() if c not in mine or mine[c] != v}
            saw = {n: dict(s) for n, s in seen.items() if self.seen.get(n) != s}
        self.versions.update(changed)
        self.seen.update(saw)
        self.last = checkpoint["id"]
        if len(self.versions) != len(versions) or len(self.seen) != len(seen):
            return None
        return changed, saw


class Spot:
    """What is remembered of a thread's namespace: the last checkpoint, and its big values.

    ``wrote`` has what was written since, where a saver can point at it.
    """

    __slots__ = ("grown", "id", "maps", "wrote")

    def __init__(self) -> None:
        self.id: str | None = None
        self.grown: dict[str, Grown] = {}
        self.wrote: list[Grown] = []
        self.maps: Maps | None = None

    def move(self, parent: str | None, id_: str) -> bool:
        """Go on to a child of ``parent``; False (and all is forgotten) if that is another line."""
        known = self.id == parent
        if not known:
            self.grown, self.maps = {}, None
        self.id = id_
        self.wrote = []
        return known

    def find(self, typed: Typed) -> tuple[Grown, str, int] | None:
        """A remembered value that holds these packed bytes: it, its channel, and at which byte."""
        tag, data = typed
        kept = [*self.grown.items(), *(("", grown) for grown in self.wrote)]
        for channel, grown in kept:
            own_tag, own = grown.typed
            if own_tag == tag and len(own) >= len(data):
                at = own.find(data[:_PROBE])
                if at >= 0 and own.startswith(data, at):
                    return grown, channel, at
        return None

    def size(self) -> int:
        """Bytes remembered."""
        return sum(len(grown.typed[1]) for grown in self.grown.values())


class Kept:
    """The spots of all threads; those not used for longest are forgotten first.

    Args:
        limit: bytes to remember in all.
        spots: how many threads and namespaces.
    """

    def __init__(self, limit: int = 1 << 26, spots: int = 1024) -> None:
        self._limit = limit
        self._most = spots
        self._spots: OrderedDict[tuple[str, str], Spot] = OrderedDict()
        self._added = 0

    def spot(self, thread: str, ns: str) -> Spot:
        """The spot of a thread and namespace."""
        spot = self._spots.get((thread, ns))
        if spot is None:
            spot = self._spots[thread, ns] = Spot()
            if len(self._spots) > self._most:
                self._forget(self._most * 3 // 4)
        return spot

    def note(self, spot: Spot, channel: str, grown: Grown) -> None:
        """Remember a value, if it is not too big for that."""
        size = len(grown.typed[1])
        old = spot.grown.get(channel)
        if size * 4 > self._limit:
            spot.grown.pop(channel, None)
            return
        spot.grown[channel] = grown
        self._added += size - (len(old.typed[1]) if old is not None else 0)
        if self._added > self._limit:
            self._forget(len(self._spots))

    def _forget(self, most: int) -> None:
        spots = list(self._spots.items())
        total = sum(spot.size() for _, spot in spots)
        while spots and (len(spots) > most or total > self._limit // 2):
            key, spot = spots.pop(0)
            total -= spot.size()
            self._spots.pop(key, None)
        self._added = total

    def drop(self, thread: str | None = None) -> None:
        """Forget a thread, or everything."""
        for key in [key for key in list(self._spots) if thread is None or key[0] == thread]:
            self._spots.pop(key, None)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(list(self._spots))
