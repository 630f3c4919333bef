"""The contract of a saver, written once as scripts, for savers that keep rows on a server."""

from ckpt_viz.checkpoint.scripted.saver import ScriptedSaver

__all__ = ["ScriptedSaver"]
