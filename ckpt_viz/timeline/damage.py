"""Reading past checkpoints that are damaged: one unreadable row hides no other.

Rules: a page that can't be read is read in smaller parts, down to the one row that is damaged; it
is told by its id and the reason. Where nothing can be read, as with another key, the error is
raised as it came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ckpt_viz.errors import SerializationError, UnreadableError

DAMAGED = (UnreadableError, SerializationError)
"""What reading one checkpoint raises where it alone is damaged."""
LOST = 24
"""So many in a row with nothing readable before them: it is not one that is damaged."""

Read = Callable[[str | None, int], list[Any]]
"""Tuples older than an id (None: the newest), at most so many, newest first."""


class Damaged(NamedTuple):
    """A checkpoint that can't be read, and why; its parent where that is known."""

    id: str
    parent_id: str | None
    reason: str


def read_past(read: Read, before: str | None, limit: int) -> list[Any]:
    """A page of tuples, with a `Damaged` in the place of each that can't be read.

    Raises:
        UnreadableError, SerializationError: nothing can be read, or the place is not told.
    """
    try:
        return read(before, limit)
    except DAMAGED as error:
        first = error
    out: list[Any] = []
    size, readable = max(1, limit // 8), 0
    while len(out) < limit:
        wanted = min(size, limit - len(out))
        try:
            found = read(before, wanted)
        except DAMAGED as error:
            if wanted > 1:
                size = max(1, wanted // 8)
                continue
            id_ = error.checkpoint_id
            if id_ is None or (before is not None and id_ >= before):
                raise
            if not readable and len(out) >= LOST:
                raise first from None
            out.append(Damaged(id_, error.parent_id, str(error)))
            before = id_
            continue
        out += found
        readable += len(found)
        if len(found) < wanted:
            break
        before = str(found[-1].config["configurable"]["checkpoint_id"])
        size *= 2
    if not readable:
        raise first
    return out
