"""Breakpoints on nodes, also of nested graphs: where a run from here ends before or after a node.

A nested node is named by the nodes that lead to it, with colons: ``sub:node``. The graph's own
breakpoints stay. Those of a nested graph are attributes that every run of it reads, so they are
set for the time of one act and put back after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ckpt_viz.timeline.topology import subgraph

SIDES = ("before", "after")
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The nodes before and after which a run ends, until it is asked to go on."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @classmethod
    def of(cls, graph: Any, before: Iterable[str] = (), after: Iterable[str] = ()) -> Breakpoints:
        """Breakpoints that are checked against the graph's nodes.

        Raises:
            ValueError: names a node that the graph does not have, and those it has.
        """
        for name in (before, after):
            if isinstance(name, str):
                raise ValueError(f"Breakpoints are lists of nodes: write [{name!r}]")
        points = cls(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after)))
        known = node_names(graph)
        unknown = [n for n in dict.fromkeys((*points.before, *points.after)) if n not in known]
        if unknown:
            raise ValueError(
                f"No node {', '.join(map(repr, unknown))} to break at; "
                f"the nodes are {', '.join(known)}"
            )
        return points

    def within(self, names: Iterable[str]) -> Breakpoints:
        """Those that are on one of the names; the rest is dropped."""
        kept = set(names)
        return Breakpoints(
            tuple(n for n in self.before if n in kept), tuple(n for n in self.after if n in kept)
        )

    def __bool__(self) -> bool:
        """True when there is any."""
        return bool(self.before or self.after)


def node_names(graph: Any, prefix: str = "", depth: int = 0) -> list[str]:
    """All nodes of the graph and of the graphs in it: ``a``, ``sub``, ``sub:inner``."""
    out: list[str] = []
    for node in getattr(graph, "nodes", ()):
        name = str(node)
        if name.startswith("__"):
            continue
        out.append(prefix + name)
        inner = subgraph(graph, name) if depth < DEEPEST else None
        if inner is not None:
            out += node_names(inner, f"{prefix}{name}:", depth + 1)
    return out


@contextlib.contextmanager
def breaking(graph: Any, points: Breakpoints) -> Iterator[dict[str, Any]]:
    """The options for one run of the graph; nested graphs break inside the `with` block."""
    options: dict[str, Any] = {}
    inner: dict[str, dict[str, list[str]]] = {}
    for side in SIDES:
        for name in getattr(points, side):
            path, _, node = name.rpartition(":")
            inner.setdefault(path, {}).setdefault(side, []).append(node)
    for side, nodes in inner.pop("", {}).items():
        options[f"interrupt_{side}"] = _joined(graph, side, nodes)
    kept: list[tuple[Any, str, Any]] = []
    try:
        for path, sides in inner.items():
            nested = _nested(graph, path)
            for side, nodes in sides.items():
                name = f"interrupt_{side}_nodes"
                kept.append((nested, name, getattr(nested, name)))
                setattr(nested, name, _joined(nested, side, nodes))
        yield options
    finally:
        for nested, name, before in reversed(kept):
            setattr(nested, name, before)


def _nested(graph: Any, path: str) -> Any:
    for name in path.split(":"):
        graph = subgraph(graph, name)
    return graph


def _joined(graph: Any, side: str, nodes: list[str]) -> Any:
    own = getattr(graph, f"interrupt_{side}_nodes", None) or ()
    return own if own == "*" else list(dict.fromkeys((*own, *nodes)))
