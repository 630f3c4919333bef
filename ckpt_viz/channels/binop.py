"""A value that a reducer folds each update into."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from typing import Any, Self, get_origin

from ckpt_viz.channels.base import MISSING, BaseChannel
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


def _first_value(typ: Any) -> Any:
    """What the fold starts from: the type's own empty value, where it has one."""
    kind = get_origin(typ) or typ
    try:
        return _CONCRETE.get(kind, kind)()
    except Exception:  # noqa: BLE001 - any type may refuse an empty call: the first update starts it
        return MISSING


class BinaryOperatorAggregate(BaseChannel):
    """Folds a step's updates into the value with ``operator(value, update)``, in task order."""

    __slots__ = ("operator",)

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any], key: str = "") -> None:
        super().__init__(typ, key)
        self.operator = operator
        self.value = _first_value(typ)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryOperatorAggregate) and self.operator is other.operator

    __hash__ = object.__hash__

    def clone(self) -> Self:
        return type(self)(self.typ, self.operator, self.key)

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        for value in values:
            if _replaces(value):
                return self._overwrite(values)
        start = 0
        if self.value is MISSING:
            self.value, start = values[0], 1
        for value in values[start:]:
            self.value = self.operator(self.value, value)
        return True

    def _overwrite(self, values: list[Any]) -> bool:
        """One `Overwrite` wins the step; plain values beside it are dropped."""
        found = [v for v in values if _replaces(v)]
        if len(found) > 1:
            raise InvalidUpdateError(
                "Can receive only one Overwrite value per super-step.\n"
                f"Channel {self.key!r} got {len(found)}."
            )
        first = found[0]
        self.value = first.value if isinstance(first, Overwrite) else first["__overwrite__"]
        return True


def _replaces(value: Any) -> bool:
    """Whether a write is an Overwrite, or its form in JSON: ``{"__overwrite__": value}``."""
    kind = value.__class__
    return kind is Overwrite or (kind is dict and len(value) == 1 and "__overwrite__" in value)
