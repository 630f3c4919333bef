"""Chooses the timeline for what a person hands over: a graph, or says what is needed instead."""

from __future__ import annotations

from typing import Any

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.langgraph import LangGraphTimeline, is_langgraph


def open_timeline(
    source: Any, thread_id: str | None = None, checkpoint_ns: str = "", graph: Any = None
) -> GraphTimeline:
    """The timeline of a compiled graph of either engine, or of a saver together with its graph.

    Raises TypeError for what is not a graph, and `NoHistoryError` for a graph without a saver.
    """
    if isinstance(source, GraphTimeline):
        return source if thread_id is None else source.at(thread_id, checkpoint_ns)
    if graph is not None and hasattr(source, "get_tuple"):
        source = graph.copy(update={"checkpointer": source})
    if hasattr(source, "get_tuple") and hasattr(source, "put_writes"):
        raise TypeError(
            f"{type(source).__name__} is a checkpointer; give the graph that wrote it too: "
            "explore(saver, graph=graph)"
        )
    if not hasattr(source, "get_state_history"):
        hint = " Call .compile(checkpointer=…) first." if hasattr(source, "compile") else ""
        raise TypeError(
            f"Can't explore a {type(source).__name__}: expected a compiled graph of ckpt_viz or "
            f"of LangGraph.{hint}"
        )
    if is_langgraph(source):
        return LangGraphTimeline(source, thread_id, checkpoint_ns)
    from ckpt_viz.timeline.engine import EngineTimeline  # noqa: PLC0415 - only when needed

    return EngineTimeline(source, thread_id, checkpoint_ns)
