"""Values that the run computes for a node's input; no channel holds them."""

from ckpt_viz.managed.is_last_step import IsLastStep, RemainingSteps

__all__ = ["IsLastStep", "RemainingSteps"]
