"""When a run whose nodes never suspend lets its event loop run everything else."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

SLICE = 0.0005
"""Seconds that such a run may keep the loop from looking around."""


class Turn:
    """Lets the loop run everything else once, if it has something else to do or has not looked
    around for a while.

    Nodes that never suspend must not starve the loop, and a turn costs more than most of them.
    What a step made ready runs before the next step, and so does the run's own cancellation.
    """

    __slots__ = ("_cancelling", "_last", "_ready")

    def __init__(self, loop: Any, owner: Any) -> None:
        self._ready: Any = getattr(loop, "_ready", None)  # only asyncio's own loop shows it
        self._cancelling: Any = int if owner is None else owner.cancelling
        self._last = 0.0

    def __await__(self) -> Generator[None, None, None]:
        now, ready = time.monotonic(), self._ready
        if ready or ready is None or now - self._last > SLICE or self._cancelling():
            self._last = now
            yield
