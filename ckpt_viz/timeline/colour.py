"""Runs coroutines from any thread: on the notebook's loop when it can, else on a loop of its own.

Rules: never block a running loop's own thread on that same loop; a read never waits for a loop
that a cell keeps busy, since that cell may wait for the read.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

T = TypeVar("T")
Ask = Callable[[Any], Coroutine[Any, Any, T]]
"""What is asked of a saver, be it the one that is explored or a copy for this call."""
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

    def do(self, saver: Any, ask: Ask[T]) -> T:
        """What an async saver does: on the loop that it is bound to, where that can be."""
        if self.waits and self._loop is not None:
            return asyncio.run_coroutine_threadsafe(ask(saver), self._loop).result()
        return alone(_elsewhere(saver, ask))

    def read(self, saver: Any, ask: Ask[T]) -> T:
        """As `do`, but a loop that is kept busy is not waited for: it runs on one of its own."""
        if _package(saver) == "aiosqlite" or not self.waits or self._loop is None:
            return alone(_elsewhere(saver, ask))
        turn = threading.Lock()  # whoever takes it asks

        async def begin() -> Any:
            return await ask(saver) if turn.acquire(blocking=False) else None

        future = asyncio.run_coroutine_threadsafe(begin(), self._loop)
        wait([future], PATIENCE)
        if turn.acquire(blocking=False):
            return asyncio.run(_elsewhere(saver, ask))
        result: T = future.result()
        return result


def _package(saver: Any) -> str:
    """The package of what an async saver of LangGraph's is connected by."""
    if not isinstance(getattr(saver, "lock", None), asyncio.Lock):
        return ""
    return type(getattr(saver, "conn", None)).__module__.split(".", 1)[0]


async def _elsewhere(saver: Any, ask: Ask[T]) -> T:
    """Asks on another loop than the one that the saver is bound to.

    LangGraph's savers have a lock that is bound to one loop: a copy for this call has its own. A
    connection of aiosqlite serves any loop; one of psycopg does not, so another one is made.
    """
    package = _package(saver)
    if package not in ("aiosqlite", "psycopg", "psycopg_pool"):
        return await ask(saver)
    twin = copy.copy(saver)
    twin.lock = asyncio.Lock()
    if package == "aiosqlite":
        return await ask(twin)
    async with await _another(saver.conn) as conn:
        twin.conn, twin.pipe = conn, None
        return await ask(twin)


async def _another(conn: Any) -> Any:
    """A connection to where this one, or this pool of connections, leads."""
    from psycopg import AsyncConnection  # noqa: PLC0415 - optional
    from psycopg.rows import dict_row  # noqa: PLC0415 - optional

    if hasattr(conn, "conninfo"):
        place, known = str(conn.conninfo), {}
    else:
        place, known = "", {**conn.info.get_parameters(), "password": conn.info.password}
    return await AsyncConnection.connect(
        place, **known, autocommit=True, prepare_threshold=0, row_factory=dict_row
    )


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
