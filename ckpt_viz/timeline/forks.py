"""What follows a fork: which nodes may run again, which graphs restart, who will ask again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ckpt_viz.timeline.records import ForkPreview, Topology, Unfinished

ROUTERS_RAN = "Your reducers and routers ran to find this; no node did."


class Reader(Protocol):
    """What this module needs of a timeline."""

    @property
    def topology(self) -> Topology:
        """The graph's shape."""
        ...

    def unfinished(self, running: bool = False) -> list[Unfinished]:
        """The tasks that made no checkpoint."""
        ...

    def askers(self) -> set[str]:
        """The nodes that have asked a question in this history."""
        ...

    def is_graph(self, node: str) -> bool:
        """True for a node that is a graph itself."""
        ...


def foresee(reader: Reader, base: str, snapshot: Any) -> ForkPreview:
    """The preview that an update's snapshot, found on a scratch saver, gives."""
    following = tuple(str(n) for n in snapshot.next)
    again = reader.topology.reachable(following)
    restarts = tuple(n for n in again if reader.is_graph(n))
    asked = reader.askers()
    asks = tuple(n for n in again if n in asked)
    notes = [ROUTERS_RAN]
    lost = {u.name for u in reader.unfinished() if u.parent == base} & set(restarts)
    if lost:
        notes.append(f"{_listed(sorted(lost))} had begun here: in the fork that work is not kept.")
    if asks:
        notes.append(f"May ask again: {_listed(asks)}.")
    return ForkPreview(
        snapshot.values, following, again, tuple(notes), not following, restarts, asks
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
