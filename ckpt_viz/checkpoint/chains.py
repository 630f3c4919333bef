"""Chains: how the versions of a big value lie in rows of a database, for all savers with rows.

A row is ``(at, tag, bytes)``. ``at`` holds the number of the chain and the position in it, so
that all rows of a chain lie side by side and a read is one range. Position 0 is the head:

- a whole value, with the tag that its serializer gave it;
- ``base``: the chain goes on from a value of another chain, as a fork does;
- ``part``: the value is a piece of another one.

The rows behind it are changes (see `delta`), oldest first; as soon as there are `SEGMENT` single
ones they become one ``segment`` row, whose ``at`` is that of its last. The value at a position is
the head and all changes up to it. Rows are never changed, and numbers of chains are never used
again, so whoever remembers an ``at`` needs only to ask whether its chain is still there.
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


def segment_row(changes: Sequence[bytes]) -> Typed:
    """Changes in a row, oldest first, as one."""
    return "segment", packb(list(changes))


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
        self.changes: list[delta.Change] = []
        for at, tag, data in rows:
            if at & LAST == 0:
                self._begin(tag, data)
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
    changes = chain.changes[: bisect_right(chain.ats, at)]
    for _, _, tail, sets in changes:
        cost += len(tail) + OVERHEAD + sum(map(len, (sets or {}).values()))
    return (typed[0], delta.patch(typed[1], changes)), cost
