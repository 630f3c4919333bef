"""The ``messages`` stream: what models called in nodes say, and the messages that nodes return.

A callback handler of langchain_core. Nested runs inherit it with the callbacks, so one handler
serves a whole tree of graphs; a message is shown once, whoever returns it again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

from ckpt_viz.constants import NS_SEP, TAG_HIDDEN, TAG_NOSTREAM
from ckpt_viz.types import Command

Said = tuple[tuple[str, ...], dict[str, Any]]
"""Where something was said: the namespace, and the metadata that goes with the message."""


class MessageHandler(BaseCallbackHandler):
    """Posts messages and chunks of messages to a run's stream."""

    run_inline = True

    def __init__(self, run: Any) -> None:
        self.run = run
        self.home: tuple[str, ...] = run.names
        self.calls: dict[UUID, Said] = {}
        self.seen: set[str] = set()

    # langchain_core lets a model stream under `invoke` when a handler has the next two methods.

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """What a runnable streams, as it is."""
        return output

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """What a runnable streams, as it is."""
        return output

    def _place(self, metadata: dict[str, Any]) -> tuple[str, ...] | None:
        """The namespace of the graph whose task this is; None if the caller is not to see it."""
        where = metadata.get("langgraph_checkpoint_ns")
        if where is None:
            return None
        ns, path = tuple(where.split(NS_SEP))[:-1], metadata.get("langgraph_path", ())
        while path and path[-1] is True:  # a task that a task called runs in the same graph
            ns, path = ns[:-1], path[1]
        return ns if self.run.settings.form.subgraphs or ns == self.home else None

    def _show(self, said: Said, message: BaseMessage, *, once: bool = True) -> None:
        if once and message.id in self.seen:
            return
        if message.id is None:
            message.id = str(uuid4())
        self.seen.add(message.id)
        ns, metadata = said
        self.run.tell(ns, "messages", (message, metadata))

    def push_message(self, message: BaseMessage, metadata: dict[str, Any]) -> None:
        """Show a message that a node pushes."""
        ns = self._place(metadata)
        if ns is not None:
            self._show((ns, metadata), message, once=False)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A model is called."""
        if not metadata or TAG_NOSTREAM in (tags or ()):
            return
        ns = self._place(metadata)
        if ns is None:
            return
        shown = [t for t in tags or () if not t.startswith("seq:step")]
        self.calls[run_id] = ns, {**metadata, "tags": shown} if shown else metadata

    def on_llm_new_token(
        self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any
    ) -> None:
        """A model says something more."""
        if isinstance(chunk, ChatGenerationChunk) and (said := self.calls.get(run_id)):
            self._show(said, chunk.message, once=False)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """A model is done; what it did not say in chunks is shown whole."""
        said = self.calls.pop(run_id, None)
        if said is not None and response.generations and response.generations[0]:
            first = response.generations[0][0]
            if isinstance(first, ChatGeneration):
                self._show(said, first.message)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A model failed."""
        self.calls.pop(run_id, None)

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A node is called: the messages that it gets are known already."""
        if not metadata or metadata.get("langgraph_node") != name or TAG_HIDDEN in (tags or ()):
            return
        ns = self._place(metadata)
        if ns is not None:
            self.calls[run_id] = ns, metadata
            self.seen.update(m.id for m in messages_in(inputs) if m.id is not None)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A node returned: its messages that are new are shown."""
        said = self.calls.pop(run_id, None)
        if said is not None:
            for message in messages_in(outputs):
                self._show(said, message)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A node failed."""
        self.calls.pop(run_id, None)


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """The messages in a node's input or output: itself, its values, or lists among its values."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            if isinstance(one, BaseMessage | Command | dict):
                yield from messages_in(one)
    else:
        for one in _values(value):
            if isinstance(one, BaseMessage):
                yield one
            elif isinstance(one, list | tuple):
                yield from (m for m in one if isinstance(m, BaseMessage))


def _values(value: Any) -> Any:
    if isinstance(value, Command):
        value = value.update
    if isinstance(value, dict):
        return value.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    fields = getattr(type(value), "model_fields", None)
    return [getattr(value, name) for name in fields] if fields else ()
