"""A join: available when every named source has written."""

from __future__ import annotations

from typing import Any, Self

from ckpt_viz.channels.base import MISSING, Cell
from ckpt_viz.errors import EmptyChannelError, InvalidUpdateError


class NamedBarrierValue(Cell):
    """Waits for a write of each name; emptied when the task it triggers has run."""

    __slots__ = ("names", "seen")

    def __init__(self, typ: Any, names: set[Any], key: str = "") -> None:
        super().__init__(typ, key)
        self.names = names
        self.seen: set[Any] = set()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.names == other.names

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r}, {self.seen} of {self.names})"

    def clone(self) -> Self:
        return type(self)(self.typ, self.names, self.key)

    def restore(self, checkpoint: Any) -> None:
        self.seen = set(checkpoint)

    def checkpoint(self) -> Any:
        return self.seen

    def update(self, values: list[Any]) -> bool:
        changed = False
        for value in values:
            if value not in self.names:
                raise InvalidUpdateError(f"At key '{self.key}': Value {value} not in {self.names}")
            if value not in self.seen:
                self.seen = self.seen | {value}
                changed = True
        return changed

    def is_available(self) -> bool:
        return self.seen == self.names

    def peek(self) -> Any:
        return self.get() if self.is_available() else MISSING

    def get(self) -> Any:
        if not self.is_available():
            waits = sorted(map(str, self.names - self.seen)) or "the end of the run"
            raise EmptyChannelError(f"Barrier {self.key!r} still waits for {waits}.")
        return None

    def consume(self) -> bool:
        if self.seen != self.names:
            return False
        self.seen = set()
        return True


class NamedBarrierValueAfterFinish(NamedBarrierValue):
    """A join for a deferred node: shown only when the run would end."""

    __slots__ = ("finished",)

    def __init__(self, typ: Any, names: set[Any], key: str = "") -> None:
        super().__init__(typ, names, key)
        self.finished = False

    def restore(self, checkpoint: Any) -> None:
        seen, self.finished = checkpoint
        self.seen = set(seen)

    def checkpoint(self) -> Any:
        return (self.seen, self.finished)

    def is_available(self) -> bool:
        return self.finished and self.seen == self.names

    def consume(self) -> bool:
        if not (self.finished and self.seen == self.names):
            return False
        self.finished = False
        self.seen = set()
        return True

    def finish(self) -> bool:
        if self.finished or self.seen != self.names:
            return False
        self.finished = True
        return True
