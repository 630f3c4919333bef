"""One worker thread per Explorer: answers requests in order, and follows the history.

Owns the queue, the pace of row batches (at most ten a second) and the polling: of runs that were
started elsewhere (0.5 s, backing off to 5 s while nothing happens), and of the act under way (a
saver may write late). Stops when closed.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from ckpt_viz.errors import SourceError

BATCH_SECONDS = 0.1
POLL_SECONDS = 0.5
POLL_LIMIT = 5.0
BUSY_SECONDS = 0.25
BACK_OFF = 1.3
UNSEEN_SECONDS = 60.0
"""A page that is looked at says so more often; without one nothing is followed."""

log = logging.getLogger("ckpt_viz.explorer")
Job = Callable[[], None]


class Worker:
    """Runs jobs one after the other; `refresh()` says whether it found anything new."""

    def __init__(self, refresh: Callable[[], bool], follow: bool) -> None:
        """The thread starts with the first job."""
        self._refresh = refresh
        self.follow = follow
        self.busy = False
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._due = threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last = 0.0
        self._pause = POLL_SECONDS
        self._trouble = ""
        self._seen = time.monotonic()

    def put(self, job: Job) -> None:
        """Queues a job. Returns at once, from any thread."""
        self._seen = time.monotonic()
        self._jobs.put(job)
        self._start()

    def poke(self) -> None:
        """Asks for a refresh soon; many pokes make one batch."""
        self._due.set()
        self._jobs.put(None)
        self._start()

    def close(self) -> None:
        """Ends the thread after the job at hand."""
        self._closed.set()
        self._jobs.put(None)

    def drain(self, seconds: float = 5.0) -> bool:
        """Waits until all that is queued now is done (for tests and exports)."""
        done = threading.Event()
        self.put(done.set)
        return done.wait(seconds)

    def _start(self) -> None:
        with self._lock:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._loop, name="ckpt-viz", daemon=True)
            self._thread.start()

    def _loop(self) -> None:
        while not self._closed.is_set():
            try:
                job = self._jobs.get(timeout=self._wait())
            except queue.Empty:
                self._tick()
                continue
            if job is not None:
                self._pause = POLL_SECONDS
                self._guard(job)
            if self._due.is_set() and time.monotonic() - self._last >= BATCH_SECONDS:
                self._tick()

    def _wait(self) -> float | None:
        if self._due.is_set():
            return max(0.0, self._last + BATCH_SECONDS - time.monotonic())
        if self.busy:
            return BUSY_SECONDS
        unseen = time.monotonic() - self._seen > UNSEEN_SECONDS
        return self._pause if self.follow and not unseen else None

    def _tick(self) -> None:
        asked = self._due.is_set()
        self._due.clear()
        self._last = time.monotonic()
        found = [False]

        def look() -> None:
            found[0] = self._refresh()

        self._guard(look)
        quiet = not (found[0] or asked)
        self._pause = min(POLL_LIMIT, self._pause * BACK_OFF) if quiet else POLL_SECONDS

    def _guard(self, job: Job) -> None:
        try:
            job()
        except SourceError as error:  # locked for a while, or gone: told once, and asked again
            if str(error) != self._trouble:
                log.warning("%s", error)
            self._trouble = str(error)
        except Exception as error:
            if repr(error) != self._trouble:  # a saver that was closed fails at each look
                log.exception("the Explorer's worker failed; it goes on with the next request")
            self._trouble = repr(error)
