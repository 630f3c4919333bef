"""`StateGraph`: nodes, edges, joins and routers, compiled to channels and triggers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from ckpt_viz.channels import (
    BaseChannel,
    EphemeralValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from ckpt_viz.checkpoint.serde import register
from ckpt_viz.constants import END, ROOT, START, TASKS
from ckpt_viz.errors import NodeError
from ckpt_viz.graph.callables import (
    command_ends,
    hints_of,
    input_of,
    literals,
    name_of,
)
from ckpt_viz.graph.classes import named_classes
from ckpt_viz.graph.compiled import CompiledStateGraph
from ckpt_viz.graph.schema import channels_of, coercer, managed_of
from ckpt_viz.graph.writing import Branch, Writing
from ckpt_viz.pregel.callables import callable_of, wants_of
from ckpt_viz.pregel.program import Node
from ckpt_viz.pregel.retry import policies_of
from ckpt_viz.pregel.subgraphs import is_graph
from ckpt_viz.types import CachePolicy, Send, TimeoutPolicy

__all__ = ["END", "START", "CompiledStateGraph", "StateGraph"]

DEFAULT_HANDLER = "__default_error_handler__"


@dataclass(frozen=True, slots=True)
class Policies:
    """What a node was given beside its function; None where nothing was said."""

    retry: Any = None
    cache: CachePolicy[Any] | None = None
    timeout: Any = None

    @classmethod
    def of(cls, retry: Any, cache: Any, timeout: Any) -> Policies:
        """The policies, the timeout checked and in its full form."""
        return cls(retry, cache, TimeoutPolicy.coerce(timeout))

    def over(self, default: Policies) -> Policies:
        """These policies, and the others where these say nothing."""
        retry, cache, timeout = self.retry, self.cache, self.timeout
        return Policies(
            default.retry if retry is None else retry,
            default.cache if cache is None else cache,
            default.timeout if timeout is None else timeout,
        )


@dataclass(slots=True, eq=False)
class NodeSpec:
    """A node as it was added."""

    func: Any
    call: Callable[..., Any]
    wants: tuple[str, ...]
    is_async: bool
    input_schema: Any
    defer: bool
    metadata: dict[str, Any] | None
    ends: tuple[str, ...] | dict[str, str]
    policies: Policies = field(default_factory=Policies)
    error_handler_node: str | None = None
    is_error_handler: bool = False

    @property
    def retry_policy(self) -> Any:
        """When the node runs again, as it was given."""
        return self.policies.retry

    @property
    def cache_policy(self) -> Any:
        """Whether the node's result may come from the cache."""
        return self.policies.cache

    @property
    def timeout(self) -> Any:
        """How long an attempt may take."""
        return self.policies.timeout


class StateGraph:
    """A graph of nodes that share a state.

    ``state_schema`` is a TypedDict, dataclass or Pydantic model; each key is a channel, and
    ``Annotated[type, reducer]`` says how updates are folded.
    """

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
    ) -> None:
        self.state_schema = state_schema
        self.context_schema = context_schema
        self.input_schema = input_schema or state_schema
        self.output_schema = output_schema or state_schema
        self.nodes: dict[str, NodeSpec] = {}
        self.edges: set[tuple[str, str]] = set()
        self.waiting_edges: set[tuple[tuple[str, ...], str]] = set()
        self.branches: dict[str, dict[str, Branch]] = {}
        self.channels: dict[str, BaseChannel] = {}
        self.managed: dict[str, Any] = {}
        self._defaults = Policies()
        self._default_handler: Any = None
        self._add_schema(state_schema)
        self._add_schema(self.input_schema)
        self._add_schema(self.output_schema)

    def _add_schema(self, schema: Any) -> tuple[str, ...]:
        found = channels_of(schema)
        self.managed |= managed_of(schema)
        for key, channel in found.items():
            known = self.channels.get(key)
            if known is None or (type(known).__name__ == "LastValue" and known != channel):
                self.channels[key] = channel
        return tuple(found)

    def add_node(
        self,
        node: Any,
        action: Any = None,
        *,
        defer: bool = False,
        metadata: dict[str, Any] | None = None,
        input_schema: Any = None,
        destinations: Any = None,
        retry_policy: Any = None,
        cache_policy: CachePolicy[Any] | None = None,
        error_handler: Any = None,
        timeout: Any = None,
    ) -> Self:
        """Add a node: ``add_node(function)`` or ``add_node("name", function)``.

        A function may take, beside the state, ``config``, ``runtime``, ``store`` and ``writer``.
        ``retry_policy`` is one `RetryPolicy` or several, of which the first that is for the error
        decides. ``timeout``, of async nodes only, is seconds or a `TimeoutPolicy`.
        ``error_handler`` takes over when the node has failed for good: a node that may have an
        ``error: NodeError`` parameter, and whose answer counts instead of the node's.

        Raises:
            ValueError: the name is taken, reserved or has a reserved character.
        """
        if not isinstance(node, str):
            action, node = node, name_of(node)
        if action is None:
            raise ValueError(f"Node `{node}` has no action: pass a function.")
        if node in (START, END):
            raise ValueError(f"Node `{node}` is reserved.")
        if node in self.nodes:
            raise ValueError(f"Node `{node}` already present.")
        for reserved in "|:":
            if reserved in node:
                raise ValueError(
                    f"'{reserved}' is a reserved character and is not allowed in the node names."
                )
        hints = hints_of(action)
        schema = input_schema or input_of(action, hints) or self.state_schema
        self._add_schema(schema)
        ends = _ends(destinations) or command_ends(hints)
        call, is_async = callable_of(action)
        handler = None
        if error_handler is not None:
            handler = self._add_handler(f"__error_handler__{node}", error_handler)
        self.nodes[node] = NodeSpec(
            action,
            call,
            wants_of(action),
            is_async,
            schema,
            defer,
            metadata,
            ends,
            Policies.of(retry_policy, cache_policy, timeout),
            handler,
        )
        return self

    def _add_handler(self, name: str, action: Any) -> str:
        """Add the node that takes over from a failed one; its name."""
        hints = hints_of(action)
        schema = input_of(action, hints) or self.state_schema
        self._add_schema(schema)
        call, is_async = callable_of(action)
        wants = wants_of(action)
        if hints.get("error") is NodeError:
            wants = (*wants, "error")
        self.nodes[name] = NodeSpec(
            action,
            call,
            wants,
            is_async,
            schema,
            defer=False,
            metadata=None,
            ends=command_ends(hints),
            is_error_handler=True,
        )
        return name

    def set_node_defaults(
        self,
        *,
        retry_policy: Any = None,
        cache_policy: CachePolicy[Any] | None = None,
        error_handler: Any = None,
        timeout: Any = None,
    ) -> Self:
        """Policies for the nodes that have none of their own; applied when the graph is compiled.

        Error handlers get the retry policy and the timeout too. Subgraphs inherit nothing.
        """
        self._defaults = Policies.of(retry_policy, cache_policy, timeout).over(self._defaults)
        if error_handler is not None:
            self._default_handler = error_handler
        return self

    def add_edge(self, start: str | Sequence[str], end: str) -> Self:
        """Go from ``start`` to ``end``; from several starts, when all of them have run (a join).

        Raises:
            ValueError: START as an end, END as a start, or a join with an unknown node.
        """
        if end == START:
            raise ValueError("START cannot be an end node")
        if isinstance(start, str):
            if start == END:
                raise ValueError("END cannot be a start node")
            self.edges.add((start, end))
            return self
        for one in start:
            if one == END:
                raise ValueError("END cannot be a start node")
            if one not in self.nodes:
                raise ValueError(f"Need to add_node `{one}` first")
        if end != END and end not in self.nodes:
            raise ValueError(f"Need to add_node `{end}` first")
        self.waiting_edges.add((tuple(start), end))
        return self

    def add_conditional_edges(
        self, source: str, path: Callable[..., Any], path_map: Any = None
    ) -> Self:
        """After ``source``, go where ``path(state)`` says: names, Sends, or a list of both.

        ``path_map`` turns its answers into names; a list names the possible targets.

        Raises:
            ValueError: the source has a router of this name already.
        """
        name = getattr(path, "__name__", "condition")
        name = "condition" if name == "<lambda>" else name
        if name in self.branches.get(source, {}):
            raise ValueError(f"Branch with name `{name}` already exists for node `{source}`")
        if isinstance(path_map, list | tuple):
            path_map = {target: target for target in path_map}
        elif path_map is None:
            hinted = literals(hints_of(path).get("return"))
            path_map = {target: target for target in hinted} or None
        call, is_async = callable_of(path)
        self.branches.setdefault(source, {})[name] = Branch(
            name, call, path_map, is_async, wants_of(path)
        )
        return self

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Add nodes one after the other; each is a function or a ``(name, function)`` pair."""
        if not nodes:
            raise ValueError("Sequence requires at least one node.")
        last = None
        for one in nodes:
            name, action = one if isinstance(one, tuple) else (name_of(one), one)
            self.add_node(name, action)
            if last is not None:
                self.add_edge(last, name)
            last = name
        return self

    def set_entry_point(self, key: str) -> Self:
        """The same as an edge from START."""
        return self.add_edge(START, key)

    def set_finish_point(self, key: str) -> Self:
        """The same as an edge to END."""
        return self.add_edge(key, END)

    def set_conditional_entry_point(self, path: Callable[..., Any], path_map: Any = None) -> Self:
        """The same as a router after START."""
        return self.add_conditional_edges(START, path, path_map)

    def validate(self, interrupt: Sequence[str] = ()) -> Self:
        """Check that every edge has its nodes.

        Raises:
            ValueError: names the edge and what is missing.
        """
        starts = {s for s, _ in self.edges} | {s for ss, _ in self.waiting_edges for s in ss}
        for start in starts | set(self.branches):
            if start != START and start not in self.nodes:
                raise ValueError(f"Found edge starting at unknown node '{start}'")
        if START not in starts and START not in self.branches:
            raise ValueError(
                "Graph must have an entrypoint: add at least one edge from START to another node"
            )
        for _, end in sorted(self.edges):
            if end != END and end not in self.nodes:
                raise ValueError(f"Found edge ending at unknown node `{end}`")
        for start, branches in self.branches.items():
            for name, branch in branches.items():
                for end in (branch.ends or {}).values():
                    if end != END and end not in self.nodes:
                        raise ValueError(
                            f"At '{start}' node, '{name}' branch found unknown target '{end}'"
                        )
        for name in interrupt:
            if name not in self.nodes:
                raise ValueError(f"Interrupt node `{name}` not found")
        return self

    def compile(
        self,
        checkpointer: Any = None,
        *,
        store: Any = None,
        interrupt_before: Any = None,
        interrupt_after: Any = None,
        debug: bool = False,
        name: str | None = None,
        cache: Any = None,
        executor: Any = None,
    ) -> CompiledStateGraph:
        """The graph, ready to run; ``checkpointer`` keeps its history.

        Inside another graph, None keeps it with that graph's and True lasts from call to call;
        False keeps nothing. ``cache`` keeps the results of nodes that have a ``cache_policy``.
        ``executor``, any ``concurrent.futures.Executor``, runs the nodes' bodies; a run's
        ``config["executor"]`` stands in for it.

        Raises:
            ValueError: an edge without its node. TypeError: ``checkpointer`` is no saver.
        """
        is_saver = hasattr(checkpointer, "get_tuple") and not isinstance(checkpointer, type)
        if not (checkpointer is None or isinstance(checkpointer, bool) or is_saver):
            raise TypeError(
                f"Invalid checkpointer provided. Expected a saver such as InMemorySaver(), "
                f"got {checkpointer!r}."
            )
        points = [p for ps in (interrupt_before, interrupt_after) for p in (ps or ()) if ps != "*"]
        self.validate(points)
        for cls in named_classes(self._annotations()):
            register(cls)
        compiled = CompiledStateGraph(
            builder=self,
            checkpointer=checkpointer,
            store=store,
            cache=cache,
            name=name or "LangGraph",
            interrupt_before_nodes=interrupt_before or (),
            interrupt_after_nodes=interrupt_after or (),
            context_schema=self.context_schema,
            debug=debug,
            **self._wiring(),
        )
        compiled.executor = executor
        return compiled

    def _annotations(self) -> list[Any]:
        """All that the graph's schemas and its nodes' signatures name."""
        hints = [self.state_schema, self.input_schema, self.output_schema, self.context_schema]
        for spec in self.nodes.values():
            hints += [spec.input_schema, *hints_of(spec.func).values()]
        return hints

    def _wiring(self) -> dict[str, Any]:
        """Nodes and channels, in the engine's words."""
        default = self._default_handler
        if default is not None and DEFAULT_HANDLER not in self.nodes:
            self._add_handler(DEFAULT_HANDLER, default)
        channels: dict[str, BaseChannel] = dict(self.channels)
        channels[START] = EphemeralValue(self.input_schema, key=START)
        channels[TASKS] = Topic(Send, key=TASKS)
        for name, spec in self.nodes.items():
            key = f"branch:to:{name}"
            channels[key] = (
                LastValueAfterFinish(key=key)
                if spec.defer
                else EphemeralValue(guard=False, key=key)
            )
        joins: dict[str, list[str]] = {}
        for starts, end in sorted(self.waiting_edges):
            if end == END:
                continue
            key = f"join:{'+'.join(starts)}:{end}"
            kind = NamedBarrierValueAfterFinish if self.nodes[end].defer else NamedBarrierValue
            channels[key] = kind(str, set(starts), key)
            joins.setdefault(end, []).append(key)
        nodes = {START: self._start_node()}
        for name, spec in self.nodes.items():
            nodes[name] = self._node(name, spec, joins.get(name, []))
        output = tuple(channels_of(self.output_schema))
        shown = tuple(self.channels)
        return {
            "nodes": nodes,
            "channels": channels,
            "input_channels": START,
            "output_channels": _one(output),
            "stream_channels": _one(shown),
        }

    def _start_node(self) -> Node:
        writing = self._writing(START)
        writing.keys = frozenset(channels_of(self.input_schema))
        branches = self.branches.get(START)
        return Node(
            START,
            (START,),
            (START,),
            lambda value: value,
            writing.write,
            hidden=True,
            route=writing.route if branches else None,
        )

    def _node(self, name: str, spec: NodeSpec, joins: list[str]) -> Node:
        writing = self._writing(name)
        branches = self.branches.get(name)
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
            route=writing.route if branches else None,
            async_router=any(b.is_async for b in (branches or {}).values()),
            func=spec.func,
            managed=tuple(managed_of(spec.input_schema).items()),
            **self._policies(spec),
            acall=spec.func.ainvoke if is_graph(spec.func) else None,
        )

    def _policies(self, spec: NodeSpec) -> dict[str, Any]:
        """The node's policies, where it has none the graph's defaults."""
        own, handled = spec.policies.over(self._defaults), spec.error_handler_node
        if handled is None and self._default_handler is not None:
            handled = DEFAULT_HANDLER
        plain = not spec.is_error_handler
        return {
            "retry": policies_of(own.retry),
            "timeout": own.timeout,
            "cache": own.cache if plain else None,
            "handler": handled if plain else None,
        }

    def _writing(self, name: str) -> Writing:
        edges: list[tuple[str, Any]] = [
            (f"branch:to:{end}", None)
            for start, end in sorted(self.edges)
            if start == name and end != END
        ]
        for starts, end in sorted(self.waiting_edges):
            if name in starts and end != END:
                edges.append((f"join:{'+'.join(starts)}:{end}", name))
        return Writing(
            frozenset(self.channels),
            tuple(edges),
            tuple(self.branches.get(name, {}).values()),
        )


def _ends(destinations: Any) -> Any:
    return destinations if isinstance(destinations, dict) else tuple(destinations or ())


def _one(keys: tuple[str, ...]) -> str | tuple[str, ...]:
    return ROOT if keys == (ROOT,) else keys
