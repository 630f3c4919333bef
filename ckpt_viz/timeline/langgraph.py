"""The timeline of real LangGraph graphs. The one module that imports `langgraph`, lazily."""

from __future__ import annotations

from typing import Any

from ckpt_viz.timeline.acts import GraphTimeline


class LangGraphTimeline(GraphTimeline):
    """History of, and acts on, a graph compiled by LangGraph."""

    def _command(self, **parts: Any) -> Any:
        from langgraph.types import Command  # noqa: PLC0415 - optional

        return Command(**parts)

    def _overwrite(self, value: Any) -> Any:
        from langgraph.types import Overwrite  # noqa: PLC0415 - optional

        return Overwrite(value)

    def _scratch(self) -> Any:
        from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415 - optional

        serde = getattr(self.saver, "serde", None)
        return InMemorySaver() if serde is None else InMemorySaver(serde=serde)


def is_langgraph(graph: Any) -> bool:
    """True for an object whose class comes from LangGraph. Imports nothing."""
    return any(cls.__module__.split(".", 1)[0] == "langgraph" for cls in type(graph).__mro__)
