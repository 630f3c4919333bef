"""Type variables for programs that are generic in a graph's schemas."""

from __future__ import annotations

from typing import Any, TypeVar

StateT = TypeVar("StateT")
StateT_co = TypeVar("StateT_co", covariant=True)
StateT_contra = TypeVar("StateT_contra", contravariant=True)
InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
ContextT = TypeVar("ContextT", bound=Any)

__all__ = ["ContextT", "InputT", "OutputT", "StateT", "StateT_co", "StateT_contra"]
