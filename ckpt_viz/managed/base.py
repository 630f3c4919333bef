"""The base of managed values: a key of the state that is computed, never written or saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import isclass
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

V = TypeVar("V")

__all__ = ("Clock", "ManagedValue", "ManagedValueMapping", "ManagedValueSpec", "is_managed_value")


class Clock(NamedTuple):
    """Where a run is: ``step`` is the superstep, ``stop`` the one that the recursion limit bars."""

    step: int
    stop: int


class ManagedValue(ABC, Generic[V]):
    """A class that is put into ``Annotated`` in place of a reducer."""

    @staticmethod
    @abstractmethod
    def get(scratchpad: Any) -> V:
        """The value at a moment, of which ``scratchpad`` tells ``step`` and ``stop``."""


ManagedValueSpec = type[ManagedValue[Any]]
ManagedValueMapping = dict[str, ManagedValueSpec]


def is_managed_value(value: Any) -> TypeGuard[ManagedValueSpec]:
    """Whether it is a managed value's class.

    >>> is_managed_value(int)
    False
    """
    return isclass(value) and issubclass(value, ManagedValue)
