"""What the engine runs: nodes with their triggers, and the channels between them. Immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any

from ckpt_viz.channels import BaseChannel, UntrackedValue
from ckpt_viz.channels.base import Cell
from ckpt_viz.constants import PULL, ROOT
from ckpt_viz.managed.base import ManagedValueSpec
from ckpt_viz.pregel.callables import outside
from ckpt_viz.pregel.streams import Mapper
from ckpt_viz.pregel.subgraphs import graphs_of
from ckpt_viz.types import CachePolicy, RetryPolicy, TimeoutPolicy

Write = tuple[str, Any]
"""A channel's name and a value for it."""


def branch_to(target: Any) -> str:
    """The channel that starts a node; an Enum of texts counts as its text.

    >>> branch_to("a")
    'branch:to:a'
    """
    return "branch:to:" + target if isinstance(target, str) else f"branch:to:{target}"


@dataclass(slots=True, frozen=True)
class View:
    """What a router is given: ``reads`` of the state, and ``managed``, as ``schema`` makes it.

    ``passes``: the keys of the node's own answer that are not among them come along.
    """

    reads: tuple[str, ...]
    managed: tuple[tuple[str, ManagedValueSpec], ...]
    schema: Callable[[dict[str, Any]], Any] | None
    passes: bool


@dataclass(slots=True, eq=False)
class Node:
    """One node: what it reads, what starts it, what it calls and how its output is written.

    ``write(output)`` gives the writes of an output; ``route(read)`` those of the routers after it,
    where ``read(view)`` is the state with the node's own writes applied. A ``single``
    node gets the bare value of the one channel that it reads, and waits while that is empty.
    ``calls`` tells that its code is known to call tasks, ``acall`` is awaited instead of ``call``.
    ``retry``, ``timeout`` and ``cache`` are its policies, ``handler`` the node that takes over when
    it fails; ``managed`` are the keys of its input that the run computes.
    """

    name: str
    triggers: tuple[str, ...]
    reads: tuple[str, ...]
    call: Callable[..., Any]
    write: Callable[[Any], list[Write]]
    wants: tuple[str, ...] = ()
    is_async: bool = False
    schema: Callable[[dict[str, Any]], Any] | None = None
    hidden: bool = False
    metadata: dict[str, Any] | None = None
    route: Callable[..., Any] | None = None
    async_router: bool = False
    func: Any = None
    single: bool = False
    calls: bool = False
    tags: tuple[str, ...] = ()
    retry: tuple[RetryPolicy, ...] = ()
    timeout: TimeoutPolicy | None = None
    cache: CachePolicy[Any] | None = None
    handler: str | None = None
    managed: tuple[tuple[str, ManagedValueSpec], ...] = ()
    acall: Callable[..., Any] | None = None
    consumable: tuple[str, ...] = ()
    id_parts: tuple[bytes, bytes] = field(init=False)
    path: tuple[str, str] = field(init=False)
    path_text: str = field(init=False)
    awaited: bool = field(init=False)
    guarded: bool = field(init=False)
    _graphs: tuple[Any, ...] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        tail = f"{self.name}{PULL}{''.join(sorted(self.triggers))}"
        self.id_parts = self.name.encode(), tail.encode()
        self.path = PULL, self.name
        self.path_text = f"~{PULL}, {self.name}"
        self.awaited = bool(self.is_async or self.hidden or self.async_router or self.acall)
        self.guarded = bool(self.retry) or self.timeout is not None
        self.single = self.single or self.hidden or self.reads == (ROOT,)

    @property
    def travels(self) -> bool:
        """Whether an executor may run its body: not where the body calls back into the run."""
        return not (self.hidden or self.calls or self.graphs)

    @property
    def graphs(self) -> tuple[Any, ...]:
        """The compiled graphs that the node is, or that its function names."""
        if self._graphs is None:
            self._graphs = tuple(graphs_of(self.func))
        return self._graphs

    @property
    def bound(self) -> Any:
        """What was added as the node: a function, a runnable, a graph."""
        return self.func

    @property
    def subgraphs(self) -> list[Any]:
        """The compiled graphs in it, as a list."""
        return list(self.graphs)

    @property
    def retry_policy(self) -> tuple[RetryPolicy, ...]:
        """When it runs again."""
        return self.retry

    @property
    def cache_policy(self) -> CachePolicy[Any] | None:
        """Whether its result may come from the cache."""
        return self.cache

    @property
    def channels(self) -> str | list[str]:
        """The channels that it reads."""
        return self.reads[0] if self.single else list(self.reads)

    def invoke(self, input: Any, config: Any = None) -> Any:
        """Call the node's own function outside of any run, as a test of it does; its answer."""
        if self.is_async:
            raise TypeError(f'No synchronous function provided to "{self.name}": use ainvoke.')
        return self.call(input, **outside(self.wants, config or {}))

    async def ainvoke(self, input: Any, config: Any = None) -> Any:
        """Like `invoke`, awaiting."""
        found = self.call(input, **outside(self.wants, config or {}))
        return await found if isawaitable(found) else found


Values = dict[str, Any]
Migrate = Callable[[Values, Any], Values] | Mapping[Any, Callable[[Values], Values]]


@dataclass(slots=True, eq=False)
class Program:
    """A compiled graph, as the engine sees it.

    ``born`` are the triggers that hold a value before anything is written; ``consuming`` tells
    whether any node has triggers to consume. ``keys`` are the channels of the state itself.
    For a look at what was saved: ``plain`` are the channels that show it as it is, ``full`` those
    that may hold a value where nothing was.
    ``momentary``: the result is what the run last showed of the output channels, which need not
    hold it to the end; a state graph's channels do.
    ``version`` names the graph's own, and ``migrate`` brings the values of others to it: a function
    of values and version, or a map from each version to the function that leads to the next.
    ``followers`` are the nodes that each node's plain edges lead to.
    ``coerce_output`` and ``coerce_state`` make instances of the schemas' classes, where they are
    classes.
    """

    nodes: dict[str, Node]
    channels: dict[str, BaseChannel]
    input_channels: str | tuple[str, ...]
    output_channels: str | tuple[str, ...]
    stream_channels: str | tuple[str, ...]
    momentary: bool = False
    coerce_output: Mapper = None
    coerce_state: Mapper = None
    managed: dict[str, ManagedValueSpec] = field(default_factory=dict)
    version: Any = None
    migrate: Migrate | None = None
    followers: dict[str, list[str]] = field(default_factory=dict)
    triggered: dict[str, tuple[str, ...]] = field(init=False)
    late: tuple[str, ...] = field(init=False)
    untracked: frozenset[str] = field(init=False)
    born: frozenset[str] = field(init=False)
    full: frozenset[str] = field(init=False)
    plain: frozenset[str] = field(init=False)
    consuming: bool = field(init=False)
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        index: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for trigger in node.triggers:
                index.setdefault(trigger, []).append(node.name)
            node.consumable = tuple(
                t for t in node.triggers if t in self.channels and self.channels[t].consumable
            )
        inner = ("branch:to:", "join:", "__")
        self.keys = frozenset(c for c in self.channels if not c.startswith(inner))
        self.consuming = any(node.consumable for node in self.nodes.values())
        self.triggered = {trigger: tuple(names) for trigger, names in index.items()}
        self.late = tuple(name for name, ch in self.channels.items() if ch.late)
        kinds = self.channels.items()
        known = [c for c in index if c in self.channels] if self.momentary else ()
        self.born = frozenset(c for c in known if self.channels[c].is_available())
        self.full = frozenset(n for n, ch in kinds if not isinstance(ch, Cell) or ch.is_available())
        self.plain = frozenset(n for n, ch in kinds if ch.as_saved)
        self.untracked = frozenset(n for n, ch in kinds if isinstance(ch, UntrackedValue))
