"""Building graphs."""

from ckpt_viz.constants import END, START
from ckpt_viz.graph.message import MessageGraph, MessagesState, add_messages
from ckpt_viz.graph.state import CompiledStateGraph, StateGraph

__all__ = [
    "END",
    "START",
    "CompiledStateGraph",
    "MessageGraph",
    "MessagesState",
    "StateGraph",
    "add_messages",
]
