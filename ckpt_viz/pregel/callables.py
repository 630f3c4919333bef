"""What can be called as a node: functions, coroutine functions and objects with ``invoke``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ckpt_viz.runtime import DEFAULT_RUNTIME

_WANTED = ("config", "runtime", "store", "writer", "previous")


def is_runnable(action: Any) -> bool:
    """Whether it is called by its ``invoke``; one that an attribute gives, as a mock's, is none."""
    return hasattr(type(action), "invoke")


def callable_of(action: Any) -> tuple[Callable[..., Any], bool]:
    """What to call for a node or router, and whether it has to be awaited."""
    if is_runnable(action):
        return action.invoke, False
    if callable(action):
        target = action
        while isinstance(target, partial):  # what it calls tells
            target = target.func
        if not inspect.isroutine(target) and not inspect.iscoroutinefunction(target):
            target = getattr(target, "__call__", target)  # noqa: B004
        return action, inspect.iscoroutinefunction(target)
    raise TypeError(f"A node is a callable or has `invoke`; got {type(action).__name__}.")


def wants_of(action: Any) -> tuple[str, ...]:
    """Which of the engine's arguments it asks for by name, beside its first parameter."""
    if is_runnable(action):
        if hasattr(action, "get_subgraphs"):  # a graph finds its surroundings by itself
            return ()
        action = action.invoke
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


def outside(wants: tuple[str, ...], config: Mapping[str, Any]) -> dict[str, Any]:
    """What a node that is called outside of any run gets for the engine's arguments."""
    runtime = (config.get("configurable") or {}).get("__pregel_runtime", DEFAULT_RUNTIME)
    given = {
        "config": config,
        "runtime": runtime,
        "store": runtime.store,
        "writer": runtime.stream_writer,
        "previous": runtime.previous,
    }
    return {name: given.get(name) for name in wants}
