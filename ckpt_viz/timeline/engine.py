"""The timeline of this package's own compiled graphs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import MigrationError
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.types import Command, Overwrite

NO_NAME = "LangGraph"  # the name of a graph compiled without one, which programs may read


class EngineTimeline(GraphTimeline):
    """History of, and acts on, a graph compiled by `ckpt_viz.graph`."""

    @staticmethod
    def _name(graph: Any) -> str:
        name = GraphTimeline._name(graph)
        return "" if name == NO_NAME else name

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """As it is now; what another version saved, and no path leads from, as it was saved.

        Acts on the latter stay refused.
        """
        try:
            return super().snapshot(checkpoint_id)
        except MigrationError:
            return self._unversioned().snapshot(checkpoint_id)

    def _unversioned(self) -> GraphTimeline:
        """The same place, read by the graph as if it had no version."""
        program = self.graph.program
        parts = {f.name: getattr(program, f.name) for f in fields(program) if f.init}
        plain = type(program)(**{**parts, "version": None, "migrate": None})
        graph = self.graph.copy(update={"program": plain})
        return GraphTimeline(graph, self.thread_id, self.checkpoint_ns, self.colour)

    def _command(self, **parts: Any) -> Any:
        return Command(**parts)

    def _overwrite(self, value: Any) -> Any:
        return Overwrite(value)

    @staticmethod
    def memory(serde: Any = None) -> Any:
        """A saver of the engine's that keeps everything in memory."""
        return InMemorySaver(serde=serde)

    def stop(self) -> bool:
        """Asks the engine itself to end the run before its next superstep."""
        asked = super().stop()
        if asked and hasattr(self.graph, "stop"):
            self.graph.stop(self._reference(None).config)
        return asked
