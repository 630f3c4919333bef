"""Finding the graphs inside a graph: those that are nodes, and those that a node's code names."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

from ckpt_viz.constants import NS_SEP
from ckpt_viz.pregel.callables import is_runnable


def is_graph(value: Any) -> bool:
    """Whether a value is a compiled graph of this engine."""
    return hasattr(type(value), "get_subgraphs") and hasattr(value, "program")


def _keeps(value: Any) -> bool:
    """Whether it is a graph that has a history when it is nested."""
    return is_graph(value) and value.checkpointer is not False


def graphs_of(func: Any) -> Iterator[Any]:
    """The graphs with a history that a node's function is or names: as a variable or attribute.

    Graphs that it finds in another way, in an argument or in a list, are not seen here. They run
    as nested graphs all the same.
    """
    if is_graph(func):
        if _keeps(func):
            yield func
        return
    if is_runnable(func):
        for step in getattr(func, "steps", ()):  # a sequence of them
            yield from graphs_of(step)
    for name in ("func", "afunc", "bound"):
        inner = getattr(func, name, None)
        if is_graph(inner) or isinstance(inner, FunctionType):
            yield from graphs_of(inner)
    code = func.__func__ if isinstance(func, MethodType) else func
    if isinstance(code, FunctionType):
        named = inspect.getclosurevars(code)
        for value in (*named.nonlocals.values(), *named.globals.values()):
            yield from _in_value(value, code.__code__.co_names)


def _in_value(value: Any, names: tuple[str, ...]) -> Iterator[Any]:
    if _keeps(value):
        yield value
    else:
        held = getattr(value, "__dict__", None) or {}
        yield from (held[n] for n in names if n in held and _keeps(held[n]))


def subgraphs_of(nodes: Any, namespace: str | None, recurse: bool) -> Iterator[tuple[str, Any]]:
    """The graphs in nodes, by their path. ``namespace`` leaves those on the way to one path."""
    for name, node in nodes.items():
        if namespace is not None and not f"{namespace}{NS_SEP}".startswith(f"{name}{NS_SEP}"):
            continue
        for graph in node.graphs[:1]:
            rest = namespace[len(name) + 1 :] if namespace is not None else None
            if not rest:
                yield name, graph
            if recurse and rest != "":
                inner = subgraphs_of(graph.nodes, rest, True)
                yield from ((f"{name}{NS_SEP}{path}", found) for path, found in inner)
