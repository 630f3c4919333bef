"""Debug mode: be told of what would surprise you later. It costs time, so it is off at first.

It warns (`SurpriseWarning`) of a node that changes its input in place, of keys that the graph
does not have in an input or in a node's answer, and of a sync run inside a running event loop.

    import ckpt_viz.debug

    ckpt_viz.debug.on()            # from here on, or: with ckpt_viz.debug.on(): …
    graph = flow.compile(debug=True)   # this graph only; it also prints its events
    CKPT_VIZ_DEBUG=1 python program.py
"""

from __future__ import annotations

import os
import sys
import warnings
from types import TracebackType


class SurpriseWarning(UserWarning):
    """Something is about to happen that people did not expect when it happened to them."""


class _Switch:
    """The mode, and what `on` gives back to switch it off again."""

    __slots__ = ("active", "before")

    def __init__(self, active: bool) -> None:
        self.active = active
        self.before: list[bool] = []

    def __enter__(self) -> _Switch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.active = self.before.pop() if self.before else False


switch = _Switch(os.environ.get("CKPT_VIZ_DEBUG", "") not in ("", "0"))


def on() -> _Switch:
    """Switch the mode on, for good or for a ``with`` block."""
    switch.before.append(switch.active)
    switch.active = True
    return switch


def off() -> None:
    """Switch the mode off."""
    switch.before.clear()
    switch.active = False


def tell_of_a_running_loop() -> None:
    """Warn where a sync call stands in the way of an event loop of the same thread."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:
        warnings.warn(
            "A sync call (invoke, stream, get_state, put, …) runs inside a running event loop, "
            "which stands still until it ends. Await the async twin (ainvoke, astream, …).",
            SurpriseWarning,
            stacklevel=5,
        )
