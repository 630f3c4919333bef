"""Chains: how the versions of a big value lie in rows of a database, for all savers with rows.

A row is ``(at, tag, bytes)``. ``at`` holds the number of the chain and the position in it, so
that all rows of a chain lie side by side and a read is one range. Position 0 is the head:

- a whole value, with the tag that its serializer gave it;
- ``base``: the chain goes on from a value of another chain, as a fork does;
- ``part``: the value is a piece of another one.

The rows behind it are changes (see `delta`), oldest first; as soon as there are `SEGMENT` single
ones they become one ``segment`` row, or a ``run`` if all of them only append; its ``at`` is that
of its last. The value at a position is the head and all changes up to it. Rows are never changed,
and numbers of chains are never used again, so whoever remembers an ``at`` needs only to ask
whether its chain is still there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ormsgpack import packb, unpackb

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.kept import OVERHEAD
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.errors import SerializationError

SHIFT = 20
SEGMENT = 64
BIG = 512
"""Packed bytes from which a value has a chain of its own."""
LAST = (1 << SHIFT) - 1

Row: TypeAlias = tuple[int, str, bytes]


def first(at: int) -> int:
    """The ``at`` of the head of the same chain."""
    return at >> SHIFT << SHIFT


def after(at: int) -> int:
    """The ``at`` that the next chain's head would have."""
    return (at >> SHIFT) + 1 << SHIFT


def head_of(chain: int) -> int:
    """The ``at`` of a chain's head, by the chain's number."""
    return chain << SHIFT


def is_due(at: int) -> bool:
    """Whether the single changes up to this one are to become a segment."""
    return (at & LAST) % SEGMENT == 0


def base_row(at: int) -> Typed:
    """The head of a chain that goes on from a value of another."""
    return "base", packb(at)


def part_row(at: int, start: int, length: int) -> Typed:
    """The value that is a piece of another one."""
    return "part", packb([at, start, length])


def change_row(change: delta.Change) -> Typed:
    """A change as a row."""
    return "delta", delta.record(None, change)


def segment_row(records: Sequence[bytes]) -> Typed:
    """Changes in a row, oldest first, as one; where all only append, as one tail with its cuts."""
    changes = [delta.change_of(delta.read(record)) for record in records]
    kind = changes[0][0]
    if any(change[0] != kind or change[3] for change in changes) or kind == delta.SAME:
        return "segment", packb(list(records))
    counts, tails = [change[1] for change in changes], [change[2] for change in changes]
    return "run", packb([kind, counts, list(map(len, tails)), b"".join(tails)])


class Run:
    """Changes in a row that only append."""

    __slots__ = ("_counts", "_first", "_kind", "_lengths", "_tail")

    def __init__(
        self, at: int, kind: int, counts: list[int], lengths: list[int], tail: bytes
    ) -> None:
        self._first = at - len(counts) + 1
        self._kind = kind
        self._counts = counts
        self._lengths = lengths
        self._tail = tail

    def to(self, at: int) -> tuple[delta.Change, int]:
        """Those up to a place as one change, and how many they are."""
        n = max(0, min(at - self._first + 1, len(self._counts)))
        if n == len(self._counts):
            return (self._kind, sum(self._counts), self._tail, None), n
        end = sum(self._lengths[:n])
        return (self._kind, sum(self._counts[:n]), self._tail[:end], None), n


class Chain:
    """A chain that was read, up to some position."""

    __slots__ = ("ats", "base", "changes", "head", "piece")

    def __init__(self, rows: Iterable[Row]) -> None:
        """Take the plain rows of one chain, in order, beginning with its head.

        Raises:
            SerializationError: the head is missing.
        """
        self.head: Typed | None = None
        self.base: int | None = None
        self.piece: tuple[int, int] | None = None
        self.ats: list[int] = []
        self.changes: list[delta.Change | Run] = []
        for at, tag, data in rows:
            if at & LAST == 0:
                self._begin(tag, data)
            elif tag == "run":
                self.ats.append(at)
                self.changes.append(Run(at, *unpackb(data)))
            elif tag == "segment":
                records = unpackb(data)
                for own, record in enumerate(records, at - len(records) + 1):
                    self._add(own, record)
            else:
                self._add(at, data)
        if self.head is None and self.base is None:
            raise SerializationError("A stored value has lost its first row; it cannot be read.")

    def _begin(self, tag: str, data: bytes) -> None:
        if tag == "base":
            self.base = unpackb(data)
        elif tag == "part":
            self.base, start, length = unpackb(data)
            self.piece = start, length
        else:
            self.head = tag, data

    def _add(self, at: int, record: bytes) -> None:
        self.ats.append(at)
        self.changes.append(delta.change_of(delta.read(record)))


def value(at: int, chain_at: Callable[[int], Chain]) -> tuple[Typed, int]:
    """The packed value at a position, and what reading its chain costs.

    Args:
        at: the position.
        chain_at: gives the chain of a position, read at least up to it.
    """
    chain = chain_at(at)
    if chain.base is None:
        typed: Any = chain.head
        cost = len(typed[1])
    else:
        typed, cost = value(chain.base, chain_at)
        if chain.piece is not None:
            start, length = chain.piece
            typed = typed[0], typed[1][start : start + length]
        cost += len(typed[1]) // 4
    changes = []
    end = bisect_right(chain.ats, at)
    if end < len(chain.ats) and chain.changes[end].__class__ is Run:
        end += 1  # the place is inside of it
    for change in chain.changes[:end]:
        told, n = change.to(at) if isinstance(change, Run) else (change, 1)
        if not n:
            break
        changes.append(told)
        cost += len(told[2]) + n * OVERHEAD
        if told[3]:
            cost += sum(map(len, told[3].values()))
    return (typed[0], delta.patch(typed[1], changes)), cost
