"""Whether two values say the same, though two sources may tell them in different ways.

A log or a server tells a tuple as a list, and an object as a dict: such pairs are alike when their
children are. Nothing is ever raised for odd values; what cannot be compared is compared as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ckpt_viz.timeline.children import items
from ckpt_viz.timeline.reprs import own_repr

DEPTH_LIMIT = 60


def alike(a: Any, b: Any, ignore: Sequence[str] = ()) -> bool:
    """Whether two values say the same. `ignore` names keys and fields that do not count.

    >>> alike((1, {"id": "x", "n": 2}), [1, {"id": "y", "n": 2}], ignore=["id"])
    True
    """
    return _alike(a, b, frozenset(ignore), 0)


def _alike(a: Any, b: Any, ignore: frozenset[str], depth: int) -> bool:
    if a is b:
        return True
    if _plain(a) or _plain(b):
        return _same_leaf(a, b)
    left, right = _children(a, ignore), _children(b, ignore)
    if left is None or right is None or depth > DEPTH_LIMIT:
        return type(a) is type(b) and _same_leaf(a, b)
    if isinstance(left, dict) and isinstance(right, dict):
        keys = left.keys() | right.keys()
        return all(
            _alike(left.get(k, _ABSENT), right.get(k, _ABSENT), ignore, depth + 1) for k in keys
        )
    if isinstance(left, dict) or isinstance(right, dict) or len(left) != len(right):
        return False
    return all(_alike(x, y, ignore, depth + 1) for x, y in zip(left, right, strict=True))


_ABSENT: Any = object()


def _plain(value: Any) -> bool:
    return value is None or value is _ABSENT or isinstance(value, str | bytes | int | float)


def _children(value: Any, ignore: frozenset[str]) -> dict[Any, Any] | list[Any] | None:
    """A dict of what has names, a list of what has positions, None for what has neither."""
    if isinstance(value, Mapping):
        return {k: v for k, v in value.items() if k not in ignore}
    if isinstance(value, Set):
        return [child for _, _, child in items(value) or ()]
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return list(value)
    kids = items(value)
    if kids is None:
        return None
    if all(isinstance(step, int) for _, step, _ in kids):
        return [child for _, _, child in kids]
    return {key: child for key, _, child in kids if key not in ignore}


def _same_leaf(a: Any, b: Any) -> bool:
    if a is _ABSENT or b is _ABSENT or isinstance(a, bool) is not isinstance(b, bool):
        return False
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - arrays refuse a single truth value: compare what shows
        text = own_repr(a)
        return text is not None and text == own_repr(b)
