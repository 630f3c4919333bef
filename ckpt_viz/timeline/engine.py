"""The timeline of this package's own compiled graphs."""

from __future__ import annotations

from typing import Any

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.types import Command, Overwrite

NO_NAME = "LangGraph"  # the name of a graph compiled without one, which programs may read


class EngineTimeline(GraphTimeline):
    """History of, and acts on, a graph compiled by `ckpt_viz.graph`."""

    @staticmethod
    def _name(graph: Any) -> str:
        name = GraphTimeline._name(graph)
        return "" if name == NO_NAME else name

    def _command(self, **parts: Any) -> Any:
        return Command(**parts)

    def _overwrite(self, value: Any) -> Any:
        return Overwrite(value)

    def _scratch(self) -> Any:
        return InMemorySaver()

    def stop(self) -> bool:
        """Asks the engine itself to end the run before its next superstep."""
        asked = super().stop()
        if asked and hasattr(self.graph, "stop"):
            self.graph.stop(self._reference(None).config)
        return asked
