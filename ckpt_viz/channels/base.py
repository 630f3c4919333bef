"""What a channel is: a cell that turns the list of one superstep's updates into a value.

Channels are frozen while a superstep runs; only `apply_writes` updates them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ckpt_viz.errors import EmptyChannelError


class _Missing:
    """The value of an empty channel; not None, which is a value like any other."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()


class BaseChannel:
    """A channel with one slot; kinds differ in how they update it.

    ``volatile`` kinds may change when a step brings no update; ``consumable`` ones when a task
    that they triggered has run; ``late`` ones when the run would end.
    """

    __slots__ = ("key", "typ", "value")
    volatile: ClassVar[bool] = False
    consumable: ClassVar[bool] = False
    late: ClassVar[bool] = False

    def __init__(self, typ: Any = Any, key: str = "") -> None:
        self.typ = typ
        self.key = key
        self.value: Any = MISSING

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r}, {self.value!r})"

    @property
    def ValueType(self) -> Any:  # noqa: N802 - the field's name
        """The type of the value."""
        return self.typ

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - the field's name
        """The type of an update."""
        return self.typ

    def clone(self) -> Self:
        """An empty channel of this kind, with the same settings."""
        return type(self)(self.typ, self.key)

    def copy(self) -> Self:
        """A channel of this kind with the same value."""
        return self.from_checkpoint(self.checkpoint())

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A fresh channel of this kind that holds what `checkpoint` gave."""
        fresh = self.clone()
        if checkpoint is not MISSING:
            fresh.restore(checkpoint)
        return fresh

    def restore(self, checkpoint: Any) -> None:
        """Take the value back from its saved form."""
        self.value = checkpoint

    def checkpoint(self) -> Any:
        """The form that is saved, or MISSING."""
        return self.value

    def get(self) -> Any:
        """The value.

        Raises:
            EmptyChannelError: there is none.
        """
        if self.value is MISSING:
            raise EmptyChannelError(f"Channel {self.key!r} holds no value.")
        return self.value

    def peek(self) -> Any:
        """The value, or MISSING."""
        return self.value

    def is_available(self) -> bool:
        """Whether `get` has something to give."""
        return self.value is not MISSING

    def update(self, values: list[Any]) -> bool:
        """Take one superstep's updates; True if the channel changed."""
        raise NotImplementedError

    def after(self, values: list[Any]) -> Any:
        """The value that these updates would give, or MISSING; the channel stays as it is."""
        twin = self.copy()
        twin.update(values)
        return twin.peek()

    def consume(self) -> bool:
        """A task that this channel triggered has run; True if the channel changed."""
        return False

    def finish(self) -> bool:
        """The run would end now; True if the channel changed."""
        return False
