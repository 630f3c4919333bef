"""What a value holds: its children by name and path step, without making them all.

Rules: a list of a million members costs what is looked at; a class whose own methods raise is a
leaf. A path step is a str (a str key or an attribute) or an int (a position, also within a dict
whose key is not a str).
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, overload

from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.timeline.reprs import told

Step = str | int
Kid = tuple[str, Step, Any]

SORT_LIMIT = 10_000
KEY_LIMIT = 200
_QUICK = frozenset({list, tuple, dict, deque})
"""Classes whose own methods run no code of a user's."""


class Kids(Sequence[Kid]):
    """Children as (key text, path step, child), made when they are looked at."""

    __slots__ = ("_part", "_size")

    def __init__(self, size: int, part: Callable[[int, int], Iterable[Kid]]) -> None:
        """`part` gives the children between two positions."""
        self._size = size
        self._part = part

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Kid]:
        return iter(self._part(0, self._size))

    @overload
    def __getitem__(self, at: int) -> Kid: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Kid]: ...
    def __getitem__(self, at: int | slice) -> Kid | Sequence[Kid]:
        if isinstance(at, int):
            at = range(self._size)[at]
            return next(iter(self._part(at, at + 1)))
        start, stop, stride = at.indices(self._size)
        return list(self._part(start, max(start, stop)))[::stride]


def items(value: Any) -> Sequence[Kid] | None:
    """The children of a value; None for a leaf.

    >>> list(items({"a": 1, 2: "b"}))
    [('a', 'a', 1), ('2', 1, 'b')]
    >>> len(items(range(3))) if items(range(3)) else "a leaf"
    'a leaf'
    """
    if value is None or isinstance(value, str | bytes | bytearray | type | int | float):
        return None
    try:
        kids = _kids(value)
        return kids if kids is None or type(value) in _QUICK else list(kids)
    except Exception:  # noqa: BLE001 - a user's class may raise anything: then it is a leaf
        return None


def _kids(value: Any) -> Sequence[Kid] | None:
    if isinstance(value, Mapping):
        return Kids(len(value), lambda a, b: _pairs(islice(value.items(), a, b), a))
    if isinstance(value, Set):
        return _members(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f, f, getattr(value, f)) for f in value._fields]
    if isinstance(value, list | tuple):
        return Kids(len(value), lambda a, b: _numbered(value[a:b], a))
    if isinstance(value, deque):
        return Kids(len(value), lambda a, b: _numbered(islice(value, a, b), a))
    return _fields(value)


def _pairs(pairs: Iterable[tuple[Any, Any]], start: int) -> Iterator[Kid]:
    for at, (key, child) in enumerate(pairs, start):
        yield (key, key, child) if isinstance(key, str) else (told(key)[:KEY_LIMIT], at, child)


def _numbered(members: Iterable[Any], start: int) -> Iterator[Kid]:
    return ((str(at), at, child) for at, child in enumerate(members, start))


def _members(value: Set[Any]) -> list[Kid]:
    """A set's members; in order, where that is affordable."""
    known: Iterable[Any] = value
    if len(value) <= SORT_LIMIT:
        known = sorted(value, key=lambda member: (type(member).__name__, told(member)))
    return list(_numbered(known, 0))


def _fields(value: Any) -> list[Kid] | None:
    if isinstance(value, View):
        return [(str(n), str(n), child) for n, child in value.fields.items()]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [(n, n, getattr(value, n)) for n in names if hasattr(value, n)]
    model_fields = getattr(type(value), "model_fields", None)
    if isinstance(model_fields, dict):
        return [(n, n, getattr(value, n)) for n in model_fields if hasattr(value, n)]
    if type(value).__name__ == "Send" and hasattr(value, "node"):
        return [("node", "node", value.node), ("arg", "arg", getattr(value, "arg", None))]
    return None
