"""Opens what only tells of a history: a list of events, a text or file of them, an exported file.

A file is known by what is in it, not by its name; a database is left to others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ckpt_viz.timeline.event_log import read_log
from ckpt_viz.timeline.event_text import (
    TEXT_LIMIT,
    LogError,
    Notes,
    from_objects,
    from_text,
    looks_like_event,
)
from ckpt_viz.timeline.history_file import HistoryFile, is_history, read_history
from ckpt_viz.timeline.log_file import LogFile
from ckpt_viz.timeline.recorded import RecordedSaver

SQLITE = b"SQLite format 3\0"


def told_by(source: Any) -> RecordedSaver | None:
    """The record that a list, a text of several lines, or a file holds; None for all else.

    Raises:
        LogError: a text or file that is no database holds no checkpoint that can be read.
        HistoryFileError: an exported file is damaged, or of a newer version.
    """
    if isinstance(source, list | tuple):
        if not any(looks_like_event(thing) for thing in source[:100]):
            return None
        notes = Notes()
        return read_log(from_objects(source, notes), notes, "The list")
    if isinstance(source, str) and "\n" in source:
        return read_text(source)
    if isinstance(source, str | Path):
        where = Path(source).expanduser()
        if _is_text_file(where):
            return _read_file(where)
    return None


def _read_file(where: Path) -> RecordedSaver:
    raw = _bytes_of(where)
    history = _history(raw.decode("utf-8", "replace"), str(where))
    if history is None:
        return LogFile(where, raw)
    if history.name == HistoryFile.name:
        history.name = where.name
    return history


def read_text(text: str, told: str = "The text") -> RecordedSaver:
    """The record that a text holds: an exported history, or events in any of their forms.

    Raises:
        LogError, HistoryFileError: as `told_by`.
    """
    history = _history(text, told)
    if history is not None:
        return history
    notes = Notes()
    return read_log(from_text(text, notes), notes, told)


def _history(text: str, told: str) -> RecordedSaver | None:
    """The exported history that a text is; None where it may be a log."""
    if not text.strip():
        raise LogError(f"{told} is empty")
    if text.lstrip()[:1] != "{":
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if is_history(data):
        return read_history(data)
    if isinstance(data, dict) and {"hello", "checkpoints"} <= data.keys():
        raise LogError(
            f"{told} is an export without its history, as older versions wrote it: "
            "only a browser can show it. Export it again."
        )
    return None


def _is_text_file(where: Path) -> bool:
    """Whether a file exists and begins like a text (a database has zero bytes early on)."""
    try:
        if not where.is_file():  # a pipe would be waited for
            return False
        with where.open("rb") as file:
            start = file.read(1024)
    except (OSError, ValueError):
        return False
    return bool(start) and not start.startswith(SQLITE) and b"\0" not in start


def _bytes_of(where: Path) -> bytes:
    size = where.stat().st_size
    if size > TEXT_LIMIT:
        raise LogError(
            f"{where} has {size} bytes, and a log is read up to {TEXT_LIMIT}: cut it by run"
        )
    return where.read_bytes()
