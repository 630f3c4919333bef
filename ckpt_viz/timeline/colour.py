"""Runs coroutines from any thread: on the notebook's loop when it can, else on a loop of its own.

Rules: never block a running loop's own thread on that same loop; a read never waits for a loop
that a cell keeps busy, since that cell may wait for the read.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 0.25
"""Seconds that a read waits for its turn on a loop of another thread."""


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Colour:
    """Remembers the loop of the thread that made it, and runs coroutines there."""

    def __init__(self, saver: Any = None) -> None:
        """Captures the running loop, else the one that the saver tells to be its own."""
        told = getattr(saver, "loop", None)
        own = told if isinstance(told, asyncio.AbstractEventLoop) else None
        self._loop = running_loop() or own

    @property
    def waits(self) -> bool:
        """Whether `run` hands over to the loop of another thread."""
        return running_loop() is None and self._loop is not None and self._loop.is_running()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine to its end and returns its result, from any thread."""
        if self.waits and self._loop is not None:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        return alone(coroutine)

    def read(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """As `run`, but a loop that is kept busy is not waited for: it runs on one of its own."""
        if not self.waits or self._loop is None:
            return alone(coroutine)
        turn = threading.Lock()  # whoever takes it runs the coroutine

        async def begin() -> Any:
            return await coroutine if turn.acquire(blocking=False) else None

        future = asyncio.run_coroutine_threadsafe(begin(), self._loop)
        wait([future], PATIENCE)
        if turn.acquire(blocking=False):
            return asyncio.run(coroutine)
        result: T = future.result()
        return result


def unbound(saver: Any) -> Any:
    """An async saver's copy for one call on any loop; None where there can be none.

    LangGraph's SQLite saver has a lock that is bound to one loop, around a connection that serves
    any: the copy has a lock of its own.
    """
    conn, lock = getattr(saver, "conn", None), getattr(saver, "lock", None)
    if type(conn).__module__.split(".", 1)[0] != "aiosqlite" or not isinstance(lock, asyncio.Lock):
        return None
    twin = copy.copy(saver)
    twin.lock = asyncio.Lock()
    return twin


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine on a loop of its own, from any thread."""
    return asyncio.run(coroutine) if running_loop() is None else _aside(coroutine)


def _aside(coroutine: Coroutine[Any, Any, T]) -> T:
    box: dict[str, Any] = {}

    def work() -> None:
        try:
            box["value"] = asyncio.run(coroutine)
        except BaseException as error:  # noqa: BLE001 - handed over to the caller's thread, whole
            box["error"] = error

    thread = threading.Thread(target=work, name="ckpt-viz-async", daemon=True)
    thread.start()
    thread.join()
    if "error" in box:
        raise box["error"]
    result: T = box["value"]
    return result
