"""Sweepers: what removes expired items again and again, in a thread or in an event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from ckpt_viz.store.records import TTLConfig

_MINUTES = 5.0
"""Between two sweeps, if nobody says how many."""

_log = logging.getLogger(__name__)


class Sweeper:
    """At most one thread that sweeps.

    Args:
        ttl: the store's settings; without any there is nothing to sweep.
    """

    def __init__(self, ttl: TTLConfig | None) -> None:
        self._ttl = ttl
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None
        self._done: Future[None] | None = None

    def start(self, sweep: Callable[[], int], minutes: float | None) -> Future[None]:
        """Start it, unless it runs; the result is done when it has ended."""
        with self._lock:
            if self._ttl is None:
                nothing: Future[None] = Future()
                nothing.set_result(None)
                return nothing
            if self._done is not None and not self._done.done():
                return self._done
            stop, done = threading.Event(), Future[None]()
            self._stop, self._done = stop, done
            seconds = _seconds(self._ttl, minutes)
        args = (sweep, seconds, stop, done)
        threading.Thread(target=_run, args=args, name="ckpt-ttl-sweeper", daemon=True).start()
        return done

    def stop(self, timeout: float | None = None) -> bool:
        """Stop it; whether it ended within ``timeout`` seconds."""
        with self._lock:
            stop, done = self._stop, self._done
        if stop is None or done is None:
            return True
        stop.set()
        try:
            done.result(timeout)
        except TimeoutError:
            return False
        return True


def _run(
    sweep: Callable[[], int], seconds: float, stop: threading.Event, done: Future[None]
) -> None:
    while not stop.wait(seconds):
        try:
            sweep()
        except Exception:  # noqa: BLE001 - logged; a server may be away for a while
            _log.exception("Could not sweep expired items; trying again in %s seconds.", seconds)
    done.set_result(None)


class AsyncSweeper:
    """At most one task that sweeps; see `Sweeper`."""

    def __init__(self, ttl: TTLConfig | None) -> None:
        self._ttl = ttl
        self._task: asyncio.Task[None] | None = None

    def start(
        self, sweep: Callable[[], Awaitable[int]], minutes: float | None
    ) -> asyncio.Task[None]:
        """Start it, unless it runs."""
        if self._ttl is None:
            return asyncio.create_task(asyncio.sleep(0))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(_arun(sweep, _seconds(self._ttl, minutes)))
        return self._task

    async def stop(self, timeout: float | None = None) -> bool:
        """Stop it; whether it ended within ``timeout`` seconds."""
        task, self._task = self._task, None
        if task is None or task.done():
            return True
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=timeout)
        return bool(done)


async def _arun(sweep: Callable[[], Awaitable[int]], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await sweep()
        except Exception:  # noqa: BLE001 - logged; a server may be away for a while
            _log.exception("Could not sweep expired items; trying again in %s seconds.", seconds)


def _seconds(ttl: TTLConfig, minutes: float | None) -> float:
    found = minutes or ttl.get("sweep_interval_minutes") or _MINUTES
    return max(0.001, float(found) * 60)
