"""What an Explorer shows, swapped for something else: a scratch copy, a graph with new code.

Rules: nothing is swapped while an act runs; the history that was shown before a scratch copy is
kept, untouched, for the way back; breakpoints hold on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.explorer.panels import Json
from ckpt_viz.timeline.acts import ActRunningError, GraphTimeline
from ckpt_viz.timeline.breaks import Breakpoints, node_names
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.records import Act

WAITING_LIMIT = 500


def _on(graph: Any, old: GraphTimeline) -> GraphTimeline:
    """The history of `old` with another graph, which gets its saver."""
    if getattr(graph, "checkpointer", None) is not old.saver:
        graph = graph.copy(update={"checkpointer": old.saver})
    new = open_timeline(graph, old.thread_id, old.checkpoint_ns).like(old)
    new.breakpoints = old.breakpoints.within(node_names(graph))
    return new


def _waiting(timeline: GraphTimeline, gone: Sequence[str]) -> list[str]:
    """The checkpoints, newest first, from which nothing runs on: what was next there is gone."""
    if not gone or timeline.thread_id is None:
        return []
    rows = timeline.known()
    parents = {row.parent_id for row in rows}
    stuck = [r.id for r in rows if r.id not in parents and set(r.next) & set(gone)]
    return stuck[::-1][:WAITING_LIMIT]


class Swaps:
    """The part of a session that swaps what is shown."""

    timeline: GraphTimeline
    home: GraphTimeline | None = None
    changes: Json | None = None
    selected: str | None
    done: Act | None = None
    _busy: bool

    def send(self, message: Json) -> None:
        """Tells the page."""
        raise NotImplementedError

    def push_all(self) -> None:
        """Tells the page everything again."""
        raise NotImplementedError

    def require_idle(self, what: str) -> None:
        """Raises `ActRunningError` while an act runs; `what` says for what it must end."""
        if self._busy:
            raise ActRunningError(f"A run is under way here: stop it before {what}")

    def scratch_json(self) -> Json | None:
        """What the page says of a scratch copy: the thread behind it, None where there is none."""
        if not self.timeline.is_scratch:
            return None
        return {
            "thread": self.timeline.thread_id,
            "back": self.home is not None,
            "recorded": self.timeline.is_recorded,
        }

    def enter_scratch(self, checkpoint_id: str | None) -> None:
        """Shows an in-memory copy of a checkpoint's lineage in the place of the history."""
        self.require_idle("making a scratch copy")
        scratch = self.timeline.scratch(checkpoint_id)
        self.home, self.timeline = self.timeline, scratch
        self.selected, self.done = checkpoint_id, None

    def leave_scratch(self) -> None:
        """Shows the history itself again; the scratch copy is dropped."""
        if self.home is None:
            return
        self.require_idle("going back")
        self.timeline, self.home = self.home, None
        self.selected, self.done = None, None

    def adopt(self, graph: Any) -> None:
        """Goes on with another graph on the same history; what differs is told to the page."""
        self.require_idle("changing the code")
        old = self.timeline
        self.timeline = _on(graph, old)
        if self.home is not None:
            self.home = _on(graph, self.home)
        names = [node_names(t.graph) for t in (old, self.timeline)]
        gone, fresh = ([n for n in a if n not in b] for a, b in (names, reversed(names)))
        self.changes = {"gone": gone, "new": fresh, "waiting": _waiting(old, gone)}
        self.push_all()

    def set_breakpoints(self, points: Breakpoints) -> None:
        """Sets where runs that are started here end; all views are told."""
        self.timeline.breakpoints = points
        if self.home is not None:
            self.home.breakpoints = points
        self.send({"event": "can", **self.breakpoints_json()})

    def breakpoints_json(self) -> Json:
        """The breakpoints, and the nodes (also nested ones) that can have one."""
        points = self.timeline.breakpoints
        return {
            "breakpoints": {"before": list(points.before), "after": list(points.after)},
            "places": node_names(self.timeline.graph),
        }
