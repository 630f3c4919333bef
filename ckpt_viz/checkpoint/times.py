"""When tasks ran: what the engine tells savers of a task, and what they give back.

Rules: the times are no write, and in no metadata; a saver without `noted` is told none. They come
back on the list of pending writes, so that whoever looks for none sees none. Times are seconds
since the epoch; what is packed keeps a start's milliseconds and a length's microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

INDEX = -9
"""The index under which a saver may keep them beside a task's writes; no write has it."""

_START = 6
"""Bytes of the start; what follows is how long it took."""


class Span(NamedTuple):
    """When a task began, and how many seconds it took."""

    began: float
    took: float


class TimedPending(list[Any]):
    """The pending writes of a checkpoint, and when tasks ran: at least its own, as far as known."""

    __slots__ = ("spans",)

    spans: Mapping[str, tuple[float, float]]


def spans_of(pending: Any) -> dict[str, Span]:
    """Task id -> when it ran, of the pending writes that a saver gave."""
    if not isinstance(pending, TimedPending):
        return {}
    spans = pending.spans
    return {task: Span(*spans[task]) for task, *_ in pending if task in spans}


def timed(pending: list[Any], spans: Mapping[str, tuple[float, float]]) -> list[Any]:
    """Pending writes with the times of tasks, where there are any."""
    if not spans:
        return pending
    found = TimedPending(pending)
    found.spans = spans
    return found


def pack(began: float, took: float) -> bytes:
    """A span in some eight bytes.

    >>> len(pack(1.7e9, 0.0123)), unpack(pack(1.7e9, 0.0123))
    (8, Span(began=1700000000.0, took=0.0123))
    """
    length = max(0, int(took * 1_000_000 + 0.5))
    return int(began * 1_000).to_bytes(_START, "big") + length.to_bytes(
        (length.bit_length() + 7) >> 3, "big"
    )


def unpack(data: bytes) -> Span:
    """What `pack` packed."""
    took = int.from_bytes(data[_START:], "big") / 1_000_000
    return Span(int.from_bytes(data[:_START], "big") / 1_000, took)
