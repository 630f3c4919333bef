"""A log file that may still be written: read on from where it ended, at each look.

A line that was cut is read again when the rest has come. Only files with an event a line grow so;
what becomes shorter, or goes away, is left as it was read.
"""

from __future__ import annotations

import threading
from pathlib import Path

from ckpt_viz.timeline.event_log import EventLog, Fold
from ckpt_viz.timeline.event_text import LogError, Notes, from_lines, from_text, goes_by_lines


class LogFile(EventLog):
    """The checkpoints that a log file tells of, now and as it grows."""

    def __init__(self, path: Path, raw: bytes) -> None:
        """Takes the path and the bytes that it holds.

        Raises:
            LogError: the text tells of no checkpoint.
        """
        super().__init__()
        text = raw.decode("utf-8", "replace")
        self.name = path.name
        self._path = path
        self._notes = Notes()
        self._fold = Fold(self, self._notes)
        self._lock = threading.Lock()
        self._grows = goes_by_lines(text)
        self._done = raw.rfind(b"\n") + 1
        self._lines = raw.count(b"\n")
        self._fold.take(from_text(text, self._notes))
        self._fold.check(str(path))

    def renew(self) -> None:
        """Reads the lines that were added since."""
        if not self._grows or not self._lock.acquire(blocking=False):
            return
        try:
            self._read_on()
        finally:
            self._lock.release()

    def _read_on(self) -> None:
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) <= self._done:
                    return
                file.seek(self._done)
                raw = file.read()
        except OSError:  # it was moved or removed: what was read stays
            return
        whole = raw[: raw.rfind(b"\n") + 1]
        if not whole:
            return
        self._notes.mend()
        text = whole.decode("utf-8", "replace")
        try:
            self._fold.take(from_lines(text, self._notes, self._lines))
        except LogError:
            return
        self._done += len(whole)
        self._lines += text.count("\n")
