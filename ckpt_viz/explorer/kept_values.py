"""The values of a history for a page without a kernel: every one once, however often it is held.

Rules: a value is kept as its preview (type, text, length, children), and equal ones are the same
number; so the page compares, follows and searches by numbers. What is redacted is kept as that
word; of bytes only the beginning is kept. Beyond the budget nothing more is taken, and `cut` tells
what was left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_viz.timeline.children import Step, items
from ckpt_viz.timeline.preview import chat_role, clean, same, short, type_name
from ckpt_viz.timeline.redact import REDACTED, Redaction

TEXT_LIMIT = 20_000
CHILD_LIMIT = 2_000
DEPTH_LIMIT = 40
NODE_LIMIT = 300_000
CHAR_LIMIT = 8 * 2**20
"""Characters of all texts; of one text; children of one value: more is cut, and said."""

TEXT, NUMBER, PLAIN, LEAF, NUMBERED = "t", "n", "p", "", 0
"""What a value without named children is: text, number, None or a bool, another leaf, a list."""

Key = str | list[Any]


class KeptValues:
    """A table of values that grows until its budget is used up."""

    def __init__(self, redact: Redaction) -> None:
        """`redact` names what must not be in the table."""
        self.cut: dict[str, int] = {}
        self.full = False
        self._redact = redact
        self._nodes: list[list[Any]] = []
        self._places: dict[Any, int] = {}
        self._types: dict[str, int] = {}
        self._chars = 0
        self._lists: dict[tuple[Step, ...], tuple[Sequence[Any], list[int]]] = {}

    def at(self, value: Any, path: tuple[Step, ...] = ()) -> int:
        """The number of a value at a path of the state."""
        if self._redact.hides(path):
            self._redact.learn(value, path)
            return self._node("redacted", (REDACTED, None), (LEAF, []))
        if isinstance(value, str):
            self._count("texts", len(value) > TEXT_LIMIT)
            return self._leaf(value, clean(value[:TEXT_LIMIT]), TEXT)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._leaf(value, short(value)[0], NUMBER)
        if value is None or isinstance(value, bool):
            return self._leaf(value, short(value)[0], PLAIN)
        kids = items(value) if len(path) < DEPTH_LIMIT else None
        if kids is None:
            return self._leaf(value, short(value)[0], LEAF)
        self._count("containers", len(kids) > CHILD_LIMIT)
        shown = kids[:CHILD_LIMIT]
        role = chat_role(value) or ""
        told = short(value)
        if isinstance(value, list) and len(path) == 1:
            return self._node(type_name(value), told, (NUMBERED, self._grown(value, path)))
        inner = [self.at(child, (*path, step)) for _, step, child in shown]
        numbered = all(step == at for at, (_, step, _) in enumerate(shown))
        if numbered and not isinstance(value, Mapping):
            return self._node(type_name(value), told, (NUMBERED, inner))
        keys: list[Key] = [k if step == k else [clean(k), step] for k, step, _ in shown]
        return self._node(type_name(value), told, (keys, inner), role)

    def _grown(self, value: list[Any], path: tuple[Step, ...]) -> list[int]:
        """The members of a channel's list: of one that only grew, those that are new."""
        old, known = self._lists.get(path, ((), []))
        inner = []
        for at, child in enumerate(value[:CHILD_LIMIT]):
            kept = at < len(known) and same(old[at], child)
            inner.append(known[at] if kept else self.at(child, (*path, at)))
        self._lists[path] = (value, inner)
        return inner

    def _leaf(self, value: Any, text: str, form: str) -> int:
        n = len(value) if isinstance(value, str | bytes | bytearray) else None
        whole = value if isinstance(value, str) else text
        return self._node(type_name(value), (text, n), (form, []), whole=whole)

    def _node(
        self,
        kind: str,
        told: tuple[str, int | None],
        held: tuple[Any, list[int]],
        role: str = "",
        whole: str = "",
    ) -> int:
        """The number of a value by its text and length, and by how its children are named."""
        (text, n), (form, inner) = told, held
        name = self._types.setdefault(kind, len(self._types))
        keys = tuple(map(str, form)) if isinstance(form, list) else form
        key = (name, whole or text, n, keys, tuple(inner), role)
        if key not in self._places:
            self._places[key] = len(self._nodes)
            self._nodes.append([name, text, n, form, inner, *([role] if role else [])])
            self._chars += len(text) + 8 * len(inner) + 24
            self.full = self._chars > CHAR_LIMIT or len(self._nodes) > NODE_LIMIT
        return self._places[key]

    def _count(self, what: str, cut: bool) -> None:
        if cut:
            self.cut[what] = self.cut.get(what, 0) + 1

    def json(self) -> dict[str, Any]:
        """The table as it crosses; no text of it holds what was found at a hidden path."""
        scrub = self._redact.scrub
        nodes = [[name, scrub(text), *rest] for name, text, *rest in self._nodes]
        return {"types": list(self._types), "nodes": nodes}
