"""Folding a long conversation: what a reader gets is a summary and the newest messages.

The stored state keeps every message. A *view* of it leaves the oldest out, says in ``metadata`` how
many, and can be made whole again from the stored one.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ckpt_viz.agents.state import FOLDED, Fields

FOLD_AT = "fold_at"
"""In a stored state's ``metadata``: how many of its oldest messages its views leave out."""
SUMMARY = "history_summary"
"""In ``context``: what stands for the messages that a view leaves out."""
Message = dict[str, Any]
Summarize = Callable[[str | None, Sequence[Message]], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class FoldingPolicy:
    """When a conversation is folded, and to what.

    Args:
        threshold: messages that a view may have; with more, it is folded.
        keep: messages that a view has after that.
        summarize: makes the summary, of the one before (or None) and the messages that are folded
            now; None counts the messages.
    """

    threshold: int = 20
    keep: int = 10
    summarize: Summarize | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.keep <= self.threshold:
            raise ValueError(
                f"A fold keeps from 0 to threshold={self.threshold} messages, and not {self.keep}."
            )

    async def fold(self, whole: Any) -> None:
        """Move a stored state's fold on where its views have become too long."""
        history, at = whole.conversation_history, whole.metadata.get(FOLD_AT, 0)
        if len(history) - at <= self.threshold:
            return
        end = len(history) - self.keep
        summary: Any = f"Previous conversation ({end} messages)"
        if self.summarize is not None:
            summary = self.summarize(whole.context.get(SUMMARY), history[at:end])
            if inspect.isawaitable(summary):
                summary = await summary
        whole.metadata = {**whole.metadata, FOLD_AT: end}
        whole.context = {**whole.context, SUMMARY: str(summary)}


def view_of(whole: Any) -> Any:
    """The view of a stored state; the same object where nothing is folded."""
    at = min(whole.metadata.get(FOLD_AT, 0), len(whole.conversation_history))
    if not at:
        return whole
    view = copy.copy(whole)
    view.earlier = whole.conversation_history[:at]
    view.conversation_history = whole.conversation_history[at:]
    rest = {k: v for k, v in whole.metadata.items() if k != FOLD_AT}
    view.metadata = {**rest, FOLDED: at}
    return view


def become(state: Any, view: Any) -> None:
    """Make the state that somebody holds what a view is."""
    state.origin = view.origin
    if view.metadata.get(FOLDED):
        state.earlier = view.earlier
        state.conversation_history = view.conversation_history
        state.metadata, state.context = view.metadata, view.context


def cut(fields: Fields, messages: int) -> Fields:
    """What changes in a stored state's fields when only its first messages are kept."""
    changes: Fields = {"conversation_history": fields["conversation_history"][:messages]}
    if fields["metadata"].get(FOLD_AT, 0) > messages:  # the summary tells of what is cut away
        changes["metadata"] = {k: v for k, v in fields["metadata"].items() if k != FOLD_AT}
        changes["context"] = {k: v for k, v in fields["context"].items() if k != SUMMARY}
    return changes


def whole_of(view: Any, history: Sequence[Message]) -> Any:
    """The state that a view is of, to be stored; ``history`` is the stored conversation."""
    at = view.metadata[FOLDED]
    whole = copy.copy(view)  # with its origin
    whole.conversation_history = [*history[:at], *view.conversation_history]
    rest = {k: v for k, v in view.metadata.items() if k != FOLDED}
    whole.metadata = {**rest, FOLD_AT: at}
    return whole
