"""A value that is never saved."""

from __future__ import annotations

from typing import Any, Self

from ckpt_viz.channels.base import MISSING, Guarded


class UntrackedValue(Guarded):
    """Like `LastValue`, but it is not in any checkpoint."""

    __slots__ = ()

    def checkpoint(self) -> Any:
        return MISSING

    def restore(self, checkpoint: Any) -> None:
        """What a checkpoint may hold of it is not taken up."""

    def copy(self) -> Self:
        fresh = self.clone()
        fresh.value = self.value
        return fresh

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        self.value = self.one_of(values)
        return True
