"""How items are found: in the order of creation, or the nearest first.

Vectors are read once and kept in this process; each search asks for those that are new. Where the
database can rank, it does, and what it ranks is scored again exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ckpt_viz.store.filters import matcher
from ckpt_viz.store.namespaces import namespace_of, text_of
from ckpt_viz.store.nearest import MARGIN, Near, Nearest, Widening, arithmetic
from ckpt_viz.store.records import SearchOp
from ckpt_viz.store.scripted.rows import Page, Row, Rows, Script, VectorRow, value_of

Found = list[tuple[Row, Any, float | None]]
"""Rows, their values, and how near they are to the question, where one is asked."""

_FIRST, _MORE = 128, 8
"""How many rows are compared with a filter first, and how many times more then: each page costs
the database a look at all of them."""


class Searcher:
    """Searches the rows of one store.

    Args:
        rows: the scripts of the database.
        is_ours: whether vectors are ranked in this process though the database could.
    """

    def __init__(self, rows: Rows, *, is_ours: bool) -> None:
        self._rows = rows
        self._is_ours = is_ours
        self.nearest = Nearest()
        self._marked = 0
        self._length = 0
        self.deserializer: Callable[[bytes], dict[str, Any]] | None = None

    def value(self, row: Row) -> Any:
        """The value of a row."""
        if self.deserializer is not None and isinstance(row.body, str):
            return self.deserializer(row.body.encode())
        return value_of(row.body)

    def search(self, op: SearchOp, asked: Any, shown: int) -> Script[Found]:
        """What a search finds.

        Args:
            op: the search.
            asked: the vector of its question, or None.
            shown: what has expired by then is hidden.
        """
        return self._plain(op, shown) if asked is None else self._scored(op, asked, shown)

    def _plain(self, op: SearchOp, shown: int) -> Script[Found]:
        """In the order of creation."""
        ns, wanted = text_of(op.namespace_prefix), op.filter or {}
        found: Found = []
        if not op.limit:
            return found
        if not wanted:
            rows = yield from self._rows.page(Page(ns, {}, 0, op.limit, op.offset, shown))
            return [(row, self.value(row), None) for row in rows]
        means = matcher(wanted)
        after, size, skipped = 0, max(_FIRST, 2 * (op.offset + op.limit)), 0
        while True:
            rows = yield from self._rows.page(Page(ns, wanted, after, size, 0, shown))
            for row in rows:
                value = self.value(row)
                if not means(value):
                    continue
                skipped += 1
                if skipped > op.offset:
                    found.append((row, value, None))
                    if len(found) == op.limit:
                        return found
            if len(rows) < size:
                return found
            after, size = rows[-1].number, size * _MORE

    def _scored(self, op: SearchOp, asked: Any, shown: int) -> Script[Found]:
        """The nearest first; items without vectors are not among them."""
        end, wanted = op.offset + op.limit, op.filter or {}
        found: Found = []
        search = Widening(end)
        is_ours = self._is_ours or not self._rows.ranks
        yield from self.check(asked)
        if is_ours and op.limit:
            yield from self._learn()
        while op.limit and search.more and len(found) < end:
            best = self._best if is_ours else self._ranked
            nears = search.take(*(yield from best(op, asked, search)))
            found += yield from self._there(nears, wanted, shown, end - len(found))
        return found[op.offset : end]

    def check(self, vector: Any) -> Script[None]:
        """Refuse a vector that is not as long as those that are stored."""
        if len(vector) == self._length:
            return
        stored = yield from self._rows.length()
        self._length = len(vector) if stored is None else stored
        if len(vector) != self._length:
            raise ValueError(
                f"A vector has {len(vector)} numbers, but the store's vectors have {self._length}. "
                "Use one embedding for one store."
            )

    def _learn(self) -> Script[None]:
        """Take up the vectors that were written since the last time."""
        new: dict[int, list[VectorRow]] = {}
        rows = yield from self._rows.vectors(self._marked)
        for row in rows:
            same = new.setdefault(row.number, [])
            if same and same[0].state != row.state:
                same.clear()
            same.append(row)
        for number, same in new.items():
            first = same[0]
            vectors = [row.vector for row in same]
            self.nearest.set(number, first.state, namespace_of(first.ns), vectors, same[-1].mark)
        if rows:
            self._marked = max(self._marked, rows[-1].mark)

    def _best(self, op: SearchOp, asked: Any, search: Widening) -> Script[tuple[list[Near], float]]:
        yield from ()
        return self.nearest.best(asked, op.namespace_prefix, search.count, search.below)

    def _ranked(
        self, op: SearchOp, asked: Any, search: Widening
    ) -> Script[tuple[list[Near], float]]:
        """The best as the database reckons, scored again exactly."""
        count, below = search.count, text_of(op.namespace_prefix)
        rows = yield from self._rows.rank(asked, below, count)
        return surely_best(rows, asked, count, search.below)

    def _there(
        self, nears: Sequence[Near], wanted: dict[str, Any], shown: int, need: int
    ) -> Script[Found]:
        """Those that are still there and meant, in their order, as many as needed."""
        found: Found = []
        means = matcher(wanted)
        size = max(32, 2 * need)
        for at in range(0, len(nears), size):
            some = nears[at : at + size]
            rows = yield from self._rows.fetch([near.item for near in some], shown)
            by_number = {row.number: row for row in rows}
            for near in some:
                row = by_number.get(near.item)
                if row is None or row.state != near.state:
                    self.nearest.drop(near.item, near.state)
                    continue
                value = self.value(row)
                if means(value):
                    found.append((row, value, near.score))
                    if len(found) == need:
                        return found
        return found


def surely_best(
    rows: Sequence[VectorRow], asked: Any, count: int, below: float
) -> tuple[list[Near], float]:
    """Vectors that a database ranked, scored exactly; those that nothing unseen can be before."""
    scores = arithmetic.cosines([row.vector for row in rows], asked)
    # The least ranked of these may score 2 margins more than the least, an unseen one 2 more again.
    sure = min(scores) + 4 * MARGIN if len(rows) >= count else -math.inf
    found = [
        Near(score, row.number, row.state)
        for score, row in zip(scores, rows, strict=True)
        if sure <= score < below
    ]
    return sorted(found, key=lambda near: (-near.score, near.item)), sure
