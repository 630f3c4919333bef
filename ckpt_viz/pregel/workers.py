"""The threads of one run: started when first needed, ended with the run.

A step's tasks are all handed over at once, so as many threads as tasks (up to the limit) suffice.
Nested runs have threads of their own: sharing a bounded pool, they would dead-lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

MAX_WORKERS = 32
Job = Callable[[], None]


class Workers:
    """Runs jobs on threads. A job must not raise: it reports its outcome itself."""

    __slots__ = ("jobs", "limit", "threads")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit or MAX_WORKERS
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.threads: list[threading.Thread] = []

    def start(self, jobs: list[Job]) -> None:
        """Begin a step's jobs, side by side up to the limit."""
        for _ in range(min(self.limit, len(jobs)) - len(self.threads)):
            name = f"ckpt_viz-{len(self.threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self.threads.append(thread)
            thread.start()
        for job in jobs:
            self.jobs.put(job)

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            job()
            del job

    def drop(self) -> int:
        """Forget the jobs that no thread has begun; how many there were."""
        dropped = 0
        while True:
            try:
                self.jobs.get_nowait()
            except Empty:
                return dropped
            dropped += 1

    def close(self, *, wait: bool) -> None:
        """End the threads, after what has been handed over."""
        for _ in self.threads:
            self.jobs.put(None)
        if wait:
            for thread in self.threads:
                thread.join()
        self.threads = []
