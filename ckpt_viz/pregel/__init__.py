"""The superstep engine."""

from ckpt_viz.pregel.main import Pregel
from ckpt_viz.pregel.nodes import ChannelWriteEntry, NodeBuilder

__all__ = ["ChannelWriteEntry", "NodeBuilder", "Pregel"]
