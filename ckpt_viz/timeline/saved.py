"""A history without its graph: a saver alone, or a SQLite file of ours. Read-only.

The shape is inferred from the reserved channel names (`branch:to:NODE`, `join:A+B:NODE`), and the
names of tasks from their ids, which are hashes of checkpoint, namespace, step, name and triggers.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from ckpt_viz.ids import hash_uuid, id_bytes
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.records import ChannelInfo, Topology
from ckpt_viz.timeline.rows import Light, lighten, read_news
from ckpt_viz.timeline.shape import Shape
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import PUSH, START, TASKS

PULL = "__pregel_pull"
NO_SHAPE = (
    "Only the saved history was given: it names channels, not the graph's edges. "
    "To draw them, add the graph: explore(source, graph=graph)"
)
WHY = "Only the saved history was given. To act, add its graph: explore(source, graph=graph)"


class SavedTimeline(GraphTimeline):
    """The timeline of a saver whose graph is not at hand."""

    graphless = WHY

    def __init__(
        self,
        graph: Any,
        thread_id: str | None = None,
        checkpoint_ns: str = "",
        colour: Colour | None = None,
    ) -> None:
        """`graph` stands in: it has a `name` and a `checkpointer`, and nothing else."""
        super().__init__(graph, thread_id, checkpoint_ns, colour)
        self._read = -1

    @property
    def topology(self) -> Topology:
        """The shape as far as the saved channels tell it."""
        if self._topology is None or len(self._lights) != self._read:
            self._read = len(self._lights)
            names = {c for light in self._lights.values() for c in light.versions}
            if not names and self.thread_id is not None:
                names = {
                    c
                    for tup in self._list(self._reference(None).config)
                    for c in tup.checkpoint["channel_versions"]
                }
            self._topology = infer(names)
        return self._topology

    def _lighten_alone(self, tup: Any) -> Light:
        return lighten(tup, infer(tup.checkpoint["channel_versions"]), self._available)

    def shape(self) -> Shape:
        """Nothing to draw: edges are the graph's own, and are not saved."""
        return Shape(why=NO_SHAPE)

    def _available(self, channel: str, value: Any) -> bool:
        if channel.startswith("join:"):
            return set(channel.split(":", 2)[1].split("+")) == set(value or ())
        return True

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state as saved; tasks carry what their pending writes tell."""
        if checkpoint_id is None:
            tup = self._find(None)
            if tup is None:
                return _empty(self._reference(None).config)
        else:
            tup = self.require(checkpoint_id)
        light = lighten(tup, self.topology, self._available)
        values = tup.checkpoint["channel_values"]
        tasks = tuple(self._tasks(tup, light.sends, light.ready[len(light.sends) :]))
        return SimpleNamespace(
            values={k: v for k, v in values.items() if not is_routing(k)},
            next=light.ready,
            config=tup.config,
            metadata=tup.metadata,
            created_at=tup.checkpoint.get("ts"),
            parent_config=tup.parent_config,
            tasks=tasks,
            interrupts=tuple(i for t in tasks for i in t.interrupts),
        )

    def _tasks(self, tup: Any, sends: Iterable[str], pulls: Iterable[str]) -> Iterable[Any]:
        news = read_news(tup.pending_writes)
        results: dict[str, dict[str, Any]] = {}
        for task_id, channel, value in tup.pending_writes or ():
            if not is_routing(channel):
                results.setdefault(task_id, {})[channel] = value
        where = tup.config["configurable"]
        step = int((tup.metadata or {}).get("step", -2)) + 1
        plans = [(n, (PUSH, i, False), str(i)) for i, n in enumerate(sends)]
        for name in pulls:
            rest = "".join(sorted(self.topology.triggers[name]))
            plans.append((name, (PULL, name), rest))  # type: ignore[arg-type]
        for name, path, rest in plans:
            space = "|".join(p for p in (where.get("checkpoint_ns"), name) if p)
            text = f"{space}{step}{name}{path[0]}{rest}"
            task_id = hash_uuid(id_bytes(str(where["checkpoint_id"])) + text.encode())
            told = news.get(task_id)
            yield SimpleNamespace(
                id=task_id,
                name=name,
                path=path,
                error=told.text if told and told.state == "error" else None,
                interrupts=told.interrupts if told else (),
                state=None,
                result=results.get(task_id),
            )


def _empty(config: Any) -> Any:
    return SimpleNamespace(
        values={},
        next=(),
        config=config,
        metadata=None,
        created_at=None,
        parent_config=None,
        tasks=(),
        interrupts=(),
    )


def infer(names: Iterable[str]) -> Topology:
    """The shape that reserved channel names tell of.

    >>> infer(["branch:to:b", "join:a+b:c"]).triggers["c"]
    ('branch:to:c', 'join:a+b:c')
    """
    known = sorted(names)
    triggers: dict[str, list[str]] = {START: [START]}
    waiting = []
    for name in known:
        if name.startswith("branch:to:"):
            triggers.setdefault(name.removeprefix("branch:to:"), [name])
        elif name.startswith("join:"):
            _, starts, end = name.split(":", 2)
            waiting.append((tuple(starts.split("+")), end))
    for starts_, end in waiting:
        start = triggers.setdefault(end, [f"branch:to:{end}"])
        start.append(f"join:{'+'.join(starts_)}:{end}")
    return Topology(
        triggers={node: tuple(found) for node, found in triggers.items()},
        edges=frozenset(),
        waiting=tuple(waiting),
        branches={},
        channels={
            n: ChannelInfo(n, "Topic" if n == TASKS else "saved", None, is_routing(n))
            for n in known
        },
    )


def open_saved(
    saver: Any, thread_id: str | None, checkpoint_ns: str, title: str = ""
) -> SavedTimeline:
    """The timeline of a saver without a graph; `title` else is the saver's class."""
    graph = SimpleNamespace(name=title or type(saver).__name__, checkpointer=saver)
    return SavedTimeline(graph, thread_id, checkpoint_ns)
