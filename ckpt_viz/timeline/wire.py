"""Values as JSON that reads like JSON, and comes back as it was.

What JSON has is written as it is. Chat messages are written as the dict that servers send. What
JSON lacks (tuples, sets, bytes, dates, objects, keys that are no text) stands in an envelope,
`{"$ckpt": "msgpack", "data": base64}`, beside a text for people; reading one imports nothing.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.errors import CkptVizError
from ckpt_viz.timeline.preview import chat_role, clean, short

MARK = "$ckpt"
DEPTH_LIMIT = 100
"""Deeper values are neither written nor taken: they would overrun the stack of whoever reads."""

SAFE_INT = 2**63
_SERDE = JsonPlusSerializer()


class TooDeepError(ValueError):
    """A value is nested deeper than `DEPTH_LIMIT`."""


def to_json(value: Any, depth: int = 0) -> Any:
    """The JSON form of a value. What cannot be kept at all becomes its text.

    >>> to_json({"a": [1, None]})
    {'a': [1, None]}
    """
    if value is None or isinstance(value, bool) or type(value) is str:
        return value
    if type(value) is int and abs(value) < SAFE_INT:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if depth > DEPTH_LIMIT:
        return _text(value)
    if type(value) is list:
        return [to_json(child, depth + 1) for child in value]
    if type(value) is dict and MARK not in value and all(type(k) is str for k in value):
        return {key: to_json(child, depth + 1) for key, child in value.items()}
    if isinstance(value, View):
        return to_json(value.fields, depth + 1)
    if chat_role(value) and not isinstance(value, Mapping):
        fields = value.fields if isinstance(value, View) else value.model_dump()
        return to_json(dict(fields), depth + 1)
    return _packed(value)


def _packed(value: Any) -> Any:
    try:
        tag, data = _SERDE.dumps_typed(value)
    except (CkptVizError, TypeError, ValueError, RecursionError):
        return _text(value)
    text = base64.b64encode(data).decode()
    return {MARK: "msgpack", "tag": tag, "data": text, "text": short(value)[0][:200]}


def _text(value: Any) -> Any:
    return {MARK: "text", "type": type(value).__name__[:80], "text": short(value)[0]}


def from_json(value: Any) -> Any:
    """The value of a JSON form. An envelope that cannot be opened stays the dict that it is.

    >>> from_json(to_json((1, {2})))
    (1, {2})
    """
    if isinstance(value, list):
        return [from_json(child) for child in value]
    if not isinstance(value, dict):
        return value
    if value.get(MARK) == "msgpack":
        return _opened(value)
    if value.get(MARK) == "text":
        return f"<{clean(str(value.get('type')))}: {clean(str(value.get('text')))}>"
    return {key: from_json(child) for key, child in value.items()}


def _opened(envelope: dict[str, Any]) -> Any:
    try:
        data = base64.b64decode(str(envelope.get("data")), validate=True)
        return _SERDE.loads_typed((str(envelope.get("tag")), data))
    except (CkptVizError, ValueError, TypeError, LookupError, RecursionError):
        return envelope


def check_depth(value: Any, limit: int = DEPTH_LIMIT) -> None:
    """Raises `TooDeepError` for a value of lists and dicts that is nested deeper than `limit`."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            child
            for each in level
            if isinstance(each, list | tuple | dict | set)
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, list | tuple | dict | set)
        ]
        if not level:
            return
    raise TooDeepError(f"nested deeper than {limit}")
