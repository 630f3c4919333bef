"""The programs that the benchmarks run, for either package: the graphs and what is done to them.

A case builds what it needs, checks that the result is right, and returns what one act of it cost.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import chain as links
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

from ormsgpack import unpackb

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "bench"}, "recursion_limit": 1_000_000}


class Count(TypedDict):
    """A number that grows by one each superstep."""

    n: int


class Grown(TypedDict):
    """The number, and a list that grows with it."""

    n: int
    out: Annotated[list[Any], add]


class Heavy(TypedDict):
    """The number, and a big value that never changes."""

    n: int
    big: str


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
        saver = stack.enter_context(sqlite.from_conn_string(str(Path(folder) / "bench.db")))
        saver.setup()
        saver.conn.execute("PRAGMA synchronous=NORMAL")
        return saver


def cpu_of(act: Callable[[], Any]) -> float:
    """CPU milliseconds of one call, all threads together."""
    gc.collect()
    start = time.process_time()
    act()
    return (time.process_time() - start) * 1e3


# -- graphs --------------------------------------------------------------------------------------


def loop(names: Names, steps: int, saver: Any, is_async: bool = False) -> Any:
    """A node that runs `steps` times."""

    def step(state: Count) -> dict[str, int]:
        return {"n": state["n"] + 1}

    async def astep(state: Count) -> dict[str, int]:
        return step(state)

    return _looped(names, Count, astep if is_async else step, steps, saver)


def grown(names: Names, steps: int, saver: Any, state: Any = Grown) -> Any:
    """The loop, with a message of 200 random letters more each time."""
    rng = random.Random(1)

    def step(state: Any) -> dict[str, Any]:
        return {"n": state["n"] + 1, "out": [{"role": "ai", "content": _text(rng, 200)}]}

    return _looped(names, state, step, steps, saver)


def heavy(names: Names, steps: int, saver: Any) -> Any:
    """The loop, beside a value that nobody changes."""
    return _looped(names, Heavy, lambda s: {"n": s["n"] + 1}, steps, saver)


def _looped(names: Names, state: Any, step: Any, steps: int, saver: Any) -> Any:
    builder = names.StateGraph(state)
    builder.add_node("step", step)
    builder.add_edge(names.START, "step")
    builder.add_conditional_edges(
        "step", lambda s: names.END if s["n"] >= steps else "step", ["step", names.END]
    )
    return builder.compile(checkpointer=saver)


def chain(names: Names, length: int, saver: Any) -> Any:
    """As many nodes as steps, each of which runs once."""
    builder = names.StateGraph(Count)
    ends = [names.START, *(f"n{i}" for i in range(length)), names.END]
    for name in ends[1:-1]:
        builder.add_node(name, lambda s: {"n": s["n"] + 1})
    for start, end in pairwise(ends):
        builder.add_edge(start, end)
    return builder.compile(checkpointer=saver)


def fan(names: Names, width: int, saver: Any) -> Any:
    """One node that sends many tasks to another."""
    builder = names.StateGraph(Grown)
    builder.add_node("plan", lambda s: {"n": width})
    builder.add_node("worker", lambda s: {"out": [s["i"]]})
    builder.add_edge(names.START, "plan")
    builder.add_conditional_edges(
        "plan", lambda s: [names.Send("worker", {"i": i}) for i in range(width)], ["worker"]
    )
    return builder.compile(checkpointer=saver)


def mixed(names: Names, rounds: int, saver: Any) -> Any:
    """A loop of plan -> three workers by Send -> two joined nodes, with a reducer."""
    builder = names.StateGraph(Grown)
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
        "join", lambda s: names.END if s["n"] >= rounds else "plan", ["plan", names.END]
    )
    return builder.compile(checkpointer=saver)


def _text(rng: random.Random, length: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ", k=length))


# -- cases: CPU in milliseconds ------------------------------------------------------------------


def _run(graph: Any, start: dict[str, Any], n: int, is_async: bool = False) -> float:
    final: list[dict[str, Any]] = []
    if is_async:
        cost = cpu_of(lambda: final.append(asyncio.run(graph.ainvoke(start, CONFIG))))
    else:
        cost = cpu_of(lambda: final.append(graph.invoke(start, CONFIG)))
    assert final[0]["n"] == n, f"ended at {final[0]['n']}, not {n}"
    return cost


def supersteps(kind: str, is_async: bool = False) -> Callable[[Names, int, ExitStack], float]:
    """The loop, with a saver of a kind."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        graph = loop(names, steps, names.saver(kind, stack), is_async)
        return _run(graph, {"n": 0}, steps, is_async)

    return case


def mixed_graph(is_async: bool) -> Callable[[Names, int, ExitStack], float]:
    """The mixed graph in one colour."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        graph = mixed(names, steps // 5, names.saver("memory", stack))
        return _run(graph, {"n": 0, "out": []}, steps // 5, is_async)

    return case


def of_nodes(names: Names, steps: int, stack: ExitStack) -> float:
    """The long chain."""
    return _run(chain(names, steps, names.saver("memory", stack)), {"n": 0}, steps)


def of_sends(names: Names, steps: int, stack: ExitStack) -> float:
    """The fan-out."""
    return _run(fan(names, steps, names.saver("memory", stack)), {"n": 0, "out": []}, steps)


def of_a_list(kind: str) -> Callable[[Names, int, ExitStack], float]:
    """The list that grows."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        graph = grown(names, steps, names.saver(kind, stack))
        return _run(graph, {"n": 0, "out": []}, steps)

    return case


def of_forks(names: Names, steps: int, stack: ExitStack) -> float:
    """A fork in the middle of ten steps, and five steps from it, for each fifty of `steps`."""
    graph = loop(names, 10, names.saver("memory", stack))
    graph.invoke({"n": 0}, CONFIG)
    middle = next(s.config for s in graph.get_state_history(CONFIG) if s.values.get("n") == 5)

    def forks() -> None:
        for _ in range(max(1, steps // 50)):
            assert graph.invoke(None, graph.update_state(middle, {"n": 5}))["n"] == 10

    return cpu_of(forks)


def of_history(kind: str) -> Callable[[Names, int, ExitStack], float]:
    """All snapshots of a thread."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        graph = loop(names, steps, names.saver(kind, stack))
        graph.invoke({"n": 0}, CONFIG)
        return cpu_of(lambda: list(graph.get_state_history(CONFIG)))

    return case


def _extend(old: list[Any], writes: list[list[Any]]) -> list[Any]:
    return [*old, *links.from_iterable(writes)]


def _with_list(channel: Any) -> Any:
    class Delta(TypedDict):
        n: int
        out: Annotated[list[Any], channel]

    Delta.__annotations__["out"] = Annotated[list[Any], channel]
    return Delta


def of_delta_history(names: Names, steps: int, stack: ExitStack) -> float:
    """All snapshots of a list that grew: LangGraph keeps it in a DeltaChannel."""
    state: Any = Grown
    if names.root == "langgraph":
        channel = names.module("channels.delta").DeltaChannel(_extend)
        state = _with_list(channel)
    graph = grown(names, steps, names.saver("memory", stack), state)
    graph.invoke({"n": 0, "out": []}, CONFIG)
    found: list[Any] = []
    cost = cpu_of(lambda: found.extend(graph.get_state_history(CONFIG)))
    assert len(found[0].values["out"]) == steps
    return cost


def of_old_states(kind: str) -> Callable[[Names, int, ExitStack], float]:
    """Sixty states of a list that grew, at random; in LangGraph's place a bare read and unpacking
    of the same bytes from a table, which is the floor."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        ours = Names("ckpt_viz")
        saver = ours.saver(kind, stack)
        grown(ours, 4 * steps, saver).invoke(empty_list(), CONFIG)
        every = [found.config for found in saver.list(CONFIG)]
        configs = random.Random(4).choices(every, k=60)
        if names.root == "ckpt_viz":
            return cpu_of(lambda: [saver.get_tuple(config) for config in configs])
        states = [saver.get_tuple(config).checkpoint["channel_values"] for config in configs]
        conn = stack.enter_context(closing(sqlite3.connect(":memory:")))
        conn.execute("CREATE TABLE bare (k INTEGER PRIMARY KEY, data BLOB)")
        packed = [(i, saver.serde.dumps_typed(state)[1]) for i, state in enumerate(states)]
        conn.executemany("INSERT INTO bare VALUES (?, ?)", packed)
        read = "SELECT data FROM bare WHERE k=?"
        return cpu_of(lambda: [unpackb(conn.execute(read, (i,)).fetchone()[0]) for i in range(60)])

    return case


# -- cases: bytes --------------------------------------------------------------------------------


def bytes_of(make: Any, start: Any, kind: str) -> Callable[[Names, int, ExitStack], float]:
    """What a thread takes in the documented dictionaries, or in the file after VACUUM."""

    def case(names: Names, steps: int, stack: ExitStack) -> float:
        saver = names.saver(kind, stack)
        make(names, steps, saver).invoke(start(), CONFIG)
        return _in_memory(saver) if kind == "memory" else _in_file(saver.conn)

    return case


def _in_memory(saver: Any) -> float:
    stored = [typed for row in _rows(saver.storage) for typed in row[:2]]
    stored += [row[2] for writes in saver.writes.values() for row in writes.values()]
    stored += list(saver.blobs.values())
    return float(sum(len(data) for _, data in stored))


def _rows(storage: Any) -> list[Any]:
    return [row for spaces in storage.values() for rows in spaces.values() for row in rows.values()]


def _in_file(conn: sqlite3.Connection) -> float:
    conn.commit()
    conn.execute("VACUUM")
    size, count = (conn.execute(f"PRAGMA {n}").fetchone()[0] for n in ("page_size", "page_count"))
    return float(size * count)


def empty_list() -> dict[str, Any]:
    """Where the list that grows begins."""
    return {"n": 0, "out": []}


def one_megabyte() -> dict[str, Any]:
    """Where the loop beside a big value begins."""
    return {"n": 0, "big": _text(random.Random(2), 1_000_000)}


TIMES: dict[str, Callable[[Names, int, ExitStack], float]] = {
    "none": supersteps("none"),
    "memory": supersteps("memory"),
    "sqlite": supersteps("sqlite"),
    "async": supersteps("memory", is_async=True),
    "mixed": mixed_graph(is_async=False),
    "mixed-async": mixed_graph(is_async=True),
    "chain": of_nodes,
    "fan-out": of_sends,
    "list": of_a_list("memory"),
    "list-sqlite": of_a_list("sqlite"),
    "fork": of_forks,
    "history": of_history("memory"),
    "history-sqlite": of_history("sqlite"),
    "history-delta": of_delta_history,
    "old-state/floor": of_old_states("memory"),
    "old-state/floor-sqlite": of_old_states("sqlite"),
}
BYTES: dict[str, Callable[[Names, int, ExitStack], float]] = {
    "list-bytes": bytes_of(grown, empty_list, "memory"),
    "list-bytes-sqlite": bytes_of(grown, empty_list, "sqlite"),
    "megabyte-bytes": bytes_of(heavy, one_megabyte, "memory"),
    "megabyte-bytes-sqlite": bytes_of(heavy, one_megabyte, "sqlite"),
}
