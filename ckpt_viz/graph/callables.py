"""What can be read off a node or router: its name, its parameters, its annotations."""

from __future__ import annotations

import inspect
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ckpt_viz.constants import ROOT
from ckpt_viz.graph.schema import channels_of
from ckpt_viz.types import Command


def name_of(action: Any) -> str:
    """The name that a node gets when none is given."""
    return str(getattr(action, "__name__", None) or type(action).__name__)


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
