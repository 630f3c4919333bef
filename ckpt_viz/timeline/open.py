"""Chooses the timeline for what a person hands over: a graph, or says what is needed instead."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from ckpt_viz.checkpoint.base import BaseCheckpointSaver
from ckpt_viz.checkpoint.langgraph import as_langgraph
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.databases.opening import Wish, open_place
from ckpt_viz.timeline.langgraph import LangGraphTimeline, is_langgraph
from ckpt_viz.timeline.retold import over
from ckpt_viz.timeline.saved import open_saved
from ckpt_viz.timeline.server_acts import is_server, open_server
from ckpt_viz.timeline.told import told_by

GIVEN = "__pregel_checkpointer"
"""The entry of a graph's config by which a saver may be given instead of at compile."""
READ_ONLY = (
    "A path or an address is opened read-only. To act: explore(source, graph=graph, write=True)"
)

SERVER_READ_ONLY = "An address is opened read-only. To act: explore(address, write=True)"


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
    source: Any,
    thread_id: str | None = None,
    checkpoint_ns: str = "",
    graph: Any = None,
    *,
    write: bool | None = None,
    key: bytes | str | None = None,
) -> GraphTimeline:
    """The timeline of whatever a person has.

    Args:
        source: a compiled graph of either engine, what has one as its ``graph`` (a manager of
            sessions), a saver, a path or address, debug events (a list, a text or a file), or a
            timeline.
        thread_id: the thread to look at; None: none yet.
        checkpoint_ns: the namespace to look at.
        graph: the graph that a saver, path or address needs to act.
        write: whether acts are allowed. None: where a graph is given, but for paths and addresses.
        key: what decrypts an encrypted database; else ``LANGGRAPH_AES_KEY`` is looked for.

    Raises TypeError for what is none of these, and `NoHistoryError` for a graph without a saver.
    """
    if isinstance(source, GraphTimeline):
        timeline = source if thread_id is None else source.at(thread_id, checkpoint_ns)
    elif (told := told_by(source)) is not None:
        timeline = over(told, thread_id, checkpoint_ns)
    elif is_server(source):
        timeline = open_server(source, thread_id, checkpoint_ns)
        if not write:
            timeline.forbid(SERVER_READ_ONLY)
    elif isinstance(source, str | Path):
        wish = Wish(write=bool(write), key=key, views=graph is None)
        saver, title = open_place(source, wish)
        timeline = _over(saver, thread_id, checkpoint_ns, graph, title)
        if not write:
            timeline.forbid(READ_ONLY)
    elif hasattr(source, "get_tuple") and hasattr(source, "put_writes"):
        timeline = _over(source, thread_id, checkpoint_ns, graph)
    else:
        timeline = _over_graph(source, thread_id, checkpoint_ns)
    if write is False:
        timeline.forbid("Opened with write=False: it only reads.")
    return timeline


def _over(
    saver: Any, thread_id: str | None, checkpoint_ns: str, graph: Any, title: str = ""
) -> GraphTimeline:
    """Over a saver, with its graph or without."""
    if graph is None:
        return open_saved(saver, thread_id, checkpoint_ns, title)
    if is_langgraph(graph) and isinstance(saver, BaseCheckpointSaver):
        saver = as_langgraph(saver)
    return _over_graph(graph.copy(update={"checkpointer": saver}), thread_id, checkpoint_ns)


def _over_graph(source: Any, thread_id: str | None, checkpoint_ns: str) -> GraphTimeline:
    graph = source if hasattr(source, "get_state_history") else getattr(source, "graph", source)
    if not hasattr(graph, "get_state_history"):
        hint = " Call .compile(checkpointer=…) first." if hasattr(source, "compile") else ""
        if hasattr(source, "__next__") or hasattr(source, "__anext__"):
            hint = ' Of a stream with stream_mode="debug" give all events: list(stream).'
        raise TypeError(
            f"Can't explore {_told(source)}: expected a compiled graph of ckpt_viz or "
            f"of LangGraph, a saver, a path or an address.{hint}"
        )
    given = ((getattr(graph, "config", None) or {}).get("configurable") or {}).get(GIVEN)
    if given is not None and getattr(graph, "checkpointer", None) is None:
        graph = graph.copy(update={"checkpointer": given})
    return _timeline_of(graph)(graph, thread_id, checkpoint_ns)


def _timeline_of(graph: Any) -> type[GraphTimeline]:
    if is_langgraph(graph):
        return LangGraphTimeline
    from ckpt_viz.timeline.engine import EngineTimeline  # noqa: PLC0415 - only when needed

    return EngineTimeline


def open_recorded(graph: Any, thread_id: str | None = None) -> GraphTimeline:
    """A timeline of a graph that has no saver: what runs here is kept in memory, on its own saver.

    The graph itself stays without one.
    """
    kind = _timeline_of(graph)
    copy = graph.copy(update={"checkpointer": kind.memory()})
    timeline = kind(copy, thread_id or "scratch")
    timeline.is_scratch = timeline.is_recorded = True
    return timeline
