"""What a script asks of an SQL database: statements that may travel together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Statement = tuple[str, Sequence[Any]]
Rows = list[tuple[Any, ...]]


class Batch:
    """Statements to run together; the answer is the rows of each.

    ``answered`` tells whether the script needs the rows.
    """

    __slots__ = ("answered", "statements")

    def __init__(self, *statements: Statement, answered: bool = True) -> None:
        self.statements = statements
        self.answered = answered
