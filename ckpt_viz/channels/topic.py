"""A list of what was published in a step, or, accumulating, in all steps."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ckpt_viz.channels.base import MISSING, BaseChannel


class Topic(BaseChannel):
    """Collects values; lists are flattened one level."""

    __slots__ = ("accumulate",)
    volatile: ClassVar[bool] = True

    def __init__(self, typ: Any, accumulate: bool = False, key: str = "") -> None:
        super().__init__(typ, key)
        self.accumulate = accumulate

    def clone(self) -> Self:
        return type(self)(self.typ, self.accumulate, self.key)

    def restore(self, checkpoint: Any) -> None:
        self.value = list(checkpoint)

    def checkpoint(self) -> Any:
        return MISSING if self.value is MISSING else list(self.value)

    def is_available(self) -> bool:
        return bool(self.value)

    def peek(self) -> Any:
        return self.get() if self.is_available() else MISSING

    def get(self) -> Any:
        return self.value if self.value else BaseChannel(self.typ, self.key).get()

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
                self.value = flat if before is MISSING else [*before, *flat]
            return bool(flat)
        if not flat and before is MISSING:
            return False
        self.value = flat
        return bool(flat) or bool(before)
