"""The saver that keeps threads in a SQLite file; sync and async in one class."""

from ckpt_viz.checkpoint.sqlite.saver import SqliteSaver

__all__ = ["SqliteSaver"]
