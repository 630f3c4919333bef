"""A graph's shape as data, and as Mermaid, ASCII, DOT and SVG. Nothing here asks the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple


def _form(name: str) -> Any:
    """What draws a form; a graph that is only run does not load it."""
    return import_module(f"ckpt_viz.drawing.{name}")


class Node(NamedTuple):
    """A node of a drawing; ``data`` is what it runs."""

    id: str
    name: str
    data: Any = None
    metadata: dict[str, Any] | None = None


class Edge(NamedTuple):
    """An edge of a drawing; ``data`` is its label, ``conditional`` edges may be taken or not."""

    source: str
    target: str
    data: str | None = None
    conditional: bool = False


@dataclass
class Graph:
    """Nodes by id, and edges. A node inside a subgraph has an id like ``sub:node``."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def first_node(self) -> Node | None:
        """The only node that no edge leads to, or None."""
        return self._only(1)

    def last_node(self) -> Node | None:
        """The only node that no edge leads from, or None."""
        return self._only(0)

    def _only(self, side: int, without: str | None = None) -> Node | None:
        """The only node that stands at no edge's source (0) or target (1), one left aside."""
        others = {edge[side] for edge in self.edges if without not in edge[:2]}
        found = [n for id_, n in self.nodes.items() if id_ not in others and id_ != without]
        return found[0] if len(found) == 1 else None

    def trim_first_node(self) -> None:
        """Drop the first node where one edge leads from it, and another one is first then."""
        self._trim(1)

    def trim_last_node(self) -> None:
        """Drop the last node where one edge leads to it, and another one is last then."""
        self._trim(0)

    def _trim(self, side: int) -> None:
        node = self._only(side)
        if node is None or sum(node.id in edge[:2] for edge in self.edges) != 1:
            return
        if self._only(side, node.id) is not None:
            del self.nodes[node.id]
            self.edges = [edge for edge in self.edges if node.id not in edge[:2]]

    def expand(self, name: str, inner: Graph) -> None:
        """Put a subgraph in the place of the node that runs it."""
        inner.trim_first_node()
        inner.trim_last_node()
        first, last = inner.first_node(), inner.last_node()
        if first is None or last is None:
            return
        ends = (f"{name}:{last.id}", f"{name}:{first.id}")
        moved = [
            e._replace(
                source=ends[0] if e.source == name else e.source,
                target=ends[1] if e.target == name else e.target,
            )
            for e in self.edges
        ]
        del self.nodes[name]
        for node in inner.nodes.values():
            self.nodes[f"{name}:{node.id}"] = node._replace(id=f"{name}:{node.id}")
        self.edges = moved + [
            e._replace(source=f"{name}:{e.source}", target=f"{name}:{e.target}")
            for e in inner.edges
        ]

    def to_json(self, *, with_schemas: bool = False) -> dict[str, list[dict[str, Any]]]:
        """Nodes and edges as plain data; ``with_schemas`` adds nothing here."""
        nodes = []
        for node in self.nodes.values():
            shown: dict[str, Any] = {"id": node.id}
            if node.data is not None:
                told = {"id": _kind(node.data), "name": node.id}
                shown |= {"type": "runnable", "data": told}
            nodes.append(shown | ({"metadata": node.metadata} if node.metadata else {}))
        edges = []
        for edge in self.edges:
            more = {"data": edge.data, "conditional": edge.conditional}
            ends = {"source": edge.source, "target": edge.target}
            edges.append({**ends, **{k: v for k, v in more.items() if v}})
        return {"nodes": nodes, "edges": edges}

    def draw_mermaid(
        self,
        *,
        with_styles: bool = True,
        curve_style: Any = "linear",
        node_colors: Any = None,
        wrap_label_n_words: int = 9,
        frontmatter_config: Mapping[str, Any] | None = None,
    ) -> str:
        """The graph in Mermaid's language, as LangGraph writes it.

        ``node_colors`` has the styles ``default``, ``first`` and ``last``; labels are wrapped
        after ``wrap_label_n_words`` words.
        """
        form = _form("mermaid")
        style = form.Style(curve_style, node_colors, frontmatter_config or {})
        drawn: str = form.mermaid_of(self, style if with_styles else None, wrap_label_n_words)
        return drawn

    def draw_ascii(self) -> str:
        """The graph in boxes and lines of plain text.

        Where grandalf is installed, which LangGraph needs for this, it is drawn as there.
        """
        if find_spec("grandalf") and find_spec("langchain_core"):
            theirs = import_module("langchain_core.runnables.graph_ascii").draw_ascii
            return str(theirs({id_: node.name for id_, node in self.nodes.items()}, self.edges))
        drawn: str = _form("picture").ascii_of(self)
        return drawn

    def print_ascii(self) -> None:
        """Print `draw_ascii`."""
        print(self.draw_ascii())

    def to_dot(self) -> str:
        """The graph in Graphviz' language, subgraphs as clusters."""
        drawn: str = _form("picture").dot_of(self)
        return drawn

    def to_svg(self) -> str:
        """The graph as one SVG element."""
        drawn: str = _form("picture").svg_of(self)
        return drawn

    def draw_png(self, output_file_path: str | None = None, **options: Any) -> bytes:
        """The graph as a PNG, which may be written to a file too; the options mean nothing here.

        LangGraph has Mermaid's web service draw it. Here it is drawn in place.
        """
        drawn: bytes = _form("png").png_of(self)
        if output_file_path is not None:
            with open(output_file_path, "wb") as file:
                file.write(drawn)
        return drawn

    def draw_mermaid_png(self, *, output_file_path: str | None = None, **options: Any) -> bytes:
        """The same as `draw_png`: nothing leaves this machine."""
        return self.draw_png(output_file_path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": _form("picture").ascii_of(self)}


def _kind(data: Any) -> list[str]:
    """What a node runs, by the path that LangGraph's drawings name: readers of them know these."""
    kind = type(data)
    if isinstance(data, Mapping):
        return ["langchain", "schema", "runnable", "RunnableParallel"]
    if not hasattr(kind, "invoke") or kind.__name__ == "Node":
        return ["langgraph", "_internal", "_runnable", "RunnableCallable"]
    if hasattr(kind, "lc_id") and kind.is_lc_serializable():
        return list(kind.lc_id())
    root, *path = kind.__module__.split(".")
    return ["langgraph" if root == "ckpt_viz" else root, *path, kind.__name__]
