"""Copies of values: quick for plain ones, right for all."""

from __future__ import annotations

import copy
from typing import Any

_ATOMS = (str, int, float, bool, type(None))


def copied(value: Any) -> Any:
    """A copy that shares nothing which can be changed.

    >>> inner = [1]
    >>> copied({"a": inner})["a"] is inner
    False
    """
    try:
        return _copied(value)
    except RecursionError:  # a value that holds itself
        return copy.deepcopy(value)


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {
            key if type(key) is str else copy.deepcopy(key): one
            if type(one) in _ATOMS
            else _copied(one)
            for key, one in value.items()
        }
    if kind is list:
        return [_copied(one) for one in value]
    return copy.deepcopy(value)
