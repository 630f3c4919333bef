"""Search by meaning, and the parts of a value that it looks at."""

from __future__ import annotations

from typing import Any

import pytest

from ckpt_viz.store.base import (
    Embeddings,
    GetOp,
    InvalidNamespaceError,
    PutOp,
    get_text_at_path,
    tokenize_path,
)
from ckpt_viz.store.memory import InMemoryStore

VALUE = {"a": {"b": "x", "c": [1, {"d": "y"}]}, "e": "z", "l": ["p", None], "t": True}


def lengths(texts: Any) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def store() -> InMemoryStore:
    found = InMemoryStore(index={"dims": 2, "embed": lengths, "fields": ["text", "many[*]"]})
    found.put(("a",), "short", {"text": "abc", "many": ["x", "yyyyyyyy"]})
    found.put(("a",), "same", {"text": "abcdef"})
    found.put(("a",), "hidden", {"text": "abcdef"}, index=False)
    found.put(("a",), "other", {"text": "no", "o": "ooo"}, index=["o"])
    return found


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("a.b", ["x"]),
        ("a.c[*]", ["1", '{"d": "y"}']),
        ("a.c[1].d", ["y"]),
        ("a.c[-1].d", ["y"]),
        ("a.{b,c}", ["x", '[1, {"d": "y"}]']),
        ("{a.b,e}", ["x", "z"]),
        ("a.*", ["x", '[1, {"d": "y"}]']),
        ("l[*]", ["p"]),
        ("l[9]", []),
        ("nothing.here", []),
        ("t", ["True"]),
    ],
)
def test_texts_at_paths(path: str, texts: list[str]) -> None:
    assert get_text_at_path(VALUE, path) == texts
    assert get_text_at_path(VALUE, tokenize_path(path)) == texts


def test_nearest_first_and_the_rest_after() -> None:
    found = store().search(("a",), query="abcdef")
    assert [i.key for i in found] == ["same", "short", "other", "hidden"]
    assert found[0].score == pytest.approx(1)
    assert found[-1].score is None
    assert [i.key for i in store().search(("a",), query="q", limit=1, offset=1)] == ["other"]


async def test_an_async_function_and_an_object() -> None:
    async def embed(texts: Any) -> list[list[float]]:
        return lengths(texts)

    slow = InMemoryStore(index={"dims": 2, "embed": embed})
    await slow.aput(("a",), "k", {"x": "y"})
    assert (await slow.asearch(("a",), query="q"))[0].score
    with pytest.raises(ValueError, match="async function"):
        slow.put(("a",), "k", {"x": "y"})

    class Mine(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return lengths(texts)

    quick = InMemoryStore(index={"dims": 2, "embed": Mine()})
    quick.put(("a",), "k", {"x": "y"})
    assert quick.search(("a",), query='{"x": "y"}')[0].score == pytest.approx(1)


def test_the_reads_of_a_batch_see_what_was_there_before() -> None:
    found = InMemoryStore()
    put, get = PutOp(("a",), "k", {"x": 1}), GetOp(("a",), "k")
    assert found.batch([put, get]) == [None, None]
    assert found.batch([PutOp(("a",), "k", None), get])[1].value == {"x": 1}
    assert found.get(("a",), "k") is None


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), (1,), ("langgraph", "x")])
def test_namespaces_that_are_refused(namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError, match=r"[Nn]amespace"):
        InMemoryStore().put(namespace, "k", {"x": 1})


def test_filters_look_into_nested_values() -> None:
    found = InMemoryStore()
    found.put(("a",), "one", {"d": {"n": 1, "m": 0}})
    found.put(("a",), "two", {"d": {"n": 2}})
    assert [i.key for i in found.search(("a",), filter={"d": {"n": {"$gt": 1}}})] == ["two"]
    assert [i.key for i in found.search(("a",), filter={"d": {"n": 1}})] == ["one"]
    with pytest.raises(ValueError, match="Unsupported operator"):
        found.search(("a",), filter={"d": {"$in": [1]}})
