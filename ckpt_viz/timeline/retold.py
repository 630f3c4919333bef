"""The timeline of a record: it reads what was told, and there is no graph to act with."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ckpt_viz.errors import ReadOnlyError
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.recorded import NOTHING, RecordedSaver, tasks_of
from ckpt_viz.timeline.records import Topology
from ckpt_viz.timeline.rows import Light, lighten
from ckpt_viz.timeline.topology import is_routing
from ckpt_viz.types import StateSnapshot


class RecordedTimeline(GraphTimeline):
    """The timeline of a record. It reads; there is no graph to act with."""

    saver: RecordedSaver

    def __init__(
        self,
        graph: Any,
        thread_id: str | None = None,
        checkpoint_ns: str = "",
        colour: Colour | None = None,
    ) -> None:
        """`graph` stands in: it has a `name`, and a `RecordedSaver` as `checkpointer`."""
        super().__init__(graph, thread_id, checkpoint_ns, colour)
        self.graphless = self._why_not()

    def _why_not(self) -> str | None:
        """Why nothing can be run, and what could not be read; None where something can."""
        notes = self.saver.notes
        if not notes:
            return self.saver.why
        more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
        return f"{self.saver.why}. Not all could be read: {notes[0]}{more}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be read, or was cut, in words."""
        return tuple(self.saver.notes)

    def _scratch(self) -> Any:
        raise ReadOnlyError(self.graphless or "There is no graph to run on a copy")

    @property
    def topology(self) -> Topology:
        """The shape of the graph, as far as it was told."""
        return self.saver.topology(self.thread_id or "", self.checkpoint_ns)

    def _lighten(self, tup: Any) -> Light:
        light = lighten(tup, NOTHING, lambda channel, value: True)
        thread = str(tup.config["configurable"]["thread_id"])
        record = self.saver.record(thread, light.ns, light.id)
        if record is None:
            return light
        told = record.ready
        sends = tuple(task.name for task in record.tasks if task.pushed)
        names = tuple(task.name for task in tasks_of(record)) if told is None else told
        versions = light.versions
        if record.versions is None:  # without what older versions named like channels of the user
            mine = record.channels
            versions = {c: v for c, v in versions.items() if c in mine or is_routing(c)}
        return replace(light, ready=names, sends=sends, versions=versions)

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state as it was told."""
        where = self._reference(checkpoint_id)
        if checkpoint_id is None:
            head = self.saver.head_snapshot(where.thread_id, self.checkpoint_ns)
            return head or StateSnapshot({}, (), where.config, None, None, None, (), ())
        self.require(checkpoint_id)
        record = self.saver.record(where.thread_id, self.checkpoint_ns, checkpoint_id)
        assert record is not None
        return self.saver.snapshot(record)


def over(saver: RecordedSaver, thread_id: str | None, checkpoint_ns: str = "") -> RecordedTimeline:
    """The timeline of a record; where it holds one thread alone, of that one."""
    if thread_id is None:
        heads = saver.thread_heads("")
        thread_id = heads[0][0] if len(heads) == 1 else None
    graph = SimpleNamespace(name=saver.name, checkpointer=saver)
    return RecordedTimeline(graph, thread_id, checkpoint_ns)
