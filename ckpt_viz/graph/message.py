"""Lists of messages as state: merged by id, removed by `RemoveMessage`.

With langchain_core installed, messages become its objects, as in LangGraph; without it they are
dictionaries ``{"role": …, "content": …, "id": …}``.
"""

from __future__ import annotations

import warnings
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any
from uuid import uuid4

from typing_extensions import TypedDict

from ckpt_viz.config import get_config
from ckpt_viz.graph.state import StateGraph
from ckpt_viz.types import scope
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10

__all__ = ["REMOVE_ALL_MESSAGES", "MessageGraph", "MessagesState", "add_messages", "push_message"]

REMOVE_ALL_MESSAGES = "__remove_all__"
"""The id of a `RemoveMessage` that removes all messages before it."""

_FORMATS = ("langchain-openai", None)


def add_messages(left: Any = None, right: Any = None, *, format: str | None = None) -> Any:
    """The messages of both: one with a known id takes the other's place, the rest is appended.

    A message is an object of langchain_core, a dictionary, a ``(role, content)`` pair or a text.
    Without both sides, a reducer with that ``format`` ("langchain-openai": contents in OpenAI's
    form).

    >>> from langchain_core.messages import HumanMessage
    >>> add_messages([HumanMessage("a", id="1")], [HumanMessage("b", id="1")])[0].content
    'b'

    Raises:
        ValueError: a removal of an id that is not there, or one side alone.
    """
    if left is None or right is None:
        if left is None and right is None:
            return partial(add_messages, format=format) if format else partial(add_messages)
        given = "left" if right is None else "right"
        raise ValueError(
            "Must specify non-null arguments for both 'left' and 'right'. "
            f"Only received: '{given}'."
        )
    if format not in _FORMATS:
        raise ValueError(
            f"Unrecognized format={format!r}. Expected one of 'langchain-openai', None."
        )
    merged = _merge(_messages(left), _messages(right))
    return _openai(merged) if format else merged


def _merge(left: list[Any], right: list[Any]) -> list[Any]:
    for index in range(len(right) - 1, -1, -1):
        if _removes(right[index]) and _id(right[index]) == REMOVE_ALL_MESSAGES:
            return right[index + 1 :]
    merged = list(left)
    places = {_id(m): i for i, m in enumerate(merged)}
    removed: set[Any] = set()
    for message in right:
        id_ = _id(message)
        place = places.get(id_)
        if _removes(message):
            if place is None:
                raise ValueError(
                    f"Attempting to delete a message with an ID that doesn't exist ('{id_}')"
                )
            removed.add(id_)
        elif place is None:
            places[id_] = len(merged)
            merged.append(message)
        else:
            removed.discard(id_)
            merged[place] = message
    return [m for m in merged if _id(m) not in removed] if removed else merged


def _messages(value: Any) -> list[Any]:
    """Messages of any form as a list in one form, each with an id."""
    listed = value if isinstance(value, list) else [value]
    core = import_module("langchain_core.messages") if find_spec("langchain_core") else None
    if core is None:
        return [_plain(m) for m in listed]
    chunk = core.BaseMessageChunk
    found = core.convert_to_messages(listed)
    found = [core.message_chunk_to_message(m) if isinstance(m, chunk) else m for m in found]
    for message in found:
        if message.id is None:
            message.id = str(uuid4())
    return list(found)


def _plain(message: Any) -> dict[str, Any]:
    """A message as a dictionary, where langchain_core is not installed.

    Raises:
        NotImplementedError: it is neither a dictionary, a pair nor a text.
    """
    if isinstance(message, str):
        message = {"role": "user", "content": message}
    elif isinstance(message, tuple) and len(message) == 2:
        message = {"role": message[0], "content": message[1]}
    if not isinstance(message, dict):
        raise NotImplementedError(
            f"Unsupported message type: {type(message)}. A message is a dictionary, a pair "
            "(role, content) or a text."
        )
    return message if message.get("id") is not None else {**message, "id": str(uuid4())}


def _id(message: Any) -> Any:
    return message["id"] if isinstance(message, dict) else message.id


def _removes(message: Any) -> bool:
    if isinstance(message, dict):
        return "remove" in (message.get("role"), message.get("type"))
    return bool(message.type == "remove")


def _openai(messages: list[Any]) -> list[Any]:
    core = import_module("langchain_core.messages")
    return list(core.convert_to_messages(core.convert_to_openai_messages(messages)))


class AnyMessage:
    """Stands for langchain_core's type of any message, which is loaded when a schema is asked."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        core = find_spec("langchain_core")
        return handler(import_module("langchain_core.messages").AnyMessage if core else Any)


class MessagesState(TypedDict):  # noqa: D101 - a docstring would be told in its JSON schema
    messages: Annotated[list[AnyMessage], add_messages]


class MessageGraph(StateGraph):
    """The older form of `MessagesState`: the whole state is one list of messages."""

    def __init__(self) -> None:
        text = (
            "MessageGraph is deprecated in LangGraph v1.0.0, to be removed in v2.0.0. "
            "Please use StateGraph with a `messages` key instead."
        )
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=2)
        super().__init__(Annotated[list[Any], add_messages])


def push_message(message: Any, *, state_key: str | None = "messages") -> Any:
    """Say something from within a node: in the messages stream now, in the state after the step.

    ``state_key`` is where the state keeps it; None: nowhere.

    Raises:
        ValueError: the message has no id. RuntimeError: no node is running here.
    """
    config = get_config()
    if find_spec("langchain_core"):
        message = import_module("langchain_core.messages").convert_to_messages([message])[0]
    if (message.get("id") if isinstance(message, dict) else message.id) is None:
        raise ValueError("Message ID is required")
    for handler in getattr(config.get("callbacks"), "handlers", ()):
        if hasattr(handler, "push_message"):
            handler.push_message(message, config["metadata"])
    if state_key:
        scope.get().push(state_key, message)
    return message
