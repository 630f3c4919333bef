"""Values as bounded, typed previews (`Entry` dictionaries) that are safe to send as JSON.

Rules: nothing but text, ints below 2**53, lists and dicts crosses; NaN, bytes, sets, tuples, odd
keys and unknown classes cross as text with their type's name; control and direction characters
are shown as escapes; a container shows its first children, the rest is asked for by path.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.timeline.children import Step, items
from ckpt_viz.timeline.redact import REDACTED, Redaction
from ckpt_viz.timeline.reprs import own_repr, told

Entry = dict[str, Any]

TEXT_LIMIT = 2_000
CHUNK_LIMIT = 100_000
CHILD_LIMIT = 50
DEPTH_LIMIT = 4
ENTRY_BUDGET = 1_500
CHAR_BUDGET = 400_000
TIGHT_LIMIT = 80

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff]"
)


def clean(text: str) -> str:
    r"""Shows control, direction and lone surrogate characters as escapes.

    >>> clean("a\u202eb")
    'a\\u202eb'
    """
    return _HIDDEN.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


class Previewer:
    """Makes entries within one budget; `redact` names the paths whose values never show."""

    def __init__(self, redact: Iterable[str] = (), budget: int = ENTRY_BUDGET) -> None:
        """At most about `budget` entries and `CHAR_BUDGET` characters are made in full."""
        self._redact = Redaction.of(redact)
        self._left = budget
        self._chars = CHAR_BUDGET

    def entries(self, value: Any, path: tuple[Step, ...] = ()) -> list[Entry]:
        """The children of `value`, or one entry when it has none."""
        found = self._children(value, path, 0, CHILD_LIMIT, 0)
        return [self.entry("", value, path)] if found is None else found

    def entry(self, key: str, value: Any, path: tuple[Step, ...], depth: int = 0) -> Entry:
        """The preview of one value under the name `key`."""
        self._left -= 1
        if self.hides(path):
            self._redact.learn(value, path)
            return _make(key, "redacted", REDACTED, None, path)
        text, length = short(value)
        limit = TEXT_LIMIT if self._chars > 0 else TIGHT_LIMIT
        self._chars -= len(text) + len(key)
        out = _make(key[:500], type_name(value), text[:limit], length, path)
        if len(text) > limit:
            out["more"] = True
        role = chat_role(value)
        if role:
            out["chat"] = role
        kids = items(value)
        if kids is None:
            if isinstance(value, str | bytes) and len(value) > TEXT_LIMIT:
                out["more"] = True
            return out
        if depth >= DEPTH_LIMIT or self._left <= 0:
            if kids:
                out["more"] = True
            else:
                out["c"] = []
            return out
        out["c"] = self._children(value, path, 0, CHILD_LIMIT, depth + 1)
        if len(kids) > CHILD_LIMIT:
            out["more"] = True
        return out

    def page(self, value: Any, path: tuple[Step, ...], offset: int) -> tuple[list[Entry], int]:
        """A further part of the value at `path`: children from `offset`, or text from there."""
        if self.hides(path):
            return [_make("", "redacted", REDACTED, None, path)], 1
        if isinstance(value, str):
            part = value[offset : offset + CHUNK_LIMIT]
            return [_make("", "str", clean(part), len(value), path)], len(value)
        if isinstance(value, bytes):
            part_b = value[offset : offset + CHUNK_LIMIT // 4]
            return [_make("", "bytes", part_b.hex(" "), len(value), path)], len(value)
        kids = items(value)
        if kids is None:
            return [self.entry("", value, path)], 1
        return self._children(value, path, offset, CHILD_LIMIT * 4, 1) or [], len(kids)

    def _children(
        self, value: Any, path: tuple[Step, ...], offset: int, limit: int, depth: int
    ) -> list[Entry] | None:
        kids = items(value)
        if kids is None:
            return None
        return [
            self.entry(key, child, (*path, step), depth)
            for key, step, child in kids[offset : offset + limit]
        ]

    def hides(self, path: tuple[Step, ...]) -> bool:
        """True when the value at `path` must not be shown."""
        return self._redact.hides(path)


def _make(key: str, kind: str, text: str, n: int | None, path: tuple[Step, ...]) -> Entry:
    return {"k": clean(key), "t": kind, "s": text, "n": n, "c": None, "p": list(path)}


def type_name(value: Any) -> str:
    """The name of the value's class, with its module unless built in."""
    name: str = value.name if isinstance(value, View) else type(value).__qualname__
    return clean(name.replace("<locals>.", "")[-80:])


def short(value: Any) -> tuple[str, int | None]:
    """A short text of one value, and its length where it has one."""
    if isinstance(value, str):
        return clean(value[:TEXT_LIMIT]), len(value)
    if isinstance(value, bytes | bytearray):
        text = bytes(value[:32]).hex(" ")
        return f"{len(value)} bytes: {text}{' …' if len(value) > 32 else ''}", len(value)
    if value is None or isinstance(value, bool | float | complex):
        return repr(value), None
    if isinstance(value, int):
        return clean(told(value)), None
    kids = items(value)
    if kids is None:
        return _shaped(value), None
    n = len(kids)
    if isinstance(value, Mapping):
        return f"{{{n} {'key' if n == 1 else 'keys'}}}", n
    if isinstance(value, Sequence | Set):
        return f"{n} {'item' if n == 1 else 'items'}", n
    role = chat_role(value)
    if role:
        return clean(str(getattr(value, "content", ""))[:TEXT_LIMIT]), n
    return f"{type_name(value)}({n} {'field' if n == 1 else 'fields'})", n


def _shaped(value: Any) -> str:
    try:
        shape = getattr(value, "shape", None)
        dtype = getattr(value, "dtype", "")
        head = f"shape {shape} {dtype}".rstrip() + " · " if isinstance(shape, tuple) else ""
    except Exception:  # noqa: BLE001 - a user's attributes may raise anything
        head = ""
    text = told(value)[:TEXT_LIMIT]
    return clean(head + (" ".join(text.split()) if type(value).__name__ == "ndarray" else text))


def chat_role(value: Any) -> str | None:
    """The role of a chat message: an object with `type` and `content`, or a dict with `role`, or
    with `type` as servers and logs write LangChain's messages.
    """
    if isinstance(value, dict):
        role = value.get("type" if "additional_kwargs" in value else "role")
        return role if isinstance(role, str) and "content" in value else None
    is_record = isinstance(value, View) or hasattr(type(value), "model_fields")
    if is_record and hasattr(value, "content"):
        kind = getattr(value, "type", None)
        return kind if isinstance(kind, str) else None
    return None


def mark(entries: list[Entry], before: Any, after: Any) -> list[Entry]:
    """Marks top-level entries as added, changed or same against the parent's values."""
    old = {s: v for _, s, v in items(before) or ()}
    new = {s: v for _, s, v in items(after) or ()}
    for entry in entries:
        step = entry["p"][-1] if entry["p"] else None
        if step not in new:
            continue
        if step not in old:
            entry["mark"] = "added"
        else:
            entry["mark"] = "same" if same(old[step], new[step]) else "changed"
    return entries


def same(a: Any, b: Any) -> bool:
    """Equality that never raises and gives one bool, also for arrays and NaN."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))
    except Exception:  # noqa: BLE001 - arrays refuse a single truth value: compare what shows
        text = own_repr(a)
        return text is not None and text == own_repr(b)
