"""Which checkpoint the graphs inside a graph ran under, from the namespaces that exist.

A namespace `node:task` belongs to the checkpoint whose task it names: often its pending writes tell
(nothing is read then), else the first checkpoint inside says what it ran under. A namespace that
is kept over runs (`node`, without a task) has a part under each checkpoint that it ran from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ckpt_viz.timeline.rows import Light

LIMIT = 2_000


class Inner(Protocol):
    """What this module needs of a timeline inside a namespace."""

    def known_lights(self) -> list[Light]:
        """The light records, read at most once."""
        ...


class Reader(Protocol):
    """What this module needs of a timeline."""

    checkpoint_ns: str

    def namespaces(self) -> list[str]:
        """All namespaces of the thread."""
        ...

    def known_lights(self) -> list[Light]:
        """The light records that have been read."""
        ...

    def inside(self, checkpoint_ns: str) -> Inner:
        """The timeline of another namespace."""
        ...


@dataclass(frozen=True, slots=True)
class Nested:
    """A namespace that ran from the checkpoint `owner`, by a task of `node`."""

    ns: str
    owner: str
    node: str


def nested(reader: Reader) -> tuple[Nested, ...]:
    """The namespaces directly inside the reader's, each with the checkpoint it ran from."""
    prefix = f"{reader.checkpoint_ns}|" if reader.checkpoint_ns else ""
    found = [ns for ns in reader.namespaces() if ns and ns.startswith(prefix)]
    inner = [ns for ns in found if "|" not in ns[len(prefix) :]][:LIMIT]
    if not inner:
        return ()
    tasks = {task: light.id for light in reader.known_lights() for task in light.news}
    out: list[Nested] = []
    for ns in inner:
        node, _, task = ns[len(prefix) :].partition(":")
        if task in tasks:
            out.append(Nested(ns, tasks[task], node))
        else:
            lights = reader.inside(ns).known_lights()
            out += [Nested(ns, owner, node) for owner in owners(lights, reader.checkpoint_ns)]
    return tuple(out)


def owners(lights: Iterable[Light], above: str) -> list[str]:
    """The checkpoints of the namespace `above` that these ran under, each once."""
    return list(dict.fromkeys(light.above[above] for light in lights if above in light.above))
