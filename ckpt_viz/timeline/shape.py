"""The picture of a graph as data: nodes with the subgraphs they are in, edges with their kinds.

Asks the graph's own `get_graph`, which knows of subgraphs and of `Command` destinations, and adds
what only the topology tells: which edges are one barrier, and which router an edge belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ckpt_viz.timeline.records import Topology
from ckpt_viz.timeline.topology import read_topology, subgraph

EdgeKind = Literal["edge", "branch", "barrier"]
START, END = "__start__", "__end__"
NO_SHAPE = (
    "Only the saved history was given: it names channels, not the graph's edges. "
    "To draw them, add the graph: explore(source, graph=graph)"
)


@dataclass(frozen=True, slots=True)
class ShapeNode:
    """A node; `inside` is the id of the subgraph that it belongs to, empty at the root."""

    id: str
    name: str
    inside: str = ""


@dataclass(frozen=True, slots=True)
class ShapeEdge:
    """An edge between two node ids. `label`: the router's answer that takes it."""

    source: str
    target: str
    kind: EdgeKind = "edge"
    label: str = ""
    router: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """What there is to draw; without nodes, `why` says why there is nothing.

    `subgraphs` holds the ids of the subgraphs, outer ones first: a node that runs a graph of its
    own is drawn as a frame around that graph's nodes. `note` tells what the picture leaves out.
    """

    nodes: tuple[ShapeNode, ...] = ()
    edges: tuple[ShapeEdge, ...] = ()
    subgraphs: tuple[str, ...] = ()
    why: str = ""
    note: str = ""


def read_shape(graph: Any, topology: Topology) -> Shape:
    """The shape of a compiled graph, subgraphs opened."""
    try:
        drawn = graph.get_graph(xray=True)
    except Exception as error:  # noqa: BLE001 - a user's graph may refuse: the plain shape is left
        plain = of_topology(topology)
        return replace(
            plain, note=f"Subgraphs are not opened: {type(error).__name__}: {error}"[:300]
        )
    nodes = tuple(_placed(str(id_), topology) for id_ in drawn.nodes)
    found = [
        ShapeEdge(str(e.source), str(e.target), "branch" if e.conditional else "edge", _text(e))
        for e in drawn.edges
    ]
    inside = _frames(nodes)
    known = {"": topology} | {path: _topology_in(graph, path) for path in inside}
    return Shape(nodes, tuple(_explained(e, known) for e in found), inside)


def _placed(id_: str, topology: Topology) -> ShapeNode:
    """A node of a subgraph has an id like `sub:node`, unless a node is really named so."""
    inside, _, name = id_.rpartition(":")
    return (
        ShapeNode(id_, id_)
        if id_ in topology.triggers or not name
        else ShapeNode(id_, name, inside)
    )


def _text(edge: Any) -> str:
    return "" if edge.data is None else str(edge.data)


def _frames(nodes: tuple[ShapeNode, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for node in nodes:
        parts = node.inside.split(":") if node.inside else []
        for end in range(1, len(parts) + 1):
            found[":".join(parts[:end])] = None
    return tuple(found)


def _topology_in(graph: Any, path: str) -> Topology | None:
    for name in path.split(":"):
        graph = subgraph(graph, name)
        if graph is None:
            return None
    return read_topology(graph)


def _explained(edge: ShapeEdge, known: dict[str, Topology | None]) -> ShapeEdge:
    """The edge with its barrier or its router; both ends are named as their topology does."""
    place = _common(edge.source, edge.target)
    topology = known.get(place)
    if topology is None:
        return edge
    source, target = _within(edge.source, place), _within(edge.target, place)
    if any(source in starts and target == end for starts, end in topology.waiting):
        return replace(edge, kind="barrier")
    if edge.kind == "branch":
        routers = topology.branches.get(source, {})
        fits = [name for name, ends in routers.items() if ends is None or target in ends]
        return replace(edge, router=fits[0] if len(fits) == 1 else "")
    return edge


def _common(a: str, b: str) -> str:
    """The innermost subgraph that holds both.

    >>> _common("sub:a", "sub:b"), _common("sub:a", "b")
    ('sub', '')
    """
    out = []
    for x, y in zip(a.split(":")[:-1], b.split(":")[:-1], strict=False):
        if x != y:
            break
        out.append(x)
    return ":".join(out)


def _within(id_: str, place: str) -> str:
    """The node of the graph at `place` that `id_` is, or is inside of."""
    rest = id_[len(place) + 1 :] if place else id_
    return rest.split(":", 1)[0]


def of_topology(topology: Topology) -> Shape:
    """The shape that a topology alone tells: its own level, without `Command` destinations."""
    names = [n for n in topology.triggers if n != END]
    pairs = [ShapeEdge(a, b) for a, b in sorted(topology.edges)]
    pairs += [ShapeEdge(s, end, "barrier") for starts, end in topology.waiting for s in starts]
    pairs += [
        ShapeEdge(source, end, "branch", router=router)
        for source, routers in sorted(topology.branches.items())
        for router, ends in routers.items()
        for end in (ends or ())
    ]
    ends = [END] if any(e.target == END for e in pairs) else []
    return Shape(tuple(ShapeNode(n, n) for n in (*names, *ends)), tuple(pairs))
