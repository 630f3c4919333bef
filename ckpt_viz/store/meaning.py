"""Search by meaning: what turns texts into vectors, and how near two vectors are."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, TypedDict

Vector = list[float]
EmbeddingsFunc = Callable[[Sequence[str]], list[Vector]]
AEmbeddingsFunc = Callable[[Sequence[str]], Awaitable[list[Vector]]]


class IndexConfig(TypedDict, total=False):
    """How a store searches by meaning: the vectors' length, what makes them, and of which texts."""

    dims: int
    embed: Any
    fields: list[str] | None


class Embeddings:
    """What makes vectors: the interface of langchain_core, whose objects are welcome as well."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        raise NotImplementedError

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[Vector]:
        """As `embed_documents`."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> Vector:
        """As `embed_query`."""
        return (await self.aembed_documents([text]))[0]


class _Function(Embeddings):
    """A plain function, sync or async, as `Embeddings`."""

    def __init__(self, function: Callable[[Sequence[str]], Any]) -> None:
        self.function = function
        called = getattr(function, "__call__", None)  # noqa: B004 - the object's own method
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        if self.is_async:
            raise ValueError(
                "The store's embed is an async function but no sync function: use the async "
                "methods (aput, asearch), or provide a sync function."
            )
        found: list[Vector] = self.function(texts)
        return found

    async def aembed_documents(self, texts: list[str]) -> list[Vector]:
        found: Any = self.function(texts)
        made: list[Vector] = await found if inspect.isawaitable(found) else found
        return made


def ensure_embeddings(embed: Any) -> Any:
    """``embed`` as an object with `Embeddings`' methods.

    Raises:
        ValueError: a name such as ``"openai:…"``, which needs a package that is not in use here.
        TypeError: neither a function nor such an object.
    """
    if hasattr(embed, "embed_documents"):
        return embed
    if callable(embed):
        return _Function(embed)
    if isinstance(embed, str):
        try:
            load = import_module("langchain.embeddings").init_embeddings
        except ImportError as error:
            raise ValueError(
                f"Cannot load the embeddings {embed!r} without langchain: pass a function from "
                "texts to vectors, or install langchain."
            ) from error
        return load(embed)
    raise TypeError(f"embed is a function or has embed_documents, not {type(embed).__name__}.")


def nearness(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; 0 where one has no direction.

    >>> round(nearness([1, 0], [1, 1]), 3)
    0.707
    """
    length = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0
