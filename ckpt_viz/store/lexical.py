"""Vectors without a model: words and parts of words, counted.

This is *lexical*: texts are near that share words or the beginnings, middles and ends of words.
It knows no synonyms. It is deterministic, needs no network, and is what a store with an ``index``
but no ``embed`` uses.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from xxhash import xxh64_intdigest

_WORD = re.compile(r"\w+")
_PART = 3
"""Letters of a part of a word."""


class HashingEmbeddings:
    """Counts a text's words and parts of words in ``dims`` places chosen by a hash.

    >>> near = HashingEmbeddings(64)
    >>> near.embed_query("pizza") == near.embed_query("Pizza!")
    True
    """

    def __init__(self, dims: int = 256) -> None:
        if dims < 1:
            raise ValueError(f"A vector cannot have {dims} numbers; dims is 1 or more.")
        self.dims = dims

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of length 1 a text; all zeros for a text without words."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """As `embed_documents`, for one."""
        counted = Counter[str]()
        for word in _WORD.findall(text.lower()):
            counted[word] += 2  # a whole word says more than a part
            framed = f"<{word}>"
            counted.update(framed[at : at + _PART] for at in range(len(framed) - _PART + 1))
        vector = [0.0] * self.dims
        for part, count in counted.items():
            place = xxh64_intdigest(part.encode("utf-8", "surrogatepass"))
            sign = 1.0 if place >> 63 else -1.0
            vector[place % self.dims] += sign * math.sqrt(count)
        length = math.sqrt(sum(x * x for x in vector))
        return [x / length for x in vector] if length else vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """As `embed_query`."""
        return self.embed_query(text)
