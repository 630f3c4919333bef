"""What a channel is: a cell that turns the list of one superstep's updates into a value.

Channels are frozen while a superstep runs; only `apply_writes` updates them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import GenericAlias
from typing import Any, ClassVar, Generic, Self

from typing_extensions import TypeVar

from ckpt_viz.errors import EmptyChannelError, InvalidUpdateError

Value = TypeVar("Value", default=Any)
Update = TypeVar("Update", default=Any)
Checkpoint = TypeVar("Checkpoint", default=Any)


class _Missing:
    """The value of an empty channel; not None, which is a value like any other."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class BaseChannel(ABC, Generic[Value, Update, Checkpoint]):
    """A cell of the state; write a kind of your own by overriding what is abstract here.

    Kinds differ in how they update. ``volatile`` ones may change when a step brings no update;
    ``consumable`` ones when a task that they triggered has run; ``late`` ones when the run would
    end. A kind that does not say is volatile, and the others if it overrides their method.
    """

    __slots__ = ("key", "typ")
    volatile: ClassVar[bool] = True
    as_saved: ClassVar[bool] = False
    """Whether the value is what was saved, so that a look at it needs no channel."""
    consumable: ClassVar[bool] = False
    late: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.consumable = cls.consume is not BaseChannel.consume
        cls.late = cls.finish is not BaseChannel.finish

    def __init__(self, typ: Any, key: str = "") -> None:
        self.typ = typ
        self.key = key

    @property
    @abstractmethod
    def ValueType(self) -> Any:  # noqa: N802 - the field's name
        """The type of the value."""

    @property
    @abstractmethod
    def UpdateType(self) -> Any:  # noqa: N802 - the field's name
        """The type of an update."""

    def copy(self) -> Self:
        """A channel of this kind with the same value."""
        return self.from_checkpoint(self.checkpoint())

    def checkpoint(self) -> Any:
        """The form that is saved, or MISSING."""
        return self.peek()

    def saved(self) -> Any:
        """What the engine stores of it: the saved form."""
        return self.checkpoint()

    @abstractmethod
    def from_checkpoint(self, checkpoint: Any) -> Self:
        """A fresh channel of this kind that holds what `checkpoint` gave."""

    @abstractmethod
    def get(self) -> Any:
        """The value.

        Raises:
            EmptyChannelError: there is none.
        """

    def peek(self) -> Any:
        """The value, or MISSING."""
        try:
            return self.get()
        except EmptyChannelError:
            return MISSING

    def is_available(self) -> bool:
        """Whether `get` has something to give."""
        return self.peek() is not MISSING

    @abstractmethod
    def update(self, values: Any) -> bool:
        """Take one superstep's updates; True if the channel changed."""

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

    def empty(self) -> EmptyChannelError:
        """The error for a read where there is nothing."""
        return EmptyChannelError(f"Channel {self.key!r} holds no value.")


_READING = ("from_checkpoint", "restore", "peek", "is_available")


class Cell(BaseChannel[Any, Any, Any]):
    """What the package's own kinds share: one slot, saved as it is."""

    __slots__ = ("value",)
    volatile: ClassVar[bool] = False
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "checkpoint" in vars(cls) and "saved" not in vars(cls):  # then that is what is stored
            cls.saved = BaseChannel.saved  # type: ignore[method-assign]
        if "update" in vars(cls) and "after" not in vars(cls):  # then that is what comes after
            cls.after = BaseChannel.after  # type: ignore[method-assign]
        cls.as_saved = all(getattr(cls, name) is getattr(Cell, name) for name in _READING)

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
        return self.typ

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - the field's name
        return self.typ

    def clone(self) -> Self:
        """An empty channel of this kind, with the same settings."""
        return type(self)(self.typ, self.key)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        fresh = self.clone()
        if checkpoint is not MISSING:
            fresh.restore(checkpoint)
        return fresh

    def restore(self, checkpoint: Any) -> None:
        """Take the value back from its saved form."""
        self.value = checkpoint

    def checkpoint(self) -> Any:
        return self.value

    def saved(self) -> Any:
        return self.value

    def get(self) -> Any:
        if self.value is MISSING:
            raise self.empty()
        return self.value

    def peek(self) -> Any:
        return self.value

    def is_available(self) -> bool:
        return self.value is not MISSING


class Guarded(Cell):
    """A cell that takes one value a step, unless ``guard`` is off: then it takes the last."""

    __slots__ = ("guard",)

    def __init__(self, typ: Any = Any, guard: bool = True, key: str = "") -> None:
        self.typ = typ
        self.key = key
        self.value = MISSING
        self.guard = guard

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.guard == other.guard

    __hash__ = object.__hash__

    def clone(self) -> Self:
        return type(self)(self.typ, self.guard, self.key)

    def one_of(self, values: list[Any]) -> Any:
        """The step's value.

        Raises:
            InvalidUpdateError: there are several, and the guard is on.
        """
        if self.guard and len(values) != 1:
            raise InvalidUpdateError(
                f"At key '{self.key}': {type(self).__name__}(guard=True) can receive only one "
                "value per step. Use guard=False if you want to store any one of multiple values."
            )
        return values[-1]
