"""The forms in which a stream of debug events was kept, as a list of events.

Four forms: objects of Python, JSON (a list, or a line an event), server-sent events, and what
`print` left (`Receiving new event of type: debug...` and a literal, or a literal a line, among any
other text). Nothing is evaluated: literals are read by `ast.literal_eval` within limits of size and
depth, and what printed as a call stays a text. What cannot be read is left out and noted; a text
without any event is an error.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ckpt_viz.timeline.wire import DEPTH_LIMIT, MARK, TooDeepError, check_depth, from_json

TEXT_LIMIT = 512 * 2**20
LITERAL_LIMIT = 8 * 2**20
"""A longer literal is not read: its tree takes some hundred times its size in memory."""

LITERAL_DEPTH = 80
NOTE_LIMIT = 20
CUT = "cut short: left out"
MODES = {"debug", "checkpoint", "checkpoints", "task", "tasks", "task_result", "metadata", "error"}

_PRINTED = re.compile(r"^Receiving (?:new )?event of type: ([\w|:.-]+)\.\.\.\s*$", re.MULTILINE)
_LINE = re.compile(r"\r\n|\n|\r")  # and not what else splits lines: JSON may hold it in texts
_SSE = re.compile(r"^(?:event|data):", re.MULTILINE)
_STRINGS = re.compile(r"""[rbuRBU]{0,2}(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""")
_CHAIN = re.compile(r"[-+~][\s(]*[-+~]|\d[jJ]?\s*[-+][^,\])}]*?[\w)]\s*[-+]")


class LogError(ValueError):
    """A text or a list holds no events that could be read."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its kind, what it carries, the namespace it was streamed from, and its place."""

    kind: str
    data: Any
    ns: str | None
    where: str


class Notes:
    """What could not be read, in words; the first of them, and a count of the rest."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._more = 0

    def add(self, where: str, why: str) -> None:
        """One more thing left out."""
        if len(self.told) < NOTE_LIMIT:
            self.told.append(f"{where}: {why[:300]}")
        else:
            self._more += 1

    def mend(self) -> None:
        """Forgets what was cut short: the rest has come."""
        self.told = [note for note in self.told if not note.endswith(CUT)]

    @property
    def all(self) -> list[str]:
        """The notes."""
        return [*self.told, *([f"and {self._more} more"] if self._more else [])]


def looks_like_event(thing: Any) -> bool:
    """Whether an object is what `stream(…, stream_mode="debug")` yields, in any of its shapes."""
    if isinstance(thing, tuple) and 2 <= len(thing) <= 3:
        named = any(isinstance(part, str) and part in MODES for part in thing[:-1])
        thing = thing[-1]
        if named and isinstance(thing, dict):
            return True
    if not isinstance(thing, dict):
        return False
    if isinstance(thing.get("payload"), dict) and "type" in thing:
        return True
    kind = thing.get("event", thing.get("type"))
    return isinstance(thing.get("data"), dict) and str(kind).split("|")[0] in MODES


def from_objects(things: Iterable[Any], notes: Notes) -> Iterator[Event]:
    """Events from what a stream yielded: dicts, or tuples with a namespace, a mode, or both."""
    for number, thing in enumerate(things, 1):
        where = f"event {number}"
        try:
            check_depth(thing)
        except TooDeepError as error:
            notes.add(where, f"left out: {error}")
            continue
        found = event_of(thing, where)
        if found is None:
            notes.add(where, "not a debug event")
        else:
            yield found


def event_of(thing: Any, where: str = "") -> Event | None:
    """The event that one object is, in any of its shapes; None for what is none."""
    ns: str | None = None
    mode = ""
    if isinstance(thing, tuple | list) and 2 <= len(thing) <= 3:
        for part in thing[:-1]:
            if isinstance(part, str):
                mode = part
            elif isinstance(part, tuple | list):
                ns = "|".join(str(p) for p in part)
        thing = thing[-1]
    if not isinstance(thing, dict):
        return None
    if "payload" not in thing and isinstance(thing.get("data"), dict | list):
        kind = str(thing.get("event") or thing.get("type") or "")
        if isinstance(thing.get("ns"), list | tuple):
            ns = "|".join(str(p) for p in thing["ns"])
        return _named(kind, thing["data"], ns, where)
    if isinstance(thing.get("ns"), list | tuple):
        ns = "|".join(str(p) for p in thing["ns"])
    return _named(mode or "debug", thing, ns, where)


def _named(kind: str, data: Any, ns: str | None, where: str) -> Event | None:
    """An event by its name: `debug`, `debug|NAMESPACE`, or a mode that is a part of debug."""
    name, _, inner = kind.partition("|")
    if inner and ns is None:
        ns = inner
    if name in ("checkpoints", "tasks") and isinstance(data, dict) and "payload" not in data:
        result = "result" if "result" in data else "task"
        wrapped = {"checkpoints": "checkpoint", "tasks": f"task_{result}"}[name]
        step = (data.get("metadata") or {}).get("step") if name == "checkpoints" else None
        data = {"type": wrapped.replace("task_task", "task"), "step": step, "payload": data}
        name = "debug"
    return Event(name, data, ns, where)


# -- text ------------------------------------------------------------------------------------


def from_text(text: str, notes: Notes) -> Iterator[Event]:
    """Events from a text in any of the forms.

    Raises:
        LogError: the text is too long, or in none of the forms.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > TEXT_LIMIT:
        raise LogError(f"The log is longer than {TEXT_LIMIT} characters: cut it by run, and retry")
    if _PRINTED.search(text):
        return _printed(text, notes)
    start = text.lstrip()[:1]
    if start == "[" and (whole := _whole(text)) is not None:
        return from_objects((from_json(each) for each in whole), notes)
    if start not in ("{", "[", "(") and _SSE.search(text):
        return _sse(text, notes)
    return from_lines(text, notes)


def goes_by_lines(text: str) -> bool:
    """Whether a text holds an event a line, so that it can be read on where it ended."""
    return text.lstrip("\ufeff \n")[:1] == "{" and not _PRINTED.search(text)


def _whole(text: str) -> list[Any] | None:
    """The list that the whole text is; None where it is none."""
    try:
        found = json.loads(text)
        check_depth(found)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and not _is_row(found) else None


def _is_row(found: list[Any]) -> bool:
    """A line of JSON that is one event with its namespace, `[[], {...}]`."""
    return 2 <= len(found) <= 3 and isinstance(found[0], list | str)


def from_lines(text: str, notes: Notes, before: int = 0) -> Iterator[Event]:
    """Events of a text with one a line, `before` lines of which were read before."""
    seen = 0
    lines = _LINE.split(text)
    for number, line in enumerate(lines, 1):
        part = line.strip()
        if not part:
            continue
        where = f"line {before + number}"
        if part[0] not in "{[(":
            notes.add(where, "not an event")
            continue
        try:
            thing = _loaded(part)
        except ValueError as error:
            last = number == len(lines) and not text.endswith("\n")
            notes.add(where, CUT if last else f"left out: {error}")
            continue
        found = event_of(thing, where)
        if found is None:
            notes.add(where, "not a debug event")
            continue
        seen += 1
        yield found
    if not seen and not notes.told and not before:
        raise LogError("The log is empty")


def _loaded(part: str) -> Any:
    """One line: JSON, or the literal that Python prints."""
    try:
        found = json.loads(part)
        if part.count("[") + part.count("{") > DEPTH_LIMIT:  # else it cannot be so deep
            check_depth(found)
        return from_json(found) if f'"{MARK}"' in part else found
    except json.JSONDecodeError as error:
        if part.startswith(("{'", "(", "['", "[(")):
            return literal(part)
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def literal(text: str) -> Any:
    """The value of a Python literal, read without evaluating anything.

    Objects that printed as a call, such as ``ValueError('no')``, come as that text.

    Raises:
        ValueError: it is too long, too deep, or no literal.
    """
    if len(text) > LITERAL_LIMIT:
        raise ValueError(f"longer than {LITERAL_LIMIT} characters")
    bare = _STRINGS.sub("''", text)
    depth = deepest = 0
    for char in bare:
        if char in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]}":
            depth -= 1
    if deepest > LITERAL_DEPTH or _CHAIN.search(re.sub(r"[eE][-+]", "", bare)):
        raise ValueError(f"nested deeper than {LITERAL_DEPTH}, or a sum: not a printed value")
    try:
        return ast.literal_eval(_AsText().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, TypeError, MemoryError, RecursionError, OverflowError) as error:
        raise ValueError(f"not a literal: {error}") from error


class _AsText(ast.NodeTransformer):
    """Puts the text of calls and names in their place; `inf` and `nan` are numbers."""

    def visit(self, node: ast.AST) -> Any:
        """The node, or the constant in its place."""
        if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
            return ast.Constant(float(node.id))
        if isinstance(node, ast.Call | ast.Attribute | ast.Name):
            return ast.Constant(ast.unparse(node))
        return self.generic_visit(node)


def _printed(text: str, notes: Notes) -> Iterator[Event]:
    heads = list(_PRINTED.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=True):
        where = f"line {text.count(chr(10), 0, head.start()) + 1}"
        body = text[head.end() : end].strip("\n")
        try:
            found = _named(head[1], _first_value(body), None, where)
        except ValueError as error:
            cut = end == len(text) and not text.endswith("\n")
            notes.add(where, CUT if cut else f"left out: {error}")
            continue
        if found is not None:
            yield found


def _first_value(body: str) -> Any:
    """The value that a printed body begins with: its first line, or as many as it takes."""
    paragraph = re.split(r"\n\s*\n", body, maxsplit=1)[0]
    for part in dict.fromkeys((paragraph.split("\n", 1)[0].strip(), paragraph.strip())):
        try:
            return _loaded(part)
        except ValueError as error:
            failure = error
    raise failure


def _sse(text: str, notes: Notes) -> Iterator[Event]:
    name, data, first = "message", [], 0
    lines = _LINE.split(text)
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            key, _, value = line.partition(":")
            first = first or number
            if key == "event":
                name = value.strip()
            elif key == "data":
                data.append(value.removeprefix(" "))
            continue
        if data:
            last = number > len(lines) and not text.endswith("\n")
            found = _sse_event(name, "\n".join(data), f"line {first}", last, notes)
            if found is not None:
                yield found
        name, data, first = "message", [], 0


def _sse_event(name: str, data: str, where: str, last: bool, notes: Notes) -> Event | None:
    kind = name.partition("|")[0]
    if kind not in MODES:
        if kind not in ("end", "heartbeat", "values", "updates", "messages", "custom"):
            notes.add(where, f"an event of the kind {name!r}: left out")
        return None
    try:
        return _named(name, _loaded(data), None, where)
    except ValueError as error:
        notes.add(where, CUT if last else f"left out: {error}")
        return None
