"""CPU time of LangGraph divided by ours, for the same programs in the same run.

Each case runs in a fresh process for one package at a time; packages alternate, so that a slow
spell of the machine hits both. A ratio of 12 means that LangGraph used twelve times the CPU.

    python tests/bench/compare.py [--rounds 3] [--steps 500] [CASE ...]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

PACKAGES = ("langgraph", "ckpt_viz")
CONFIG = {"configurable": {"thread_id": "bench"}, "recursion_limit": 1_000_000}


class Count(TypedDict):
    """The state of the loop: a number that grows by one each superstep."""

    n: int


class Mixed(TypedDict):
    """The state of the mixed graph: the loop's number and everything its workers returned."""

    n: int
    out: Annotated[list[int], add]


class Names:
    """What the cases need of one package, found under its root."""

    def __init__(self, root: str) -> None:
        self.root = root
        graph = self.module("graph")
        self.StateGraph, self.START, self.END = graph.StateGraph, graph.START, graph.END
        self.Send = self.module("types").Send

    def module(self, path: str) -> Any:
        return importlib.import_module(f"{self.root}.{path}")

    def saver(self, kind: str, stack: ExitStack) -> Any:
        """No saver, one in memory, or one in a SQLite file that goes with the stack."""
        if kind == "none":
            return None
        if kind == "memory":
            return self.module("checkpoint.memory").InMemorySaver()
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        sqlite = self.module("checkpoint.sqlite").SqliteSaver
        return stack.enter_context(sqlite.from_conn_string(str(Path(folder) / "bench.db")))


def loop(names: Names, steps: int, saver: Any, is_async: bool = False) -> Any:
    """A node that runs `steps` times."""

    def step(state: Count) -> dict[str, int]:
        return {"n": state["n"] + 1}

    async def astep(state: Count) -> dict[str, int]:
        return {"n": state["n"] + 1}

    builder = names.StateGraph(Count)
    builder.add_node("step", astep if is_async else step)
    builder.add_edge(names.START, "step")
    builder.add_conditional_edges(
        "step", lambda s: names.END if s["n"] >= steps else "step", ["step", names.END]
    )
    return builder.compile(checkpointer=saver)


def mixed(names: Names, steps: int, saver: Any) -> Any:
    """A loop of plan -> three workers by Send -> two joined nodes, with a reducer."""
    builder = names.StateGraph(Mixed)
    builder.add_node("plan", lambda s: {"n": s["n"] + 1})
    builder.add_node("worker", lambda s: {"out": [s["i"]]})
    builder.add_node("left", lambda s: {"out": [-1]})
    builder.add_node("right", lambda s: {"out": [-2]})
    builder.add_node("join", lambda s: {})
    builder.add_edge(names.START, "plan")
    builder.add_conditional_edges(
        "plan", lambda s: [names.Send("worker", {"i": i}) for i in range(3)], ["worker"]
    )
    builder.add_edge("worker", "left")
    builder.add_edge("worker", "right")
    builder.add_edge(["left", "right"], "join")
    builder.add_conditional_edges(
        "join", lambda s: names.END if s["n"] >= steps else "plan", ["plan", names.END]
    )
    return builder.compile(checkpointer=saver)


def cpu_of(act: Callable[[], Any]) -> float:
    """CPU seconds of one call, all threads together."""
    gc.collect()
    start = time.process_time()
    act()
    return time.process_time() - start


def measure(case: str, root: str, steps: int) -> float:
    """CPU seconds that `case` takes in `root`, after a small warm-up."""
    if case == "import":
        return cpu_of(lambda: Names(root))
    names = Names(root)
    results = []
    for size in (10, steps):
        with ExitStack() as stack:
            results.append(one_run(names, case, size, stack))
    return results[-1]


def one_run(names: Names, case: str, steps: int, stack: ExitStack) -> float:
    """Build the graph of `case`, run it once, check its result, and return its CPU seconds."""
    final: list[dict[str, Any]] = []
    if case == "mixed":
        steps //= 5
        graph = mixed(names, steps, names.saver("memory", stack))
        cost = cpu_of(lambda: final.append(graph.invoke({"n": 0, "out": []}, CONFIG)))
        assert len(final[0]["out"]) == steps * 5, (
            "each round has three workers and two joined nodes"
        )
    elif case == "async":
        graph = loop(names, steps, names.saver("memory", stack), is_async=True)
        cost = cpu_of(lambda: final.append(asyncio.run(graph.ainvoke({"n": 0}, CONFIG))))
    else:
        graph = loop(names, steps, names.saver(case, stack))
        cost = cpu_of(lambda: final.append(graph.invoke({"n": 0}, CONFIG)))
    assert final[0]["n"] == steps, f"{names.root} ended {case} at {final[0]['n']}, not {steps}"
    return cost


CASES = ("none", "memory", "sqlite", "async", "mixed", "import")


def in_fresh_process(case: str, root: str, steps: int) -> float:
    """Measure in a process that has imported nothing of the other package."""
    command = [sys.executable, __file__, "--one", case, root, "--steps", str(steps)]
    env = {**os.environ, "LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise SystemExit(f"{case} in {root} failed:\n{done.stderr}")
    return float(done.stdout)


def main() -> None:
    """Print one line a case: milliseconds of both, and peer/ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--one", nargs=2, metavar=("CASE", "PACKAGE"), help="measure in here")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()
    if args.one:
        print(measure(*args.one, args.steps))
        return
    if unknown := set(args.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print(f"{'case':8} {'peer ms':>9} {'ours ms':>9} {'peer/ours':>10}   (CPU, median)")
    for case in args.cases or CASES:
        times: dict[str, list[float]] = {root: [] for root in PACKAGES}
        for _ in range(args.rounds):
            for root in PACKAGES:
                times[root].append(in_fresh_process(case, root, args.steps))
        peer, ours = (statistics.median(times[root]) * 1e3 for root in PACKAGES)
        print(f"{case:8} {peer:9.1f} {ours:9.1f} {peer / ours:10.1f}", flush=True)


if __name__ == "__main__":
    main()
