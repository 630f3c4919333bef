"""Identifiers: checkpoint ids that sort by time, and hashes that name tasks and interrupts.

A checkpoint id is a UUIDv6: sorting the strings sorts by time. Its 14-bit clock_seq carries the
step. A tick is never reused in a process and never sorts before the parent's.
"""

from __future__ import annotations

import os
import threading
import time
from itertools import count
from random import getrandbits

from xxhash import xxh3_128_hexdigest

_EPOCH_TICKS = 0x01B21DD213814000
_lock = threading.Lock()


_SECOND = 1_000_000_000
_HEX = [f"{n:02x}" for n in range(256)]
_TWO = [f"{n:02}" for n in range(100)]
_DIGITS = "0123456789abcdef"
_VARIANTS = "89ab"


class _Clock:
    """The last tick given, and the parts of ids and times that change seldom.

    Ticks are counted from the ``second`` on, which began at the tick ``base``: small numbers are
    quicker. ``low`` are the base's last twelve bits.
    """

    __slots__ = ("base", "count", "high", "high_text", "last_id", "low", "node", "second", "text")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start anew, as a forked process must: it shares no ticks with its parent."""
        self.second = -_SECOND  # long over, whatever the time is
        self.base = self.low = 0
        self.count = self.high = -1
        self.last_id = self.high_text = self.text = ""
        self.node = f"-{getrandbits(48):012x}"  # one a process: its ticks tell its ids apart

    def begin_second(self, now: int) -> int:
        """Count from the second of ``now`` on; the nanoseconds since it began."""
        past = now % _SECOND
        self.second = now - past
        last = self.base + self.count
        self.base = self.second // 100 + _EPOCH_TICKS
        self.count = last - self.base
        self.low, self.high = self.base & 0xFFF, -1
        self.text = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(self.second // _SECOND))
        return past

    def turn(self, high: int) -> None:
        """All of a tick but its last twelve bits has changed."""
        self.high = high
        whole = (self.base >> 12) + high
        self.high_text = f"{whole >> 16:08x}-{whole & 0xFFFF:04x}-6"


_clock = _Clock()
_runs = count()
os.register_at_fork(after_in_child=_clock.reset)


def checkpoint_id(step: int, parent: str | None = None) -> str:
    """A new id; its tick is max(now, last in this process + 1, the parent's tick + 1)."""
    return stamp(step, parent)[0]


def stamp(step: int, parent: str | None = None) -> tuple[str, str]:
    """A new checkpoint id, and the same moment in ISO 8601 (UTC, microseconds)."""
    clock = _clock
    with _lock:
        past = time.time_ns() - clock.second
        if not 0 <= past < _SECOND:
            past = clock.begin_second(past + clock.second)
        count = past // 100
        if count <= clock.count:
            count = clock.count + 1
        if parent != clock.last_id and parent is not None:
            count = max(count, tick_of(parent) + 1 - clock.base)
        clock.count = count
        low = clock.low + count
        if low >> 12 != clock.high:
            clock.turn(low >> 12)
        # Looked up: formatting these few digits would take twice the time of all the rest.
        tick = f"{clock.high_text}{_HEX[low >> 4 & 255]}{_DIGITS[low & 15]}"
        seq = f"{_VARIANTS[step >> 12 & 3]}{_HEX[step >> 4 & 255]}{_DIGITS[step & 15]}"
        clock.last_id = id_ = f"{tick}-{seq}{clock.node}"
        micro = past // 1000
        fraction = f"{_TWO[micro // 10_000]}{_TWO[micro // 100 % 100]}{_TWO[micro % 100]}"
        return id_, f"{clock.text}{fraction}+00:00"


def unsaved() -> str:
    """What task ids are hashed from in a run without a saver: no two runs share it."""
    return f"{next(_runs)}{_clock.node}"


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
