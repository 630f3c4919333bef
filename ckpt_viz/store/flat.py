"""Vectors as plain lists, where numpy is not installed: the same answers, slowly."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence


def check_lengths(vectors: Sequence[Sequence[float]], known: int | None) -> None:
    """Refuse vectors that are not as long as the others, of which ``known`` is the length.

    Raises:
        ValueError: one is not.
    """
    for vector in vectors:
        known = len(vector) if known is None else known
        if len(vector) != known:
            raise ValueError(
                f"A vector has {len(vector)} numbers, but the store's vectors have {known}. "
                "Use one embedding for one store."
            )


class Rows:
    """As `ckpt_viz.store.matrix.Rows`."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[array[float], int, int, int]] = {}
        self._next = 0

    def check(self, vectors: Sequence[Sequence[float]]) -> None:
        """Refuse vectors that are not as long as the others."""
        known = next((len(row[0]) for row in self._rows.values()), None)
        check_lengths(vectors, known)

    def add(self, vector: Sequence[float], item: int, state: int, name: int) -> int:
        """Keep a vector that `unit` made; returns its place."""
        self._rows[self._next] = array("f", vector), item, state, name
        self._next += 1
        return self._next - 1

    def remove(self, place: int) -> None:
        """Forget a vector."""
        del self._rows[place]

    def best(
        self, question: Sequence[float], names: list[int] | None, count: int, below: float
    ) -> tuple[list[tuple[float, int, int]], float]:
        """All rows at once, best first."""
        if not self._rows:
            return [], -math.inf
        self.check([question])
        found = [
            (-cosine(row, question), item, state)
            for row, item, state, name in self._rows.values()
            if names is None or name in names
        ]
        return [(-less, item, state) for less, item, state in sorted(found)], -math.inf


def unit(vector: Sequence[float]) -> array[float]:
    """A vector in single precision, of length 1; one without direction stays zero."""
    length = math.sqrt(sum(float(x) * float(x) for x in vector))
    return array("f", (float(x) / length if length else 0.0 for x in vector))


def single(numbers: Sequence[float]) -> array[float]:
    """Numbers that are a vector already, as `unit` gives one."""
    return array("f", numbers)


def packed(vector: array[float]) -> bytes:
    """A vector that `unit` made, as bytes."""
    return _little(vector).tobytes()


def unpacked(data: bytes) -> array[float]:
    """The vector that `packed` was given."""
    made = array("f")
    made.frombytes(data)
    return _little(made)


def _little(vector: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return vector
    turned = array("f", vector)
    turned.byteswap()
    return turned


def cosines(vectors: Sequence[Sequence[float]], asked: Sequence[float]) -> list[float]:
    """The exact scores of vectors that `unit` made."""
    return [cosine(vector, asked) for vector in vectors]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; 0 where one has no direction.

    >>> round(cosine([1, 0], [1, 1]), 3)
    0.707
    """
    length = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0
