"""Paths into a state, as a person types them: ``messages[-1].content``, ``len(docs)``.

A path is data: it is parsed, never evaluated. Its steps are names (a key or an attribute),
positions (negative ones count from the end) and quoted keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ckpt_viz.timeline.children import Step, items

_STEP = re.compile(
    r"""\.?(?P<name>[^\W\d]\w*)|\[(?P<at>-?\d+)\]|\[(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]"""
)


class PathError(ValueError):
    """The text is no path, or leads nowhere."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. ``length``: the number of items is meant, not the value."""

    text: str
    steps: tuple[Step, ...]
    length: bool = False

    def of(self, values: Any) -> Any:
        """The value there.

        Raises:
            LookupError: names the step that does not exist.
        """
        found = follow(values, self.steps)
        if not self.length:
            return found
        kids = None if isinstance(found, str | bytes) else items(found)
        if kids is None and not isinstance(found, str | bytes):
            raise LookupError(f"len({self.text}): a {type(found).__name__} has no length")
        return len(found) if kids is None else len(kids)


def parse(text: str) -> Path:
    """The path that a text names.

    Raises:
        PathError: says where the text stops being a path.

    >>> parse("messages[-1].content").steps
    ('messages', -1, 'content')
    >>> parse("len(docs)").length
    True
    """
    body = text.strip()
    inner = re.fullmatch(r"len\((.*)\)", body, re.DOTALL)
    if inner:
        body = inner[1].strip()
    steps: list[Step] = []
    at = 0
    while at < len(body):
        found = _STEP.match(body, at)
        if found is None or (found["name"] and (body[at] == ".") != bool(steps)):
            raise PathError(
                f"{text!r} is no path at {body[at:]!r}: write names, [positions] and ['keys'], "
                "such as messages[-1].content or len(docs)."
            )
        steps.append(_step(found))
        at = found.end()
    if not steps:
        raise PathError("A path needs a channel's name, such as messages[-1].content")
    return Path(body, tuple(steps), inner is not None)


def _step(found: re.Match[str]) -> Step:
    if found["name"]:
        return found["name"]
    if found["at"]:
        return int(found["at"])
    quoted = found["key"]
    if quoted[0] == "'":
        quoted = '"' + quoted[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    text: str = json.loads(quoted)
    return text


def follow(value: Any, steps: Sequence[Step]) -> Any:
    """The value that steps lead to; a negative position counts from the end.

    Raises:
        LookupError: names the step that does not exist.
    """
    for depth, step in enumerate(steps):
        try:
            value = child(value, step)
        except LookupError:
            raise LookupError(
                f"no value at path {shown(steps[: depth + 1])!r}: {_there(value, depth)}"
            ) from None
    return value


def _there(value: Any, depth: int) -> str:
    """What there is where something was looked for: channels by name; keys may be values."""
    kids = items(value)
    if kids is None:
        return f"the {type(value).__name__} there has no parts"
    if depth:
        return f"the {type(value).__name__} there has {len(kids)} parts"
    names = ", ".join(key[:40] for key, _, _ in kids[:12])
    return f"the state has {names}{', …' if len(kids) > 12 else ''}"


def child(value: Any, step: Step) -> Any:
    """One step down.

    Raises:
        LookupError: there is no such child.
    """
    if isinstance(step, str) and isinstance(value, Mapping):
        return value[step]
    if isinstance(step, int) and isinstance(value, list | tuple):
        return value[step]
    kids = items(value) or []
    if isinstance(step, int) and step < 0:
        step += len(kids)
    for _, known, found in kids:
        if known == step and type(known) is type(step):
            return found
    raise LookupError(step)


def shown(steps: Sequence[Step]) -> str:
    """Steps as text.

    >>> shown(("a", 0, "b c", "d"))
    "a[0]['b c'].d"
    """
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]" if text else step
    return text
