"""Search by meaning: the same items, scores and order, whoever reckons."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ckpt_viz.store import flat, matrix
from ckpt_viz.store.base import PutOp, SearchOp
from ckpt_viz.store.lexical import HashingEmbeddings
from ckpt_viz.store.memory import InMemoryStore
from ckpt_viz.store.nearest import Nearest, Widening, arithmetic
from ckpt_viz.store.sqlite import SqliteStore

from .conftest import INDEX, KINDS, letters, open_store

WORDS = ["pizza", "pasta", "salad", "tennis", "running", "rowing", "jazz", "opera", "rain", "snow"]


def fill(store: Any) -> None:
    """Items whose scores tie, that have several texts, or none."""
    chance = Random(7)
    puts = []
    for n in range(80):
        text = " ".join(chance.choices(WORDS, k=1 + n % 3))
        value = {"text": text, "n": n, "many": ["jazz", text[:4]] if n % 5 == 0 else []}
        index = False if n % 11 == 10 else ["many[*]"] if n % 13 == 12 else None
        puts.append(PutOp(("v", str(n % 4)), str(n), value, index))
    store.batch(puts)
    store.put(("v", "0"), "empty", {"text": "123"})
    store.put(("vw",), "elsewhere", {"text": "pizza"})


def asked(store: Any, **options: Any) -> list[tuple[str, float]]:
    found = store.search(("v",), query="Pizza and jazz", **options)
    return [(item.key, item.score) for item in found if item.score is not None]


@pytest.fixture(scope="module")
def expected() -> Any:
    """What a plain loop finds."""
    store = InMemoryStore(index=dict(INDEX))
    fill(store)
    question = letters(["Pizza and jazz"])[0]
    scores = []
    for at, item in enumerate(store.search(("v",), limit=200)):
        n = item.value.get("n")
        if n is not None and n % 11 == 10:
            continue
        texts = item.value.get("many", [])
        if n is None or n % 13 != 12:
            texts = [item.value["text"], *texts]
        if texts:
            vectors = letters(texts)
            score = max(flat.cosine(flat.unit(v), flat.unit(question)) for v in vectors)
            scores.append((-round(score, 12), at, item.key))
    return [(key, -less) for less, _, key in sorted(scores)]


def test_the_nearest_come_first_and_ties_in_the_order_of_creation(searched, expected):
    fill(searched)
    found = asked(searched, limit=200)
    assert [key for key, _ in found] == [key for key, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    assert asked(searched, limit=7, offset=5) == found[5:12]
    assert asked(searched) == found[:10]


def test_a_search_with_a_filter_and_below_a_namespace(searched):
    fill(searched)
    everything = dict(asked(searched, limit=200))
    even = asked(searched, filter={"n": {"$lt": 40}}, limit=200)
    assert [key for key in everything if key != "empty" and int(key) < 40] == [k for k, _ in even]
    below = searched.search(("v", "2"), query="Pizza and jazz", limit=5)
    assert all(item.namespace == ("v", "2") for item in below)
    wanted = [key for key in everything if key != "empty" and int(key) % 4 == 2]
    assert [item.key for item in below] == wanted[:5]
    assert searched.search(("nothing",), query="pizza") == []
    assert searched.search(("v",), query="pizza", limit=0) == []


def test_what_changes_is_found_anew(searched):
    put = searched.put
    put(("v",), "a", {"text": "pizza"})
    put(("v",), "b", {"text": "opera"})
    assert [k for k, _ in asked(searched)] == ["a", "b"]
    put(("v",), "b", {"text": "pizza and jazz"})
    put(("v",), "a", {"text": "pizza"}, index=False)
    assert [k for k, _ in asked(searched)] == ["b"]
    put(("v",), "a", {"text": "pizza"})
    searched.delete(("v",), "b")
    assert [k for k, _ in asked(searched)] == ["a"]
    put(("v",), "b", {"other": "pizza"})  # no text at the paths that are searched
    assert [k for k, _ in asked(searched)] == ["a"]
    assert len(searched.search(("v",))) == 2


def test_a_question_without_an_index_is_no_question(store):
    store.put(("v",), "a", {"text": "x"})
    assert [(i.key, i.score) for i in store.search((), query="y")] == [("a", None)]


def test_items_without_vectors(indexed):
    """LangGraph's stores differ there, and so do these: in memory they come after the others."""
    indexed.put(("v",), "hidden", {"text": "x"}, index=False)
    indexed.put(("v",), "shown", {"text": "x"})
    found = [(i.key, i.score) for i in indexed.search(("v",), query="x")]
    assert found[0] == ("shown", pytest.approx(1))
    assert found[1:] == ([("hidden", None)] if isinstance(indexed, InMemoryStore) else [])


def test_one_store_for_one_length_of_vectors(searched):
    searched.put(("v",), "a", {"text": "x"})
    searched.search(("v",), query="x")
    searched.store.embeddings.func = lambda texts: [[1.0, 2.0] for _ in texts]
    with pytest.raises(ValueError, match="2 numbers"):
        searched.put(("v",), "b", {"text": "x"})
    with pytest.raises(ValueError, match="2 numbers"):
        searched.search(("v",), query="x")
    assert searched.get(("v",), "b") is None


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_two_programs_with_one_database(kind, request, tmp_path):
    one, two = (open_store(kind, request, tmp_path, index=dict(INDEX)) for _ in range(2))
    plain = open_store(kind, request, tmp_path)
    one.put(("v",), "a", {"text": "pizza"})
    assert [k for k, _ in asked(two)] == ["a"]
    two.put(("v",), "b", {"text": "pizza jazz"})
    assert [k for k, _ in asked(one)] == ["b", "a"]
    one.put(("v",), "b", {"text": "snow"})
    two.delete(("v",), "a")
    assert [k for k, _ in asked(one)] == [k for k, _ in asked(two)] == ["b"]
    plain.put(("v",), "b", {"text": "pizza"})  # which has no index: the old vector is void
    assert asked(one) == asked(two) == []


def test_pgvector_is_used_where_the_server_has_it(request, tmp_path):
    store = open_store("postgres", request, tmp_path, index=dict(INDEX))
    fill(store)
    found = asked(store, limit=200)
    assert store._rows.ranks
    assert not store._searcher.nearest._places, "nothing is reckoned in this process"
    other = open_store("postgres-numpy", request, tmp_path, index=dict(INDEX))
    assert asked(other, limit=200) == found
    assert not other._rows.ranks


VEC = """
import sys
from tests.store.test_searching import *
store = SqliteStore.from_conn_string(":memory:", index={**INDEX, "engine": "sqlite-vec"})
other = SqliteStore.from_conn_string(":memory:", index={**INDEX, "engine": "numpy"})
for one in (store, other):
    fill(one)
for options in ({"limit": 200}, {"limit": 7, "offset": 5}, {"filter": {"n": {"$lt": 40}}}):
    assert asked(store, **options) == asked(other, **options)
assert store._rows.ranks and not store._searcher.nearest._places
print("same")
"""


def _loads_extensions(python: str) -> bool:
    ask = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
    version = f"import sys; assert sys.version_info[:2] == {sys.version_info[:2]}; {ask}"
    return subprocess.run([python, "-c", version], capture_output=True, check=False).returncode == 0


def test_sqlite_vec_finds_the_same_where_it_loads():
    """Not every build of Python takes extensions: one of the same version that does is asked."""
    pythons = [sys.executable, *filter(None, map(shutil.which, ["/usr/bin/python3", "python3"]))]
    python = next((p for p in pythons if _loads_extensions(p)), None)
    if python is None:
        store = SqliteStore.from_conn_string(":memory:", index={**INDEX, "engine": "sqlite-vec"})
        fill(store)
        assert asked(store)
        assert not store._rows.ranks
        return
    places = [str(Path(__file__).parents[2]), sysconfig.get_paths()["platlib"]]
    code = f"import sys; sys.path[:0] = {places!r}\n{VEC}"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same", done.stderr


def test_plain_python_finds_the_same_as_numpy():
    chance = Random(3)
    vectors = [[chance.choice([0, 0, 1, 2]) for _ in range(6)] for _ in range(300)]
    stores = Nearest(matrix.Rows()), Nearest(flat.Rows())
    kits = (matrix, flat)
    for store, kit in zip(stores, kits, strict=True):
        for n, vector in enumerate(vectors):
            store.set(n % 200, n, (str(n % 3),), [kit.unit(vector), kit.unit(vector[::-1])])
        for n in range(0, 200, 7):
            store.drop(n)
    for prefix in ((), ("1",)):
        found = []
        for store, kit in zip(stores, kits, strict=True):
            assert kit.unpacked(kit.packed(kit.unit([3, 4]))).tolist() == pytest.approx([0.6, 0.8])
            search, nears = Widening(2), []
            while search.more:
                best = store.best(kit.unit([1, 2, 0, 0, 1, 0]), prefix, search.count, search.below)
                nears += search.take(*best)
            found.append([(near.item, near.state, round(near.score, 9)) for near in nears])
        assert found[0] == found[1]
        assert len(found[0]) == len({item for item, _, _ in found[0]}) > 50


def test_a_search_makes_no_copy_of_the_matrix():
    import tracemalloc

    import numpy as np

    store, chance = Nearest(), np.random.default_rng(1)
    for n, vector in enumerate(chance.standard_normal((4000, 256), np.float32)):
        store.set(n, 0, ("n",), [arithmetic.unit(vector)])
    question = arithmetic.unit(chance.standard_normal(256))
    tracemalloc.start()
    store.best(question, (), 20, math.inf)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 256 * 4 / 8


def test_many_items_that_score_alike_are_all_found(searched):
    searched.batch([PutOp(("v",), f"{n:03}", {"text": "pizza"}) for n in range(150)])
    found = searched.search(("v",), query="pizza", limit=120, offset=20)
    assert [item.key for item in found] == [f"{n:03}" for n in range(20, 140)]


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_function_words_and_parts_of_words_count(kind, request, tmp_path):
    store = open_store(kind, request, tmp_path, index={"dims": 128})
    store.put(("m",), "food", {"text": "I like pizzas with mushrooms"})
    store.put(("m",), "sport", {"text": "I play tennis on Sundays"})
    assert store.search(("m",), query="which pizza?")[0].key == "food"
    assert store.search(("m",), query="tennis player")[0].key == "sport"
    results = store.batch([SearchOp(("m",), query=q) for q in ("pizza", "tennis", "pizza")])
    assert [found[0].key for found in results] == ["food", "sport", "food"]


def test_the_lexical_vectors_never_change():
    near = HashingEmbeddings(8)
    assert near.embed_query("") == [0.0] * 8
    found = near.embed_documents(["Ab c"])[0]
    assert math.hypot(*found) == pytest.approx(1)
    assert [round(x, 3) for x in found] == LEXICAL
    with pytest.raises(ValueError, match="dims is 1 or more"):
        HashingEmbeddings(0)


LEXICAL = [0.0, -0.535, 0.0, 0.378, 0.0, 0.535, -0.378, -0.378]


def test_other_measures_are_refused():
    with pytest.raises(ValueError, match="'l2' is not offered"):
        SqliteStore.from_conn_string(":memory:", index={**INDEX, "distance_type": "l2"})
    assert SqliteStore.from_conn_string(":memory:", index={**INDEX, "distance_type": "cosine"})


class Documents:
    """An object with the two methods that a store needs, and no more."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return letters(texts)

    def embed_query(self, text: str) -> list[float]:
        return letters([text])[0]


async def test_every_form_of_embedding():
    async def slow(texts: Any) -> list[list[float]]:
        return letters(texts)

    from langchain_core.embeddings import Embeddings as LangChain

    class Chain(Documents, LangChain):
        """As langchain_core wants it."""

    for embed in (letters, slow, Documents(), Chain()):
        store = SqliteStore.from_conn_string(":memory:", index={"dims": 26, "embed": embed})
        await store.aput(("v",), "a", {"text": "pizza"})
        assert (await store.asearch(("v",), query="pizza"))[0].score > 0.5
        store.close()


@pytest.mark.parametrize("embed", [None, 5, "openai:text-embedding-3-small", lambda texts: []])
def test_an_embedding_that_is_none(embed):
    with pytest.raises((ValueError, TypeError), match=r"[Ee]mbed"):
        SqliteStore.from_conn_string(":memory:", index={"dims": 2, "embed": embed}).put(
            ("v",), "k", {"text": "x"}
        )


def test_the_small_model_of_wordllama_knows_what_words_mean():
    store = InMemoryStore(index={"embed": "wordllama"})
    store.put(("m",), "food", {"text": "I enjoy eating pasta"})
    store.put(("m",), "car", {"text": "My vehicle is red"})
    assert store.search(("m",), query="automobile colour")[0].key == "car"
