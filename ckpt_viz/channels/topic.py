"""A list of what was published in a step, or, accumulating, in all steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from ckpt_viz.channels.base import MISSING, Cell


class Topic(Cell):
    """Collects values; lists are flattened one level."""

    __slots__ = ("accumulate",)
    volatile: ClassVar[bool] = True

    def __init__(self, typ: Any, accumulate: bool = False, key: str = "") -> None:
        super().__init__(typ, key)
        self.accumulate = accumulate
        self.value: list[Any] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topic) and self.accumulate == other.accumulate

    __hash__ = object.__hash__

    @property
    def ValueType(self) -> Any:  # noqa: N802 - the field's name
        return Sequence[self.typ]  # type: ignore[name-defined]

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - the field's name
        return self.typ | list[self.typ]  # type: ignore[name-defined]

    @property
    def values(self) -> list[Any]:
        """What it holds."""
        return self.value

    def clone(self) -> Self:
        return type(self)(self.typ, self.accumulate, self.key)

    def restore(self, checkpoint: Any) -> None:
        # An old form was a pair: what had been seen, and the values.
        self.value = list(checkpoint[1] if isinstance(checkpoint, tuple) else checkpoint)

    def checkpoint(self) -> Any:
        return list(self.value)

    def is_available(self) -> bool:
        return bool(self.value)

    def peek(self) -> Any:
        return self.value or MISSING

    def get(self) -> Any:
        if not self.value:
            raise self.empty()
        return self.value

    def update(self, values: list[Any]) -> bool:
        flat: list[Any] = []
        for value in values:
            if isinstance(value, list):
                flat.extend(value)
            else:
                flat.append(value)
        before = self.value
        if self.accumulate:
            if flat:
                self.value = [*before, *flat]
            return bool(flat)
        self.value = flat
        return bool(flat) or bool(before)
