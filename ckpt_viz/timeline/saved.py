"""A history without its graph: a saver alone, or a database. Nothing can run here.

The shape is inferred (`inferred`), and the tasks that come next are told by it; a task's id is a
hash of checkpoint, namespace, step, name and triggers. Where it fits no pending write, as in what
older versions saved, a write is given to the task that it must be of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from ckpt_viz.constants import END, ERROR
from ckpt_viz.ids import hash_uuid, id_bytes
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.inferred import Learnt, without_old
from ckpt_viz.timeline.rebuilt import deltas
from ckpt_viz.timeline.records import Topology
from ckpt_viz.timeline.rows import Light, TaskNews, error_text, lighten, read_news
from ckpt_viz.timeline.taskpaths import PULL, pulled, sent, task_paths
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.timeline.why import PUSH

WHY = "Only the saved history was given. To act, add its graph: explore(source, graph=graph)"
UNKNOWN = "unknown node"
Plan = tuple[str, tuple[Any, ...], str]
"""A task that comes next: its node, its path, and what its id is hashed from beside them."""


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
        self._learnt = Learnt()

    @property
    def topology(self) -> Topology:
        """The shape as far as the saved channels tell it."""
        if self.thread_id is not None and not self._lights:
            self.refresh()
        return self._learnt.topology

    def _list(self, config: Any, **options: Any) -> list[Any]:
        found = super()._list(config, **options)
        for tup in found:
            where = tup.config["configurable"]
            if (where["thread_id"], where["checkpoint_ns"]) != (self.thread_id, self.checkpoint_ns):
                continue
            self._learnt.note(tup.checkpoint)
            if self._learnt.lacks_entry and (tup.metadata or {}).get("source") == "input":
                paths = task_paths(self.saver, tup.config).values()
                self._learnt.note_entry(filter(None, map(pulled, paths)))
        return found

    def _lighten(self, tup: Any) -> Light:
        topology = self._learnt.topology
        return without_old(lighten(tup, topology, self._available), topology)

    def _lighten_alone(self, tup: Any) -> Light:
        self._learnt.note(tup.checkpoint)
        return self._lighten(tup)

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
        topology = self.topology
        light = lighten(tup, topology, self._available)
        tasks = tuple(self._tasks(tup, light, checkpoint_id is None))
        values = {**tup.checkpoint["channel_values"], **deltas(tup, self._find)}
        return SimpleNamespace(
            values=self._state(values, topology),
            next=tuple(t.name for t in tasks if checkpoint_id is not None or t.result is None),
            config=tup.config,
            metadata=tup.metadata,
            created_at=tup.checkpoint.get("ts"),
            parent_config=tup.parent_config,
            tasks=tasks,
            interrupts=tuple(i for t in tasks for i in t.interrupts),
        )

    def _state(self, values: dict[str, Any], topology: Topology) -> Any:
        """The user's channels; of an entrypoint, which has none, what it has returned."""
        hidden = {n for n, c in topology.channels.items() if c.routing}
        if self._learnt.is_entrypoint:
            return values.get(END)
        return {k: v for k, v in values.items() if k not in hidden and not is_routing(k)}

    def _tasks(self, tup: Any, light: Light, live: bool) -> Iterator[Any]:
        plans = list(self._plans(tup, light))
        news = read_news(tup.pending_writes)
        ids = self._ids(tup, plans, list(news))
        wrote: dict[str, list[tuple[str, Any]]] = {}
        for task_id, channel, value in tup.pending_writes or ():
            wrote.setdefault(task_id, []).append((channel, value))
        for (name, path, _), task_id in zip(plans, ids, strict=True):
            told = news.get(task_id)
            done = told is not None and told.state == "done"
            yield SimpleNamespace(
                id=task_id,
                name=name,
                path=path,
                error=_error(wrote.get(task_id, ())),
                interrupts=told.interrupts if told and not (done and live) else (),
                state=None,
                result=self._result(wrote[task_id]) if done else None,
            )
        for task_id, told in news.items():
            if task_id not in ids and told.state in ("error", "interrupt"):
                yield _unnamed(task_id, told)

    def _result(self, writes: list[tuple[str, Any]]) -> Any:
        found = dict(writes)
        if self._learnt.is_entrypoint:
            return found.get(END)
        return {channel: value for channel, value in found.items() if not is_routing(channel)}

    def _plans(self, tup: Any, light: Light) -> Iterator[Plan]:
        """The tasks that come next, with the text that each one's id is hashed from."""
        where = tup.config["configurable"]
        step = int((tup.metadata or {}).get("step", -2)) + 1
        plans = [(name, (PUSH, i, False), str(i)) for i, name in enumerate(light.sends)]
        for name in light.ready[len(light.sends) :]:
            rest = "".join(sorted(self.topology.triggers[name]))
            plans.append((name, (PULL, name), rest))  # type: ignore[arg-type]
        for name, path, rest in plans:
            space = "|".join(p for p in (where.get("checkpoint_ns"), name) if p)
            yield name, path, f"{space}{step}{name}{path[0]}{rest}"

    def _ids(self, tup: Any, plans: list[Plan], wrote: list[str]) -> list[str]:
        """The id of each task: by hash; by path; or the only one left that it can be."""
        start = id_bytes(str(tup.config["configurable"]["checkpoint_id"]))
        ids = [hash_uuid(start + text.encode()) for _, _, text in plans]
        left = [task for task in wrote if task not in ids]
        open_ = [i for i, id_ in enumerate(ids) if id_ not in wrote]
        if not left or not open_:
            return ids
        paths = task_paths(self.saver, tup.config)
        for task in list(left):
            for i in open_:
                name, path, _ = plans[i]
                if _is_of(tup, task, name, path, paths.get(task, "")):
                    ids[i] = task
                    open_.remove(i)
                    left.remove(task)
                    break
        if len(left) == len(open_) == 1:
            ids[open_[0]] = left[0]
        return ids


def _is_of(tup: Any, task: str, name: str, path: tuple[Any, ...], told: str) -> bool:
    """Whether a task that wrote is the planned one: by its path, or by what only it writes."""
    if told:
        return sent(told) == path[1] if path[0] == PUSH else pulled(told) == name
    wrote = {channel for id_, channel, _ in tup.pending_writes if id_ == task}
    return name in wrote or any(c.startswith(f"branch:{name}:") for c in wrote)


def _unnamed(task_id: str, told: TaskNews) -> Any:
    """A task that failed or waits, of a node that nothing saved tells of."""
    return SimpleNamespace(
        id=task_id,
        name=UNKNOWN,
        path=(PULL, UNKNOWN),
        error=told.text if told.state == "error" else None,
        interrupts=told.interrupts,
        state=None,
        result=None,
    )


def _error(writes: Iterable[tuple[str, Any]]) -> str | None:
    """The error that a task ended with, also where a later try went well."""
    return next((error_text(value) for channel, value in writes if channel == ERROR), None)


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


def open_saved(
    saver: Any, thread_id: str | None, checkpoint_ns: str, title: str = ""
) -> SavedTimeline:
    """The timeline of a saver without a graph; `title` else is the saver's class."""
    graph = SimpleNamespace(name=title or type(saver).__name__, checkpointer=saver)
    return SavedTimeline(graph, thread_id, checkpoint_ns)
