"""Ids as savers of other people's make them."""

from __future__ import annotations

from random import getrandbits
from uuid import UUID

from ckpt_viz.ids import checkpoint_id


def uuid6(node: int | None = None, clock_seq: int | None = None) -> UUID:
    """An id that sorts after all that this process has made; its clock_seq carries a step.

    >>> earlier, later = uuid6(clock_seq=-2), uuid6()
    >>> str(earlier) < str(later), hex(earlier.clock_seq)
    (True, '0x3ffe')
    """
    made = checkpoint_id(getrandbits(14) if clock_seq is None else clock_seq)
    return UUID(made if node is None else f"{made[:24]}{node & 0xFFFFFFFFFFFF:012x}")
