"""A value that a batch reducer folds a whole step's updates into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from ckpt_viz.channels.base import MISSING, Cell
from ckpt_viz.channels.binop import first_value, overwritten, same_function


class DeltaChannel(Cell):
    """Folds a step's updates with ``reducer(value, updates)``, all of them in one call.

    In LangGraph a checkpoint holds no value of it, and reading replays the writes since the last
    snapshot, one every ``snapshot_frequency`` steps. Here every checkpoint has the value.

    Raises:
        ValueError: ``snapshot_frequency`` is not positive.
    """

    __slots__ = ("reducer", "snapshot_frequency")
    __hash__ = object.__hash__

    def __init__(
        self,
        reducer: Callable[[Any, Sequence[Any]], Any],
        typ: Any = None,
        *,
        snapshot_frequency: int = 100,
        key: str = "",
    ) -> None:
        if snapshot_frequency < 1:
            raise ValueError(f"snapshot_frequency must be a positive int, got {snapshot_frequency}")
        super().__init__(list if typ is None else typ, key)
        self.reducer = reducer
        self.snapshot_frequency = snapshot_frequency

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DeltaChannel)
            and same_function(self.reducer, other.reducer)
            and self.snapshot_frequency == other.snapshot_frequency
        )

    def clone(self) -> Self:
        frequency = self.snapshot_frequency
        return type(self)(self.reducer, self.typ, snapshot_frequency=frequency, key=self.key)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        fresh = self.clone()
        fresh.value = first_value(self.typ) if checkpoint is MISSING else checkpoint
        return fresh

    def copy(self) -> Self:
        fresh = self.clone()
        fresh.value = self.value
        return fresh

    def checkpoint(self) -> Any:
        return MISSING

    def saved(self) -> Any:
        return self.value

    def replay_writes(self, writes: Sequence[tuple[str, str, Any]]) -> None:
        """Fold pending writes ``(task_id, channel, value)`` in, one step's after the other."""
        self.update([value for _, _, value in writes])

    def update(self, values: list[Any]) -> bool:
        if not values:
            return False
        found = overwritten(self.key, values)
        if found is not MISSING:
            self.value = found
        else:
            start = first_value(self.typ) if self.value is MISSING else self.value
            self.value = self.reducer(None if start is MISSING else start, values)
        return True
