"""What a graph tells of itself: types and schemas of what goes in and out, and its drawing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ckpt_viz.constants import END, START
from ckpt_viz.drawing import Edge, Graph, Node
from ckpt_viz.pregel.models import channel_model, config_model, json_of
from ckpt_viz.pregel.program import Program
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10


class Described:
    """Describes a graph by the types of its channels."""

    context_schema: Any
    program: Program
    nodes: Any
    channels: Any
    input_channels: Any
    output_channels: Any
    get_name: Any

    @property
    def InputType(self) -> Any:  # noqa: N802 - langchain_core's name
        """The type of the one input channel, or None for several."""
        keys = self.input_channels
        return self.channels[keys].UpdateType if isinstance(keys, str) else None

    @property
    def OutputType(self) -> Any:  # noqa: N802 - langchain_core's name
        """The type of the one output channel, or None for several."""
        keys = self.output_channels
        return self.channels[keys].ValueType if isinstance(keys, str) else None

    def get_input_schema(self, config: Any = None) -> Any:
        """A Pydantic model of the input.

        Raises:
            ImportError: Pydantic is not installed.
        """
        keys, name = self.input_channels, self.get_name("Input")
        if isinstance(keys, str):
            return channel_model(name, self.InputType)
        return channel_model(name, {k: self.channels[k].UpdateType for k in keys})

    def get_output_schema(self, config: Any = None) -> Any:
        """A Pydantic model of the output."""
        keys, name = self.output_channels, self.get_name("Output")
        if isinstance(keys, str):
            return channel_model(name, self.OutputType)
        return channel_model(name, {k: self.channels[k].ValueType for k in keys})

    def get_input_jsonschema(self, config: Any = None) -> dict[str, Any]:
        """The JSON schema of the input."""
        found: dict[str, Any] = self.get_input_schema(config).model_json_schema()
        return found

    def get_output_jsonschema(self, config: Any = None) -> dict[str, Any]:
        """The JSON schema of the output."""
        found: dict[str, Any] = self.get_output_schema(config).model_json_schema()
        return found

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """The JSON schema of the context, or None without one."""
        return json_of(self.context_schema)

    def config_schema(self, *, include: Sequence[str] | None = None) -> Any:
        """A Pydantic model of the config; `get_context_jsonschema` is the newer way."""
        _deprecated("config_schema", " for the relevant schema")
        return config_model(self.context_schema, self.get_name("Config"), include)

    def get_config_jsonschema(self, *, include: Sequence[str] | None = None) -> dict[str, Any]:
        """The JSON schema of the config; `get_context_jsonschema` is the newer way."""
        _deprecated("get_config_jsonschema", "")
        model = config_model(self.context_schema, self.get_name("Config"), include)
        found: dict[str, Any] = model.model_json_schema()
        return found

    @property
    def input_schema(self) -> Any:
        """A Pydantic model of the input."""
        return self.get_input_schema()

    @property
    def output_schema(self) -> Any:
        """A Pydantic model of the output."""
        return self.get_output_schema()

    @property
    def config_specs(self) -> list[Any]:
        """The fields of ``configurable`` that it declares: none."""
        return []

    # its drawing -------------------------------------------------------------------------------

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        """Its nodes, and the edges that channels make between them, to draw."""
        graph = Graph({name: Node(name, name, node) for name, node in self.nodes.items()})
        graph.nodes[START] = Node(START, START)
        graph.nodes[END] = Node(END, END)
        keys, starts = self.input_channels, self.program.triggered
        for key in (keys,) if isinstance(keys, str) else keys:
            graph.edges += [Edge(START, name) for name in starts.get(key, ())]
        for name, node in self.nodes.items():
            entries = getattr(node.write, "entries", None)
            ends = [to for entry in entries or () for to in starts.get(entry.channel, ())]
            graph.edges += [Edge(name, to) for to in dict.fromkeys(ends) if to != name]
            if not any(to != name for to in ends):
                graph.edges.append(Edge(name, END, conditional=entries is None))
        return graph

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> Graph:
        """Like `get_graph`, which waits for nothing."""
        return self.get_graph(config, xray=xray)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        graph = self.get_graph(xray=True)
        return {"image/svg+xml": graph.to_svg(), "text/plain": repr(self)}


def _deprecated(name: str, more: str) -> None:
    text = f"`{name}` is deprecated. Use `get_context_jsonschema`{more} instead."
    warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=3)
