"""Vectors as the rows of one numpy matrix. Only imported where numpy is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ckpt_viz.store.flat import check_lengths

Scored = tuple[float, int, int]
"""The score of a row, its item, and the state that the item was in."""

MARGIN = 1e-5
"""How far a score in single precision may be from the exact one, at most."""

_FREE = -1


class Rows:
    """Rows of length 1, with the item, its state and its namespace beside each."""

    def __init__(self) -> None:
        self._size = 0
        self._free: list[int] = []
        self._vectors: Any = None
        self._marks: Any = np.full((0, 2), _FREE, np.int64)
        self._names: Any = np.zeros(0, np.int32)

    def check(self, vectors: Sequence[Sequence[float]]) -> None:
        """Refuse vectors that are not as long as the others."""
        known = None if self._vectors is None else self._vectors.shape[1]
        check_lengths(vectors, known)

    def add(self, vector: Any, item: int, state: int, name: int) -> int:
        """Keep a vector that `unit` made; returns its place."""
        place = self._free.pop() if self._free else self._grown(len(vector))
        self._vectors[place] = vector
        self._marks[place] = item, state
        self._names[place] = name
        return place

    def _grown(self, dims: int) -> int:
        if self._vectors is None:
            self._vectors = np.zeros((0, dims), np.float32)
        if self._size == len(self._vectors):
            room = max(64, 2 * self._size)
            for name, fill in (("_vectors", 0), ("_marks", _FREE), ("_names", 0)):
                old = getattr(self, name)
                new = np.full((room, *old.shape[1:]), fill, old.dtype)
                new[: self._size] = old
                setattr(self, name, new)
        self._size += 1
        return self._size - 1

    def remove(self, place: int) -> None:
        """Give a place free."""
        self._marks[place] = _FREE
        self._free.append(place)

    def best(
        self, question: Any, names: list[int] | None, count: int, below: float
    ) -> tuple[list[Scored], float]:
        """About ``count`` of the best rows, best first, and the score above which they are all.

        Args:
            question: a vector that `unit` made.
            names: of which namespaces; None for all.
            count: how many.
            below: only rows with a lesser score.
        """
        size = self._size
        if size == 0:
            return [], -np.inf
        self.check([question])
        vectors, marks = self._vectors[:size], self._marks[:size]
        scores = vectors @ question
        if self._free:
            scores[marks[:, 0] == _FREE] = -np.inf
        if names is not None:
            allowed = np.zeros(max(int(self._names[:size].max()), *names, 0) + 1, bool)
            allowed[names] = True
            scores[~allowed[self._names[:size]]] = -np.inf
        low = np.partition(scores, size - count)[size - count] if count < size else -np.inf
        # What is left out scores less than low - 2 margins here, so exactly less than `sure`.
        at = np.flatnonzero(scores >= low - 2 * MARGIN if low > -np.inf else scores > -np.inf)
        exact, marks, sure = rescored(vectors[at], question), marks[at], float(low) - MARGIN
        wanted = (exact < below) & (exact >= sure)
        exact, marks = exact[wanted], marks[wanted]
        order = np.lexsort((marks[:, 0], -exact))
        rows = zip(exact[order].tolist(), *marks[order].T.tolist(), strict=True)
        return list(rows), sure


def unit(vector: Sequence[float]) -> Any:
    """A vector in single precision, of length 1; one without direction stays zero."""
    made = np.asarray(vector, np.float64)
    length = np.sqrt((made * made).sum())
    return (made / length if length else made).astype(np.float32)


def single(numbers: Sequence[float]) -> Any:
    """Numbers that are a vector already, as `unit` gives one."""
    return np.asarray(numbers, np.float32)


def packed(vector: Any) -> bytes:
    """A vector that `unit` made, as bytes."""
    return vector.astype("<f4").tobytes()  # type: ignore[no-any-return]


def unpacked(data: bytes) -> Any:
    """The vector that `packed` was given."""
    return np.frombuffer(data, "<f4")


def cosines(vectors: Sequence[Any], asked: Any) -> list[float]:
    """The exact scores of vectors that `unit` made."""
    found: list[float] = rescored(np.stack(vectors), asked).tolist() if vectors else []
    return found


def rescored(vectors: Any, asked: Any) -> Any:
    """The cosines of rows and a question in double precision, each by itself."""
    rows, question = vectors.astype(np.float64), asked.astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1) * (question * question).sum())
    return (rows * question).sum(axis=1) / np.where(lengths == 0, 1, lengths)
