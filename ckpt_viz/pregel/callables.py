"""What can be called as a node: functions, coroutine functions and objects with ``invoke``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_WANTED = ("config", "runtime", "store", "writer", "previous")


def callable_of(action: Any) -> tuple[Callable[..., Any], bool]:
    """What to call for a node or router, and whether it has to be awaited."""
    if callable(action):
        call = action
        target = action if inspect.isroutine(action) else getattr(action, "__call__", action)  # noqa: B004
        while hasattr(target, "func"):
            target = target.func
        return call, inspect.iscoroutinefunction(target)
    if hasattr(action, "invoke"):
        return action.invoke, False
    raise TypeError(f"A node is a callable or has `invoke`; got {type(action).__name__}.")


def wants_of(action: Any) -> tuple[str, ...]:
    """Which of the engine's arguments it asks for by name, beside its first parameter."""
    found = list(_parameters(action))
    return tuple(n for n in _WANTED if n in found[1:])


def injectable(action: Any) -> tuple[str, ...]:
    """Which of the engine's arguments any parameter asks for by name."""
    found = _parameters(action)
    return tuple(n for n in _WANTED if n in found)


def _parameters(action: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(action).parameters
    except (TypeError, ValueError):  # a builtin without a signature takes no names
        return {}
