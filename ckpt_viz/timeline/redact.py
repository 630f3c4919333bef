"""Values that must not be shown: named by path, and kept out of every text that tells of them.

Rules: a pattern is a path with dots (`user.token`: that value and all inside), a bare name (any
value of that name) or has wildcards (`*.api_key`); letters' case does not matter. What was found
at such a path is learnt, and taken out of error messages and other sentences too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ckpt_viz.timeline.children import Step, items

REDACTED = "[redacted]"
SHORTEST = 4
"""Shorter texts are not taken out of sentences: they would be part of other words."""
LEARNT = 2_000
TELLING = frozenset(
    {"text", "message", "error", "traceback", "why", "versions", "note", "s", "before", "after"}
)
"""Fields of a message that hold sentences; elsewhere only longer texts with a blank are changed."""
DEPTH = 12
WIDTH = 2_000


class Redaction:
    """Which paths are hidden, and which texts were found there.

    >>> hidden = Redaction(["*.api_key", "notes"])
    >>> hidden.hides(("tools", 0, "api_key")), hidden.hides(("tools", 0)), hidden.hides(("Notes",))
    (True, False, True)
    >>> hidden.without({"api_key": "sk-123", "n": 1})
    {'api_key': '[redacted]', 'n': 1}
    >>> hidden.scrub("bad key sk-123")
    'bad key [redacted]'
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Hides nothing without patterns."""
        # a text alone is one pattern: its letters would hide nothing that was meant
        self.patterns = (patterns,) if isinstance(patterns, str) else tuple(patterns)
        self._folded = [pattern.casefold() for pattern in self.patterns]
        self._secrets: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.patterns)

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Redaction:
        """The redaction of some patterns, or the one that is given."""
        return patterns if isinstance(patterns, cls) else cls(patterns)

    def hides(self, path: Sequence[Step]) -> bool:
        """Whether the value at a path is hidden, by itself or with one around it."""
        return bool(self._folded) and any(self._named(path[: end + 1]) for end in range(len(path)))

    def within(self, value: Any, path: tuple[Step, ...] = ()) -> bool:
        """Whether anything of the value at a path is hidden; what is too deep to tell, is."""
        if not self._folded:
            return False
        if self.hides(path) or len(path) > DEPTH:
            return True
        kids = items(value) or ()
        return any(self.within(child, (*path, step)) for _, step, child in kids)

    def _named(self, path: Sequence[Step]) -> bool:
        names = [str(step).casefold() for step in path]
        dotted = ".".join(names)
        for pattern in self._folded:
            if "." not in pattern and fnmatchcase(names[-1], pattern):
                return True
            if fnmatchcase(dotted, pattern) or fnmatchcase(f".{dotted}", pattern):
                return True
        return False

    def without(self, value: Any, path: tuple[Step, ...] = ()) -> Any:
        """A copy with a word in the place of what is hidden; objects become dictionaries."""
        if not self._folded:
            return value
        if self.hides(path):
            self.learn(value, path)
            return REDACTED
        kids = items(value) if len(path) <= DEPTH else None
        if kids is None:
            return value
        out = {key: self.without(child, (*path, step)) for key, step, child in kids}
        return list(out.values()) if isinstance(value, list | tuple | set | frozenset) else out

    def learn(self, value: Any, path: tuple[Step, ...] = ()) -> None:
        """Notes the texts at hidden paths, for `scrub`."""
        if not self._folded or len(path) > DEPTH:
            return
        if isinstance(value, str | bytes | int) and not isinstance(value, bool):
            if self.hides(path):
                self._note(value)
            return
        for _, step, child in (items(value) or ())[:WIDTH]:
            self.learn(child, (*path, step))

    def _note(self, value: str | bytes | int) -> None:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        if len(text) >= SHORTEST and len(self._secrets) < LEARNT:
            self._secrets[text] = None

    def scrub(self, text: str) -> str:
        """A text in which no learnt text stands."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def scrubbed(self, thing: Any, telling: bool = True, values: bool = False) -> Any:
        """JSON-like data in which no sentence holds a learnt text; with `values`, no text does."""
        if not self._secrets:
            return thing
        if isinstance(thing, str):
            return self.scrub(thing) if telling or values or " " in thing else thing
        if isinstance(thing, dict):
            return {k: self.scrubbed(child, k in TELLING, values) for k, child in thing.items()}
        if isinstance(thing, list):
            return [self.scrubbed(child, False, values) for child in thing]
        return thing
