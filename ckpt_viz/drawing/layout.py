"""Where a drawing's nodes go: ranks from top to bottom, loops left out.

Edges over several ranks pass through points of their own, so that lines never cross a box.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple


class Layout(NamedTuple):
    """Rows of places; a place is a node's id, or ``(edge number, rank)`` where an edge passes.

    ``chains`` has the places of each edge from its source to its target; ``loops`` the numbers of
    the edges that lead back up.
    """

    rows: list[list[Any]]
    chains: dict[int, list[Any]]
    loops: list[int]


def layout_of(nodes: list[str], edges: list[tuple[str, str]]) -> Layout:
    """The layout of a graph.

    >>> layout_of(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]).rows
    [['a'], ['b', (2, 1)], ['c']]
    """
    loops = _loops(nodes, edges)
    forward = [(i, s, t) for i, (s, t) in enumerate(edges) if i not in loops]
    rank = _ranks(nodes, forward)
    rows: list[list[Any]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for node in nodes:
        rows[rank[node]].append(node)
    chains: dict[int, list[Any]] = {}
    for i, source, target in forward:
        through = [(i, r) for r in range(rank[source] + 1, rank[target])]
        chains[i] = [source, *through, target]
        for place in through:
            rows[place[1]].append(place)
    _arrange(rows, chains)
    return Layout(rows, chains, sorted(loops))


def _loops(nodes: list[str], edges: list[tuple[str, str]]) -> set[int]:
    """The edges that close a circle, in a walk from the first node on."""
    out: dict[str, list[tuple[int, str]]] = {}
    for i, (source, target) in enumerate(edges):
        out.setdefault(source, []).append((i, target))
    found: set[int] = set()
    done: set[str] = set()
    for root in nodes:
        if root in done:
            continue
        path, stack = {root}, [(root, iter(out.get(root, ())))]
        while stack:
            node, ways = stack[-1]
            step = next(ways, None)
            if step is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif step[1] in path:
                found.add(step[0])
            elif step[1] not in done:
                path.add(step[1])
                stack.append((step[1], iter(out.get(step[1], ()))))
    return found


def _ranks(nodes: list[str], edges: list[tuple[int, str, str]]) -> dict[str, int]:
    rank = dict.fromkeys(nodes, 0)
    for _ in nodes:
        moved = False
        for _, source, target in edges:
            if rank[target] <= rank[source]:
                rank[target], moved = rank[source] + 1, True
        if not moved:
            break
    return rank


def _arrange(rows: list[list[Any]], chains: dict[int, list[Any]]) -> None:
    """Order each row by where its edges come from."""
    parents: dict[Any, list[Any]] = {}
    for chain in chains.values():
        for above, below in itertools.pairwise(chain):
            parents.setdefault(below, []).append(above)
    for above, row in itertools.pairwise(rows):
        place = {item: i / max(len(above), 1) for i, item in enumerate(above)}

        def middle(item: Any, place: dict[Any, float] = place) -> float:
            found = [place[p] for p in parents.get(item, ()) if p in place]
            return sum(found) / len(found) if found else 1.0

        row.sort(key=middle)
