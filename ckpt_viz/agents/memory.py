"""Memories of a conversation: the last messages, summaries of what was said, or all of these."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, Self, runtime_checkable

from ckpt_viz.agents.state import now
from ckpt_viz.agents.taking import Call, Conversation, Data, Message, Script, Taking, arun

Summarizer = Callable[[Conversation], str | Awaitable[str]]


@runtime_checkable
class MemoryStrategy(Protocol):
    """What every memory does: take something in, and give what fits a question."""

    async def add_memory(self, key: str, value: Any) -> None:
        """Take something in."""
        ...

    async def recall(self, query: str, limit: int = 5) -> list[Any]:
        """What is remembered and fits, ``limit`` at most."""
        ...


def newest(items: Any, limit: int) -> list[Any]:
    """The last ``limit`` items, in their order.

    >>> newest([1, 2, 3], 2), newest([1, 2, 3], 0)
    ([2, 3], [])
    """
    return list(items)[-limit:] if limit > 0 else []


class ConversationBufferMemory(Taking):
    """Remembers the last ``max_turns`` messages."""

    def __init__(self, max_turns: int = 10) -> None:
        self.max_turns = max_turns
        self.buffer: deque[Message] = deque(maxlen=max_turns)

    def taking(self, message: Message) -> Script:
        self.buffer.append({"timestamp": now(), **message})
        yield from ()

    async def add_memory(self, role: str, content: str) -> None:
        """Take in a message, with the time."""
        await arun(self.taking({"role": role, "content": content}))

    async def recall(self, query: str | None = None, limit: int = 10) -> list[Message]:
        """The last messages, oldest first, whatever the question."""
        return newest(self.buffer, limit)

    def to_dict(self) -> Data:
        return {"max_turns": self.max_turns, "buffer": list(self.buffer)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The memory that `to_dict` was made of."""
        return cls(max_turns=data["max_turns"]).revived(data)

    def revived(self, data: Mapping[str, Any]) -> Self:
        memory = type(self)(self.max_turns)
        memory.buffer.extend(data.get("buffer", ()))
        return memory


def digest(conversation: Conversation) -> str:
    """What stands for a summary where there is no model: how many messages, the first and the last.

    >>> digest(Conversation([{"role": "user", "content": "hi"}]))
    '1 messages, from "user: hi" to "user: hi"'
    """
    lines = [line if len(line) <= 60 else f"{line[:59]}…" for line in str(conversation).split("\n")]
    return f'{len(conversation)} messages, from "{lines[0]}" to "{lines[-1]}"'


class SummaryMemory(Taking):
    """Remembers summaries: every ``threshold`` messages become one.

    ``summarizer`` is a callable, async or not, from the messages (a list, whose ``str()`` is the
    conversation as text) to a summary; without it `digest` counts them. When it fails, nothing is
    lost: the error is raised, and the next message tries again. A subclass may have its own way
    as ``async def _summarize(self)``.
    """

    def __init__(self, summarizer: Summarizer | None = None, threshold: int = 10) -> None:
        if threshold < 1:
            raise ValueError(f"A summary needs a message: threshold={threshold} is less than 1.")
        self.summarizer = summarizer or digest
        self.summary_threshold = threshold
        self.summaries: list[dict[str, Any]] = []
        self.current_conversation: list[Message] = []
        self._summing = False

    def taking(self, message: Message) -> Script:
        self.current_conversation.append({"role": message["role"], "content": message["content"]})
        if len(self.current_conversation) >= self.summary_threshold and not self._summing:
            made: Any = self._summarize()
            if inspect.isawaitable(made):  # a subclass has it as a coroutine function
                yield Call(lambda: made, lambda: made)
            else:
                yield from made

    def _summarize(self) -> Script:
        said = Conversation(self.current_conversation)
        self._summing = True
        try:
            summary = yield Call(lambda: self.summarizer(said), lambda: self.summarizer(said))
        finally:
            self._summing = False
        self.summaries.append(
            {"summary": str(summary), "timestamp": now(), "num_messages": len(said)}
        )
        del self.current_conversation[: len(said)]  # others may have come meanwhile

    async def add_memory(self, role: str, content: str) -> None:
        """Take in a message; the one that fills the threshold waits for the summary."""
        await arun(self.taking({"role": role, "content": content}))

    async def recall(self, query: str | None = None, limit: int = 5) -> list[str]:
        """The last summaries, oldest first, whatever the question."""
        return [one["summary"] for one in newest(self.summaries, limit)]

    def to_dict(self) -> Data:
        return {
            "summary_threshold": self.summary_threshold,
            "summaries": list(self.summaries),
            "current_conversation": list(self.current_conversation),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], summarizer: Summarizer | None = None) -> Self:
        """The memory that `to_dict` was made of; the summarizer is given again."""
        return cls(summarizer, data["summary_threshold"]).revived(data)

    def revived(self, data: Mapping[str, Any]) -> Self:
        memory = type(self)(self.summarizer, self.summary_threshold)
        memory.summaries = list(data.get("summaries", ()))
        memory.current_conversation = list(data.get("current_conversation", ()))
        return memory
