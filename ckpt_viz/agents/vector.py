"""Memories that are found by what they mean: `VectorMemory` over a store, and `HybridMemory`.

A store outlives threads and is shared by all branches. What belongs to a memory is therefore told
by the memory itself, which knows the keys of its items: an item that another branch has put, or a
run that was never saved, is not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self
from uuid import uuid4

from ckpt_viz.agents.memory import ConversationBufferMemory, Summarizer, SummaryMemory
from ckpt_viz.agents.state import now
from ckpt_viz.agents.taking import Call, Data, Message, Script, Taking, arun
from ckpt_viz.store.base import BaseStore, SearchItem
from ckpt_viz.store.memory import InMemoryStore

_PAGE = 50
_DIMS = 256


def lexical_store() -> InMemoryStore:
    """A store in memory that finds texts by their words and parts of words, without a model."""
    return InMemoryStore(index={"dims": _DIMS})


class VectorMemory(Taking):
    """Remembers in a store that searches by meaning.

    Args:
        vector_store: a store with an ``index=``; with one that has none, a search finds the oldest
            first. None: one in memory that knows words, and no meanings.
        namespace: where in the store.
    """

    def __init__(
        self, vector_store: BaseStore | None = None, *, namespace: Sequence[str] = ("memories",)
    ) -> None:
        self.vector_store = lexical_store() if vector_store is None else vector_store
        self.namespace = tuple(namespace)
        self.keys: list[str] = []

    def taking(self, message: Message) -> Script:
        metadata = {"role": message["role"], **(message.get("metadata") or {})}
        yield from self._add(str(message["content"]), metadata)

    def _add(self, content: str, metadata: Mapping[str, Any] | None) -> Script:
        key, store = str(uuid4()), self.vector_store
        value = {"content": content, "metadata": dict(metadata or {}), "timestamp": now()}
        item = (self.namespace, key, value, ["content"])
        yield Call(partial(store.put, *item), partial(store.aput, *item))
        self.keys.append(key)

    async def add_memory(self, content: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Take in a text, with what else is to be known of it, and the time."""
        await arun(self._add(content, metadata))

    async def recall(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        """The memories nearest in meaning, nearest first.

        One ``{content, metadata, timestamp, score}`` each.
        """
        found: list[dict[str, Any]] = await arun(self._recall(query, limit))
        return found

    def _recall(self, query: str, limit: int) -> Script:
        own, found, offset = set(self.keys), list[SearchItem](), 0
        while own and len(found) < limit:
            store, page = self.vector_store, max(limit, _PAGE)
            options: dict[str, Any] = {"query": query, "limit": page, "offset": offset}
            items = yield Call(
                partial(store.search, self.namespace, **options),
                partial(store.asearch, self.namespace, **options),
            )
            found += [i for i in items if i.namespace == self.namespace and i.key in own]
            if len(items) < page:
                break
            offset += page
        return [{**item.value, "score": item.score} for item in found[: max(limit, 0)]]

    def to_dict(self) -> Data:
        """Where the memories are, and which; what they say is in the store."""
        return {"namespace": list(self.namespace), "keys": list(self.keys)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], vector_store: BaseStore) -> Self:
        """The memory that `to_dict` was made of; the store is given again."""
        return cls(vector_store, namespace=data["namespace"]).revived(data)

    def revived(self, data: Mapping[str, Any]) -> Self:
        memory = type(self)(self.vector_store, namespace=self.namespace)
        memory.keys = list(data.get("keys", ()))
        return memory


class HybridMemory(Taking):
    """Remembers in three ways at once: the last messages, summaries, and by meaning.

    Args:
        vector_store: as of `VectorMemory`.
        summarizer: as of `SummaryMemory`.
        max_turns: as of `ConversationBufferMemory`.
        threshold: as of `SummaryMemory`.
        namespace: as of `VectorMemory`.
    """

    def __init__(
        self,
        vector_store: BaseStore | None = None,
        summarizer: Summarizer | None = None,
        *,
        max_turns: int = 5,
        threshold: int = 10,
        namespace: Sequence[str] = ("memories",),
    ) -> None:
        self.buffer = ConversationBufferMemory(max_turns)
        self.summary = SummaryMemory(summarizer, threshold)
        self.vector = VectorMemory(vector_store, namespace=namespace)

    def taking(self, message: Message) -> Script:
        for memory in (self.buffer, self.summary, self.vector):
            yield from memory.taking(message)

    async def add_memory(
        self, role: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Take in a message; one with metadata can be found by its meaning, too."""
        await self.buffer.add_memory(role, content)
        await self.summary.add_memory(role, content)
        if metadata:
            await self.vector.add_memory(content, metadata)

    async def recall(
        self, query: str = "", strategy: str = "vector", limit: int | None = None
    ) -> list[Any]:
        """What one of the three recalls: ``buffer``, ``summary`` or ``vector``.

        Raises:
            ValueError: the strategy is none of them.
        """
        options = {} if limit is None else {"limit": limit}
        if strategy == "buffer":
            return await self.buffer.recall(query, **options)
        if strategy == "summary":
            return await self.summary.recall(query, **options)
        if strategy == "vector":
            return await self.vector.recall(query, **options)
        raise ValueError(f"Unknown strategy {strategy!r}: use buffer, summary or vector.")

    def to_dict(self) -> Data:
        return {
            "buffer": self.buffer.to_dict(),
            "summary": self.summary.to_dict(),
            "vector": self.vector.to_dict(),
        }

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        vector_store: BaseStore,
        summarizer: Summarizer | None = None,
    ) -> Self:
        """The memory that `to_dict` was made of; store and summarizer are given again."""
        memory = cls(
            vector_store,
            summarizer,
            max_turns=data["buffer"]["max_turns"],
            threshold=data["summary"]["summary_threshold"],
            namespace=data["vector"]["namespace"],
        )
        return memory.revived(data)

    def revived(self, data: Mapping[str, Any]) -> Self:
        memory = type(self)(self.vector.vector_store)
        memory.buffer = self.buffer.revived(data.get("buffer", {}))
        memory.summary = self.summary.revived(data.get("summary", {}))
        memory.vector = self.vector.revived(data.get("vector", {}))
        return memory
