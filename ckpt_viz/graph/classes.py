"""The classes that a graph names in its annotations: those that its saver may load again."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Iterable
from typing import Any, get_args, get_type_hints

_BUILTIN = frozenset({"builtins", "typing", "typing_extensions", "collections", "collections.abc"})


def named_classes(annotations: Iterable[Any]) -> set[type]:
    """Every class of the user's that is reachable from annotations, fields included.

    >>> import dataclasses
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    >>> named_classes([dict[str, list[Point]]]) == {Point}
    True
    """
    found: set[type] = set()
    waiting = list(annotations)
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if not inspect.isclass(hint) or hint in found or hint.__module__ in _BUILTIN:
            continue
        found.add(hint)
        waiting += _fields(hint)
    return {cls for cls in found if _is_value(cls)}


def _fields(cls: type) -> list[Any]:
    try:
        return list(get_type_hints(cls, include_extras=True).values())
    except (NameError, TypeError, AttributeError):  # names of a local scope: taken when first saved
        return []


def _is_value(cls: type) -> bool:
    """Whether instances are data: a dataclass, model, named tuple, enum or attrs class."""
    return (
        dataclasses.is_dataclass(cls)
        or issubclass(cls, enum.Enum | BaseException)
        or any(hasattr(cls, mark) for mark in ("model_fields", "_fields", "__attrs_attrs__"))
    )
