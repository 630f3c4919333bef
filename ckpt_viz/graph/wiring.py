"""A builder's nodes, edges, joins and routers in the engine's words: channels and triggers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.channels import (
    BaseChannel,
    EphemeralValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from ckpt_viz.constants import END, ROOT, START, TASKS
from ckpt_viz.graph.schema import channels_of, coercer, managed_of
from ckpt_viz.graph.spec import NodeSpec, Policies
from ckpt_viz.graph.writing import Writing
from ckpt_viz.pregel.program import Node, branch_to
from ckpt_viz.pregel.retry import policies_of
from ckpt_viz.types import Send


class Wiring:
    """The wires of one builder. ``default_handler`` is the node for failures without their own."""

    def __init__(self, builder: Any, defaults: Policies, default_handler: str | None) -> None:
        self.builder = builder
        self.defaults = defaults
        self.default_handler = default_handler

    def parts(self) -> dict[str, Any]:
        """Nodes, channels and which of them are shown, as the engine takes them."""
        builder = self.builder
        channels: dict[str, BaseChannel] = dict(builder.channels)
        channels[START] = EphemeralValue(builder.input_schema, key=START)
        channels[TASKS] = Topic(Send, key=TASKS)
        for name, spec in builder.nodes.items():
            key = f"branch:to:{name}"
            late = LastValueAfterFinish(key=key)
            channels[key] = late if spec.defer else EphemeralValue(guard=False, key=key)
        joins: dict[str, list[str]] = {}
        for starts, end in sorted(builder.waiting_edges):
            if end == END:
                continue
            key = f"join:{'+'.join(starts)}:{end}"
            late_join = builder.nodes[end].defer
            kind = NamedBarrierValueAfterFinish if late_join else NamedBarrierValue
            channels[key] = kind(str, set(starts), key)
            joins.setdefault(end, []).append(key)
        nodes = {START: self._start_node()}
        for name, spec in builder.nodes.items():
            nodes[name] = self._node(name, spec, joins.get(name, []))
        return {
            "nodes": nodes,
            "channels": channels,
            "input_channels": START,
            "output_channels": _one(channels_of(builder.output_schema)),
            "stream_channels": _one(builder.channels),
        }

    def _start_node(self) -> Node:
        writing = self._writing(START)
        writing.keys = frozenset(channels_of(self.builder.input_schema))
        return Node(
            START,
            (START,),
            (START,),
            lambda value: value,
            writing.write,
            hidden=True,
            route=writing.route if writing.branches else None,
        )

    def _node(self, name: str, spec: NodeSpec, joins: list[str]) -> Node:
        writing = self._writing(name)
        return Node(
            name,
            tuple(sorted([f"branch:to:{name}", *joins])),
            tuple(channels_of(spec.input_schema)),
            spec.call,
            writing.write,
            spec.wants,
            spec.is_async,
            coercer(spec.input_schema),
            metadata=spec.metadata,
            route=writing.route if writing.branches else None,
            async_router=any(branch.is_async for branch in writing.branches),
            func=spec.func,
            acall=spec.acall,
            managed=tuple(managed_of(spec.input_schema).items()),
            **self._policies(spec),
        )

    def _policies(self, spec: NodeSpec) -> dict[str, Any]:
        """The node's policies, where it has none the graph's defaults."""
        own, handled = spec.policies.over(self.defaults), spec.error_handler_node
        plain = not spec.is_error_handler
        return {
            "retry": policies_of(own.retry),
            "timeout": own.timeout,
            "cache": own.cache if plain else None,
            "handler": (handled or self.default_handler) if plain else None,
        }

    def _writing(self, name: str) -> Writing:
        builder = self.builder
        edges: list[tuple[str, Any]] = [
            (branch_to(end), None)
            for start, end in sorted(builder.edges)
            if start == name and end != END
        ]
        for starts, end in sorted(builder.waiting_edges):
            if name in starts and end != END:
                edges.append((f"join:{'+'.join(starts)}:{end}", name))
        return Writing(
            frozenset(builder.channels),
            tuple(edges),
            tuple(builder.branches.get(name, {}).values()),
        )


def _one(keys: Iterable[str]) -> str | list[str]:
    listed = list(keys)
    return ROOT if listed == [ROOT] else listed
