"""The superstep engine."""

from ckpt_viz.pregel.main import Pregel

__all__ = ["Pregel"]
