"""Which values a filter means; the same for every store, whatever its database can compare.

A filter is a dictionary of names and what is wanted: a value, a filter of an inner dictionary, or
operators: ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``. All of it must hold. A name with
dots is the value of that name, or else a path. What is not there equals None and has no order.
Numbers are ordered with numbers and with texts that are numbers, texts with texts.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *_ORDER)
_KEY = re.compile(r"[a-zA-Z0-9_.-]+")


def check_filter(wanted: dict[str, Any] | None) -> None:
    """Refuse operators that there are not.

    Raises:
        ValueError: an unknown operator.
    """
    for want in (wanted or {}).values():
        if not isinstance(want, dict):
            continue
        if not _has_operators(want):
            check_filter(want)
            continue
        for name in want:
            if name not in OPERATORS:
                raise ValueError(
                    f"Unsupported operator: {name}. Use one of {', '.join(OPERATORS)}."
                )


def check_keys(wanted: dict[str, Any] | None) -> None:
    """Refuse names that are no plain names, which reach a database's own language elsewhere.

    Raises:
        ValueError: a name has other characters.
    """
    for key in wanted or ():
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(
                f"Invalid filter key: '{key}'. Filter keys must contain only alphanumeric "
                "characters, underscores, dots, and hyphens."
            )


def matches(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a filter means this value.

    >>> matches({"a": {"b": 1}, "c": "x"}, {"a.b": {"$lt": 2}, "c": "x"})
    True
    """
    return matcher(wanted)(value)


def matcher(wanted: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    """`matches` for one filter and many values."""
    tests = [(key, _test(want)) for key, want in wanted.items()]

    def means(value: dict[str, Any]) -> bool:
        return all(test(value[key] if key in value else _inner(value, key)) for key, test in tests)

    return means


def _inner(value: dict[str, Any], key: str) -> Any:
    """What a name that is not there means: what its dots lead to, or None."""
    if not isinstance(key, str) or "." not in key:
        return None
    inner: Any = value
    for part in key.split("."):
        if not isinstance(inner, dict):
            return None
        inner = inner.get(part)
    return inner


def _test(want: Any) -> Callable[[Any], bool]:
    if not isinstance(want, dict):
        return lambda have: bool(have == want)
    if not _has_operators(want):
        means = matcher(want)
        return lambda have: isinstance(have, dict) and means(have)
    tests = [_operator(name, limit) for name, limit in want.items()]
    return tests[0] if len(tests) == 1 else lambda have: all(test(have) for test in tests)


def _operator(name: str, limit: Any) -> Callable[[Any], bool]:
    if name == "$eq":
        return lambda have: bool(have == limit)
    if name == "$ne":
        return lambda have: bool(have != limit)
    order = _ORDER[name]
    return lambda have: _ordered(order, have, limit)


def _has_operators(want: dict[str, Any]) -> bool:
    return any(str(key).startswith("$") for key in want)


def _ordered(order: Callable[[Any, Any], bool], have: Any, limit: Any) -> bool:
    kinds = type(have), type(limit)
    if kinds in ((int, int), (float, float), (str, str)):
        return order(have, limit)
    if not isinstance(have, str | int | float) or not isinstance(limit, str | int | float):
        return False
    try:
        return order(_number(have), _number(limit))
    except ValueError:
        return False


def _number(value: str | float) -> float:
    return float(value) if isinstance(value, str) else value
