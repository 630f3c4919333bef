"""Finding checkpoints: a filter language small enough to guess.

``node:tool source:fork messages~"refund" error -step:0`` means all of its terms at once. A term is

- ``node:``, ``next:``, ``changed:``, ``source:``, ``status:``, ``id:`` and a word
- ``step:4``, ``step:3..9``, ``step>3``
- ``error``, ``waits``, ``done``, ``pending``, ``fork``, ``copy``, ``edit``, ``input``, ``head``;
  any other word is looked for in names
- ``PATH~text`` (the value there holds the text), ``PATH=json``, ``PATH!=json``, ``PATH<3``, ``>3``;
  ``metadata.PATH`` is in the metadata
- ``"text"``: some value of the state holds the text
- ``-term``: not so.

Terms about rows are answered from what is known; those about values read states, newest first.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ckpt_viz.timeline.children import items
from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.paths import Path, parse
from ckpt_viz.timeline.preview import same
from ckpt_viz.timeline.records import Row
from ckpt_viz.timeline.reprs import told

_TERM = re.compile(
    r"""(?P<not>-)?(?:(?P<head>[^\s"~=<>!:]+(?:\[[^\]]*\][^\s"~=<>!:]*)?)(?P<op>~|!=|=|<|>|:))?"""
    r"""(?P<text>"(?:[^"\\]|\\.)*"|\S+)"""
)
_WORDS: dict[str, Callable[[Row], bool]] = {
    "error": lambda row: row.status == "error",
    "waits": lambda row: row.status == "interrupt",
    "done": lambda row: row.status == "done",
    "pending": lambda row: row.status == "pending",
    "fork": lambda row: row.source == "fork",
    "copy": lambda row: row.copy_of is not None,
    "input": lambda row: row.source == "input",
    "edit": lambda row: row.source == "update",
    "head": lambda row: row.head,
}
_FIELDS: dict[str, Callable[[Row], Sequence[str]]] = {
    "node": lambda row: row.nodes,
    "next": lambda row: row.next,
    "changed": lambda row: row.changed,
    "source": lambda row: (row.source,),
    "status": lambda row: (row.status,),
}
DEPTH = 6
METADATA = "metadata"
Shown = Callable[[Any], Any]


class QueryError(ValueError):
    """The query cannot be understood; the text says where."""


class Reader(Protocol):
    """What this module needs of a timeline."""

    def newest_first(self, after: str | None = None) -> Iterator[Row]:
        """All rows (or those older than one), newest first."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: tests of rows, and tests of states that are made only where those hold."""

    rows: tuple[Callable[[Row], bool], ...]
    values: tuple[Callable[[Any], bool], ...]
    metadata: tuple[Callable[[Any], bool], ...] = ()

    def holds(self, reader: Reader, row: Row, shown: Shown) -> bool:
        """Whether a checkpoint is meant."""
        if not all(test(row) for test in self.rows):
            return False
        if not self.values and not self.metadata:
            return True
        try:
            snapshot = reader.snapshot(row.id)
        except DAMAGED:  # one that can't be read hides no other
            return False
        known = shown({METADATA: snapshot.metadata or {}}) if self.metadata else None
        if not all(test(known) for test in self.metadata):
            return False
        values = shown(snapshot.values) if self.values else None
        return all(test(values) for test in self.values)


@dataclass(frozen=True, slots=True)
class Found:
    """A part of an answer: ids newest first, and where to go on (None: all was searched)."""

    ids: tuple[str, ...]
    after: str | None


def search(
    reader: Reader,
    text: str,
    after: str | None = None,
    seconds: float = 0.0,
    shown: Shown = lambda values: values,
) -> Found:
    """The checkpoints that a query means, newest first.

    ``after`` goes on behind a checkpoint id; ``seconds`` bounds the time of this part (0: none);
    ``shown`` gives the part of a state that may be searched.

    Raises:
        QueryError: the query cannot be understood.
    """
    query = parse_query(text)
    end = time.monotonic() + seconds if seconds else float("inf")
    found = []
    for row in reader.newest_first(after):
        if query.holds(reader, row, shown):
            found.append(row.id)
        if time.monotonic() > end:
            return Found(tuple(found), row.id)
    return Found(tuple(found), None)


def parse_query(text: str) -> Query:
    """The tests that a query stands for.

    Raises:
        QueryError: a field, a path or a value that cannot be understood.
    """
    tests: dict[str, list[Callable[[Any], bool]]] = {"row": [], "value": [], METADATA: []}
    for term in _TERM.finditer(text):
        about, test = _test_of(term)
        tests[about].append(_negated(test) if term["not"] else test)
    return Query(tuple(tests["row"]), tuple(tests["value"]), tuple(tests[METADATA]))


def _negated(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda thing: not test(thing)


def _test_of(term: re.Match[str]) -> tuple[str, Callable[[Any], bool]]:
    head, op, text = term["head"], term["op"], term["text"]
    quoted = text[0] == '"' and len(text) > 1
    word = _unquoted(text) if quoted else text
    if head is None:
        if quoted:
            return "value", lambda values: holds_text(values, word)
        return "row", _WORDS.get(word) or (lambda row: _named(row, word))
    if op == ":":
        return "row", _field(head, word)
    path = _path(head)
    if path.steps == ("step",) and op != "~":
        test = _compare(path, op, word, quoted)
        return "row", lambda row: test({"step": row.step})
    return METADATA if path.steps[0] == METADATA else "value", _compare(path, op, word, quoted)


def _unquoted(text: str) -> str:
    try:
        found: str = json.loads(text)
    except json.JSONDecodeError as error:
        raise QueryError(f"{text} is not a quoted text: {error.msg}") from error
    return found


def _named(row: Row, word: str) -> bool:
    told = (*row.nodes, *row.changed, *row.next, row.source, row.id)
    return any(word.lower() in name.lower() for name in told)


def _field(name: str, word: str) -> Callable[[Row], bool]:
    if name == "step":
        return _steps(word)
    if name == "id":
        return lambda row: row.id.startswith(word)
    read = _FIELDS.get(name)
    if read is None:
        known = ", ".join(f"{field}:" for field in (*_FIELDS, "step", "id"))
        raise QueryError(f"There is no field {name}: the fields are {known}")
    return lambda row: any(word.lower() == one.lower() for one in read(row))


def _steps(word: str) -> Callable[[Row], bool]:
    found = re.fullmatch(r"(-?\d+)(?:(\.\.)(-?\d+)?)?", word)
    if found is None:
        raise QueryError(f"step:{word} is no step: write step:4, step:3..9 or step:3..")
    low = int(found[1])
    high = low if not found[2] else int(found[3]) if found[3] else 10**12
    return lambda row: low <= row.step <= high


def _path(text: str) -> Path:
    try:
        return parse(text)
    except ValueError as error:
        raise QueryError(str(error)) from error


def _compare(path: Path, op: str, word: str, quoted: bool) -> Callable[[Any], bool]:
    if op == "~":
        return _at(path, lambda value: holds_text(value, word))
    wanted: Any = word
    if not quoted:
        try:
            wanted = json.loads(word)
        except json.JSONDecodeError:
            wanted = word
    if op == "=":
        return _at(path, lambda value: same(value, wanted))
    if op == "!=":
        return _at(path, lambda value: not same(value, wanted))
    if not isinstance(wanted, int | float) or isinstance(wanted, bool):
        raise QueryError(f"{path.text}{op}{word}: {op} compares numbers")
    number = float(wanted)
    if op == "<":
        return _at(path, lambda value: _is_number(value) and value < number)
    return _at(path, lambda value: _is_number(value) and value > number)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(path: Path, test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def check(values: Any) -> bool:
        try:
            value = path.of(values)
        except LookupError:
            return False
        return test(value)

    return check


def holds_text(value: Any, text: str, depth: int = DEPTH) -> bool:
    """Whether a value, or a value inside of it, holds a text, whatever the case of its letters.

    >>> holds_text({"a": [{"b": "A Refund"}]}, "refund")
    True
    """
    if isinstance(value, str):
        return text.lower() in value.lower()
    if value is None or isinstance(value, bool | int | float):
        return text.lower() == told(value).lower()
    kids = items(value) if depth else None
    return any(holds_text(kid, text, depth - 1) for _, _, kid in kids or ())
