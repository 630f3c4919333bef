"""Where a run on an event loop is told what happened: tasks that ended, chunks that nodes wrote.

Anything may be put from any thread. Waking a sleeping loop from a thread costs two system calls
and two turns of the loop, more than most nodes do. So the reader first waits a moment without
going to sleep where a thread is at work for it, and what is put while a wake is under way costs
no second one. `asyncio.Queue` has neither.
"""

from __future__ import annotations

import asyncio
from queue import Empty, SimpleQueue
from threading import get_ident
from typing import Any

MOMENT = 0.00005
"""Seconds that the loop stands still for a thread that may be about to end its work."""


class Inbox:
    """A queue with one reader, which is on `loop`."""

    __slots__ = ("_called", "_here", "_items", "_loop", "_reader", "empty")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._items: SimpleQueue[Any] = SimpleQueue()
        self.empty = self._items.empty
        self._loop = loop
        self._here = get_ident()
        self._reader: asyncio.Future[None] | None = None
        self._called = False

    def put(self, item: Any, wake: bool = True) -> None:
        """Add an item, from the loop or from any thread; ``wake=False``: another put will wake."""
        self._items.put(item)
        if wake and self._reader is not None:
            self.wake()

    def wake(self) -> None:
        """Let a sleeping reader see what was put."""
        if get_ident() == self._here:
            self._wake()
        elif not self._called:
            self._called = True
            self._loop.call_soon_threadsafe(self._call)

    def _call(self) -> None:
        self._called = False  # before the reader looks: what comes from now on calls again
        self._wake()

    def _wake(self) -> None:
        reader = self._reader
        if reader is not None and not reader.done():
            reader.set_result(None)

    async def get(self, soon: bool) -> Any:
        """The next item, in the order of `put`; ``soon``: a thread is at work for it."""
        if soon:
            try:
                return self._items.get(timeout=MOMENT)
            except Empty:
                pass
        while True:
            reader = self._reader = self._loop.create_future()
            try:
                return self._items.get_nowait()
            except Empty:
                await reader
            finally:
                self._reader = None

    def take_all(self) -> list[Any]:
        """All that is there, without waiting."""
        return [self._items.get_nowait() for _ in range(self._items.qsize())]
