"""Acting on a compiled graph (any engine): update, preview, scratch copies, labels, removal.

Rules: an addressed checkpoint must exist; keys must be channels; a preview runs on a scratch
saver and a scratch run on a copy, so that neither touches the source.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from ckpt_viz.errors import InvalidUpdateError, ReadOnlyError
from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.copies import copy_lineage, copy_tuple
from ckpt_viz.timeline.edits import Edit, LockedError, edited
from ckpt_viz.timeline.forks import foresee
from ckpt_viz.timeline.keeping import Labels, able, method
from ckpt_viz.timeline.place import place_of
from ckpt_viz.timeline.records import Able, Capability, ForkPreview
from ckpt_viz.timeline.rows import config_id
from ckpt_viz.timeline.runs import ActRunningError, GraphRuns, is_answer_map
from ckpt_viz.timeline.topology import subgraph

ASKED_LIMIT = 100
DELTA, TOPIC = "DeltaChannel", "Topic"

__all__ = ["ActRunningError", "GraphTimeline", "ReadOnlyError", "is_answer_map"]


def _validates(graph: Any) -> bool:
    """Whether the state is a class that checks its values when it is read."""
    return hasattr(getattr(getattr(graph, "builder", None), "state_schema", None), "model_fields")


async def _awaited(thing: Any) -> Any:
    return await thing


class GraphTimeline(GraphRuns):
    """A timeline over a compiled graph. Subclasses name their engine's Command and scratch."""

    def _overwrite(self, value: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def memory(serde: Any = None) -> Any:
        """A saver of the engine's that keeps everything in memory."""
        raise NotImplementedError

    def _scratch(self) -> Any:
        return self.memory(getattr(self.saver, "serde", None))

    def __init__(
        self,
        graph: Any,
        thread_id: str | None = None,
        checkpoint_ns: str = "",
        colour: Colour | None = None,
    ) -> None:
        """See `GraphReader`."""
        super().__init__(graph, thread_id, checkpoint_ns, colour)
        self._labels = Labels()
        self.is_scratch = False
        self.is_recorded = False
        self._inside: dict[str, GraphTimeline] = {}

    def inside(self, checkpoint_ns: str) -> GraphTimeline:
        """The same thread, looked at in another namespace; kept, so that it is read once."""
        if checkpoint_ns == self.checkpoint_ns:
            return self
        found = self._inside.get(checkpoint_ns)
        if found is None:
            found = self._inside[checkpoint_ns] = self.at(self.thread_id, checkpoint_ns)
        return found

    def at(self, thread_id: str | None, checkpoint_ns: str = "") -> GraphTimeline:
        """The same graph, looked at in another thread or namespace."""
        return type(self)(self.graph, thread_id, checkpoint_ns, self.colour).like(self)

    def like(self, other: GraphTimeline) -> Self:
        """This timeline, with all that was set on another: what it may do, labels, breakpoints."""
        self._forbidden = other._forbidden
        self._labels = other._labels
        self.breakpoints = other.breakpoints
        self.is_scratch = other.is_scratch
        self.is_recorded = other.is_recorded
        return self

    @property
    def place(self) -> str:
        """Where an act writes, in words: "SQLite file runs.db"."""
        return "a scratch saver in memory" if self.is_scratch else place_of(self.saver)

    @property
    def can(self) -> Capability:
        """Everything, for a graph with a saver; nothing, after `forbid`."""
        scratch = self._can_scratch()
        if self._forbidden is not None:
            here = Able(True, "Labels last for this session: this history is only read")
            keep = {"scratch": scratch, "label": here, "shape": self._shape_known()}
            return replace(Capability.none(self._forbidden), **keep)
        keep = {**able(self.saver), "scratch": scratch, "shape": self._shape_known()}
        if self.graphless is not None:
            return replace(Capability.none(self.graphless), **keep)
        if self.checkpoint_ns:
            away = Able(False, "New input goes to the root graph: leave this one")
            return Capability(run=away, **keep)
        return Capability(**keep)

    def _shape_known(self) -> Able:
        if self.graphless is None:
            return Able(True)
        return Able(False, "Edges, reducers and nodes that never ran are in the graph alone")

    def _can_scratch(self) -> Able:
        if self.is_scratch:
            return Able(False, "This is the scratch copy")
        if self.checkpoint_ns:
            return Able(False, "A copy is made of the root graph's history: leave this one")
        if not hasattr(self.graph, "nodes"):
            return Able(False, self.graphless or "There is no graph to run on a copy")
        return Able(True)

    # -- keeping and removing ------------------------------------------------------------------

    def labels(self) -> dict[str, str]:
        """Checkpoint id -> the name that somebody gave it."""
        here = self._reference(None)
        return self._labels.of(self.saver, here.thread_id, here.checkpoint_ns)

    def set_label(self, checkpoint_id: str | None, label: str | None) -> None:
        """Names a checkpoint (None: the newest); as a label, None takes the name away.

        A saver without labels keeps it for this session, as may a history that is only read.
        Raises `CheckpointNotFoundError` where there is none.
        """
        found = config_id(self.require(checkpoint_id).config)
        config = self._reference(found).config
        self._labels.set(self.saver, config, label, in_saver=self._forbidden is None)

    def delete_thread(self, thread_id: str) -> None:
        """Removes everything of a thread. Raises `ReadOnlyError` where that can't be."""
        self._maintain("delete_thread", self.can.delete, str(thread_id))

    def prune(self, *, dry_run: bool = False) -> Any:
        """Removes all of this thread but its head and what is labelled.

        Our savers tell what went, or with `dry_run` would go; others return nothing.
        Raises `ReadOnlyError` where that can't be.
        """
        thread = self._reference(None).thread_id
        options = {"dry_run": True} if dry_run else {}
        return self._maintain("prune", self.can.prune, [thread], **options)

    def _maintain(self, name: str, can: Able, *values: Any, **options: Any) -> Any:
        if not can.ok:
            raise ReadOnlyError(can.why)
        form = f"a{name}"
        if self._async_saver and hasattr(self.saver, form):
            done = self.colour.do(
                self.saver, lambda saver: _awaited(getattr(saver, form)(*values, **options))
            )
        else:
            done = method(self.saver, name)(*values, **options)
        if inspect.isawaitable(done):
            done = self.colour.run(_awaited(done))
        self.forget()
        return done

    # -- what acts look at -------------------------------------------------------------------

    def config_of(self, checkpoint_id: str | None) -> dict[str, Any]:
        """The config that addresses a checkpoint here (None: the thread's newest)."""
        config = self._reference(checkpoint_id).config
        if checkpoint_id is None and not self.checkpoint_ns:
            del config["configurable"]["checkpoint_ns"]
        return config

    def below(self, ids: Iterable[str]) -> list[Any]:
        """The tuples of graphs inside that belong to these checkpoints, oldest first."""
        inside, here = set(ids), self.checkpoint_ns
        out = []
        for tup in self._list({"configurable": {"thread_id": self.thread_id}}):
            space = str(tup.config["configurable"].get("checkpoint_ns") or "")
            above = ((tup.metadata or {}).get("parents") or {}).values()
            if space != here and inside.intersection(map(str, above)):
                out.append(tup)
        return sorted(out, key=lambda t: str(config_id(t.config)))

    def askers(self) -> set[str]:
        """The nodes that have asked a question: in the newest checkpoints where any did."""
        out: set[str] = set()
        left = ASKED_LIMIT
        for light in reversed(self.known_lights()):
            tasks = [k for k, n in light.news.items() if n.interrupts]
            if tasks and left:
                left -= 1
                names = self._task_names(light.id, tasks)
                out.update(names[k] for k in tasks if k in names)
        return out

    def is_graph(self, node: str) -> bool:
        """True for a node that is a graph itself."""
        return subgraph(self._graph_here(), node) is not None

    # -- editing -----------------------------------------------------------------------------

    def _checked(self, values: Any, replace: Sequence[str]) -> Any:
        if values is None:
            return None
        channels = {n: c for n, c in self.topology.channels.items() if not c.routing}
        if set(channels) == {"__root__"}:
            return values
        named = f"the channels are {', '.join(sorted(channels))}"
        if not channels:
            named = "this graph keeps no channel that can be set"
        if not isinstance(values, Mapping):
            raise InvalidUpdateError(
                f"A fork takes a dict of channels, not {type(values).__name__}; {named}"
            )
        unknown = sorted(str(k) for k in {*values, *replace} if k not in channels)
        if unknown:
            raise InvalidUpdateError(
                f"{', '.join(unknown)}: no such channel, nothing was written; {named}"
            )
        return {
            k: self._overwrite(v) if k in replace and channels[k].reducer else v
            for k, v in values.items()
        }

    def update(
        self,
        checkpoint_id: str,
        values: Any,
        as_node: str | None = None,
        replace: Sequence[str] = (),
    ) -> str:
        """Saves an edited child of the checkpoint; returns the new checkpoint's id."""
        self._allowed()
        self.require(checkpoint_id)
        config = self._reference(checkpoint_id).config
        checked = self._checked(values, replace)
        if values is not None and _validates(self._graph_here()):
            self._try_first(checkpoint_id, values, as_node, replace)
        new = self._update_on(self.graph, config, checked, as_node)
        return str(new["configurable"]["checkpoint_id"])

    def _try_first(
        self, checkpoint_id: str, values: Any, as_node: str | None, replace: Sequence[str]
    ) -> None:
        """Refuses what would save a state that its own class can't read any more."""
        try:
            self.preview(checkpoint_id, values, as_node, replace)
        except ValueError as error:
            if type(error).__name__ != "ValidationError":
                raise
            raise InvalidUpdateError(
                f"Nothing was written: the state would not be valid. {error}"
            ) from error

    def preview(
        self,
        checkpoint_id: str,
        values: Any,
        as_node: str | None = None,
        replace: Sequence[str] = (),
    ) -> ForkPreview:
        """What `update` would give. The source is not touched; no node runs."""
        self.require(checkpoint_id)
        scratch = self._scratch()
        for id_ in self._needed(checkpoint_id):
            copy_tuple(scratch, self.require(id_), "scratch", "")
        graph = self._graph_here().copy(update={"checkpointer": scratch})
        where = {"thread_id": "scratch", "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        config = {"configurable": where}
        new = self._update_on(graph, config, self._checked(values, replace), as_node)
        return foresee(self, checkpoint_id, graph.get_state(new))

    def _needed(self, checkpoint_id: str) -> list[str]:
        """The checkpoints that hold the state of one, oldest first: a DeltaChannel lies in many."""
        if not any(c.kind == DELTA for c in self.topology.channels.values()):
            return [checkpoint_id]
        self.row(checkpoint_id)  # reads, where nothing was read yet
        return list(reversed(self.ancestors(checkpoint_id))) or [checkpoint_id]

    def with_edits(
        self, checkpoint_id: str, edits: Iterable[Edit], values: Any, replace: Sequence[str]
    ) -> tuple[Any, tuple[str, ...]]:
        """The `values` and `replace` of an update that makes edits by path too.

        A channel with a reducer is replaced: through it, the whole would be added again.
        Raises ValueError where an edit and a value are for the same channel.
        """
        edits = tuple(edits)
        if not edits:
            return values, tuple(replace)
        made = edited(self.snapshot(checkpoint_id).values, edits)
        if not isinstance(made, Mapping):
            return made, tuple(replace)
        kinds = self.topology.channels
        topics = [name for name in made if name in kinds and kinds[name].kind == TOPIC]
        if topics:
            raise LockedError(
                f"{', '.join(topics)} is a {TOPIC}: what is written there is added, so that a "
                "value in it can't be changed"
            )
        twice = sorted(set(made) & set(values or {}))
        if twice:
            raise ValueError(f"{', '.join(twice)}: give an edit or a value, not both")
        return {**(values or {}), **made}, tuple(dict.fromkeys((*replace, *made)))

    def make_head(self, checkpoint_id: str) -> str:
        """Saves a copy of the checkpoint, which is the newest then; returns the copy's id."""
        return self.update(checkpoint_id, None, "__copy__")

    def scratch(self, checkpoint_id: str | None = None) -> GraphTimeline:
        """A timeline on an in-memory copy of a checkpoint's lineage (None: the head's).

        The graph is the same and its nodes really run; this history is not touched.
        """
        able = self._can_scratch()
        if not able.ok:
            raise ReadOnlyError(able.why)
        self.refresh()
        at = checkpoint_id or self.head
        saver = self._scratch()
        if at is not None:
            self.require(at)
            ids = list(reversed(self.ancestors(at)))
            copy_lineage(saver, str(self.thread_id), (self.require(i) for i in ids))
            for tup in self.below(ids):
                copy_lineage(saver, str(self.thread_id), [tup])
        graph = self.graph.copy(update={"checkpointer": saver})
        other = type(self)(graph, self.thread_id, self.checkpoint_ns, self.colour)
        other.breakpoints = self.breakpoints
        other.is_scratch = True
        return other
