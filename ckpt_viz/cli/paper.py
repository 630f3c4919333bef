"""How answers are printed: JSON, a table of rich where a person looks, or plain aligned text.

Rule: no text of a history reaches a terminal with control characters in it, or as markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.wire import to_json

CELL = 60


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; every cell is text."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: as data for `--json`, and as parts for people; and the exit code."""

    data: Any
    parts: Sequence[str | Table] = field(default_factory=tuple)
    code: int = 0


def write(answer: Answer, *, as_json: bool) -> None:
    """Prints an answer to standard output."""
    if as_json:
        text = json.dumps(to_json(answer.data), ensure_ascii=False, allow_nan=False, indent=2)
        sys.stdout.write(clean(text) + "\n")  # its escapes are those of JSON
        return
    for part in answer.parts:
        if isinstance(part, str):
            sys.stdout.write(clean(part) + "\n")
        elif not (sys.stdout.isatty() and _rich(part)):
            sys.stdout.writelines(line + "\n" for line in plain(part))


def plain(table: Table) -> Iterator[str]:
    """A table as aligned lines.

    >>> list(plain(Table(("a", "b"), [["1", "two"], ["three", ""]])))
    ['a      b', '1      two', 'three']
    """
    lines = [list(table.heads), *([clean(cell) for cell in row] for row in table.rows)]
    lines = [[cell.replace("\n", " ").replace("\t", " ") for cell in line] for line in lines]
    widths = [min(CELL, max(len(line[n]) for line in lines)) for n in range(len(table.heads))]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def _rich(table: Table) -> bool:
    """Prints the table with rich; False where rich is not installed."""
    try:
        from rich import box  # noqa: PLC0415 - optional, and slow to load
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError:
        return False
    drawn = RichTable(box=box.SIMPLE_HEAD, header_style="bold")
    for head in table.heads:
        drawn.add_column(head, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(clean(cell)) for cell in row))
    Console().print(drawn)
    return True


def pretty(value: Any) -> str:
    """A value as indented JSON for people."""
    return json.dumps(to_json(value), ensure_ascii=False, allow_nan=False, indent=2)
