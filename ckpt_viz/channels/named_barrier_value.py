"""A join: available when every named source has written."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ckpt_viz.channels.base import MISSING, BaseChannel
from ckpt_viz.errors import EmptyChannelError, InvalidUpdateError


class NamedBarrierValue(BaseChannel):
    """Waits for a write of each name; emptied when the task it triggers has run."""

    __slots__ = ("names",)
    consumable: ClassVar[bool] = True

    def __init__(self, typ: Any, names: set[Any], key: str = "") -> None:
        super().__init__(typ, key)
        self.names = names
        self.value: set[Any] = set()

    def clone(self) -> Self:
        return type(self)(self.typ, self.names, self.key)

    def restore(self, checkpoint: Any) -> None:
        self.value = set(checkpoint)

    def checkpoint(self) -> Any:
        return self.value

    def update(self, values: list[Any]) -> bool:
        changed = False
        for value in values:
            if value not in self.names:
                raise InvalidUpdateError(
                    f"At key '{self.key}': Value {value!r} not in {sorted(map(str, self.names))}"
                )
            if value not in self.value:
                self.value = self.value | {value}
                changed = True
        return changed

    def is_available(self) -> bool:
        return self.value == self.names

    def peek(self) -> Any:
        return self.get() if self.is_available() else MISSING

    def get(self) -> Any:
        if self.value != self.names:
            waits = sorted(map(str, self.names - self.value))
            raise EmptyChannelError(f"Barrier {self.key!r} still waits for {waits}.")
        return None

    def consume(self) -> bool:
        if self.value != self.names:
            return False
        self.value = set()
        return True


class NamedBarrierValueAfterFinish(NamedBarrierValue):
    """A join for a deferred node: shown only when the run would end."""

    __slots__ = ("finished",)
    late: ClassVar[bool] = True

    def __init__(self, typ: Any, names: set[Any], key: str = "") -> None:
        super().__init__(typ, names, key)
        self.finished = False

    def restore(self, checkpoint: Any) -> None:
        seen, self.finished = checkpoint
        self.value = set(seen)

    def checkpoint(self) -> Any:
        return (self.value, self.finished)

    def is_available(self) -> bool:
        return self.finished and self.value == self.names

    def consume(self) -> bool:
        if not (self.finished and self.value == self.names):
            return False
        self.finished = False
        self.value = set()
        return True

    def finish(self) -> bool:
        if self.finished or self.value != self.names:
            return False
        self.finished = True
        return True
