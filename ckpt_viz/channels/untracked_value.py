"""A value that is never saved."""

from __future__ import annotations

from typing import Any, Self

from ckpt_viz.channels.base import MISSING, BaseChannel
from ckpt_viz.channels.last_value import only


class UntrackedValue(BaseChannel):
    """Like `LastValue`, but it is not in any checkpoint."""

    __slots__ = ("guard",)

    def __init__(self, typ: Any = Any, guard: bool = True, key: str = "") -> None:
        super().__init__(typ, key)
        self.guard = guard

    def clone(self) -> Self:
        return type(self)(self.typ, self.guard, self.key)

    def checkpoint(self) -> Any:
        return MISSING

    def copy(self) -> Self:
        fresh = self.clone()
        fresh.value = self.value
        return fresh

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        self.value = only(self.key, values) if self.guard else values[-1]
        return True
