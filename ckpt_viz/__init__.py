"""ckpt_viz: time-travel for stateful graphs: an engine with checkpoints, and a view of them.

Importing the package is cheap: the widget, IPython and LangGraph are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ckpt_viz.version import __version__

if TYPE_CHECKING:
    from ckpt_viz.explorer import Explorer, explore
    from ckpt_viz.magics import load_ipython_extension
    from ckpt_viz.timeline.recording import record

__all__ = ["Explorer", "__version__", "explore", "load_ipython_extension", "record"]

_HOMES = {
    "Explorer": "ckpt_viz.explorer",
    "explore": "ckpt_viz.explorer",
    "load_ipython_extension": "ckpt_viz.magics",
    "record": "ckpt_viz.timeline.recording",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ckpt_viz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
