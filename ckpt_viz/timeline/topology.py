"""Reads the `Topology` of a compiled graph off its public attributes, for any engine."""

from __future__ import annotations

import inspect
from typing import Any

from ckpt_viz.timeline.records import ChannelInfo, Topology

WRAPPED = {"_add_messages": "add_messages"}
"""Reducers that an engine wraps, by the wrapper's name."""
ROUTING_PREFIXES = ("branch:", "join:", "__")


def is_routing(name: str) -> bool:
    """True for a channel that the engine owns.

    >>> is_routing("branch:to:a"), is_routing("messages"), is_routing("__root__")
    (True, False, False)
    """
    return name != "__root__" and name.startswith(ROUTING_PREFIXES)


def read_topology(graph: Any) -> Topology:
    """The shape of `graph` (a compiled state graph, or anything with `nodes` and `channels`)."""
    builder = getattr(graph, "builder", None)
    triggers = {
        str(name): tuple(str(t) for t in getattr(node, "triggers", ()))
        for name, node in graph.nodes.items()
    }
    return Topology(
        triggers=triggers,
        edges=frozenset(getattr(builder, "edges", ()) or ()),
        waiting=tuple(
            sorted(
                (tuple(starts), end)
                for starts, end in (getattr(builder, "waiting_edges", ()) or ())
            )
        ),
        branches=_branches(builder),
        channels={
            str(name): ChannelInfo(
                str(name), type(channel).__name__, _reducer(channel), is_routing(str(name))
            )
            for name, channel in graph.channels.items()
        },
    )


def _branches(builder: Any) -> dict[str, dict[str, tuple[str, ...] | None]]:
    out: dict[str, dict[str, tuple[str, ...] | None]] = {}
    for node, routers in (getattr(builder, "branches", None) or {}).items():
        out[node] = {}
        for name, branch in routers.items():
            ends = getattr(branch, "ends", None) or getattr(branch, "path_map", None)
            out[node][name] = None if ends is None else tuple(dict.fromkeys(ends.values()))
    return out


def _reducer(channel: Any) -> str | None:
    function = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    if function is None:
        return None
    name = str(getattr(function, "__name__", type(function).__name__))
    return WRAPPED.get(name, name)


def subgraph(graph: Any, node: str) -> Any:
    """The compiled graph that runs as `node` of `graph`, or None."""
    if hasattr(graph, "get_subgraphs"):
        return dict(graph.get_subgraphs()).get(node)
    spec = getattr(getattr(graph, "builder", None), "nodes", {}).get(node)
    inner = getattr(spec, "func", None)
    return inner if hasattr(inner, "builder") else None


def is_async_graph(graph: Any) -> bool:
    """True when a node or a router can only be awaited, so that only `ainvoke` works."""
    builder = getattr(graph, "builder", None)
    if builder is None:
        return any(getattr(node, "is_async", False) for node in graph.nodes.values())
    parts = [getattr(s, "runnable", s) for s in getattr(builder, "nodes", {}).values()]
    for routers in getattr(builder, "branches", {}).values():
        parts += [b if hasattr(b, "is_async") else b.path for b in routers.values()]
    return any(_only_async(part) for part in parts)


def _only_async(part: Any) -> bool:
    if hasattr(part, "builder"):
        return is_async_graph(part)
    if hasattr(part, "is_async"):
        inner = getattr(part, "func", None)
        return bool(part.is_async) or (hasattr(inner, "builder") and is_async_graph(inner))
    if hasattr(part, "afunc"):
        function = getattr(part, "func", None)
        if function is None:
            return part.afunc is not None
        return inspect.iscoroutinefunction(function)
    return inspect.iscoroutinefunction(part)
