"""Runs coroutines from any thread: on the notebook's loop when it can, else on a loop of its own.

Rule: never block a running loop's own thread on that same loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Colour:
    """Remembers the loop of the thread that made it, and runs coroutines there."""

    def __init__(self) -> None:
        """Captures the running loop, if there is one."""
        self._loop = running_loop()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine to its end and returns its result, from any thread."""
        here = running_loop()
        if here is None and self._loop is not None and self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        if here is None:
            return asyncio.run(coroutine)
        return _aside(coroutine)


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
