"""A process that runs a graph on a SQLite file and keeps a journal of it until it is killed.

``python -m tests.crash.victim DATABASE JOURNAL COLOUR SAVER``. A line of the journal is written by
one system call, so a kill loses nothing of it: ``start TASK`` when a body begins, ``write`` and
``commit`` around the moment between a write and its commit, ``ack TASK`` when the saver has
returned to the engine.
"""

from __future__ import annotations

import asyncio
import operator
import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import NodeError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.runtime import Runtime
from ckpt_viz.types import Send

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}
ROUNDS, WORKERS = 3, 3


class State(TypedDict):
    round: int
    log: Annotated[list[Any], operator.add]


class Journal:
    """Lines that survive the process."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def __call__(self, *words: str) -> None:
        os.write(self.file, (" ".join(words) + "\n").encode())


def graph_of(saver: Any, note: Callable[..., None]) -> Any:
    """Rounds of a plan, workers side by side, and a gathering; each body is noted.

    Beside the workers run a node that always fails and has a handler, and a graph of two nodes.
    """

    def begin(runtime: Runtime[Any]) -> None:
        info = runtime.execution_info
        assert info is not None
        note("start", info.task_id)
        time.sleep(random.uniform(0, 0.004))

    def plan(state: State, runtime: Runtime[Any]) -> Any:
        begin(runtime)
        return {"log": [("plan", state["round"])]}

    def worker(arg: dict[str, int], runtime: Runtime[Any]) -> Any:
        begin(runtime)
        return {"log": [("worker", arg["round"], arg["index"])]}

    def gather(state: State, runtime: Runtime[Any]) -> Any:
        begin(runtime)
        return {"round": state["round"] + 1, "log": [("gather", len(state["log"]))]}

    def risky(state: State, runtime: Runtime[Any]) -> Any:
        begin(runtime)
        raise ValueError("as always")

    def handle(state: State, runtime: Runtime[Any], error: NodeError) -> Any:
        begin(runtime)
        return {"log": [("handled", error.node, state["round"])]}

    def inner(state: State, runtime: Runtime[Any]) -> Any:
        begin(runtime)
        return {"log": [("inner", len(state["log"]))]}

    def split(state: State) -> list[Send]:
        return [Send("worker", {"round": state["round"], "index": i}) for i in range(WORKERS)]

    nested = StateGraph(State).add_node("one", inner).add_node("two", inner)
    nested.add_edge(START, "one").add_edge("one", "two")
    flow = StateGraph(State)
    flow.add_node("plan", plan).add_node("worker", worker).add_node("gather", gather)
    flow.add_node("risky", risky, error_handler=handle)
    flow.add_node("nested", nested.compile()).add_edge("plan", "nested").add_edge("plan", "risky")
    flow.add_edge(START, "plan").add_conditional_edges("plan", split, ["worker"])
    flow.add_edge("worker", "gather").add_edge("nested", "gather")
    flow.add_conditional_edges("gather", lambda s: "plan" if s["round"] < ROUNDS else END)
    return flow.compile(checkpointer=saver)


def saver_of(path: str, note: Callable[..., None], *, honest: bool = True) -> SqliteSaver:
    """A saver whose commits take their time, and which notes what it has acknowledged.

    Not honest: it acknowledges the writes of tasks and stores none.
    """

    class Connection(sqlite3.Connection):
        def commit(self) -> None:
            note("write")
            time.sleep(random.uniform(0, 0.002))
            super().commit()
            note("commit")

    class Saver(SqliteSaver):
        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            if honest:
                super().put_writes(config, writes, task_id, task_path)
            note("ack", task_id)

        async def aput_writes(
            self, config: Any, writes: Any, task_id: str, task_path: str = ""
        ) -> None:
            if honest:
                await super().aput_writes(config, writes, task_id, task_path)
            note("ack", task_id)

    conn = sqlite3.connect(path, factory=Connection, check_same_thread=False, isolation_level=None)
    conn.execute("PRAGMA journal_mode=WAL")
    return Saver(conn)


def run(graph: Any, colour: str) -> Any:
    """Begin the thread's run, or go on with it."""
    known = graph.checkpointer.get_tuple(THREAD)
    value = {"round": 0, "log": []} if known is None else None
    if colour == "sync":
        return graph.invoke(value, THREAD)
    return asyncio.run(graph.ainvoke(value, THREAD))


if __name__ == "__main__":
    database, journal, colour, kind = sys.argv[1:]
    note = Journal(journal)
    graph = graph_of(saver_of(database, note, honest=kind == "honest"), note)
    note("begin")
    run(graph, colour)
    note("end")
