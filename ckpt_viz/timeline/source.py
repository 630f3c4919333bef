"""Reading the history of a compiled graph (any engine) through its saver: light rows first.

`PagedRows` keeps the rows; values are read only for the checkpoint that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ckpt_viz.errors import CheckpointNotFoundError, MissingThreadIdError
from ckpt_viz.timeline.colour import Ask, Colour
from ckpt_viz.timeline.damage import DAMAGED, read_past
from ckpt_viz.timeline.evidence import gather
from ckpt_viz.timeline.keeping import is_declared
from ckpt_viz.timeline.pages import PagedRows
from ckpt_viz.timeline.records import Reference, Row, ThreadInfo, Topology, Unfinished, Writes
from ckpt_viz.timeline.rows import Light, lighten, make_row, written_last
from ckpt_viz.timeline.shape import NO_SHAPE, Shape, of_topology, read_shape
from ckpt_viz.timeline.threads import Head, counts, heads, unreadable_thread
from ckpt_viz.timeline.topology import read_topology, subgraph
from ckpt_viz.timeline.unfinished import unfinished_of
from ckpt_viz.timeline.why import shapeless

T = TypeVar("T")
SPACES_LIMIT = 5_000
Sized = tuple[str | None, int | None]


class NoHistoryError(ValueError):
    """The object has no saver, so that nothing of its runs was kept."""


class GraphReader(PagedRows):
    """The reading half of a timeline over a compiled graph."""

    def __init__(
        self,
        graph: Any,
        thread_id: str | None = None,
        checkpoint_ns: str = "",
        colour: Colour | None = None,
    ) -> None:
        """Takes a compiled graph with a saver; `colour` runs what must be awaited."""
        saver = getattr(graph, "checkpointer", None)
        if saver is None or isinstance(saver, bool):
            name = self._name(graph)
            told = "The graph" if name in ("", "LangGraph") else f"The graph {name!r}"
            raise NoHistoryError(
                f"{told} has no checkpointer, so no history was kept. "
                "Compile it with one: `graph = builder.compile(checkpointer=InMemorySaver())`, "
                "and run it with config={'configurable': {'thread_id': '1'}}."
            )
        self.graph = graph
        self.saver: Any = saver
        self.thread_id = None if thread_id is None else str(thread_id)
        self.checkpoint_ns = checkpoint_ns
        self.colour = colour or Colour(saver)
        self._topology: Topology | None = None
        super().__init__()
        self._names: dict[str, dict[str, str]] = {}

    @staticmethod
    def _name(graph: Any) -> str:
        return str(getattr(graph, "name", None) or type(graph).__name__)

    @property
    def title(self) -> str:
        """The graph's name; empty where nobody gave it one."""
        return self._name(self.graph)

    @property
    def topology(self) -> Topology:
        """The shape of the graph (of the subgraph, inside its namespace)."""
        if self._topology is None:
            self._topology = read_topology(self._graph_here())
        return self._topology

    def shape(self) -> Shape:
        """What there is to draw of the graph, or why there is nothing."""
        graph, topology = self._graph_here(), self.topology
        if hasattr(graph, "get_graph"):
            return read_shape(graph, topology)
        return Shape(why=NO_SHAPE) if shapeless(topology) else of_topology(topology)

    def _graph_here(self) -> Any:
        path = [part.split(":", 1)[0] for part in self.checkpoint_ns.split("|") if part]
        graph = self.graph
        for name in (p for p in path if not p.isdigit()):
            inner = subgraph(graph, name)
            if inner is None:
                return graph
            graph = inner
        return graph

    # -- the saver, in either colour ---------------------------------------------------------

    @property
    def _async_saver(self) -> bool:
        kind = type(self.saver)
        return kind.__name__.startswith("Async") or is_declared(kind, "get_tuple")

    def _steady(self, read: Callable[[], T]) -> T:
        """Reads again when a run in another thread changed the saver's maps under the reader."""
        for _ in range(20):
            try:
                return read()
            except RuntimeError as error:
                if "changed size during iteration" not in str(error):
                    raise
        return read()

    def _read(self, ask: Ask[T]) -> T:
        """What an async saver answers."""
        return self.colour.read(self.saver, ask)

    def _with(self, saver: Any) -> Any:
        """The graph on this saver."""
        same = saver is self.saver
        return self.graph if same else self.graph.copy(update={"checkpointer": saver})

    def _list(self, config: Any, **options: Any) -> list[Any]:
        if self._async_saver:

            async def collect(saver: Any) -> list[Any]:
                return [t async for t in saver.alist(config, **options)]

            return self._read(collect)
        return self._steady(lambda: list(self.saver.list(config, **options)))

    def _listed(self, before: str | None, limit: int) -> list[Any]:
        """A page of tuples; in the place of one that can't be read, a `Damaged`."""
        config = self._reference(None).config

        def read(before: str | None, limit: int) -> list[Any]:
            options = {} if before is None else {"before": self._reference(before).config}
            return self._list(config, limit=limit, **options)

        return read_past(read, before, limit)

    def _find(self, checkpoint_id: str | None, thread_id: str | None = None) -> Any:
        if thread_id is None:
            config = self._reference(checkpoint_id).config
        else:
            config = Reference(thread_id, "", checkpoint_id).config
        if self._async_saver:
            return self._read(lambda saver: saver.aget_tuple(config))
        return self._steady(lambda: self.saver.get_tuple(config))

    def _reference(self, checkpoint_id: str | None) -> Reference:
        if self.thread_id is None:
            raise MissingThreadIdError(
                "No thread is chosen: give one (thread_id='…'), or pick one in the table of threads"
            )
        return Reference(self.thread_id, self.checkpoint_ns, checkpoint_id)

    # -- reading -----------------------------------------------------------------------------

    def threads(
        self, query: str = "", *, limit: int | None = None, offset: int = 0
    ) -> list[ThreadInfo]:
        """The threads whose id holds `query`, the last used first; a page of `limit` of them."""
        found = self.heads(query)
        page = found[offset : None if limit is None else offset + limit]
        counted = counts(self.saver, page)
        infos = [self._thread_info(head, counted.get(head.thread, 0)) for head in page]
        if infos and all(info.status == "unreadable" for info in infos):
            self.newest(page[0])  # raises: none can be read, as with another key
        return infos

    def thread_count(self, query: str = "") -> int:
        """How many threads there are whose id holds `query`."""
        return len(self.heads(query))

    def heads(self, query: str = "") -> list[Head]:
        """The threads whose id holds `query`, each with its newest checkpoint; read lightly."""
        return self._steady(lambda: heads(self.saver, query, lambda: self._list(None)))

    def _thread_info(self, head: Head, count: int) -> ThreadInfo:
        try:
            found = self.newest(head)
        except DAMAGED as error:
            return unreadable_thread(head, count, error)
        if found is None:  # removed since
            return ThreadInfo(head.thread, count, -2, 0.0, head=head.id)
        row, _ = found
        return ThreadInfo(head.thread, count, row.step, row.time, row.status, head=row.id)

    def newest(self, head: Head) -> tuple[Row, Any] | None:
        """A thread's newest row, with the channels written last, and its values; None: gone."""
        root = self if not self.checkpoint_ns else self.at(None)
        tup = root._find(head.id, head.thread)
        if tup is None:
            return None
        light = root._lighten_alone(tup)
        row = make_row(light, None, (), head=True, has_child=False)
        return replace(row, changed=written_last(light)), tup.checkpoint.get("channel_values")

    def _lighten_alone(self, tup: Any) -> Light:
        """The light record of a tuple from a thread of which nothing else was read."""
        return self._lighten(tup)

    def at(self, thread_id: str | None, checkpoint_ns: str = "") -> GraphReader:
        """The same graph, looked at in another thread or namespace."""
        return type(self)(self.graph, thread_id, checkpoint_ns, self.colour)

    def namespaces(self) -> list[str]:
        """The namespaces of this thread, the root first.

        A saver that can't tell them is asked for its newest `SPACES_LIMIT` checkpoints.
        """
        if self.thread_id is None:
            return []
        told, storage = (getattr(self.saver, name, None) for name in ("namespaces", "storage"))
        if callable(told) and not self._async_saver:
            found = {str(ns) for ns in told(self.thread_id)}
        elif isinstance(storage, dict):
            spaces = dict(storage.get(self.thread_id) or {})
            found = {str(ns) for ns, ids in spaces.items() if ids}
        else:
            config = {"configurable": {"thread_id": self.thread_id}}
            tuples = self._list(config, limit=SPACES_LIMIT)
            found = {str(t.config["configurable"].get("checkpoint_ns") or "") for t in tuples}
        return sorted(found | {""})

    def forget(self) -> None:
        """Reads everything anew: something was removed."""
        super().forget()
        self._names.clear()

    def _lighten(self, tup: Any) -> Light:
        """The light record of a saver's tuple; a source that is told more overrides it."""
        return lighten(tup, self.topology, self._available)

    def _available(self, channel: str, value: Any) -> bool:
        owner = getattr(self._graph_here(), "channels", {}).get(channel)
        if owner is None:
            return True
        copy = owner.from_checkpoint(value)
        ask = getattr(copy, "is_available", None)
        return bool(ask()) if ask is not None else True

    def require(self, checkpoint_id: str | None) -> Any:
        """The checkpoint tuple (None: the newest).

        Raises `CheckpointNotFoundError` when there is none.
        """
        tup = self._find(checkpoint_id)
        if tup is None:
            space = f", namespace {self.checkpoint_ns!r}" if self.checkpoint_ns else ""
            which = "no checkpoint" if checkpoint_id is None else f"no checkpoint {checkpoint_id!r}"
            raise CheckpointNotFoundError(
                f"Thread {self.thread_id!r}{space} has {which}. "
                "It may have been pruned; refresh, and pick one of the ids in the tree."
            )
        return tup

    def tuple(self, checkpoint_id: str) -> Any:
        """The saver's tuple of one checkpoint."""
        return self.require(checkpoint_id)

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The `StateSnapshot`; raises `CheckpointNotFoundError` for an id that is unknown."""
        config = self._reference(checkpoint_id).config
        if self._async_saver:
            found = self._read(lambda saver: self._with(saver).aget_state(config))
        else:
            found = self._steady(lambda: self.graph.get_state(config))
        if checkpoint_id is not None and found.metadata is None:  # an empty snapshot: none is there
            self.require(checkpoint_id)
        return found

    def unfinished(self, running: bool = False) -> list[Unfinished]:
        """The failed and waiting tasks by node; with `running` also those of the head."""
        with self._lock:
            head = self.head
            looked = self._book.bad | ({head} if running and head else set())
            lights = [self._lights[i] for i in sorted(looked)]
        out: list[Unfinished] = []
        for light in lights:
            bad = [k for k, n in light.news.items() if n.state in ("error", "interrupt")]
            live = running and light.id == head and bool(light.ready)
            if bad or live:
                out += unfinished_of(light, self._task_names(light.id, bad), live)
        return out

    def _task_names(self, checkpoint_id: str, needed: Iterable[str]) -> dict[str, str]:
        """Task id -> node. A checkpoint's tasks don't change: it is read once for each new task."""
        known = self._names.get(checkpoint_id)
        if known is None or any(task not in known for task in needed):
            known = {t.id: str(t.name) for t in self.snapshot(checkpoint_id).tasks}
            self._names[checkpoint_id] = known
        return known

    def writes(self, checkpoint_id: str) -> Writes:
        """The tasks that made this checkpoint and those that run from it, with the reasons."""
        return gather(self, checkpoint_id)

    def snapshot_or_none(self, checkpoint_id: str | None) -> Any:
        """The snapshot, or None where there is none: a parent that was pruned, or is damaged."""
        if checkpoint_id is None:
            return None
        try:
            return self.snapshot(checkpoint_id)
        except (CheckpointNotFoundError, *DAMAGED):
            return None

    def blob_size(self, channel: str, version: Any) -> Sized:
        """The serializer's tag and the bytes of a stored value, where the saver shows them."""
        blobs = getattr(self.saver, "blobs", None)
        if not isinstance(blobs, dict):
            return None, None
        blob = blobs.get((self.thread_id, self.checkpoint_ns, channel, version))
        if not (isinstance(blob, Sequence) and len(blob) == 2):
            return None, None
        return str(blob[0]), len(blob[1] or b"")
