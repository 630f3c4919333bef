"""Stores here and there: the same calls, and random programs of them, on both packages.

LangGraph's SQLite store needs an extension of SQLite for vectors, which not every Python can load:
search by meaning is compared in memory. What differs on purpose is at the end, one test each.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOTS = ("langgraph", "ckpt_viz")
Ask = Callable[[Any, Any], Any]


def vectors(texts: Any) -> list[list[float]]:
    return [[float(len(text)), float(text.count("a")) + 1, 1.0] for text in texts]


class Package:
    """The stores of one package, and the names that calls need."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.base = importlib.import_module(f"{root}.store.base")

    def store(self, kind: str, stack: ExitStack, **options: Any) -> Any:
        if kind == "memory":
            module = importlib.import_module(f"{self.root}.store.memory")
            return module.InMemoryStore(**options)
        module = importlib.import_module(f"{self.root}.store.sqlite")
        store = stack.enter_context(module.SqliteStore.from_conn_string(":memory:", **options))
        store.setup()
        return store


def told(result: Any) -> Any:
    """A result without what differs from run to run."""
    if isinstance(result, list):
        return [told(one) for one in result]
    if hasattr(result, "dict"):
        found = dict(sorted(result.dict().items()))
        moments = [
            datetime.fromisoformat(found.pop(f"{name}_at")) for name in ("created", "updated")
        ]
        score = found.pop("score", "none")
        return (
            found,
            moments[0] <= moments[1],
            score if score in (None, "none") else round(score, 5),
        )
    return result


def by_place(items: Any) -> Any:
    """What a search found, without its order."""
    return told(sorted(items, key=lambda item: (item.namespace, item.key)))


def outcome(ask: Ask, store: Any, base: Any) -> Any:
    try:
        return told(ask(store, base))
    except Exception as error:  # noqa: BLE001 - class and text of any error are compared
        return type(error).__name__, str(error)


def both(kind: str, *asks: Ask, **options: Any) -> list[Any]:
    """The outcomes of calls in turn, in both packages."""
    found = []
    for root in ROOTS:
        package = Package(root)
        with ExitStack() as stack:
            store = package.store(kind, stack, **options)
            found.append([outcome(ask, store, package.base) for ask in asks])
    return found


def alike(theirs: Any, ours: Any) -> bool:
    """Whether results are equal; our errors may say more after what theirs say."""
    if isinstance(theirs, tuple) and len(theirs) == 2 and str(theirs[0]).endswith("Error"):
        return bool(theirs[0] == ours[0] and ours[1].startswith(theirs[1].rstrip(".")))
    return bool(theirs == ours)


ITEMS = [
    (("a", "b"), "1", {"n": 1, "s": "x", "d": {"n": 2, "l": [1, 2]}, "t": True, "f": 1.5}),
    (("a", "b"), "2", {"n": 2, "s": "y", "d": {"n": 3}, "t": False, "f": -1.5}),
    (("a", "bc"), "3", {"n": 3, "s": "10", "d": {}, "t": True, "f": 0.0}),
    (("ab",), "4", {"n": 4, "s": "é", "d": {"n": 2}, "t": True, "f": 1e3}),
    (("*", "q"), "5", {"n": -1, "s": "", "d": {"n": -1}, "t": False, "f": 2.25}),
]


def put_all(store: Any, base: Any) -> None:
    for item in ITEMS:
        store.put(*item)


def listing(**options: Any) -> Ask:
    return lambda s, b: s.list_namespaces(**options)


def searching(*prefix: str, **options: Any) -> Ask:
    return lambda s, b: by_place(s.search(prefix, **options))


def putting(namespace: Any, key: Any = "k", value: Any = None, **options: Any) -> Ask:
    return lambda s, b: s.put(namespace, key, {"x": 1} if value is None else value, **options)


NAMESPACES = [
    {},
    {"prefix": ("a",)},
    {"prefix": ("a", "b")},
    {"suffix": ("b",)},
    {"prefix": ("*", "b")},
    {"suffix": ("*",)},
    {"prefix": ("a", "*"), "max_depth": 1},
    {"max_depth": 1},
    {"max_depth": 2, "limit": 2, "offset": 1},
    {"limit": 0},
    {"prefix": (), "suffix": ()},
    {"prefix": ("a",), "suffix": ("b",)},
    {"prefix": ("a", "b", "c")},
    {"prefix": ("a.b",)},
    {"suffix": ("",)},
    {"prefix": (1,)},
]
FILTERS = [
    {"n": 1},
    {"n": 1.0},
    {"n": "1"},
    {"n": {"$eq": 1}},
    {"n": {"$ne": 1}},
    {"n": {"$gt": 1}},
    {"n": {"$gte": 2}},
    {"n": {"$lt": 2}},
    {"n": {"$lte": 2}},
    {"n": {"$gt": 1, "$lt": 4}},
    {"f": {"$gt": 1}},
    {"f": {"$lt": "2"}},
    {"s": "x"},
    {"t": True},
    {"t": 1},
    {"n": None},
    {"nope": None},
    {"s": {"$ne": "x"}},
    {"n": {"$in": [1]}},
    {"n": {"$eq": 1, "x": 2}},
    {},
]
NAMES = [
    (),
    ("",),
    ("a.b",),
    (1,),
    (None,),
    ("langgraph",),
    ("x", "langgraph"),
    ("a", ""),
    ("a\0",),
]
CALLS: list[Ask] = [
    put_all,
    *(listing(**options) for options in NAMESPACES),
    *(searching("a", filter=wanted) for wanted in FILTERS),
    *(searching(*p) for p in [(), ("a",), ("a", "b"), ("*",), ("a", "*"), ("A",), ("a.b",)]),
    *(searching(limit=limit, offset=offset) for limit, offset in [(0, 0), (99, 0), (9, 99)]),
    *(putting(namespace) for namespace in NAMES),
    *(lambda s, b, n=n: s.get(n, "k") for n in NAMES),
    *(lambda s, b, n=n: s.delete(n, "k") for n in NAMES),
    *(putting(("v",), key) for key in ["", "a.b", 5, "k\0", "'; DROP", None]),
    *(lambda s, b, k=k: s.get(("v",), k) for k in ["", "a.b", 5, "5", "k\0", "None"]),
    *(putting(("v",), "k", value) for value in ["text", 5, [1], [("a", 1)]]),
    lambda s, b: s.get(("v",), "k"),
    putting(("v",), "k", {"x": 2}),
    lambda s, b: s.get(("v",), "k"),
    lambda s, b: s.put(("v",), "k", None),
    lambda s, b: s.get(("v",), "k"),
    lambda s, b: s.batch(
        [
            b.PutOp(("z",), "k", {"x": 1}),
            b.PutOp(("z",), "k", {"x": 2}),
            b.GetOp(("a", "b"), "1"),
            b.SearchOp(("z",)),
        ]
    ),
    lambda s, b: s.get(("z",), "k"),
    lambda s, b: s.batch(
        [b.GetOp(("z",), "k"), b.PutOp(("z",), "k", None), b.GetOp(("z",), "k")]
    ),
    lambda s, b: s.batch(b.GetOp(("z",), key) for key in "kl"),
    lambda s, b: s.batch([]),
    putting(("z",), "k", ttl=None),
    putting(("z",), "k", ttl=5),
    putting(("z",), "k", index=["x"]),
    putting(("z",), "k", index=False),
    searching("z", query="anything"),
    lambda s, b: (s.supports_ttl, s.ttl_config, s.index_config),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_calls_have_the_same_outcome(kind: str) -> None:
    theirs, ours = both(kind, *CALLS)
    for at, pair in enumerate(zip(theirs, ours, strict=True)):
        assert alike(*pair), (at, pair)


DOCUMENTS: list[Ask] = [
    putting(("v",), "1", {"t": "aaaa"}),
    putting(("v",), "2", {"t": "bbbbbbbbbb", "l": [{"x": "aa"}, {"x": "aaaaaaaaaaaaaaa"}]}),
    putting(("v",), "3", {"o": "zzz"}),
    putting(("v",), "4", {"t": "hidden"}, index=False),
    putting(("v", "w"), "5", {"t": "cc", "o": "aaa"}, index=["o"]),
    putting(("u",), "6", {"t": "", "l": [{"x": "b"}, {}]}),
]
QUESTIONS: list[Ask] = [
    *(lambda s, b, q=q: s.search(("v",), query=q) for q in ["aaaa", "b", ""]),
    lambda s, b: s.search((), query="aaaa", limit=2, offset=1),
    lambda s, b: s.search(("v",), query="aaaa", filter={"t": {"$ne": "aaaa"}}),
    lambda s, b: s.search(("v",), query="aaaa", limit=0),
    lambda s, b: s.search(("v",)),
    putting(("v",), "1", {"t": "bbbbbbbbbbbbbb"}),
    lambda s, b: s.search((), query="aaaa"),
    lambda s, b: s.delete(("v",), "2"),
    lambda s, b: s.search((), query="aaaa"),
    lambda s, b: asyncio.run(s.asearch((), query="ba")),
    lambda s, b: s.batch([b.SearchOp((), query=q) for q in ("a", "bb", "a")]),
]


@pytest.mark.parametrize(
    "fields", [None, ["$"], ["t"], ["t", "l[*].x", "$"], ["l[0].x"], ["{t,o}"], []]
)
def test_search_by_meaning_finds_the_same(fields: Any) -> None:
    index = {"dims": 3, "embed": vectors, **({} if fields is None else {"fields": fields})}
    theirs, ours = both("memory", *DOCUMENTS, *QUESTIONS, index=index)
    for at, pair in enumerate(zip(theirs, ours, strict=True)):
        assert alike(*pair), (at, pair)


def test_items_and_operations_are_the_same_records() -> None:
    def question(b: Any) -> Any:
        now = "2026-01-02T03:04:05.678901+00:00"
        item = b.Item(value={"a": 1}, key="k", namespace=["a"], created_at=now, updated_at=now)
        found = b.SearchItem(("a",), "k", {"a": 1}, now, now, 0.5)
        worse = b.SearchItem(("a",), "k", {"a": 1}, now, now, 0.1)
        return (
            item.dict(),
            found.dict(),
            repr(item),
            repr(found),
            [item == found, found == item, found == worse, item == {}],
            hash(item) == hash(found),
            repr(b.GetOp(("a",), "k")),
            repr(b.PutOp(("a",), "k", {})),
            repr(b.SearchOp(("a",))),
            repr(b.ListNamespacesOp()),
            repr(b.MatchCondition("prefix", ("a",))),
            issubclass(b.InvalidNamespaceError, ValueError),
            sorted(b.TTLConfig.__annotations__),
        )

    theirs, ours = (question(Package(root).base) for root in ROOTS)
    assert theirs == ours


PATHS = [
    "$",
    "",
    "a",
    "a.b",
    "a.c[*]",
    "a.c[1].d",
    "a.{b,c}",
    "a.*",
    "l[-1]",
    "x",
    "a.c[9]",
    "l[x]",
    "{a.b,e}",
]


def test_paths_lead_to_the_same_texts() -> None:
    value = {"a": {"b": "x", "c": [1, {"d": "y"}]}, "e": 2.5, "l": ["p", None, True], "n": None}
    theirs, ours = (Package(root).base for root in ROOTS)
    for path in PATHS:
        assert theirs.tokenize_path(path) == ours.tokenize_path(path), path
        assert theirs.get_text_at_path(value, path) == ours.get_text_at_path(value, path), path


LABELS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-2, 2), "f": st.sampled_from([0.5, -1.0, 2.0]), "s": st.sampled_from("xyz")}
)
WANTED = st.dictionaries(
    st.sampled_from("nf"),
    st.integers(-2, 2)
    | st.dictionaries(
        st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]),
        st.integers(-2, 2),
        min_size=1,
    ),
    max_size=2,
)
STEPS = (
    st.tuples(st.just("put"), LABELS, st.sampled_from("kl"), VALUES)
    | st.tuples(st.just("delete"), LABELS, st.sampled_from("kl"))
    | st.tuples(st.just("get"), LABELS, st.sampled_from("kl"))
    | st.tuples(st.just("search"), LABELS, WANTED)
    | st.tuples(st.just("list"), LABELS, LABELS, st.none() | st.integers(1, 3))
)


def step(store: Any, name: str, *args: Any) -> Any:
    if name == "search":
        return by_place(store.search(args[0][:1], filter=args[1], limit=100))
    if name == "list":
        prefix, suffix, depth = args
        return store.list_namespaces(prefix=prefix[:1], suffix=suffix[:1], max_depth=depth)
    return told(getattr(store, name)(*args))


def run_both(kind: str, steps: list[Any]) -> None:
    with ExitStack() as stack:
        theirs, ours = (Package(root).store(kind, stack) for root in ROOTS)
        for one in steps:
            assert step(theirs, *one) == step(ours, *one)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=1, max_size=12))
def test_random_programs(steps: list[Any]) -> None:
    run_both("sqlite", steps)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_many_random_programs(kind: str) -> None:
    @settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(STEPS, min_size=1, max_size=25))
    def runs(steps: list[Any]) -> None:
        if kind == "memory":  # there, a read of a namespace makes it
            steps[:] = [one for one in steps if one[0] != "list"]
        run_both(kind, steps)

    runs()


def test_what_is_swept_away() -> None:
    ttl = {"default_ttl": 0.005, "refresh_on_read": False}
    asks: list[Ask] = [
        lambda s, b: s.ttl_config,
        putting(("a",), "default"),
        putting(("a",), "for ever", ttl=None),
        putting(("a",), "long", ttl=5),
        putting(("a",), "over", ttl=-1),
        lambda s, b: s.sweep_ttl(),
        searching("a", refresh_ttl=False),
        lambda s, b: time.sleep(1.4),  # there a second counts as a whole
        lambda s, b: s.sweep_ttl(),
        searching("a"),
        lambda s, b: s.start_ttl_sweeper().done(),
        lambda s, b: s.stop_ttl_sweeper(timeout=5),
    ]
    theirs, ours = both("sqlite", *asks, ttl=ttl)
    assert theirs == ours


# -- where they differ -------------------------------------------------------------------------


def test_the_order_without_a_question_is_that_of_creation() -> None:
    """Here everywhere; there in SQLite by the time of the last change, whole seconds."""
    puts = [putting(("n", space), key) for space, key in [("z", "1"), ("a", "2"), ("m", "3")]]
    keys: Ask = lambda s, b: [item.key for item in s.search(("n",))]  # noqa: E731
    theirs, ours = both("sqlite", *puts, keys)
    assert ours[-1] == ["1", "2", "3"]
    assert theirs[-1] != ours[-1]


def test_values_come_back_with_their_types() -> None:
    """There SQLite holds JSON: a tuple comes back as a list, and a set is refused."""
    asks: list[Ask] = []
    for value in ({"x": (1, 2)}, {"x": {1}}):
        asks += [putting(("n",), "k", value), lambda s, b: s.get(("n",), "k").value]
    theirs, ours = both("sqlite", *asks)
    assert ours == [None, {"x": (1, 2)}, None, {"x": {1}}]
    assert theirs[1] == {"x": [1, 2]}
    assert theirs[2][0] == "TypeError"


def test_filters_never_fail_over_a_value() -> None:
    """There in memory a value that is no number is an error; and paths only lead on in SQLite."""
    puts = [putting(("n",), "k", {"n": "x", "d": {"n": 2}}), putting(("n",), "l", {"n": 5})]
    asks = [searching("n", filter={"n": {"$gt": 1}}), searching("n", filter={"d.n": 2})]
    theirs, ours = both("memory", *puts, *asks)
    assert theirs[2][0] == "ValueError"
    assert [len(found) for found in ours[2:]] == [1, 1]
    theirs, ours = both("sqlite", *puts, *asks, searching("n", filter={"d": {"n": 2}}))
    assert [len(found) for found in ours[3:]] == [1, 1]
    assert theirs[3] == ours[3]
    assert theirs[4][0] == "ValueError"


def test_a_missing_entry_differs_from_every_value() -> None:
    """Here everywhere, as there in memory; there in SQLite it neither equals nor differs."""
    asks = [putting(("n",), "k", {}), searching("n", filter={"x": {"$ne": 1}})]
    assert [len(found[1]) for found in both("memory", *asks)] == [1, 1]
    assert [len(found[1]) for found in both("sqlite", *asks)] == [0, 1]


def test_what_has_expired_is_not_shown() -> None:
    """There it is, until it is swept away; here if ``omit_expired`` is False."""
    asks: list[Ask] = [
        putting(("n",), "k", ttl=0.001),
        lambda s, b: time.sleep(0.1),
        lambda s, b: s.get(("n",), "k", refresh_ttl=False) is None,
    ]
    theirs, ours = both("sqlite", *asks)
    assert (theirs[-1], ours[-1]) == (False, True)
    shown = both("sqlite", *asks, ttl={"omit_expired": False})
    assert [found[-1] for found in shown] == [False, False]


def test_a_change_keeps_the_time_of_creation() -> None:
    """There it is forgotten."""
    made: Ask = lambda s, b: s.get(("n",), "k").created_at.timestamp()  # noqa: E731
    asks = [putting(("n",), "k"), made, lambda s, b: time.sleep(0.01), putting(("n",), "k"), made]
    theirs, ours = both("memory", *asks)
    assert theirs[1] != theirs[-1]
    assert ours[1] == ours[-1]


def test_a_new_version_that_is_not_searched_loses_its_vectors() -> None:
    """There the vectors of the old value stay."""
    asks = [putting(("n",), "k"), putting(("n",), "k", index=False)]
    score: Ask = lambda s, b: s.search(("n",), query="q")[0].score  # noqa: E731
    theirs, ours = both("memory", *asks, score, index={"dims": 3, "embed": vectors})
    assert theirs[-1] is not None
    assert ours[-1] is None


def test_pages_before_the_first_are_refused() -> None:
    asks = [putting(("n",), "k"), searching(limit=-1), searching(offset=-1)]
    theirs, ours = both("sqlite", *asks)
    assert [len(found) for found in theirs[1:]] == [1, 1]
    assert [kind for kind, _ in ours[1:]] == ["ValueError", "ValueError"]
