"""Which items are nearest to a question: exact cosines, best first, the same whoever computes them.

Vectors are kept as rows of one matrix of numpy, single precision, of length 1. A question is one
product of the matrix and its vector; no copy of the matrix is made. What may be among the best is
then scored again in double precision, row by row, so that equal vectors score equally and the
order does not depend on how a product was blocked. Where numpy is missing the same is done slowly.

An item with several texts scores as its best. Items that score equally come in the order in which
they were made, which is that of their numbers.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from ckpt_viz.store import flat
from ckpt_viz.store.records import Namespace

HAS_NUMPY = find_spec("numpy") is not None
arithmetic: Any = import_module("ckpt_viz.store.matrix") if HAS_NUMPY else flat
"""What reckons with vectors: `unit` makes them, `packed` and `unpacked` are their bytes."""

MARGIN = 1e-5
"""How far a score in single precision may be from the exact one, at most."""

_STEP = 8
"""How many times more rows are looked at when the first were not enough."""


class Near(NamedTuple):
    """An item, in which state it was scored, and its score."""

    score: float
    item: int
    state: int


class _Place(NamedTuple):
    """Where an item's vectors are; ``mark`` grows with each time that they are written."""

    state: int
    mark: int
    rows: list[int]


class Nearest:
    """The vectors of a store's items, as `arithmetic` makes them. Threads may share it."""

    def __init__(self, rows: Any = None) -> None:
        self._rows: Any = arithmetic.Rows() if rows is None else rows
        self._places: dict[int, _Place] = {}
        self._namespaces: dict[Namespace, int] = {}
        self._lock = threading.RLock()

    def check(self, vectors: Sequence[Any]) -> None:
        """Refuse vectors that do not go with those that are here.

        Raises:
            ValueError: one is longer or shorter.
        """
        with self._lock:
            self._rows.check(vectors)

    def set(
        self, item: int, state: int, namespace: Namespace, vectors: Sequence[Any], mark: int = 0
    ) -> None:
        """Replace an item's vectors, unless what is here has a greater mark; see `check`."""
        with self._lock:
            self._rows.check(vectors)
            if item in self._places and self._places[item].mark > mark:
                return
            self.drop(item)
            if vectors:
                name = self._namespaces.setdefault(namespace, len(self._namespaces))
                rows = [self._rows.add(v, item, state, name) for v in vectors]
                self._places[item] = _Place(state, mark, rows)

    def drop(self, item: int, state: int | None = None) -> None:
        """Forget an item's vectors; only those of a state, if one is given."""
        with self._lock:
            there = self._places.get(item)
            if there is None or (state is not None and there.state != state):
                return
            del self._places[item]
            for row in there.rows:
                self._rows.remove(row)

    def __contains__(self, item: int) -> bool:
        return item in self._places

    def best(
        self, question: Any, prefix: Namespace, count: int, below: float
    ) -> tuple[list[Near], float]:
        """About ``count`` of the best items below a namespace, and the score they all reach.

        Args:
            question: a vector.
            prefix: how their namespaces begin.
            count: how many.
            below: only items that score less; infinity to begin with.
        """
        with self._lock:
            rows, sure = self._rows.best(question, self._below(prefix), count, below)
        return [Near(*row) for row in rows], sure

    def _below(self, prefix: Namespace) -> list[int] | None:
        """The numbers of the namespaces that begin so; None for all."""
        if not prefix:
            return None
        size = len(prefix)
        return [number for name, number in self._namespaces.items() if name[:size] == prefix]


class Widening:
    """A search that looks at more and more of the best until somebody has enough.

    Args:
        first: how many are likely to be enough.
    """

    _STEP = 8

    def __init__(self, first: int) -> None:
        self.count = max(64, 8 * first)
        self.below = math.inf
        self._seen = set[int]()

    @property
    def more(self) -> bool:
        """Whether there may be any left."""
        return self.below > -math.inf

    def take(self, rows: Sequence[Near], sure: float) -> list[Near]:
        """Those of the next best that were not seen yet, each once, with its best score."""
        self.below, self.count = sure, self.count * self._STEP
        fresh: dict[int, Near] = {}
        for near in rows:
            if near.item not in self._seen:
                fresh.setdefault(near.item, near)
        self._seen.update(fresh)
        return list(fresh.values())
