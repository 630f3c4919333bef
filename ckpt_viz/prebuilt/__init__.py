"""Ready-made parts of agents: the node that runs tools, and the router before it."""

from typing import Any

from ckpt_viz.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime
from ckpt_viz.prebuilt.tool_node import ToolNode, tools_condition

__all__ = ["InjectedState", "InjectedStore", "ToolNode", "ToolRuntime", "tools_condition"]

_ELSEWHERE = ("ToolCallTransformer", "ValidationNode", "create_react_agent")


def __getattr__(name: str) -> Any:
    """Tell where the agents are that this package does not have.

    Raises:
        ImportError: a name of LangGraph's that is not here.
    """
    if name in _ELSEWHERE:
        raise ImportError(
            f"ckpt_viz.prebuilt has no {name!r}: build the agent with langgraph.prebuilt, give it "
            "a checkpointer, and look at it with ckpt_viz.explore(graph); or build it from "
            "ckpt_viz.graph.StateGraph, ToolNode and tools_condition."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
