"""The messages that a tool node reads and writes: langchain_core's objects, or dictionaries."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def core() -> Any:
    """langchain_core's messages, or None where it is not installed."""
    return import_module("langchain_core.messages") if find_spec("langchain_core") else None


def part(message: Any, name: str) -> Any:
    """A field of a message of either form, or None."""
    return message.get(name) if isinstance(message, dict) else getattr(message, name, None)


def is_model_message(message: Any) -> bool:
    """Whether a model said it."""
    if isinstance(message, dict):
        return message.get("role") in ("assistant", "ai") or message.get("type") == "ai"
    return bool(getattr(message, "type", "") in ("ai", "AIMessageChunk"))


def answer(call: Any, content: Any, *, failed: bool = False) -> Any:
    """The message that answers a tool call."""
    fields = {"name": call["name"], "tool_call_id": call["id"]}
    status = "error" if failed else "success"
    module = core()
    if module is None:
        return {"role": "tool", "content": content, **fields, "status": status}
    return module.ToolMessage(content=content, status=status, **fields)


def content_of(output: Any) -> Any:
    """A tool's output as a message's content: a text, or a list of content blocks."""
    if isinstance(output, str):
        return output
    kinds = ("text", "image_url", "image", "json", "search_result", "document", "file")
    if isinstance(output, list) and all(
        isinstance(x, dict) and x.get("type") in kinds for x in output
    ):
        return output
    try:
        return json.dumps(output, ensure_ascii=False)
    except Exception:  # noqa: BLE001 - what JSON cannot hold is shown as text
        return str(output)
