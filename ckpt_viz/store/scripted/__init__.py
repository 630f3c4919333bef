"""The contract of a store, written once as scripts, for stores that keep rows in a database."""

from ckpt_viz.store.scripted.store import ScriptedStore

__all__ = ["ScriptedStore"]
