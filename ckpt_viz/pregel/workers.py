"""The threads of one run: started when first needed, ended with the run.

A step's jobs are handed over at once. One thread begins them, one after the other, because waking
a thread costs more than most nodes do; as soon as one of them takes longer than `PATIENCE`, the
others get threads of their own, up to the limit. Nobody waits for a sibling that waits for him.
Nested runs have threads of their own: sharing a bounded pool, they would dead-lock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

MAX_WORKERS = 32
PATIENCE = 0.001
"""Seconds that a job may take before those behind it are begun beside it."""
Job = Callable[[], None]


class Workers:
    """Runs jobs on threads. A job must not raise: it reports its outcome itself."""

    __slots__ = ("_busy", "_jobs", "_threads", "_wake", "limit")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit or MAX_WORKERS
        self._jobs: deque[Job] = deque()
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy: set[int] = set()

    @property
    def waiting(self) -> bool:
        """Whether there are jobs that no thread has begun."""
        return bool(self._jobs)

    @property
    def working(self) -> bool:
        """Whether a thread is at work, or about to be."""
        return bool(self._busy or self._jobs)

    def start(self, jobs: list[Job]) -> None:
        """Begin a step's jobs; `spread` begins those that still wait beside each other."""
        self._jobs.extend(jobs)
        self._call(1)

    def spread(self) -> None:
        """Begin what waits, side by side up to the limit."""
        self._call(len(self._jobs))

    def _call(self, count: int) -> None:
        for _ in range(min(self.limit, len(self._busy) + count) - len(self._threads)):
            name = f"ckpt_viz-{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        for _ in range(count):
            self._wake.put(True)

    def _work(self) -> None:
        me = threading.get_ident()
        while self._wake.get():
            self._busy.add(me)
            while True:
                try:
                    job = self._jobs.popleft()
                except IndexError:
                    break
                job()
                del job
            self._busy.discard(me)

    def drop(self) -> int:
        """Forget the jobs that the limit keeps from beginning, and begin the rest; how many."""
        dropped = 0
        while len(self._jobs) > max(0, self.limit - len(self._busy)):
            try:
                self._jobs.pop()
            except IndexError:  # a thread has begun it meanwhile
                break
            dropped += 1
        self.spread()
        return dropped

    def close(self, *, wait: bool) -> None:
        """End the threads, after what has been handed over."""
        self.spread()
        for _ in self._threads:
            self._wake.put(False)
        if wait:
            for thread in self._threads:
                thread.join()
        self._threads = []
