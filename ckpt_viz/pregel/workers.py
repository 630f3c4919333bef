"""The threads of one run: started when first needed, ended with the run.

A step's jobs are handed over at once. One thread begins them, one after the other, because waking
a thread costs more than most nodes do; as soon as one of them takes longer than `PATIENCE`, the
others get threads of their own, up to the limit. Nobody waits for a sibling that waits for him.
That one thread may be the caller's own; then another looks at the clock.
Nested runs have threads of their own: sharing a bounded pool, they would dead-lock.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

MAX_WORKERS = 32
PATIENCE = 0.001
"""Seconds that a job may take before those behind it are begun beside it."""
_MOST = 16 * PATIENCE
"""Seconds between two looks at a caller whose jobs were all quick so far: each look stops it."""
_DOZE = 5
"""Looks at nothing after which who watches the caller sleeps until it is called."""
Job = Callable[[], None]


class Workers:
    """Runs jobs on threads. A job must not raise: it reports its outcome itself."""

    __slots__ = (
        "_begun",
        "_busy",
        "_calling",
        "_closed",
        "_dozing",
        "_here",
        "_jobs",
        "_ring",
        "_slow",
        "_threads",
        "_wake",
        "_watcher",
        "limit",
    )

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit or MAX_WORKERS
        self._jobs: deque[Job] = deque()
        self._wake: SimpleQueue[bool] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy: set[int] = set()
        self._calling = threading.Lock()
        self._begun = 0
        self._closed = self._here = self._slow = False
        self._ring: SimpleQueue[bool] = SimpleQueue()
        self._watcher: threading.Thread | None = None
        self._dozing = False

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

    def work(self, jobs: list[Job]) -> int:
        """Run a step's jobs in the calling thread, all that nobody else has begun meanwhile.

        After a step of slow jobs, the next step's begin beside each other at once.

        Returns:
            How many it ran. The others have been begun on threads.
        """
        before, start = self._begun, time.monotonic()
        self._jobs.extend(jobs)
        self._here = threading.get_ident() not in self._busy
        try:
            if self._slow:
                self._call(len(jobs) - 1)
            else:
                self._watch()
            while True:
                try:
                    job = self._jobs.popleft()
                except IndexError:
                    ran = self._begun - before
                    self._slow = time.monotonic() - start > PATIENCE * ran
                    return ran
                self._begun += 1
                job()
        finally:
            self._here = False

    def spread(self) -> None:
        """Begin what waits, side by side up to the limit."""
        self._call(len(self._jobs))

    def _call(self, count: int) -> None:
        with self._calling:
            if self._closed:
                return
            most = min(self.limit - self._here, len(self._busy) + count)
            for number in range(len(self._threads), most):
                name = f"ckpt_viz-{number}"
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

    def _watch(self) -> None:
        """See to it that somebody looks whether the caller is held up by a job."""
        if self._watcher is None:
            with self._calling:
                if not self._closed:
                    watcher = threading.Thread(target=self._look, name="ckpt_viz-w", daemon=True)
                    watcher.start()
                    self._watcher = watcher
        elif self._dozing:
            self._dozing = False
            self._ring.put(True)

    def _look(self) -> None:
        begun, idle, patience = -1, 0, PATIENCE
        while True:
            self._dozing = idle > _DOZE
            # Who finds it awake has put its jobs before; who finds it dozing rings.
            wait = None if self._dozing and not self._jobs else patience
            try:
                if not self._ring.get(timeout=wait):
                    return
                begun, idle, patience = -1, 0, PATIENCE
            except Empty:
                if self._jobs and begun == self._begun:
                    self.spread()
                idle = 0 if self._jobs else idle + 1
                begun, patience = self._begun, min(2 * patience, _MOST)

    def drop(self) -> int:
        """Forget the jobs that the limit keeps from beginning, and begin the rest; how many."""
        dropped = 0
        while len(self._jobs) > max(0, self.limit - self._here - len(self._busy)):
            try:
                self._jobs.pop()
            except IndexError:  # a thread has begun it meanwhile
                break
            dropped += 1
        self.spread()
        return dropped

    def close(self, *, wait: bool) -> None:
        """End the threads, after what has been handed over. Nothing is begun after that."""
        self.spread()
        with self._calling:
            self._closed = True
            threads, self._threads = self._threads, []
            if self._watcher is not None:
                self._ring.put(False)
                threads.append(self._watcher)
                self._watcher = None
        for _ in threads:
            self._wake.put(False)
        if wait:
            for thread in threads:
                thread.join()
