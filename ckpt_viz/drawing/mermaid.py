"""A drawing in Mermaid's language, word for word as LangGraph writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_COLOURS = {
    "default": "fill:#f2f0ff,line-height:1.2",
    "first": "fill-opacity:0",
    "last": "fill:#bfb6fc",
}
_MARKDOWN = ("*", "_", "`")


@dataclass(frozen=True, slots=True)
class Style:
    """How a drawing looks: its curves, its colours, its head matter."""

    curve: Any
    colours: Any
    head: Mapping[str, Any]

    def around(self, body: str) -> str:
        """The body between its head matter and its styles."""
        curve = {"flowchart": {"curve": getattr(self.curve, "value", self.curve)}}
        head = _yaml({**self.head, "config": {**curve, **self.head.get("config", {})}})
        colours = self.colours or {}
        given = colours if isinstance(colours, dict) else vars(colours)
        styles = {kind: given.get(kind, colour) for kind, colour in _COLOURS.items()}
        tail = "".join(f"\tclassDef {kind} {style}\n" for kind, style in styles.items())
        return f"---\n{head}---\n{body}{tail}"


def mermaid_of(graph: Any, style: Style | None, words: int) -> str:
    """A graph in Mermaid's language; without a style its edges alone."""
    body = f"graph TD;\n{_Mermaid(graph, style is not None, words).body()}"
    return body if style is None else style.around(body)


class _Mermaid:
    """Writes nodes and edges, those of a subgraph inside its frame."""

    def __init__(self, graph: Any, styled: bool, words: int) -> None:
        self.graph = graph
        self.styled = styled
        self.words = words
        self.first, self.last = graph.first_node(), graph.last_node()
        self.groups: dict[str, list[Any]] = {"": []}
        for edge in graph.edges:
            self.groups.setdefault(_shared(edge), []).append(edge)
        for id_ in graph.nodes:
            parts = id_.split(":")[:-1]
            for depth in range(len(parts)):
                self.groups.setdefault(":".join(parts[: depth + 1]), [])

    def body(self) -> str:
        return self.frame("") + "".join(self.frame(p) for p in self.groups if p and ":" not in p)

    def frame(self, prefix: str) -> str:
        edges = self.groups[prefix]
        loop = prefix in self.graph.nodes
        lines = (
            [f"\tsubgraph {prefix.rsplit(':', maxsplit=1)[-1]}\n"] if prefix and not loop else []
        )
        if self.styled and not loop:
            inside = [n for n in self.graph.nodes.values() if n.id.rpartition(":")[0] == prefix]
            lines += [self.node(n) for n in inside]
        lines += [self.edge(edge) for edge in edges]
        if prefix:
            depth = prefix.count(":") + 1
            nested = [p for p in self.groups if p.startswith(f"{prefix}:")]
            lines += [self.frame(p) for p in nested if p.count(":") == depth]
        return "".join([*lines, "\tend\n"] if prefix and not loop else lines)

    def node(self, node: Any) -> str:
        label = node.name
        if label.startswith(_MARKDOWN) and label.endswith(_MARKDOWN):
            label = f"<p>{label}</p>"
        if node.metadata:
            told = "\n".join(f"{k} = {_listed(v)}" for k, v in node.metadata.items())
            label = f"{label}<hr/><small><em>{told}</em></small>"
        if node is self.first or node is self.last:
            return f"\t{_safe(node.id)}([{label}]):::{'first' if node is self.first else 'last'}\n"
        return f"\t{_safe(node.id)}({label})\n"

    def edge(self, edge: Any) -> str:
        arrow = "-.->" if edge.conditional else "-->"
        if edge.data is not None:
            words = str(edge.data).split()
            if len(words) > self.words:
                cut = range(0, len(words), self.words)
                lines = [" ".join(words[i : i + self.words]) for i in cut]
                text = "&nbsp<br>&nbsp".join(lines)
            else:
                text = str(edge.data)
            ends = ("-.", ".->") if edge.conditional else ("--", "-->")
            arrow = f"{ends[0]} &nbsp;{text}&nbsp; {ends[1]}"
        return f"\t{_safe(edge.source)} {arrow} {_safe(edge.target)};\n"


def _shared(edge: Any) -> str:
    """The subgraph that both ends of an edge are in; a loop is in the frame of its own node."""
    shared = []
    for a, b in zip(edge.source.split(":"), edge.target.split(":"), strict=False):
        if a != b:
            break
        shared.append(a)
    return ":".join(shared)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _safe(id_: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", lambda m: f"\\{ord(m[0]):x}", id_)


def _yaml(value: Mapping[str, Any], depth: int = 0) -> str:
    lines = ""
    for key, item in value.items():
        head = f"{'  ' * depth}{key}:"
        lines += (
            f"{head}\n{_yaml(item, depth + 1)}"
            if isinstance(item, Mapping)
            else (f"{head} {item}\n")
        )
    return lines
