"""Edits by path: one value deep in a state is set, and only its channel is written.

Rules: what lies beside the path is shared, never copied or rebuilt; nothing is edited in place (a
state is not ours to change); what has no place of its own (a set's member, an unknown class) is
locked, with the reason. A value that came as JSON takes the kind of the value that it replaces.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ckpt_viz.timeline.children import Step, items
from ckpt_viz.timeline.paths import child, follow, shown
from ckpt_viz.timeline.preview import type_name

JSON_LIMIT = 100_000
DEEPEST = 100
TOO_LONG = (
    f"More than {JSON_LIMIT:,} characters are too many to edit here: open it and edit a part, or "
    "write it from Python"
)


class LockedError(ValueError):
    """The value cannot be edited at its place."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A new value at a path; the path's first step is the channel."""

    path: tuple[Step, ...]
    value: Any


def edited(values: Any, edits: Iterable[Edit]) -> Any:
    """The state with the edits: of a dict only the channels that an edit names.

    Raises:
        LookupError: a path leads nowhere. LockedError: its end cannot be set.

    >>> edited({"a": {"b": [1, 2]}, "c": 0}, [Edit(("a", "b", 1), 9)])
    {'a': {'b': [1, 9]}}
    """
    whole = values
    touched: dict[Step, None] = {}
    for edit in edits:
        if not edit.path:
            raise LookupError("An edit needs a path: the channel first, such as ('foo', 0)")
        follow(whole, edit.path[:-1])
        whole = _set(whole, edit.path, 0, edit.value)
        touched[edit.path[0]] = None
    if not isinstance(whole, Mapping):
        return whole
    return {channel: whole[channel] for channel in touched}


def _set(holder: Any, path: Sequence[Step], depth: int, value: Any) -> Any:
    if depth == len(path):
        return value
    step = path[depth]
    try:
        old = child(holder, step)
    except LookupError:
        fresh = depth == len(path) - 1 and isinstance(holder, Mapping) and isinstance(step, str)
        if not fresh:
            raise LookupError(f"no value at path {shown(path[: depth + 1])!r}") from None
        old = None
    return _with(holder, path[: depth + 1], _set(old, path, depth + 1, value))


def _with(holder: Any, path: Sequence[Step], new: Any) -> Any:
    """A copy of the holder, of its own class, with one child replaced."""
    step = path[-1]
    where = shown(path[:-1]) or "the state"
    if isinstance(holder, Mapping):
        key = step if isinstance(step, str) else list(holder)[step]
        keyed: Any = copy.copy(holder) if hasattr(holder, "__setitem__") else dict(holder)
        keyed[key] = new
        return keyed
    if hasattr(holder, "_fields") and hasattr(holder, "_replace"):
        return holder._replace(**{str(step): new})
    if isinstance(holder, list | tuple | deque) and isinstance(step, int):
        row = list(holder)
        row[step] = new
        if isinstance(holder, deque):
            return deque(row, holder.maxlen)
        return tuple(row) if isinstance(holder, tuple) else row
    if isinstance(holder, Set):
        raise LockedError(f"{where} is a set: its members have no place; edit the whole set")
    if dataclasses.is_dataclass(holder) and not isinstance(holder, type):
        made: Any = copy.copy(holder)
        object.__setattr__(made, str(step), new)
        return made
    if hasattr(type(holder), "model_fields") and hasattr(holder, "model_copy"):
        return holder.model_copy(update={str(step): new})
    raise LockedError(f"{where} is a {type_name(holder)}: only whole values of it can be replaced")


def json_text(value: Any) -> str:
    """The value as JSON, to be edited as text.

    Raises:
        LockedError: says what of it JSON has no form for, or that it is too long.

    >>> json_text({"a": (1, None)})
    '{"a": [1, null]}'
    """
    text = json.dumps(_jsonable(value, "", 0, [JSON_LIMIT]), ensure_ascii=not _printable(value))
    if len(text) > JSON_LIMIT:
        raise LockedError(TOO_LONG)
    return text


def _printable(value: Any) -> bool:
    try:
        str(value).encode()
    except Exception:  # noqa: BLE001 - a lone surrogate, or a repr that raises: write escapes
        return False
    return True


def _jsonable(value: Any, path: str, depth: int, left: list[int]) -> Any:
    left[0] -= len(value) if isinstance(value, str) else 2
    if left[0] < 0:
        raise LockedError(TOO_LONG)
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if depth < DEEPEST:
        if type(value) is dict and all(isinstance(k, str) for k in value):
            return {k: _jsonable(v, f"{path}.{k}", depth + 1, left) for k, v in value.items()}
        if type(value) in (list, tuple):
            return [_jsonable(v, f"{path}[{i}]", depth + 1, left) for i, v in enumerate(value)]
        if type(value) in (set, frozenset):
            members = [child for _, _, child in items(value) or ()]
            return [_jsonable(v, path, depth + 1, left) for v in members]
    place = f" at {path.removeprefix('.')}" if path else ""
    raise LockedError(
        f"JSON has no form for a {type_name(value)}{place}: edit the parts that have one, or "
        "write it from Python: explorer.edit(path, value)"
    )


def fitted(new: Any, old: Any) -> Any:
    """A JSON value in the kind of the value that it replaces, as far as it fits.

    >>> fitted([1, [2]], (0.5, (3,)))
    (1.0, (2,))
    """
    if isinstance(new, list):
        if isinstance(old, tuple) and not hasattr(old, "_fields"):
            return tuple(_each(new, old))
        if isinstance(old, set | frozenset):
            return type(old)(new)
        return _each(new, old) if isinstance(old, list) else new
    if isinstance(new, dict) and isinstance(old, Mapping):
        return {k: fitted(v, old[k]) if k in old else v for k, v in new.items()}
    if type(new) is int and type(old) is float:
        return float(new)
    return new


def _each(new: list[Any], old: Sequence[Any]) -> list[Any]:
    return [fitted(v, old[i]) if i < len(old) else v for i, v in enumerate(new)]


def read_edits(values: Any, asked: Iterable[Mapping[str, Any]]) -> list[Edit]:
    """The edits that a page asks for: each has a `path` and the new value as `json` text.

    Raises:
        LockedError: the value there is of a kind that JSON cannot replace.
        json.JSONDecodeError: the text is not JSON.
    """
    out = []
    for one in asked:
        path = tuple(one.get("path") or ())
        new = json.loads(str(one.get("json")))
        try:
            old = follow(values, path)
        except LookupError:
            old = None  # a new key; `edited` judges whether its place exists
        json_text(old)
        out.append(Edit(path, fitted(new, old)))
    return out
