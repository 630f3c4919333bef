"""The edges of a state graph as a drawing shows them: found by walking it, without running it.

A node that nothing reaches has no edges, a node that leads nowhere leads to the end, and a graph
that only ever loops ends where one node is alone after some step. A router is walked once. These
are the rules of LangGraph's drawings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckpt_viz.constants import END, START
from ckpt_viz.drawing.graph import Edge

_STEPS = 250


class Walk:
    """One walk over a builder's edges."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.edges: dict[tuple[str, str], Edge] = {}
        self.waiting: dict[str, set[str]] = {}
        self.seen: dict[Any, set[str]] = {}
        self.walked: set[str] = set()
        self.out: dict[str, list[Edge]] = {}
        for edge in self._declared():
            self.out.setdefault(edge.source, []).append(edge)

    def _declared(self) -> Iterator[Edge]:
        """All edges that are written down, the stronger ones last: of labels the first by name."""
        builder = self.builder
        for start, end in sorted(builder.edges):
            if end != END:
                yield Edge(start, end)
        edges: list[Edge] = []
        for name, spec in builder.nodes.items():
            ends = spec.ends or ()
            for end in ends:
                edges.append(Edge(name, end, ends[end] if isinstance(ends, dict) else None, True))
        for start, branches in builder.branches.items():
            for branch in branches.values():
                for key, end in (branch.ends or {}).items():
                    edges.append(Edge(start, end, None if key == end else str(key), True))
        yield from sorted(edges, key=lambda edge: edge.data or "", reverse=True)

    def edges_found(self) -> list[Edge]:
        """The edges, sorted, and then those to the end that nobody wrote down."""
        tasks = [START]
        last = tasks
        step, known = 0, -1
        while tasks and (step <= _STEPS or len(self.edges) > known):
            last, step, known = tasks, step + 1, len(self.edges)
            tasks = self._step(tasks)
        found = [self.edges[pair] for pair in sorted(self.edges)]
        lead = {edge.source for edge in found}
        reached = {edge.target for edge in found} - {END}
        ends = [Edge(n, END) for n in sorted(reached - lead) if n in self.builder.nodes]
        if START not in lead:
            ends.append(Edge(START, END, None, True))
        if not ends and len(last) == 1 and not any(edge.target == END for edge in found):
            ends = [Edge(last[0], END, None, True)]
        return found + ends

    def _step(self, tasks: list[str]) -> list[str]:
        for name in tasks:
            again = name in self.walked
            self.walked.add(name)
            for edge in self.out.get(name, ()):
                if again and edge.conditional:  # these are walked once
                    continue
                if edge.target == END:
                    self.edges[name, END] = edge
                else:
                    self.waiting.setdefault(edge.target, set()).add(name)
                    self.edges.pop((name, edge.target), None)
                    self.edges[name, edge.target] = edge
            for starts, end in self.builder.waiting_edges:
                if name in starts and end != END:
                    self.seen.setdefault((starts, end), set()).add(name)
        for (starts, end), names in self.seen.items():
            if names == set(starts):
                for name in starts:
                    self.edges.setdefault((name, end), Edge(name, end))
                self.waiting.setdefault(end, set()).update(names)
                self.seen[starts, end] = set()
        nodes = self.builder.nodes
        now = [n for n in self.waiting if n in nodes and not nodes[n].defer]
        now = now or [n for n in self.waiting if n in nodes]
        for name in now:
            self.waiting.pop(name)
        return now


def edges_of(builder: Any) -> list[Edge]:
    """The edges of a builder's graph, from START to END."""
    return Walk(builder).edges_found()
