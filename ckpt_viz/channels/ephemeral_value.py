"""A value that lives for one superstep: the engine's trigger."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ckpt_viz.channels.base import MISSING, BaseChannel
from ckpt_viz.channels.last_value import only


class EphemeralValue(BaseChannel):
    """Holds a value until the next step; with ``guard`` it takes one a step."""

    __slots__ = ("guard",)
    volatile: ClassVar[bool] = True

    def __init__(self, typ: Any = Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def clone(self) -> Self:
        return type(self)(self.typ, self.guard, self.key)

    def update(self, values: list[Any]) -> bool:
        if values:
            self.value = only(self.key, values) if self.guard else values[-1]
            return True
        changed = self.value is not MISSING
        self.value = MISSING
        return changed
