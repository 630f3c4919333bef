"""Identifiers: checkpoint ids that sort by time, and hashes that name tasks and interrupts.

A checkpoint id is a UUIDv6: sorting the strings sorts by time. Its 14-bit clock_seq carries the
step. A tick is never reused in a process and never sorts before the parent's.
"""

from __future__ import annotations

import os
import threading
import time
from random import getrandbits

from xxhash import xxh3_128_hexdigest

_EPOCH_TICKS = 0x01B21DD213814000
_lock = threading.Lock()


class _Clock:
    """The last tick given, and the parts of ids and times that change seldom."""

    __slots__ = ("high", "high_text", "last_id", "node", "second", "second_text", "tick")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start anew, as a forked process must: it shares no ticks with its parent."""
        self.tick = 0
        self.last_id = ""
        self.high = self.second = -1
        self.high_text = self.second_text = ""
        self.node = f"-{getrandbits(48):012x}"  # one a process: its ticks tell its ids apart


_clock = _Clock()
os.register_at_fork(after_in_child=_clock.reset)


def checkpoint_id(step: int, parent: str | None = None) -> str:
    """A new id; its tick is max(now, last in this process + 1, the parent's tick + 1)."""
    return stamp(step, parent)[0]


def stamp(step: int, parent: str | None = None) -> tuple[str, str]:
    """A new checkpoint id, and the same moment in ISO 8601 (UTC, microseconds)."""
    clock = _clock
    with _lock:
        now = time.time_ns()
        tick = now // 100 + _EPOCH_TICKS
        if tick <= clock.tick:
            tick = clock.tick + 1
        if parent is not None and parent != clock.last_id:
            tick = max(tick, tick_of(parent) + 1)
        clock.tick = tick
        high, low = divmod(tick, 1 << 28)  # low: a small number, which is quicker from here on
        if high != clock.high:
            clock.high = high
            clock.high_text = f"{high:08x}-"
        if not 0 <= now - clock.second < 1_000_000_000:
            clock.second = now - now % 1_000_000_000
            moment = time.gmtime(clock.second // 1_000_000_000)
            clock.second_text = time.strftime("%Y-%m-%dT%H:%M:%S.", moment)
        clock.last_id = id_ = "%s%04x-6%03x-%04x%s" % (  # noqa: UP031 - a quarter less time
            clock.high_text,
            low >> 12,
            low & 0xFFF,
            step & 0x3FFF | 0x8000,
            clock.node,
        )
        return id_, "%s%06d+00:00" % (clock.second_text, (now - clock.second) // 1000)  # noqa: UP031


def tick_of(id_: str) -> int:
    """The 100 ns tick inside a UUIDv6; 0 for an id of another kind.

    >>> tick_of("1ef663ba-28fe-6528-8002-5a559208592c") == 0x1EF663BA28FE528
    True
    >>> tick_of("mine")
    0
    """
    if len(id_) != 36 or id_[14] != "6":
        return 0
    try:
        return int(id_[:8] + id_[9:13] + id_[15:18], 16)
    except ValueError:
        return 0


def hash_uuid(data: bytes) -> str:
    """The xxh3-128 of the data, laid out as a UUID."""
    h = xxh3_128_hexdigest(data)
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def interrupt_id(task_ns: str, answered: int = 0) -> str:
    """The id of a task's next question: 32 hex digits; later questions hash ``ns|k``."""
    text = task_ns if answered == 0 else f"{task_ns}|{answered}"
    return xxh3_128_hexdigest(text.encode())


def id_bytes(checkpoint: str) -> bytes:
    """The bytes of a checkpoint id that task ids are hashed from."""
    global _last_bytes
    known, made = _last_bytes  # the tasks of a step share theirs
    if known != checkpoint:
        try:
            made = bytes.fromhex(checkpoint.replace("-", ""))
        except ValueError:
            made = checkpoint.encode()
        _last_bytes = checkpoint, made
    return made


_last_bytes = ("", b"")
