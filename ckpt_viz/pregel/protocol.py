"""The name by which programs annotate "any graph": here all graphs are of one class."""

from ckpt_viz.pregel.main import Pregel as PregelProtocol

__all__ = ["PregelProtocol"]
