"""`StateGraph`: nodes, edges, joins and routers, compiled to channels and triggers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, ClassVar, Self

from ckpt_viz.channels import BaseChannel, LastValue
from ckpt_viz.checkpoint.serde import register
from ckpt_viz.constants import END, START
from ckpt_viz.errors import NodeError
from ckpt_viz.graph.callables import (
    command_ends,
    hints_of,
    input_of,
    literals,
    name_of,
    node_of,
)
from ckpt_viz.graph.checks import check_graph, one_version
from ckpt_viz.graph.classes import named_classes
from ckpt_viz.graph.compiled import CompiledStateGraph
from ckpt_viz.graph.schema import channels_of, managed_of
from ckpt_viz.graph.spec import NodeSpec, Policies
from ckpt_viz.graph.wiring import Wiring
from ckpt_viz.graph.writing import Branch
from ckpt_viz.pregel.callables import callable_of, is_runnable, wants_of
from ckpt_viz.pregel.program import Migrate
from ckpt_viz.types import CachePolicy, ensure_valid_checkpointer
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10, older_word

__all__ = ["END", "START", "CompiledStateGraph", "StateGraph"]

DEFAULT_HANDLER = "__default_error_handler__"


class StateGraph:
    """A graph of nodes that share a state.

    ``state_schema`` is a TypedDict, dataclass or Pydantic model; each key is a channel, and
    ``Annotated[type, reducer]`` says how updates are folded.
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
        **older: Any,
    ) -> None:
        since = {"config_schema": LangGraphDeprecatedSinceV10}
        context_schema = older_word(older, "config_schema", "context_schema", context_schema, since)
        input_schema = older_word(older, "input", "input_schema", input_schema)
        output_schema = older_word(older, "output", "output_schema", output_schema)
        _refuse(older, "StateGraph")
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
        self.schemas: dict[Any, Any] = {}
        self.compiled = False
        self._defaults = Policies()
        self._default_handler: Any = None
        self._add_schema(state_schema)
        self._add_schema(self.input_schema, outside=self.input_schema is not state_schema)
        self._add_schema(self.output_schema, outside=self.output_schema is not state_schema)

    def _add_schema(self, schema: Any, *, outside: bool = False) -> None:
        """Take up a schema's channels; ``outside``: it is what callers give or get.

        Raises:
            ValueError: a channel is there with another reducer, or the run's own value is outside.
        """
        if _key(schema) in self.schemas:
            return
        managed = managed_of(schema)
        if managed and outside:
            raise ValueError(
                f"Invalid managed channels detected in {getattr(schema, '__name__', schema)}: "
                f"{', '.join(managed)}. Managed channels are not permitted in Input/Output schema."
            )
        found = channels_of(schema)
        self.schemas[_key(schema)] = {**found, **managed}
        self.managed |= managed
        for key, channel in found.items():
            known = self.channels.setdefault(key, channel)
            if known != channel and not isinstance(channel, LastValue):
                raise ValueError(
                    f"Channel '{key}' already exists with a different type: {known!r} and "
                    f"{channel!r}. Give it the same annotation in all schemas."
                )

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
        trace_policy: Any = None,
        **older: Any,
    ) -> Self:
        """Add a node: ``add_node(function)`` or ``add_node("name", function)``.

        A function may take, beside the state, ``config``, ``runtime``, ``store`` and ``writer``.
        ``retry_policy`` is one `RetryPolicy` or several, of which the first that is for the error
        decides. ``timeout``, of async nodes only, is seconds or a `TimeoutPolicy`.
        ``error_handler`` takes over when the node has failed for good: a node that may have an
        ``error: NodeError`` parameter, and whose answer counts instead of the node's.

        ``destinations`` tells drawings where its Commands may go; ``trace_policy`` means nothing
        here.

        Raises:
            ValueError: the name is taken, reserved or has a reserved character.
            RuntimeError: there is no function. TypeError: it is nothing that can be called.
        """
        retry_policy = older_word(older, "retry", "retry_policy", retry_policy)
        input_schema = older_word(older, "input", "input_schema", input_schema)
        _refuse(older, "add_node")
        if not isinstance(node, str):
            action, node = node, name_of(node)
        node = str.__str__(node)  # an Enum of texts counts as its text
        self._check_name(node, action)
        hints = hints_of(action)
        schema = input_schema or input_of(action, hints) or self.state_schema
        self._add_schema(schema)
        target = node_of(action)
        call, is_async = callable_of(target)
        handler = None
        if error_handler is not None:
            handler = self._add_handler(f"__error_handler__{node}", error_handler)
        self.nodes[node] = NodeSpec(
            action,
            call,
            wants_of(target),
            is_async,
            schema,
            defer,
            metadata,
            _ends(destinations) or command_ends(hints),
            Policies.of(retry_policy, cache_policy, timeout),
            handler,
            acall=getattr(target, "ainvoke", None) if is_runnable(target) else None,
        )
        return self

    def _check_name(self, node: str, action: Any) -> None:
        if action is None:
            raise RuntimeError(f"Node `{node}` has no action: pass a function.")
        self._changed("a node")
        if node in (START, END):
            raise ValueError(f"Node `{node}` is reserved.")
        if node in self.nodes:
            raise ValueError(f"Node `{node}` already present.")
        for reserved in "|:":
            if reserved in node:
                raise ValueError(
                    f"'{reserved}' is a reserved character and is not allowed in the node names."
                )

    def _changed(self, what: str) -> None:
        if self.compiled:
            warnings.warn(
                f"Adding {what} to a graph that has already been compiled. This will not be "
                "reflected in the compiled graph.",
                stacklevel=4,
            )

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

    def add_edge(self, start_key: str | Sequence[str], end_key: str) -> Self:
        """Go from ``start_key`` to ``end_key``; from several, when all of them have run (a join).

        Raises:
            ValueError: START as an end, END as a start, or a join with an unknown node.
        """
        self._changed("an edge")
        if end_key == START:
            raise ValueError("START cannot be an end node")
        if isinstance(start_key, str):
            if start_key == END:
                raise ValueError("END cannot be a start node")
            self.edges.add((start_key, end_key))
            return self
        for one in start_key:
            if one == END:
                raise ValueError("END cannot be a start node")
            if one not in self.nodes:
                raise ValueError(f"Need to add_node `{one}` first")
        if end_key != END and end_key not in self.nodes:
            raise ValueError(f"Need to add_node `{end_key}` first")
        self.waiting_edges.add((tuple(start_key), end_key))
        return self

    def add_conditional_edges(
        self, source: str, path: Callable[..., Any], path_map: Any = None
    ) -> Self:
        """After ``source``, go where ``path(state)`` says: names, Sends, or a list of both.

        ``path_map`` turns its answers into names; a list names the possible targets.

        Raises:
            ValueError: the source has a router of this name already.
        """
        self._changed("an edge")
        called = getattr(path, "name", None) if is_runnable(path) else None
        name = str(called or getattr(path, "__name__", "condition"))
        name = "condition" if name == "<lambda>" else name
        if name in self.branches.get(source, {}):
            raise ValueError(f"Branch with name `{name}` already exists for node `{source}`")
        told = _function_of(path)
        hints = hints_of(told)
        if isinstance(path_map, list | tuple):
            path_map = {target: target for target in path_map}
        elif path_map is None:
            path_map = {target: target for target in literals(hints.get("return"))} or None
        schema = input_of(told, hints)
        if schema is not None:
            self._add_schema(schema)
        call, is_async = callable_of(path)
        self.branches.setdefault(source, {})[name] = Branch(
            name, call, path_map, is_async, wants_of(path), path, schema
        )
        return self

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Add nodes one after the other; each is a function or a ``(name, function)`` pair."""
        if not nodes:
            raise ValueError("Sequence requires at least one node.")
        last = None
        for one in nodes:
            name, action = one if isinstance(one, tuple) else (name_of(one), one)
            if name in self.nodes:
                raise ValueError(
                    f"Node names must be unique: node with the name '{name}' already exists. "
                    "If you need to use two different runnables/callables with the same name (for "
                    "example, using `lambda`), please provide them as tuples (name, "
                    "runnable/callable)."
                )
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

    def validate(self, interrupt: Sequence[str] | None = None) -> Self:
        """Check that every edge has its nodes.

        Raises:
            ValueError: names the edge and what is missing.
        """
        check_graph(self, interrupt or ())
        self.compiled = True
        return self

    def compile(
        self,
        checkpointer: Any = None,
        *,
        cache: Any = None,
        store: Any = None,
        interrupt_before: Any = None,
        interrupt_after: Any = None,
        debug: bool = False,
        name: str | None = None,
        transformers: Any = None,
        executor: Any = None,
        version: Any = None,
        migrate: Migrate | None = None,
        graph_version: Any = None,
    ) -> CompiledStateGraph:
        """The graph, ready to run; ``checkpointer`` keeps its history.

        Inside another graph, None keeps it with that graph's and True lasts from call to call;
        False keeps nothing. ``cache`` keeps the results of nodes that have a ``cache_policy``.
        ``executor``, any ``concurrent.futures.Executor``, runs the nodes' bodies; a run's
        ``config["executor"]`` stands in for it. ``transformers`` means nothing here.

        ``version`` (or ``graph_version``) goes into each checkpoint's metadata. The values of
        checkpoints with another one are passed through ``migrate(values, version)``; or through
        ``migrate[version](values)`` and all that follow it in the map, one version after the
        other. Where no way leads from a version, reading it is a `MigrationError`.

        Raises:
            ValueError: an edge without its node, or two versions. TypeError: ``checkpointer`` is no
                saver, or ``migrate`` has something that can't be called.
        """
        version = one_version(version, graph_version, migrate)
        ensure_valid_checkpointer(checkpointer)
        breaks = [_points(interrupt_before), _points(interrupt_after)]
        self.validate([point for points in breaks if points != "*" for point in points])
        default = None
        if self._default_handler is not None:
            default = DEFAULT_HANDLER
            if default not in self.nodes:
                self._add_handler(default, self._default_handler)
        for cls in named_classes(self._annotations()):
            register(cls)
        compiled = CompiledStateGraph(
            builder=self,
            checkpointer=checkpointer,
            store=store,
            cache=cache,
            name=name or "LangGraph",
            interrupt_before_nodes=breaks[0],
            interrupt_after_nodes=breaks[1],
            context_schema=self.context_schema,
            debug=debug,
            **Wiring(self, self._defaults, default).parts(),
        )
        compiled.executor = executor
        compiled.program.version, compiled.program.migrate = version, migrate
        return compiled

    def _annotations(self) -> list[Any]:
        """All that the graph's schemas and its nodes' signatures name."""
        hints = [self.state_schema, self.input_schema, self.output_schema, self.context_schema]
        for spec in self.nodes.values():
            hints += [spec.input_schema, *hints_of(spec.func).values()]
        return hints


def _ends(destinations: Any) -> Any:
    return destinations if isinstance(destinations, dict) else tuple(destinations or ())


def _function_of(path: Any) -> Any:
    """The function that a runnable stands for: its annotations tell; else what was given."""
    return getattr(path, "func", path) if is_runnable(path) else path


def _points(names: Any) -> Any:
    """Break points as they were given: a list of names, or "*"."""
    return [names] if isinstance(names, str) and names != "*" else names or []


def _key(schema: Any) -> Any:
    try:
        hash(schema)
    except TypeError:  # an annotation with a list in it
        return id(schema)
    return schema


def _refuse(unknown: dict[str, Any], where: str) -> None:
    if unknown:
        raise TypeError(f"{where} got an unexpected keyword argument {next(iter(unknown))!r}")
