"""Callbacks of a graph's life: a run that stops for an answer, and one that goes on.

A handler is given with LangChain's own, in ``config["callbacks"]``, and needs langchain_core. What
it raises is logged, or raised where its ``raise_error`` is True, as LangChain does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import ahandle_event, handle_event

from ckpt_viz.types import Interrupt

__all__ = [
    "GraphCallbackHandler",
    "GraphInterruptEvent",
    "GraphLifecycleEvent",
    "GraphLifecycleStatus",
    "GraphResumeEvent",
]

GraphLifecycleStatus = Literal["pending", "interrupt_before", "interrupt_after"]
"""Why a run stops: a question, or a break point before or after a node."""


@dataclass(frozen=True)
class GraphInterruptEvent:
    """A run stops. ``checkpoint_ns`` has a part for each graph around it; empty at the top."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]
    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True)
class GraphResumeEvent:
    """A run goes on from the checkpoint that it names."""

    run_id: UUID | None
    status: GraphLifecycleStatus
    checkpoint_id: str
    checkpoint_ns: tuple[str, ...]


GraphLifecycleEvent = GraphInterruptEvent | GraphResumeEvent


class GraphCallbackHandler(BaseCallbackHandler):
    """The base of handlers that hear of interrupts and resumed runs; both may be coroutines."""

    def on_interrupt(self, event: GraphInterruptEvent) -> Any:
        """The run stops: told once, by the outermost graph, with all questions that are open."""

    def on_resume(self, event: GraphResumeEvent) -> Any:
        """The run goes on from a checkpoint: told by each graph that does."""


def tell(handlers: Sequence[Any], awaited: bool, event: GraphLifecycleEvent) -> Any:
    """Tell the handlers that are for it; something to await where ``awaited``."""
    listening: Any = [h for h in handlers if isinstance(h, GraphCallbackHandler)]
    name: Any = "on_interrupt" if isinstance(event, GraphInterruptEvent) else "on_resume"
    if awaited:
        return ahandle_event(listening, name, None, event)
    return handle_event(listening, name, None, event)
