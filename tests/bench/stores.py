"""Stores: CPU time of LangGraph's divided by ours, and a search by meaning against a bare product.

The calls of both packages alternate in one process, so that a slow spell of the machine hits both.
A ratio of 2 means that LangGraph used twice the CPU. Single puts into SQLite are few, because there
each waits for the disk. The search is compared in elapsed time with numpy's product of the same
matrix and vector: 1.5 means that it took half as long again.

    python -m tests.bench.stores [--items 100000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

ROOTS = ("langgraph", "ckpt_viz")
DIMS = 256


def value(n: int) -> dict[str, Any]:
    """A small memory."""
    return {"n": n, "kind": "odd" if n % 2 else "even", "text": "a memory that says something"}


def opened(root: str, kind: str, stack: ExitStack) -> Any:
    """A store of a package, empty."""
    if kind == "memory":
        return importlib.import_module(f"{root}.store.memory").InMemoryStore()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    sqlite = importlib.import_module(f"{root}.store.sqlite").SqliteStore
    store = stack.enter_context(sqlite.from_conn_string(str(folder / "bench.db")))
    store.setup()
    return store


def calls(root: str, store: Any, items: int, singles: int) -> dict[str, Callable[[], Any]]:
    """What is measured, in this order; each call is repeatable."""
    put_op = importlib.import_module(f"{root}.store.base").PutOp

    def put() -> None:
        for n in range(singles):
            store.put(("one", str(n % 100)), str(n), value(n))

    def batch() -> None:
        for at in range(0, items, 1000):
            several = range(at, min(at + 1000, items))
            store.batch([put_op(("user", str(n % 100)), str(n), value(n)) for n in several])

    def few() -> None:
        assert len(store.search(("user",), filter={"n": {"$gte": items - 5}})) == 5

    def half() -> None:
        assert len(store.search(("user",), filter={"kind": "odd"})) == 10

    def one() -> None:
        assert len(store.search(("user", "7"), filter={"n": 7})) == 1

    return {
        f"put {singles:,}": put,
        f"batches, {items:,}": batch,
        f"filter: 5 of {items:,}": few,
        "filter: every second": half,
        "filter in one namespace": one,
    }


def cpu_of(act: Callable[[], Any]) -> float:
    """CPU seconds of one call, all threads together."""
    gc.collect()
    start = time.process_time()
    act()
    return time.process_time() - start


def compare(kind: str, items: int, rounds: int) -> None:
    """Print a line a call."""
    singles = items if kind == "memory" else min(items, 2000)
    with ExitStack() as stack:
        acts = {root: calls(root, opened(root, kind, stack), items, singles) for root in ROOTS}
        for name in acts[ROOTS[0]]:
            times: dict[str, list[float]] = {root: [] for root in ROOTS}
            for _ in range(rounds):
                for root in ROOTS:
                    times[root].append(cpu_of(acts[root][name]))
            peer, ours = (statistics.median(times[root]) * 1e3 for root in ROOTS)
            line = f"{kind:7} {name:28} {peer:9.1f} {ours:9.1f} {peer / ours:10.1f}"
            print(line, flush=True)


def elapsed(act: Callable[[], Any], rounds: int) -> float:
    """Milliseconds of the quickest call: what it takes where nobody disturbs it."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def search(items: int) -> None:
    """Print how long the ten nearest take, and how long the bare product does."""
    chance = np.random.default_rng(7)
    matrix = chance.standard_normal((items, DIMS), np.float32)
    question = chance.standard_normal(DIMS).astype(np.float32)
    rows = iter(matrix)
    ours = importlib.import_module("ckpt_viz.store.memory").InMemoryStore(
        index={"embed": lambda texts: [question if t == "q" else next(rows) for t in texts]}
    )
    put_op = importlib.import_module("ckpt_viz.store.base").PutOp
    for at in range(0, items, 1000):
        several = range(at, min(at + 1000, items))
        ours.batch([put_op(("v", str(n % 50)), str(n), {"n": n}) for n in several])
    bare = elapsed(lambda: matrix @ question, 30)
    for name, options in (
        ("everywhere", {}),
        ("with a filter", {"filter": {"n": {"$gt": items // 2}}}),
    ):
        took = elapsed(lambda o=options: ours.search(("v",), query="q", limit=10, **o), 30)  # type: ignore[misc]
        label = f"top 10 of {items:,} x {DIMS}, {name}"
        print(f"{label:45} product {bare:7.2f} ms, search {took:7.2f} ms: {took / bare:.2f}")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(
        f"{'store':7} {'call':28} {'peer ms':>9} {'ours ms':>9} {'peer/ours':>10}   (CPU, median)"
    )
    for kind in ("memory", "sqlite"):
        compare(kind, args.items, args.rounds)
    search(args.items)


if __name__ == "__main__":
    main()
