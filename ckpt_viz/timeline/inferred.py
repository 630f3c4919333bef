"""The shape of a graph that is not at hand, as far as its saved channels and versions tell it.

Today's channels name the node they start (`branch:to:NODE`, `join:A+B:NODE`). Older graphs started
nodes by channels of other names (`start:a`, `branch:a:router:b`, and `a`, which node a writes when
it has run): there a node's triggers are the channels whose versions it has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ckpt_viz.timeline.records import ChannelInfo, Topology
from ckpt_viz.timeline.rows import Light
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import START, TASKS

_ENGINE = ("__input__", "__interrupt__")
_OLD_START = "start:"
OLD = "branch:old:"
"""How an old routing channel is called in rows, so that it counts as the engine's own."""

Seen = Mapping[str, Iterable[str]]


def infer(names: Iterable[str], seen: Seen = {}) -> Topology:  # noqa: B006 - never changed
    """The shape that channel names tell of, and which node has seen which channels.

    >>> infer(["branch:to:b", "join:a+b:c"]).triggers["c"]
    ('branch:to:c', 'join:a+b:c')
    >>> infer(["start:a", "a"], {"a": ["start:a"], "b": ["a"]}).triggers["b"]
    ('a',)
    """
    known = sorted(names)
    nodes = set(seen)
    old = {name for name in known if is_old(name, nodes)}
    entries = [node for node in seen if START in seen[node]] or [START]
    triggers: dict[str, dict[str, None]] = {node: {START: None} for node in entries}
    waiting = []
    for name in known:
        if name.startswith("branch:to:"):
            triggers.setdefault(name.removeprefix("branch:to:"), {})[name] = None
        elif name.startswith("join:"):
            _, starts, end = name.split(":", 2)
            waiting.append((tuple(starts.split("+")), end))
            first = {} if old else {f"branch:to:{end}": None}
            triggers.setdefault(end, first)[name] = None
        elif name.startswith(_OLD_START):
            triggers.setdefault(name.removeprefix(_OLD_START), {})[name] = None
        elif name.startswith("branch:"):
            triggers.setdefault(name.rsplit(":", 1)[1], {})[name] = None
    for node in sorted(nodes):
        for channel in seen[node]:
            triggers.setdefault(node, {})[channel] = None
    return Topology(
        triggers={node: tuple(found) for node, found in triggers.items()},
        edges=frozenset(),
        waiting=tuple(waiting),
        branches={},
        channels={n: _channel(n, is_routing(n) or n in old) for n in known},
    )


def _channel(name: str, routing: bool) -> ChannelInfo:
    return ChannelInfo(name, "Topic" if name == TASKS else "saved", None, routing)


def is_old(name: str, nodes: Iterable[str]) -> bool:
    """Whether a channel is one by which older graphs started nodes, beside those of today."""
    return name.startswith(_OLD_START) or name in nodes


def without_old(light: Light, topology: Topology) -> Light:
    """A light record whose old routing channels count as the engine's own."""
    old = {n for n in light.versions if not is_routing(n) and _is_engines(topology, n)}
    if not old:
        return light
    versions = {OLD + n if n in old else n: v for n, v in light.versions.items()}
    return replace(light, versions=versions)


def _is_engines(topology: Topology, name: str) -> bool:
    found = topology.channels.get(name)
    return found is not None and found.routing


class Learnt:
    """What the checkpoints read so far tell of channels and nodes."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._seen: dict[str, dict[str, None]] = {}
        self._made: Topology | None = None

    def note(self, checkpoint: Mapping[str, Any]) -> None:
        """Take up a checkpoint."""
        names = set(checkpoint.get("channel_versions") or ())
        news = bool(names - self._names)
        self._names |= names
        for node, channels in (checkpoint.get("versions_seen") or {}).items():
            if node in _ENGINE:
                continue
            known = self._seen.setdefault(node, {})
            news = news or any(channel not in known for channel in channels)
            known.update(dict.fromkeys(channels))
        if news:
            self._made = None

    @property
    def lacks_entry(self) -> bool:
        """Whether there was an input, and no node is known that took one."""
        return START in self._names and not any(START in c for c in self._seen.values())

    @property
    def is_entrypoint(self) -> bool:
        """Whether this is the history of a function: another node takes the input, no channel is
        the user's."""
        entries = [node for node, channels in self._seen.items() if START in channels]
        return bool(entries) and START not in entries and all(map(is_routing, self._names))

    def note_entry(self, nodes: Iterable[str]) -> None:
        """Take up that these nodes start by the input."""
        for node in nodes:
            self._seen.setdefault(node, {})[START] = None
            self._made = None

    @property
    def topology(self) -> Topology:
        """The shape, as far as it is known by now."""
        if self._made is None:
            self._made = infer(self._names, self._seen)
        return self._made
