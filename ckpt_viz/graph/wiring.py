"""A builder's nodes, edges, joins and routers in the engine's words: channels and triggers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
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
from ckpt_viz.graph.writing import Branch, Writing
from ckpt_viz.pregel.program import Node, View, Write, branch_to
from ckpt_viz.pregel.retry import policies_of
from ckpt_viz.types import Send


class Wiring:
    """The wires of one builder. ``default_handler`` is the node for failures without their own."""

    def __init__(self, builder: Any, defaults: Policies, default_handler: str | None) -> None:
        self.builder = builder
        self.defaults = defaults
        self.default_handler = default_handler
        self.keys = frozenset(builder.channels)
        self.known: dict[int, Any] = {}
        self.edges: dict[str, list[Write]] = {}
        for start, end in sorted(builder.edges):
            if end != END:
                self.edges.setdefault(start, []).append((branch_to(end), None))
        for starts, end in sorted(builder.waiting_edges):
            for start in dict.fromkeys(starts) if end != END else ():
                join = (f"join:{'+'.join(starts)}:{end}", start)
                self.edges.setdefault(start, []).append(join)

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
        reads, managed = self._reading(spec.input_schema)
        return Node(
            name,
            tuple(sorted([f"branch:to:{name}", *joins])),
            reads,
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
            managed=managed,
            **self._policies(spec),
        )

    def _reading(self, schema: Any) -> tuple[tuple[str, ...], tuple[tuple[str, Any], ...]]:
        """The channels and the computed values of an input schema, found once for all nodes."""
        if id(schema) not in self.known:
            computed = tuple(managed_of(schema).items())
            self.known[id(schema)] = tuple(channels_of(schema)), computed
        found: tuple[Any, Any] = self.known[id(schema)]
        return found

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
        branches = self.builder.branches.get(name, {}).values()
        seeing = [replace(branch, view=self._view(name, branch)) for branch in branches]
        return Writing(self.keys, tuple(self.edges.get(name, ())), seeing)

    def _view(self, name: str, branch: Branch) -> View:
        """What a router reads: what its annotation says, else what its node reads."""
        spec, own = self.builder.nodes.get(name), branch.input_schema
        schema = own or (spec.input_schema if spec else self.builder.state_schema)
        return View(*self._reading(schema), coercer(schema), passes=own is None)


def _one(keys: Iterable[str]) -> str | list[str]:
    listed = list(keys)
    return ROOT if listed == [ROOT] else listed
