"""Search by meaning: what turns texts into vectors, and which texts of an item are turned."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ckpt_viz.store.lexical import HashingEmbeddings
from ckpt_viz.store.nearest import arithmetic
from ckpt_viz.store.paths import get_text_at_path, tokenize_path
from ckpt_viz.store.records import Op, PutOp, SearchOp

Vector = Sequence[float]
EmbeddingsFunc = Callable[[Sequence[str]], list[list[float]]]
AEmbeddingsFunc = Callable[[Sequence[str]], Awaitable[list[list[float]]]]


class IndexConfig(TypedDict, total=False):
    """How a store searches by meaning.

    ``embed`` makes vectors of texts: a function, sync or async, an object with
    ``embed_documents`` and ``embed_query``, or the name of a model. Left out, words and parts of
    words are counted (`ckpt_viz.store.lexical`), in vectors of ``dims`` numbers. ``fields`` are
    the paths in a value whose texts are searched; ``"$"``, the whole value, if left out.
    """

    dims: int
    embed: Any
    fields: list[str] | None


class Embeddings:
    """What makes vectors: the interface of langchain_core, whose objects are welcome as well."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text."""
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """As `embed_query`."""
        return (await self.aembed_documents([text]))[0]


class EmbeddingsLambda(Embeddings):
    """A plain function, sync or async, as `Embeddings`."""

    def __init__(self, func: Callable[[Sequence[str]], Any]) -> None:
        self.func = func
        called = getattr(func, "__call__", None)  # noqa: B004 - the object's own method
        self.is_async = inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(called)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.is_async:
            raise ValueError(
                "EmbeddingsLambda was initialized with an async function but no sync function. "
                "Use the async methods (aput, asearch), or provide a sync function."
            )
        found: list[list[float]] = self.func(texts)
        return found

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        if not self.is_async:
            return await asyncio.to_thread(self.embed_documents, texts)  # a model takes its time
        made: list[list[float]] = await self.func(texts)
        return made


def ensure_embeddings(embed: Any) -> Any:
    """``embed`` as an object with `Embeddings`' methods.

    Raises:
        ValueError: nothing, or a name such as ``"openai:…"`` whose package is not there.
        TypeError: neither a function nor such an object.
    """
    if embed is None:
        raise ValueError("embed must be provided: a function from texts to vectors.")
    if hasattr(embed, "embed_documents"):
        return embed
    if callable(embed):
        return EmbeddingsLambda(embed)
    if embed == "wordllama":
        return EmbeddingsLambda(_wordllama())
    if isinstance(embed, str):
        try:
            load = import_module("langchain.embeddings").init_embeddings
        except ImportError as error:
            raise ValueError(
                f"Could not load embeddings from string {embed!r}: langchain is not installed. Pass"
                " a function from texts to vectors, or install langchain and the provider's "
                "package."
            ) from error
        return load(embed)
    raise TypeError(f"embed is a function or has embed_documents, not {type(embed).__name__}.")


def _wordllama() -> EmbeddingsFunc:
    """The small model of wordllama, as its wheel brings it: nothing is downloaded."""
    try:
        package = import_module("wordllama")
    except ImportError as error:
        raise ValueError(
            "The embeddings 'wordllama' need that package: pip install 'ckpt-viz[embeddings]'."
        ) from error
    home = Path(str(package.__file__)).parent
    model = package.WordLlama.load(dim=256, cache_dir=home, disable_download=True)
    return lambda texts: model.embed(list(texts)).tolist()


class Known(NamedTuple):
    """The vectors that a batch needs, as `arithmetic` makes them: of texts, and of questions."""

    texts: dict[str, Any]
    questions: dict[str, Any]


_NONE = Known({}, {})


class Meaning:
    """What a store with an ``index`` searches by.

    Args:
        index: see `IndexConfig`; ``text_fields`` is another name of ``fields``.

    Raises:
        ValueError: a measure of distance other than the cosine is asked for.
    """

    def __init__(self, index: Any) -> None:
        measure = index.get("distance_type") or "cosine"
        if measure != "cosine":
            raise ValueError(
                f"The distance {measure!r} is not offered: vectors are compared by cosine. Leave "
                "distance_type out; of vectors of one length the other measures' order is the same."
            )
        embed = index.get("embed")
        is_lexical = embed is None and "embed" not in index
        self.embed = (
            HashingEmbeddings(index.get("dims", 256)) if is_lexical else (ensure_embeddings(embed))
        )
        fields = index.get("fields") or index.get("text_fields") or ["$"]
        self._paths = [(path, tokenize_path(path)) for path in fields]

    def vectors_of(self, ops: list[Op]) -> Known:
        """The vectors that a batch needs."""
        texts, questions = self._wanted(ops)
        found = self.embed.embed_documents(texts) if texts else []
        asked = {q: self.embed.embed_query(q) for q in questions}
        return _known(texts, found, asked)

    async def avectors_of(self, ops: list[Op]) -> Known:
        """As `vectors_of`."""
        texts, questions = self._wanted(ops)
        if not hasattr(self.embed, "aembed_documents"):
            return await asyncio.to_thread(self.vectors_of, ops)
        found = await self.embed.aembed_documents(texts) if texts else []
        asked = {q: await self.embed.aembed_query(q) for q in questions}
        return _known(texts, found, asked)

    def _wanted(self, ops: list[Op]) -> tuple[list[str], dict[str, None]]:
        puts = (op for op in ops if isinstance(op, PutOp))
        texts = dict.fromkeys(text for op in puts for text in self.texts_of(op))
        asked = (op.query for op in ops if isinstance(op, SearchOp) and op.query)
        return list(texts), dict.fromkeys(asked)

    def vectors(self, op: PutOp, known: Known) -> list[Any]:
        """The vectors that an item is searched by."""
        return [known.texts[text] for text in self.texts_of(op)]

    def texts_of(self, op: PutOp) -> list[str]:
        """The texts that an item is searched by."""
        if op.value is None or op.index is False:
            return []
        paths = self._paths if op.index is None else [(p, tokenize_path(p)) for p in op.index]
        return [
            text
            for path, tokens in paths
            for text in get_text_at_path(op.value, "$" if path == "$" else tokens)
        ]


def known(meaning: Meaning | None, ops: list[Op]) -> Known:
    """The vectors that a batch needs, for stores with and without an index."""
    return _NONE if meaning is None else meaning.vectors_of(ops)


async def aknown(meaning: Meaning | None, ops: list[Op]) -> Known:
    """As `known`."""
    return _NONE if meaning is None else await meaning.avectors_of(ops)


def _known(texts: list[str], vectors: Sequence[Vector], asked: dict[str, Vector]) -> Known:
    if len(texts) != len(vectors):
        raise ValueError(
            f"Number of embeddings ({len(vectors)}) does not match number of indices "
            f"({len(texts)}): embed must return one vector for each text."
        )
    unit = arithmetic.unit
    found = {text: unit(vector) for text, vector in zip(texts, vectors, strict=True)}
    return Known(found, {question: unit(vector) for question, vector in asked.items()})
