"""The table of threads: the saver's index in any order, and the state of those in view.

The index is cheap. A thread's state (done, failed, waits) and the preview of its last value take
reading its newest checkpoint: so they are read for the threads in view, or, where the order or the
choice needs them of all, part by part within a time limit. Nothing is read twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.preview import Previewer, short
from ckpt_viz.timeline.records import Row, ThreadInfo
from ckpt_viz.timeline.redact import REDACTED
from ckpt_viz.timeline.threads import Head, counts, unreadable_thread
from ckpt_viz.timeline.topology import is_routing

PREVIEW = 120
INDEX_SECONDS = 2.0
SIZED_THREADS = 1_000
"""Beyond this many the bytes of threads are not asked for: to add them up, all rows are read."""
SIZES_SECONDS = 20.0
Key = Literal["time", "id", "steps", "size", "state"]
STATES: Mapping[str, str] = {"error": "failed", "interrupt": "waits", "pending": "can go on"}


class Reader(Protocol):
    """What this module needs of a timeline."""

    saver: Any

    def heads(self, query: str = "") -> list[Head]:
        """All threads whose id holds a text, the last used first."""
        ...

    def newest(self, head: Head) -> tuple[Row, Any] | None:
        """A thread's newest row and its values; None where it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Ask:
    """What of the table is wanted. ``state``: only threads in one of these states (empty: all)."""

    offset: int = 0
    limit: int = 100
    sort: Key = "time"
    down: bool = True
    text: str = ""
    state: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TablePage:
    """A part of the table. ``matched`` of ``total`` threads fit; ``left`` are not read yet."""

    threads: tuple[ThreadInfo, ...]
    total: int
    matched: int
    left: int


class ThreadTable:
    """The table of threads of one saver; keeps what it has read."""

    def __init__(self, reader: Reader, redact: Sequence[str] = ()) -> None:
        """Reads nothing yet. ``redact``: paths whose values are not told."""
        self._reader = reader
        self._redact = tuple(redact)
        self._known: dict[tuple[str, str], ThreadInfo] = {}
        self._index: tuple[float, list[Head]] = (float("-inf"), [])
        self._sizes: tuple[float, dict[str, int]] = (float("-inf"), {})

    def page(self, ask: Ask, seconds: float = 0.2) -> TablePage:
        """The wanted threads. Reads for at most ``seconds``; ask again while some are left.

        Raises:
            ValueError: there is no such order.
        """
        if ask.sort not in _KEYS:
            raise ValueError(f"Can't sort threads by {ask.sort!r}: sort by {', '.join(_KEYS)}")
        every = self._heads()
        found = [head for head in every if ask.text.casefold() in head.thread.casefold()]
        end = time.monotonic() + seconds
        window = slice(ask.offset, ask.offset + ask.limit)
        if not ask.state and ask.sort in ("time", "id"):
            if ask.sort == "id":
                found.sort(key=lambda head: head.thread)
            if ask.down != (ask.sort == "time"):
                found.reverse()
            shown, left = self._read(found[window], end)
            return TablePage(tuple(self._counted(shown)), len(every), len(found), left)
        infos, left = self._read(found, end)
        infos = self._counted(infos) if ask.sort == "size" else infos
        if ask.state:
            infos = [info for info in infos if state_of(info) in ask.state]
        infos.sort(key=_KEYS[ask.sort], reverse=ask.down)
        shown = self._counted(infos[window])
        return TablePage(tuple(shown), len(every), len(infos), left)

    def _heads(self) -> list[Head]:
        read, found = self._index
        if time.monotonic() - read > INDEX_SECONDS:
            found = self._reader.heads()
            self._index = time.monotonic(), found
        return list(found)

    def _read(self, heads: list[Head], end: float) -> tuple[list[ThreadInfo], int]:
        out, left = [], 0
        for head in heads:
            known = self._known.get((head.thread, head.id))
            if known is None and time.monotonic() < end:
                known = self._known[head.thread, head.id] = self._state(head)
            left += known is None
            out.append(known or ThreadInfo(head.thread, head.checkpoints or 0, -2, 0.0))
        return out, left

    def _state(self, head: Head) -> ThreadInfo:
        try:
            found = self._reader.newest(head)
        except DAMAGED as error:
            return unreadable_thread(head, head.checkpoints or 0, error)
        if found is None:
            return ThreadInfo(head.thread, 0, -2, 0.0, head=head.id)
        row, values = found
        return ThreadInfo(
            id=head.thread,
            checkpoints=head.checkpoints or 0,
            last_step=row.step,
            last_time=row.time,
            status=row.status,
            head=row.id,
            preview=last_value(row, values, self._redact),
        )

    def _counted(self, infos: list[ThreadInfo]) -> list[ThreadInfo]:
        """With the number of checkpoints and the size, where the saver tells them."""
        asks = hasattr(self._reader.saver, "count_checkpoints")
        unknown = [Head(i.id, i.head, i.checkpoints or None) for i in infos if asks]
        told = counts(self._reader.saver, unknown)
        sizes = self._sized()
        return [
            replace(info, checkpoints=told.get(info.id, info.checkpoints), bytes=sizes.get(info.id))
            for info in infos
        ]

    def _sized(self) -> dict[str, int]:
        read, sizes = self._sizes
        tell = getattr(self._reader.saver, "threads", None)
        if len(self._index[1]) > SIZED_THREADS:
            return {}
        if time.monotonic() - read > SIZES_SECONDS:
            rows = tell() if callable(tell) else ()
            if isinstance(rows, list):  # a coroutine or what another saver means by it: no sizes
                sizes = {str(r["thread_id"]): int(r["bytes"]) for r in rows if "bytes" in r}
            self._sizes = time.monotonic(), sizes
        return sizes


def state_of(info: ThreadInfo) -> str:
    """A thread's state in a word: done, failed, waits, can go on; empty where it is not known."""
    return STATES.get(info.status, info.status)


_KEYS: dict[str, Callable[[ThreadInfo], Any]] = {
    "time": lambda info: info.last_time,
    "id": lambda info: info.id,
    "steps": lambda info: info.last_step,
    "size": lambda info: (info.bytes or 0, info.checkpoints),
    "state": lambda info: (state_of(info), info.last_time),
}


def last_value(row: Row, values: Any, redact: Sequence[str] = ()) -> str:
    """The channel that was written last and what is in it (of a list: its last item), in a line."""
    if not isinstance(values, dict):
        return ""
    named = [c for c in (*row.changed, *values) if c in values and not is_routing(c)]
    if not named:
        return ""
    channel = named[0]
    hides = Previewer(redact).hides
    value, path = values[channel], [channel]
    if isinstance(value, list) and value:
        path.append(str(len(value) - 1))
        value = value[-1]
    inner = value.get("content") if isinstance(value, dict) else getattr(value, "content", None)
    if inner is not None:
        path.append("content")
        value = inner
    if any(hides(tuple(path[: k + 1])) for k in range(len(path))):
        return f"{channel}: {REDACTED}"
    told = short(value)[0].replace("\n", " ")
    return f"{channel}: {told[:PREVIEW]}{'…' if len(told) > PREVIEW else ''}"
