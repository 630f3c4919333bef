"""`CompiledStateGraph`: a graph that runs, and what it tells of itself."""

from __future__ import annotations

from typing import Any

from ckpt_viz.constants import END, START
from ckpt_viz.drawing import Graph, Node
from ckpt_viz.graph.schema import coercer
from ckpt_viz.graph.shape import edges_of
from ckpt_viz.pregel.main import Pregel
from ckpt_viz.pregel.models import is_model, model_of


class CompiledStateGraph(Pregel):
    """A graph that runs; made by `StateGraph.compile`. ``builder`` is the graph it came from."""

    __module__ = "ckpt_viz.graph.state"  # where people import it from

    def __init__(self, *, builder: Any, **options: Any) -> None:
        super().__init__(auto_validate=False, stream_mode="updates", **options)
        self.builder = builder
        self.program.coerce_output = coercer(builder.output_schema)
        self.program.managed = builder.managed
        for start, end in sorted(builder.edges):
            self.program.followers.setdefault(start, []).append(end)
        self.program.coerce_state = coercer(builder.state_schema)

    def get_input_schema(self, config: Any = None) -> Any:
        schema = self.builder.input_schema
        return schema if is_model(schema) else model_of(schema, self.get_name("Input"))

    def get_output_schema(self, config: Any = None) -> Any:
        return model_of(self.builder.output_schema, self.get_name("Output"))

    @property
    def InputType(self) -> Any:  # noqa: N802 - langchain_core's name
        return self.builder.input_schema

    @property
    def OutputType(self) -> Any:  # noqa: N802 - langchain_core's name
        return self.builder.output_schema

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        graph = Graph({START: Node(START, START, self.nodes[START])})
        for name, spec in self.builder.nodes.items():
            if name in self.nodes and not spec.is_error_handler:
                graph.nodes[name] = Node(name, name, spec.func, self._told(name, spec))
        edges = edges_of(self.builder)
        if any(edge.target == END for edge in edges):
            graph.nodes[END] = Node(END, END)
        known = graph.nodes.keys()
        graph.edges = [e for e in edges if {e.source, e.target} <= known]
        inner = self.get_subgraphs() if xray and hasattr(self, "get_subgraphs") else ()
        for name, subgraph in inner:
            if name in graph.nodes and hasattr(subgraph, "get_graph"):
                depth = xray if xray is True else xray - 1
                graph.expand(name, subgraph.get_graph(config, xray=depth))
        return graph

    def _told(self, name: str, spec: Any) -> dict[str, Any] | None:
        """What a drawing tells of a node beside its name."""
        told = dict(spec.metadata or {})
        if spec.defer:
            told["defer"] = True
        tools = getattr(spec.func, "tools_by_name", None)
        if isinstance(tools, dict) and tools:
            told["__tools"] = list(tools)
        points = {"before": self.interrupt_before_nodes, "after": self.interrupt_after_nodes}
        stops = [when for when, names in points.items() if names != "*" and name in names]
        if stops:
            told["__interrupt"] = ",".join(stops)
        return told or None
