"""Nodes and channels by hand: `NodeBuilder`, and the program that they make together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple, Self

from ckpt_viz.channels import BaseChannel, Topic
from ckpt_viz.constants import CONTROL, COPY, INPUT, PULL, START, TASKS
from ckpt_viz.errors import InvalidUpdateError
from ckpt_viz.managed.base import ManagedValueSpec, is_managed_value
from ckpt_viz.pregel.callables import callable_of, wants_of
from ckpt_viz.pregel.program import Node, Program, Write
from ckpt_viz.pregel.retry import policies_of
from ckpt_viz.types import CachePolicy, RetryPolicy, Send, TimeoutPolicy

_PASS: Any = object()
_RESERVED = (CONTROL - {"__return__"}) | {INPUT, COPY, PULL}


class ChannelWriteEntry(NamedTuple):
    """One write of a node's output: the output itself, a mapped form of it, or a constant."""

    channel: str
    value: Any = _PASS
    skip_none: bool = False
    mapper: Callable[[Any], Any] | None = None


class NodeBuilder:
    """Builds a node of the raw engine: what it subscribes to and reads, does and writes.

    >>> node = NodeBuilder().subscribe_only("in").do(str.upper).write_to("out").build()
    >>> node.triggers, node.write("A")
    (('in',), [('out', 'A')])
    """

    __slots__ = (
        "_cache",
        "_metadata",
        "_only",
        "_reads",
        "_retry",
        "_steps",
        "_tags",
        "_timeout",
        "_triggers",
        "_writes",
    )

    def __init__(self) -> None:
        self._only = False
        self._reads: list[str] = []
        self._triggers: list[str] = []
        self._steps: list[Any] = []
        self._writes: list[ChannelWriteEntry] = []
        self._tags: list[str] = []
        self._metadata: dict[str, Any] = {}
        self._retry: list[RetryPolicy] = []
        self._cache: CachePolicy[Any] | None = None
        self._timeout: TimeoutPolicy | None = None

    def subscribe_only(self, channel: str) -> Self:
        """Start when the channel is written, with its bare value as the input.

        Raises:
            ValueError: something is subscribed to already.
        """
        if self._reads or self._triggers:
            raise ValueError(
                "Cannot subscribe to single channels when other channels are already subscribed to"
            )
        self._only = True
        self._reads = [channel]
        self._triggers = [channel]
        return self

    def subscribe_to(self, *channels: str, read: bool = True) -> Self:
        """Start when one of the channels is written; ``read``: the input's dictionary has them.

        Raises:
            ValueError: `subscribe_only` was called.
        """
        if self._only:
            raise ValueError("Cannot subscribe to channels when subscribed to a single channel")
        if read:
            self._reads += [c for c in channels if c not in self._reads]
        self._triggers += [c for c in channels if c not in self._triggers]
        return self

    def read_from(self, *channels: str) -> Self:
        """Have the channels in the input's dictionary, without starting by them.

        Raises:
            AssertionError: `subscribe_only` was called.
        """
        if self._only:
            raise AssertionError(
                "Cannot read additional channels when subscribed to single channels"
            )
        self._reads += [c for c in channels if c not in self._reads]
        return self

    def do(self, node: Any) -> Self:
        """Call this with the input, or, after another `do`, with what that one gave."""
        self._steps.append(node)
        return self

    def write_to(self, *channels: str | ChannelWriteEntry, **values: Any) -> Self:
        """Write the output to channels; by keyword a constant, or a function of the output."""
        for channel in channels:
            entry = channel if isinstance(channel, ChannelWriteEntry) else None
            self._writes.append(entry or ChannelWriteEntry(str(channel)))
        for name, value in values.items():
            mapped = callable(value)
            self._writes.append(
                ChannelWriteEntry(name, mapper=value) if mapped else ChannelWriteEntry(name, value)
            )
        return self

    def meta(self, *tags: str, **metadata: Any) -> Self:
        """Tags and metadata that the node's config has."""
        self._tags += [t for t in tags if t not in self._tags]
        self._metadata.update(metadata)
        return self

    def add_retry_policies(self, *policies: RetryPolicy) -> Self:
        """When to run again after a failure; the first policy that is for the error decides."""
        self._retry += policies
        return self

    def add_cache_policy(self, policy: CachePolicy[Any]) -> Self:
        """Take results from the graph's cache."""
        self._cache = policy
        return self

    def set_timeout(self, timeout: float | timedelta | TimeoutPolicy | None) -> Self:
        """How long an attempt of an async node may take: seconds, or a `TimeoutPolicy`."""
        self._timeout = TimeoutPolicy.coerce(timeout)
        return self

    def build(self) -> Node:
        """The node; it gets its name from the graph."""
        call, wants, is_async = _sequence(self._steps)
        return Node(
            "",
            tuple(sorted(self._triggers)),
            tuple(self._reads),
            call,
            _Writer(tuple(self._writes)),
            wants,
            is_async,
            metadata=self._metadata or None,
            func=self._steps[0] if self._steps else None,
            single=self._only,
            tags=tuple(self._tags),
            retry=tuple(self._retry),
            cache=self._cache,
            timeout=self._timeout,
        )


class _Writer:
    """The writes of an output, by entries."""

    __slots__ = ("entries",)

    def __init__(self, entries: Sequence[ChannelWriteEntry]) -> None:
        self.entries = entries

    def __call__(self, output: Any) -> list[Write]:
        found: list[Write] = []
        for channel, value, skip_none, mapper in self.entries:
            if channel == TASKS:
                raise InvalidUpdateError("Cannot write to the reserved channel TASKS")
            out = output if value is _PASS else value
            if mapper is not None:
                out = mapper(out)
            if out is not None or not skip_none:
                found.append((channel, out))
        return found


def _same(value: Any) -> Any:
    return value


def _sequence(steps: Sequence[Any]) -> tuple[Callable[..., Any], tuple[str, ...], bool]:
    """One call of several functions, each given what the one before it gave."""
    if not steps:
        return _same, (), False
    calls = [(*callable_of(step), wants_of(step)) for step in steps]
    if len(calls) == 1:
        (call, is_async, wants) = calls[0]
        return call, wants, is_async
    wanted = tuple(dict.fromkeys(w for _, _, wants in calls for w in wants))

    def chain(value: Any, **given: Any) -> Any:
        for call, _, wants in calls:
            value = call(value, **{w: given[w] for w in wants})
        return value

    async def achain(value: Any, **given: Any) -> Any:
        for call, _, wants in calls:
            value = call(value, **{w: given[w] for w in wants})
            if inspect.isawaitable(value):
                value = await value
        return value

    is_async = any(one for _, one, _ in calls)
    return achain if is_async else chain, wanted, is_async


def program_of(
    nodes: Mapping[str, Node | NodeBuilder],
    channels: Mapping[str, BaseChannel | ManagedValueSpec] | None,
    input_channels: Any,
    output_channels: Any,
    stream_channels: Any,
) -> Program:
    """Nodes with their names, and channels with theirs, as the engine runs them.

    Raises:
        ValueError: a reserved channel name.
    """
    given = channels or {}
    managed = {name: kind for name, kind in given.items() if is_managed_value(kind)}
    known: dict[str, Any] = {name: ch for name, ch in given.items() if name not in managed}
    if not isinstance(known.setdefault(TASKS, Topic(Send, key=TASKS)), Topic):
        raise ValueError(f"Channel '{TASKS}' is reserved and cannot be used in the graph.")
    for name, channel in known.items():
        if isinstance(channel, BaseChannel) and not channel.key:
            channel.key = name
    named: dict[str, Node] = {}
    for name, node in nodes.items():
        built = node.build() if isinstance(node, NodeBuilder) else node
        if managed and not managed.keys().isdisjoint(built.reads):
            computed = tuple((k, managed[k]) for k in built.reads if k in managed)
            reads = tuple(k for k in built.reads if k not in managed)
            built = replace(built, reads=reads, managed=computed)
        named[name] = built if built.name == name else replace(built, name=name)
    shown = tuple(known) if stream_channels is None else _fixed(stream_channels)
    return Program(
        named,
        known,
        _fixed(input_channels),
        _fixed(output_channels),
        shown,
        momentary=input_channels != START,
        managed=managed,
    )


def add_policies(program: Program, retry: Any, cache: CachePolicy[Any] | None) -> None:
    """Give a graph's policies to those of its nodes that have none of their own."""
    retries = policies_of(retry)
    for node in program.nodes.values():
        if retries and not node.retry:
            node.retry, node.guarded = retries, True
        node.cache = node.cache or cache


def _fixed(keys: Any) -> Any:
    return keys if isinstance(keys, str) else tuple(keys)


def check_program(program: Program, breaks: Sequence[Any]) -> None:
    """Check that nodes and channels by hand fit together.

    Raises:
        ValueError: names the node or channel that does not fit.
    """
    known = program.channels
    listed = f"not in known channels: '{sorted(known)}'"
    for kind, names in (("Channel", known), ("Node", program.nodes)):
        for name in _RESERVED.intersection(names):
            raise ValueError(f"{kind} name '{name}' is reserved")
    for name, node in program.nodes.items():
        for channel in (*node.triggers, *node.reads):
            if channel not in known:
                raise ValueError(f"Node {name} reads channel '{channel}' {listed}")
    _check_input(program, listed)
    for keys in (program.output_channels, program.stream_channels):
        for channel in (keys,) if isinstance(keys, str) else keys:
            if channel not in known:
                raise ValueError(f"Output channel '{channel}' {listed}")
    for points in breaks:
        for point in () if points == "*" else points or ():
            if point not in program.nodes:
                raise ValueError(f"Node {point} not in nodes")


def _check_input(program: Program, listed: str) -> None:
    keys, triggers = program.input_channels, program.triggered
    if isinstance(keys, str):
        if keys not in program.channels:
            raise ValueError(f"Input channel '{keys}' {listed}")
        if keys not in triggers:
            raise ValueError(f"Input channel {keys} is not subscribed to by any node")
        return
    for channel in keys:
        if channel not in program.channels:
            raise ValueError(f"Input channel '{channel}' not in '{sorted(program.channels)}'")
    if not any(channel in triggers for channel in keys):
        raise ValueError(f"None of the input channels {list(keys)} are subscribed to by any node")
