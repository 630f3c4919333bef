"""What can be read off a node or router: its name, its parameters, its annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ckpt_viz.constants import ROOT
from ckpt_viz.graph.schema import channels_of
from ckpt_viz.types import Command

_WANTED = ("config", "runtime", "store", "writer")


def name_of(action: Any) -> str:
    """The name that a node gets when none is given."""
    return str(getattr(action, "__name__", None) or type(action).__name__)


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
    """Which of config, runtime, store and writer it asks for, beside its first parameter."""
    try:
        parameters = inspect.signature(action).parameters
    except (TypeError, ValueError):  # a builtin without a signature takes the state alone
        return ()
    first = next(iter(parameters), None)
    return tuple(n for n in _WANTED if n in parameters and n != first)


def hints_of(action: Any) -> dict[str, Any]:
    """The annotations of a node or router; nothing where they cannot be resolved."""
    target = action if inspect.isroutine(action) else getattr(action, "__call__", None)  # noqa: B004
    if target is None:
        return {}
    try:
        return get_type_hints(target)
    except (NameError, TypeError, AttributeError):  # forward names of a local scope
        return {}


def input_of(action: Any, hints: dict[str, Any]) -> Any:
    """The class that a node's first parameter is annotated with, if it is a state schema."""
    try:
        first = next(iter(inspect.signature(action).parameters), None)
    except (TypeError, ValueError):
        return None
    hint = hints.get(first) if first else None
    found = channels_of(hint) if inspect.isclass(hint) else {}
    return hint if found and ROOT not in found else None


def literals(hint: Any) -> list[str]:
    """The names in a ``Literal`` annotation."""
    return [a for a in get_args(hint) if isinstance(a, str)] if get_origin(hint) is Literal else []


def command_ends(hints: dict[str, Any]) -> tuple[str, ...]:
    """The targets in a ``Command[Literal[…]]`` return annotation."""
    hint = hints.get("return")
    if get_origin(hint) is not Command:
        return ()
    return tuple(t for arg in get_args(hint) for t in literals(arg))
