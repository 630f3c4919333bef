"""The superstep engine."""

from ckpt_viz.pregel.main import Pregel
from ckpt_viz.pregel.nodes import NodeBuilder

__all__ = ["NodeBuilder", "Pregel"]
