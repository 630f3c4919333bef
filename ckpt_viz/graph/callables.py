"""What can be read off a node or router: its name, its parameters, its annotations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import reduce, wraps
from importlib import import_module
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ckpt_viz.constants import ROOT
from ckpt_viz.graph.schema import channels_of
from ckpt_viz.pregel.callables import is_runnable
from ckpt_viz.types import Command


def name_of(action: Any) -> str:
    """The name that a node gets when none is given."""
    if is_runnable(action) and hasattr(action, "get_name"):
        return str(action.get_name())
    return str(getattr(action, "__name__", None) or type(action).__name__)


def node_of(action: Any) -> Any:
    """What is called for a node: a generator function is run to its end, a map side by side.

    Raises:
        TypeError: it is nothing that can be called.
    """
    if isinstance(action, Mapping):
        try:
            return import_module("langchain_core.runnables").RunnableParallel(action)
        except ImportError:
            pass
    if inspect.isgeneratorfunction(action) or inspect.isasyncgenfunction(action):
        return _whole(action)
    if callable(action) or hasattr(action, "invoke"):
        return action
    raise TypeError(
        f"Expected a Runnable, callable or dict.Instead got an unsupported type: {type(action)}"
    )


def _whole(action: Any) -> Any:
    """A generator function as one that returns the sum of what it yields, or the last of it."""
    if inspect.isgeneratorfunction(action):

        @wraps(action)
        def collect(*args: Any, **options: Any) -> Any:
            chunks = list(action(*args, **options))
            return reduce(_added, chunks) if chunks else None

        return collect

    @wraps(action)
    async def acollect(*args: Any, **options: Any) -> Any:
        chunks = [chunk async for chunk in action(*args, **options)]
        return reduce(_added, chunks) if chunks else None

    return acollect


def _added(known: Any, chunk: Any) -> Any:
    """Both chunks in one, where they can be added; else the later one."""
    try:
        return known + chunk
    except TypeError:
        return chunk


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
    """The targets in a ``Command[Literal[…]]`` return annotation, alone or among others."""
    hint = hints.get("return")
    for one in (hint, *(get_args(hint) if get_origin(hint) in (Union, UnionType) else ())):
        if get_origin(one) is Command:
            return tuple(t for arg in get_args(one) for t in literals(arg))
    return ()
