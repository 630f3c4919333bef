"""Large values decoded once for a reader that looks at several checkpoints and changes none.

Owns the context in which `JsonPlusSerializer` gives the same object for the same large bytes.
Rules: it lasts for one question; outside of it every read is fresh, as runs and edits need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from xxhash import xxh3_128_digest

LARGE = 64 * 1024
"""Smaller values are decoded in less time than it takes to find them again."""
ROOM = 256 * 1024 * 1024


class Decoded:
    """What was decoded so far, by its bytes; the first in is the first out."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Any, int]] = {}
        self._size = 0

    def get(self, raw: bytes, decode: Callable[[], Any]) -> Any:
        """The value of these bytes."""
        key = xxh3_128_digest(raw)
        if key not in self._known:
            self._known[key] = decode(), len(raw)
            self._size += len(raw)
            while self._size > ROOM and len(self._known) > 1:
                self._size -= self._known.pop(next(iter(self._known)))[1]
        return self._known[key][0]


DECODED: ContextVar[Decoded | None] = ContextVar("DECODED", default=None)


@contextmanager
def looking() -> Iterator[None]:
    """While this lasts, equal large values are one object: nobody may change them."""
    token = DECODED.set(Decoded())
    try:
        yield
    finally:
        DECODED.reset(token)
