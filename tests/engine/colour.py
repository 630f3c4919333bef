"""One set of calls in two colours: a test says what it does once, and runs in both."""

from __future__ import annotations

import asyncio
import functools
import operator
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph

COLOURS = ["sync", "async"]
THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class Calls:
    """The calls of a graph, by blocking or by awaiting."""

    def __init__(self, colour: str) -> None:
        """``colour``: "sync" or "async"."""
        self.colour = colour

    def node(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as a node of this colour."""
        if self.colour == "sync":
            return function

        @functools.wraps(function)
        async def node(state: Any) -> Any:
            await asyncio.sleep(0)
            return function(state)

        return node

    def _do(self, graph: Any, name: str, *args: Any, **options: Any) -> Any:
        if self.colour == "sync":
            return getattr(graph, name)(*args, **options)
        return asyncio.run(getattr(graph, f"a{name}")(*args, **options))

    def _all(
        self, graph: Any, name: str, *args: Any, into: list[Any] | None = None, **options: Any
    ) -> list[Any]:
        found: list[Any] = [] if into is None else into
        if self.colour == "sync":
            for item in getattr(graph, name)(*args, **options):
                found.append(item)
            return found

        async def read(items: AsyncIterator[Any]) -> None:
            async for item in items:
                found.append(item)

        asyncio.run(read(getattr(graph, f"a{name}")(*args, **options)))
        return found

    def invoke(self, graph: Any, value: Any, config: Any = THREAD, **options: Any) -> Any:
        """What the run returns."""
        return self._do(graph, "invoke", value, config, **options)

    def stream(self, graph: Any, value: Any, config: Any = THREAD, **options: Any) -> list[Any]:
        """All chunks of the run; ``into`` keeps those that came before a failure."""
        return self._all(graph, "stream", value, config, **options)

    def state(self, graph: Any, config: Any = THREAD, **options: Any) -> Any:
        """A snapshot."""
        return self._do(graph, "get_state", config, **options)

    def history(self, graph: Any, config: Any = THREAD, **options: Any) -> list[Any]:
        """All snapshots."""
        return self._all(graph, "get_state_history", config, **options)

    def update(self, graph: Any, values: Any, config: Any = THREAD, **options: Any) -> Any:
        """The config of the new checkpoint."""
        return self._do(graph, "update_state", config, values, **options)

    def bulk(self, graph: Any, rounds: Any, config: Any = THREAD) -> Any:
        """The config of the last new checkpoint."""
        return self._do(graph, "bulk_update_state", config, rounds)


class State(TypedDict, total=False):
    foo: Any
    log: Annotated[list[str], operator.add]


def says(name: str) -> Callable[[Any], Any]:
    """A node that notes its name."""
    return lambda state: {"log": [name]}


def graph_of(
    call: Calls, nodes: dict[str, Any], edges: list[Any], *, saver: Any = True, **more: Any
) -> Any:
    """A graph of nodes in the call's colour; ``saver`` True: in memory."""
    flow = StateGraph(State)
    for name, node in nodes.items():
        flow.add_node(name, call.node(node))
    for start, end in edges:
        flow.add_edge(start, end)
    return flow.compile(checkpointer=InMemorySaver() if saver is True else saver, **more)


def chain(call: Calls, names: str = "abc", **more: Any) -> Any:
    """A graph of nodes that follow each other and note their names."""
    edges = [*zip([START, *names], [*names, END], strict=True)]
    return graph_of(call, {n: says(n) for n in names}, edges, **more)
