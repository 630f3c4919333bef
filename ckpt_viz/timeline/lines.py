"""Values as one line of text: bounded, never raising, and without what is redacted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.timeline.children import Step
from ckpt_viz.timeline.preview import CHILD_LIMIT, Entry, Previewer

LIMIT = 160
ENTRIES = 60


def line(
    value: Any, path: tuple[Step, ...] = (), redact: Iterable[str] = (), limit: int = LIMIT
) -> str:
    """One line for the value at `path` of a state; wrappers are opened, so that the paths of what
    is redacted are found inside them.

    >>> line([1, "a", {"secret": 2}], ("xs",), ["secret"])
    "[1, 'a', {secret: [redacted]}]"
    """
    text = " ".join(_line(value, path, redact).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _line(value: Any, path: tuple[Step, ...], redact: Iterable[str]) -> str:
    kind = type(value).__name__
    if kind == "Overwrite" and hasattr(value, "value"):
        return f"Overwrite({_line(value.value, path, redact)})"
    if kind == "Send" and hasattr(value, "node"):
        return f"Send({value.node!r}, {_line(getattr(value, 'arg', None), (), redact)})"
    sends = isinstance(value, list | tuple) and any(type(v).__name__ == "Send" for v in value[:1])
    if sends:
        return f"[{', '.join(_line(one, (), redact) for one in value[:CHILD_LIMIT])}]"
    return _text(Previewer(redact, budget=ENTRIES).entry("", value, path))


def _text(entry: Entry) -> str:
    kids = entry.get("c")
    if entry.get("chat"):
        return f"{entry['chat']}: {entry['s']}"
    if kids is None:
        text = str(entry["s"]).replace("\n", "\\n")
        return f"'{text}'" if entry["t"] == "str" else text
    more = ", …" if entry.get("more") else ""
    parts = ", ".join(_text(k) for k in kids) + more
    if entry["t"] == "list":
        return f"[{parts}]"
    if entry["t"] in ("tuple", "set", "frozenset", "deque"):
        return f"{entry['t']}({parts})"
    fields = ", ".join(f"{k['k']}: {_text(k)}" for k in kids) + more
    return f"{{{fields}}}" if entry["t"] == "dict" else f"{entry['t']}({fields})"
