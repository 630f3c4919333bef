"""What an object says of itself: its `repr`, which may raise, exit, sleep or never end.

Rules: nothing it does reaches the caller; a class that was late once is not asked again.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

SECONDS = 0.25
PLAIN = frozenset({str, bytes, bytearray, bool, float, complex, type(None)})
"""Classes whose `repr` is the interpreter's own, and quick."""
BITS = 2_000
"""Longer whole numbers cost quadratic time as decimals, and Python refuses them."""

_LATE: weakref.WeakSet[type] = weakref.WeakSet()


def own_repr(value: Any) -> str | None:
    """The repr of a value; None when there was none within a quarter of a second.

    >>> own_repr([1, "a"]), own_repr(type("Rude", (), {"__repr__": lambda self: 1 / 0})())
    ("[1, 'a']", None)
    """
    text, _ = _ask(value)
    return text


def told(value: Any) -> str:
    """The repr of a value, or in words why there is none."""
    text, why = _ask(value)
    return text if text is not None else f"<{type(value).__qualname__}: its repr {why}>"


def _ask(value: Any) -> tuple[str | None, str]:
    cls = type(value)
    if cls in PLAIN:
        return repr(value), ""
    if isinstance(value, int) and value.bit_length() > BITS:
        return f"int of {value.bit_length()} bits: {hex(value)[:64]}…", ""
    if cls is int:
        return repr(value), ""
    if cls in _LATE:
        return None, "takes too long"
    return _with_a_watch(value, cls)


def _with_a_watch(value: Any, cls: type) -> tuple[str | None, str]:
    box: list[tuple[str | None, str]] = []

    def work() -> None:
        try:
            text = repr(value)
        except BaseException as error:  # noqa: BLE001 - a user's __repr__ may even exit
            box.append((None, f"raised {type(error).__name__}"))
        else:
            box.append((text, ""))

    thread = threading.Thread(target=work, name="ckpt-viz-repr", daemon=True)
    thread.start()
    thread.join(SECONDS)
    if not box:
        _LATE.add(cls)
        return None, "takes too long"
    return box[0]
