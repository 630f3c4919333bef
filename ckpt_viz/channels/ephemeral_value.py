"""A value that lives for one superstep: the engine's trigger."""

from __future__ import annotations

from typing import Any, ClassVar

from ckpt_viz.channels.base import MISSING, Guarded


class EphemeralValue(Guarded):
    """Holds a value until the next step; with ``guard`` it takes one a step."""

    __slots__ = ()
    volatile: ClassVar[bool] = True

    def update(self, values: list[Any]) -> bool:
        if values:
            self.value = values[0] if len(values) == 1 else self.one_of(values)
            return True
        changed = self.value is not MISSING
        self.value = MISSING
        return changed
