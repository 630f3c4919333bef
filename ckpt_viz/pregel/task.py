"""A task: one call of one node in one superstep."""

from __future__ import annotations

from typing import Any

from ckpt_viz.constants import NS_END, NS_SEP, PULL
from ckpt_viz.ids import hash_uuid, id_bytes
from ckpt_viz.pregel.program import Node, Write


class Task:
    """A node to run, and what came of it.

    ``outcome`` is "" while nothing is known, then "done", "error" or "interrupt". ``special``
    holds the writes that steer the engine (RESUME, INTERRUPT, ERROR), ``writes`` those that go to
    channels. ``resumes`` are the answers that the task has had so far. ``caller`` is the task
    whose code called this one; ``calls`` is how many tasks it has called itself, ``graphs`` how
    many graphs.
    """

    __slots__ = (
        "_id",
        "base",
        "began",
        "cached",
        "caller",
        "calls",
        "error",
        "graphs",
        "input",
        "interrupts",
        "name",
        "node",
        "outcome",
        "path",
        "resumes",
        "special",
        "step",
        "took",
        "triggers",
        "within",
        "writes",
    )

    def __init__(
        self, node: Node, path: tuple[Any, ...], triggers: tuple[str, ...], value: Any, step: int
    ) -> None:
        self.node = node
        self.name = node.name
        self.path = path
        self.triggers = triggers
        self.input = value
        self.step = step
        self.base: str | None = None
        self.within = ""  # the namespace of the graph, or of the task that calls this one
        self.writes: list[Write] = []
        self.special: list[Write] = []
        self.resumes: list[Any] = []
        self.interrupts: list[Any] = []
        self.error: Any = None  # the exception, or what a pending write tells of it
        self.outcome = ""
        self.cached = False
        self.began = self.took = 0.0  # seconds since the epoch, and seconds; 0.0: it did not run
        self.caller: Task | None = None
        self.calls = self.graphs = 0
        self._id: str | None = None

    @property
    def id(self) -> str:
        """The same for the same checkpoint, so pending writes find their task again."""
        if self._id is None:
            base = id_bytes(self.base or "")
            if self.within:
                base += f"{self.within}{NS_SEP}".encode()
            head, tail = self.node.id_parts
            if self.path[0] != PULL:
                tail = self._called_as().encode()
            self._id = hash_uuid(b"%b%b%d%b" % (base, head, self.step, tail))
        return self._id

    def _called_as(self) -> str:
        """What tells apart the calls of a node that no trigger made."""
        if self.caller is None:
            kind, index, *_ = self.path
            return f"{self.name}{kind}{index}"
        kind, above, index, _ = self.path
        return f"{self.name}{kind}{path_text(above)}{index}"

    @property
    def ns(self) -> str:
        """The namespace that a graph run inside this task would use."""
        own = f"{self.name}{NS_END}{self.id}"
        return f"{self.within}{NS_SEP}{own}" if self.within else own

    @property
    def path_text(self) -> str:
        """The form of the path that savers keep and order by."""
        if self.path[0] == PULL:
            return self.node.path_text
        if self.caller is None and len(self.path) == 3:  # a Send's: one of many
            kind, index, called = self.path
            return f"~{kind}, {index:010d}, {called:010d}"
        return path_text(self.path)


def path_text(path: tuple[Any, ...]) -> str:
    """A path as text that sorts as the path does. A called task's path has its caller's in it.

    >>> path_text((PULL, "a"))
    '~__pregel_pull, a'
    >>> path_text((PUSH, 3, False))
    '~__pregel_push, 0000000003, 0000000000'
    >>> path_text((PUSH, (PULL, "a"), 0, True))
    '~__pregel_push, ~__pregel_pull, a, 0000000000, 0000000001'
    """
    return "~" + ", ".join(_part(p) for p in path)


def _part(part: Any) -> str:
    if isinstance(part, tuple):
        return path_text(part)
    return f"{part:010d}" if isinstance(part, int) else str(part)
