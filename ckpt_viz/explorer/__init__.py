"""The widget that shows a timeline, and the pictures of it that need no kernel."""

from ckpt_viz.explorer.methods import Selection
from ckpt_viz.explorer.widget import Explorer, explore

__all__ = ["Explorer", "Selection", "explore"]
