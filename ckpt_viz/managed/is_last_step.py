"""How far the recursion limit is."""

from __future__ import annotations

from typing import Annotated, Any

from ckpt_viz.managed.base import ManagedValue

__all__ = ("IsLastStep", "IsLastStepManager", "RemainingSteps", "RemainingStepsManager")


class IsLastStepManager(ManagedValue[bool]):
    """Whether the limit allows no superstep after this one."""

    @staticmethod
    def get(scratchpad: Any) -> bool:
        return bool(scratchpad.step == scratchpad.stop - 1)


class RemainingStepsManager(ManagedValue[int]):
    """How many supersteps the limit allows, this one counted."""

    @staticmethod
    def get(scratchpad: Any) -> int:
        return int(scratchpad.stop - scratchpad.step)


IsLastStep = Annotated[bool, IsLastStepManager]
RemainingSteps = Annotated[int, RemainingStepsManager]
