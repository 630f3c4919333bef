"""The widget that shows a timeline, and the pictures of it that need no kernel."""

from ckpt_viz.explorer.widget import Explorer, Selection, explore

__all__ = ["Explorer", "Selection", "explore"]
