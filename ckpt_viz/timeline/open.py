"""Chooses the timeline for what a person hands over: a graph, or says what is needed instead."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.langgraph import LangGraphTimeline, is_langgraph
from ckpt_viz.timeline.saved import open_file, open_saved


def _told(thing: Any) -> str:
    """What was given, in words.

    >>> [_told(x) for x in (42, [1], dict, len, None)]
    ['an int', 'a list', 'the class dict', 'the function len', 'None']
    """
    if thing is None:
        return "None"
    own = getattr(thing, "__name__", None)
    if isinstance(thing, type):
        return f"the class {own}"
    if isinstance(thing, ModuleType):
        return f"the module {own}"
    if own is not None and callable(thing):
        return f"the function {own}"
    name = type(thing).__name__.lstrip("_")
    sounds = name[:1].lower() in "aeiou" and not name.lower().startswith(("uni", "use", "uu"))
    return f"{'an' if sounds else 'a'} {name}"


def open_timeline(
    source: Any, thread_id: str | None = None, checkpoint_ns: str = "", graph: Any = None
) -> GraphTimeline:
    """The timeline of a compiled graph of either engine, of a saver, or of a SQLite file of ours.

    A saver or file acts when its graph is given too; alone it is read-only.

    Raises TypeError for what is not a graph, and `NoHistoryError` for a graph without a saver.
    """
    if isinstance(source, GraphTimeline):
        return source if thread_id is None else source.at(thread_id, checkpoint_ns)
    if isinstance(source, str | Path):
        source = open_file(source)
    is_saver = hasattr(source, "get_tuple") and hasattr(source, "put_writes")
    if is_saver and graph is None:
        return open_saved(source, thread_id, checkpoint_ns)
    if is_saver:
        source = graph.copy(update={"checkpointer": source})
    if not hasattr(source, "get_state_history"):
        hint = " Call .compile(checkpointer=…) first." if hasattr(source, "compile") else ""
        raise TypeError(
            f"Can't explore {_told(source)}: expected a compiled graph of ckpt_viz or "
            f"of LangGraph.{hint}"
        )
    if is_langgraph(source):
        return LangGraphTimeline(source, thread_id, checkpoint_ns)
    from ckpt_viz.timeline.engine import EngineTimeline  # noqa: PLC0415 - only when needed

    return EngineTimeline(source, thread_id, checkpoint_ns)
