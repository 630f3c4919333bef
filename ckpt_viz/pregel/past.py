"""The state of a checkpoint that is only looked at.

Nothing is written to it, so nothing is copied, and a channel whose value is what was saved is not
made at all. What runs next is decided where a run decides it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.channels import MISSING
from ckpt_viz.constants import TASKS
from ckpt_viz.pregel.live import ChannelMap, Live
from ckpt_viz.pregel.program import Node, Program


class Past(Live):
    """Channels and versions as a checkpoint has them."""

    __slots__ = ("saved",)

    def __init__(self, program: Program, checkpoint: dict[str, Any], ns: str) -> None:
        self.program = program
        self.ns = ns
        self.id = checkpoint["id"]
        self.versions = checkpoint["channel_versions"]
        self.seen = checkpoint["versions_seen"]
        self.saved = checkpoint["channel_values"]

    def get(self, name: str) -> Any:
        """The channel's value, or MISSING."""
        program = self.program
        saved = self.saved.get(name, MISSING)
        if name in program.plain and (saved is not MISSING or name not in program.full):
            return saved
        return program.channels[name].from_checkpoint(saved).peek()

    def holds(self, name: str) -> bool:
        """Whether a channel of the graph holds a value."""
        return self.get(name) is not MISSING

    def candidates(self) -> Iterable[Node]:
        """The nodes that may be ready: those with a trigger that may hold a value."""
        program = self.program
        index = program.triggered
        names: list[str] = []
        for channel in (*self.saved, *program.full) if program.full else self.saved:
            if channel in index:
                names += index[channel]
        nodes = program.nodes
        if len(names) == 1:
            return (nodes[names[0]],)
        wanted = set(names)  # in the graph's own order
        return [node for name, node in nodes.items() if name in wanted] if names else ()

    def input_of(self, node: Node, step: int) -> tuple[bool, Any]:
        """Whether a node can run. Its input is made only where it is of a class, which may fail."""
        if node.schema is not None:
            self.channels, self.stop = ChannelMap(self.program.channels, self.saved), 0
            return super().input_of(node, step)
        return not node.single or self.holds(node.reads[0]), None

    def read(self, names: str | tuple[str, ...]) -> Any:
        """A value (None where empty), or a dictionary of the channels that hold one."""
        if isinstance(names, str):
            found = self.get(names)
            return None if found is MISSING else found
        saved, plain = self.saved, self.program.plain
        found = {}
        for name in names:
            value = saved[name] if name in saved and name in plain else self.get(name)
            if value is not MISSING:
                found[name] = value
        return found

    def sends(self) -> list[Any]:
        """The Sends that wait to become tasks."""
        found = self.get(TASKS)
        return [] if found is MISSING else found
