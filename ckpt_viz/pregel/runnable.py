"""A graph among langchain_core's runnables: it counts as one, and has their methods.

langchain_core is not needed. What composes a graph with runnables asks for it and says so.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import GenericAlias, MethodType
from typing import Any, ClassVar

_BORROWED = frozenset(
    {
        "abatch",
        "abatch_as_completed",
        "as_tool",
        "assign",
        "astream",
        "astream_events",
        "astream_log",
        "atransform",
        "batch",
        "batch_as_completed",
        "bind",
        "get_prompts",
        "map",
        "pick",
        "pipe",
        "stream",
        "stream_events",
        "transform",
        "with_alisteners",
        "with_config",
        "with_fallbacks",
        "with_listeners",
        "with_retry",
        "with_types",
    }
)
"""Methods of langchain_core's `Runnable` that a graph has when that is installed."""


class Composable:
    """What a graph shares with runnables: a name, ``|``, and their methods on demand."""

    name: str
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """Its name; with a suffix in the name's own style.

        >>> Composable.get_name(None, "input", name="mine")
        'mine_input'
        """
        found = name or self.name
        if not suffix:
            return found
        return found + suffix.title() if found[0].isupper() else f"{found}_{suffix.lower()}"

    def as_runnable(self) -> Any:
        """The graph, which counts as a `Runnable` of langchain_core from now on.

        Raises:
            ImportError: langchain_core is not installed.
        """
        try:
            base = import_module("langchain_core.runnables").Runnable
        except ImportError as error:
            raise ImportError(
                "To compose a graph with runnables: pip install langchain-core"
            ) from error
        base.register(Composable)
        return self

    def __or__(self, other: Any) -> Any:
        return self._borrowed("__or__")(other)

    def __ror__(self, other: Any) -> Any:
        return self._borrowed("__ror__")(other)

    def __getattr__(self, name: str) -> Any:
        if name in _BORROWED or name.startswith("_astream_events"):
            return self._borrowed(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _borrowed(self, name: str) -> Any:
        """A method of `Runnable`, for this graph."""
        self.as_runnable()
        base = import_module("langchain_core.runnables").Runnable
        return MethodType(getattr(base, name), self)


def join_runnables() -> None:
    """Let graphs count as runnables, where langchain_core is loaded."""
    module = sys.modules.get("langchain_core.runnables.base")
    base = getattr(module, "Runnable", None)  # None while that module is being imported
    if base is not None:
        base.register(Composable)
