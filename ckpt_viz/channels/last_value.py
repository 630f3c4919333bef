"""One value, the last one written."""

from __future__ import annotations

from typing import Any

from ckpt_viz.channels.base import MISSING, Cell
from ckpt_viz.errors import InvalidUpdateError


def only(key: str, values: list[Any]) -> Any:
    """The one value of a step.

    Raises:
        InvalidUpdateError: there are several.
    """
    if len(values) != 1:
        raise InvalidUpdateError(
            f"At key '{key}': Can receive only one value per step. "
            "Use an Annotated key to handle multiple values."
        )
    return values[0]


class LastValue(Cell):
    """Keeps the last value; takes one a step."""

    __slots__ = ()

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        self.value = values[0] if len(values) == 1 else only(self.key, values)
        return True

    def after(self, values: list[Any]) -> Any:
        return only(self.key, values)


class LastValueAfterFinish(Cell):
    """Keeps the last value, and shows it only when the run would end (deferred nodes)."""

    __slots__ = ("finished",)

    def __init__(self, typ: Any = Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.finished = False

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        self.finished = False
        self.value = values[-1]
        return True

    def restore(self, checkpoint: Any) -> None:
        self.value, self.finished = checkpoint

    def checkpoint(self) -> Any:
        return MISSING if self.value is MISSING else (self.value, self.finished)

    def is_available(self) -> bool:
        return self.finished and self.value is not MISSING

    def peek(self) -> Any:
        return self.get() if self.is_available() else MISSING

    def get(self) -> Any:
        if not self.finished:
            raise self.empty()
        return super().get()

    def consume(self) -> bool:
        if not self.finished:
            return False
        self.finished = False
        self.value = MISSING
        return True

    def finish(self) -> bool:
        if self.finished or self.value is MISSING:
            return False
        self.finished = True
        return True
