"""Any one of a step's values; empty after a step that brings none."""

from __future__ import annotations

from typing import Any, ClassVar

from ckpt_viz.channels.base import MISSING, Cell


class AnyValue(Cell):
    """Keeps the last of a step's values, taking them as equal."""

    __slots__ = ()
    volatile: ClassVar[bool] = True

    def update(self, values: list[Any]) -> bool:
        if values:
            self.value = values[-1]
            return True
        changed = self.value is not MISSING
        self.value = MISSING
        return changed
