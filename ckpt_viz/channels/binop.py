"""A value that a reducer folds each update into."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from typing import Any, Self, get_origin

from ckpt_viz.channels.base import MISSING, Cell
from ckpt_viz.errors import InvalidUpdateError
from ckpt_viz.types import Overwrite

_CONCRETE: dict[Any, type] = {
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Set: set,
    abc.MutableSet: set,
    abc.Mapping: dict,
    abc.MutableMapping: dict,
}


def first_value(typ: Any) -> Any:
    """What the fold starts from: the type's own empty value, where it has one."""
    kind = get_origin(typ) or typ
    try:
        return _CONCRETE.get(kind, kind)()
    except Exception:  # noqa: BLE001 - any type may refuse an empty call: the first update starts it
        return MISSING


class BinaryOperatorAggregate(Cell):
    """Folds a step's updates into the value with ``operator(value, update)``, in task order."""

    __slots__ = ("operator",)

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any], key: str = "") -> None:
        super().__init__(typ, key)
        self.operator = operator
        self.value = first_value(typ)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryOperatorAggregate) and same_function(
            self.operator, other.operator
        )

    __hash__ = object.__hash__

    def clone(self) -> Self:
        return type(self)(self.typ, self.operator, self.key)

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        self.value = self.after(values)
        return True

    def after(self, values: list[Any]) -> Any:
        found = overwritten(self.key, values)
        if found is not MISSING:
            return found
        folded = self.value
        for value in values:
            folded = value if folded is MISSING else self.operator(folded, value)
        return folded


def overwritten(key: str, values: list[Any]) -> Any:
    """The step's `Overwrite`, which wins over plain values beside it, or MISSING.

    Raises:
        InvalidUpdateError: there are several.
    """
    found: list[Any] = []
    for value in values:
        kind = value.__class__
        if kind is Overwrite:
            found.append(value.value)
        elif kind is dict and len(value) == 1 and "__overwrite__" in value:  # its form in JSON
            found.append(value["__overwrite__"])
    if len(found) > 1:
        raise InvalidUpdateError(
            "Can receive only one Overwrite value per super-step.\n"
            f"Channel {key!r} got {len(found)}."
        )
    return found[0] if found else MISSING


def same_function(one: Any, other: Any) -> bool:
    """Whether two reducers are one; a lambda, which no name tells apart, is taken as the other."""
    return one is other or "<lambda>" in (getattr(f, "__name__", "") for f in (one, other))
