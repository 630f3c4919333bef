"""The widget that shows a timeline, and the pictures of it that need no kernel.

The widget and its notebook machinery are loaded when first asked for: the pictures need none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ckpt_viz.explorer.methods import Selection
    from ckpt_viz.explorer.widget import Explorer, explore

__all__ = ["Explorer", "Selection", "explore"]

_HOMES = {"Explorer": "widget", "Selection": "methods", "explore": "widget"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
