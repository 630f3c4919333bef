"""The live state of a run or of one checkpoint being read: channels, versions, what nodes saw.

One dictionary each, changed in place; ``changed`` notes what the next save has to store, ``saw``
whose entries of ``seen`` are new, both counted from the checkpoint ``since`` on. Savers serialize
what they are given at once, so nothing stored aliases these maps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.channels import MISSING, BaseChannel
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.constants import PULL, TASKS
from ckpt_viz.managed.base import Clock
from ckpt_viz.pregel.program import Node, Program
from ckpt_viz.pregel.unreadable import opaque_in

_NEW: dict[str, Any] = {
    "id": None,
    "channel_values": {},
    "channel_versions": {},
    "versions_seen": {},
}


class ChannelMap(dict[str, BaseChannel]):
    """Channels by name, each made when it is first touched."""

    __slots__ = ("opaque", "specs", "values_saved")

    def __init__(self, specs: dict[str, BaseChannel], saved: dict[str, Any]) -> None:
        super().__init__()
        self.opaque: set[str] = set()
        self.specs = specs
        self.values_saved = saved

    def __missing__(self, name: str) -> BaseChannel:
        saved = self.values_saved.get(name, MISSING)
        if Opaque.made and opaque_in(saved) is not None:
            self.opaque.add(name)
        channel = self.specs[name].from_checkpoint(saved)
        self[name] = channel
        return channel


class Live:
    """Channels with their versions, as a superstep sees them."""

    __slots__ = (
        "changed",
        "channels",
        "id",
        "max_version",
        "ns",
        "program",
        "saw",
        "seen",
        "since",
        "stop",
        "updated",
        "versions",
        "volatile",
    )

    def __init__(
        self,
        program: Program,
        checkpoint: dict[str, Any] | None,
        ns: str = "",
        id: str | None = None,
    ) -> None:
        self.ns = ns
        self.program = program
        self.stop = 0  # the superstep that the recursion limit bars
        self.changed: dict[str, Any] = {}  # the new versions
        self.saw: dict[str, bool] = {}
        checkpoint = checkpoint or _NEW
        saved, specs = checkpoint["channel_values"], program.channels
        self.channels = ChannelMap(specs, saved)
        self.versions: dict[str, Any] = dict(checkpoint["channel_versions"])
        self.seen: dict[str, dict[str, Any]] = {
            k: dict(v) for k, v in checkpoint["versions_seen"].items()
        }
        self.max_version: Any = max(self.versions.values(), default=None)
        updated = checkpoint.get("updated_channels")
        self.updated: set[str] | None = None if updated is None else set(updated)
        self.id: str | None = checkpoint["id"] or id
        self.since = self.id
        self.volatile = {c for c in saved if c in specs and specs[c].volatile}

    def holds(self, name: str) -> bool:
        """Whether a channel of the graph holds a value."""
        return self.channels[name].is_available()

    def note(self, name: str, version: Any) -> None:
        """The channel has changed: this is its version now."""
        self.versions[name] = self.changed[name] = self.max_version = version

    def holding(self) -> Iterable[str]:
        """The channels that may hold a value; none before anything is written."""
        if not self.versions:
            return ()
        channels = self.channels
        return {*channels, *channels.values_saved, *self.program.born}

    def get(self, name: str) -> Any:
        """The channel's value, or MISSING."""
        return self.channels[name].peek()

    def candidates(self) -> Iterable[Node]:
        """The nodes that may be ready: those that what changed starts, else what holds a value."""
        nodes, index = self.program.nodes, self.program.triggered
        names: tuple[str, ...] = ()
        for channel in self.updated or self.holding():
            if channel in index:
                names += index[channel]
        if len(names) == 1:
            return (nodes[names[0]],)
        found = set(names)
        if self.updated:
            return [nodes[n] for n in sorted(found)]
        return [node for name, node in nodes.items() if name in found] if found else ()

    def input_of(self, node: Node, step: int) -> tuple[bool, Any]:
        """Whether a node can run, and the value it gets."""
        channels = self.channels
        if node.single:
            found = channels[node.reads[0]].peek()
            return (False, None) if found is MISSING else (True, found)
        value = {n: v for n in node.reads if (v := channels[n].peek()) is not MISSING}
        if node.managed:
            clock = Clock(step, self.stop)
            value |= {name: kind.get(clock) for name, kind in node.managed}
        return True, value if node.schema is None else _coerced(node, value)

    def read(self, names: str | tuple[str, ...]) -> Any:
        """A value (None where empty), or a dictionary of the channels that hold one."""
        channels = self.channels
        if isinstance(names, str):
            found = channels[names].peek()
            return None if found is MISSING else found
        return {n: v for n in names if (v := channels[n].peek()) is not MISSING}

    def changed_values(self) -> dict[str, Any]:
        """The saved forms of the channels that have changed, without the empty ones."""
        found, channels = {}, self.channels
        for name in self.changed:
            value = channels[name].saved()
            if value is not MISSING:
                found[name] = value
        return found

    def saved_values(self, names: Iterable[str]) -> dict[str, Any]:
        """The saved forms of the named channels, without the empty ones."""
        found = {}
        specs, channels = self.program.channels, self.channels
        for name in names:
            if name in specs:
                value = channels[name].saved()
            else:  # a channel that the graph no longer has keeps what was saved
                value = channels.values_saved.get(name, MISSING)
            if value is not MISSING:
                found[name] = value
        return found

    def fork(self) -> Live:
        """A copy whose channels can be written without touching this one."""
        twin = Live.__new__(Live)
        twin.program = self.program
        twin.stop = self.stop
        twin.channels = ChannelMap(self.program.channels, self.channels.values_saved)
        for name, channel in self.channels.items():
            dict.__setitem__(twin.channels, name, channel.copy())
        twin.versions = dict(self.versions)
        twin.seen = {k: dict(v) for k, v in self.seen.items()}
        twin.max_version = self.max_version
        twin.changed = dict(self.changed)
        twin.saw = dict(self.saw)
        twin.since = self.since
        twin.updated = None if self.updated is None else set(self.updated)
        twin.id, twin.ns = self.id, self.ns
        twin.volatile = set(self.volatile)
        return twin

    def sends(self) -> list[Any]:
        """The Sends that wait to become tasks."""
        if TASKS not in self.versions:
            return []
        channel = self.channels[TASKS]
        return channel.get() if channel.is_available() else []


def _coerced(node: Node, value: dict[str, Any]) -> Any:
    """The values as the node's own class; an error tells which node would have run."""
    assert node.schema is not None
    try:
        return node.schema(value)
    except Exception as error:
        path = str((PULL, node.name))
        error.add_note(f"Before task with name '{node.name}' and path '{path}'")
        raise
