"""Building graphs."""

from ckpt_viz.constants import END, START
from ckpt_viz.graph.state import CompiledStateGraph, StateGraph

__all__ = ["END", "START", "CompiledStateGraph", "StateGraph"]
