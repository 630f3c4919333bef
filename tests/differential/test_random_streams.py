"""Random chains of nodes, nested to two levels, streamed in random forms: both alike."""

from __future__ import annotations

import asyncio
import importlib
import random
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from .basics import C, State
from .harness import MODES, Engine, Recorder, compare

KINDS = ("adds", "sets", "nothing", "writes", "asks", "fails", "goes", "commands", "says")
NESTED = ("sub", "calls")


class Maker:
    """Makes graphs of one engine; the same seed makes the same graph."""

    def __init__(self, e: Engine, seed: float) -> None:
        self.e = e
        self.random = random.Random(seed)
        self.config = importlib.import_module(f"{e.root}.config")

    def graph(self, depth: int = 0) -> Any:
        """A chain of one to four nodes, some of them graphs."""
        chance = self.random
        names = [f"n{depth}{i}" for i in range(chance.randint(1, 4))]
        kinds = KINDS + (NESTED * 2 if depth < 2 else ())
        chosen = [chance.choice(kinds) for _ in names]
        ends = [*names[1:], self.e.END]
        nodes = {n: self.node(k, n, e, depth) for n, k, e in zip(names, chosen, ends, strict=True)}
        edges, branches = [(self.e.START, names[0])], []
        for name, kind, end in zip(names, chosen, ends, strict=True):
            if kind == "goes":
                continue
            if chance.random() < 0.3:
                branches.append((name, lambda state, end=end: end, [end]))
            else:
                edges.append((name, end))
        stops: dict[str, Any] = {}
        for stop in ("interrupt_before", "interrupt_after"):
            if chance.random() < 0.15:
                stops[stop] = [chance.choice(names)]
        saver = True if depth == 0 else None
        return self.e.build(State, nodes, edges, branches, saver=saver, **stops)

    def node(self, kind: str, name: str, end: str, depth: int) -> Any:
        """A node of a kind."""
        e = self.e
        if kind in NESTED:
            inner = self.graph(depth + 1)
            if kind == "sub":
                return inner
            return lambda state: {"bar": inner.invoke({"foo": "c", "bar": []}).get("bar", [])}
        attempts: list[str] = []

        def writes(state: Any) -> dict[str, Any]:
            self.config.get_stream_writer()(name)
            return {"bar": [name]}

        def fails(state: Any) -> dict[str, Any]:
            attempts.append(name)
            if len(attempts) == 1:
                raise ValueError(name)
            return {"bar": [name]}

        return {
            "adds": lambda state: {"bar": [name]},
            "sets": lambda state: {"foo": name},
            "nothing": lambda state: None,
            "writes": writes,
            "asks": lambda state: {"bar": [e.interrupt(name)]},
            "fails": fails,
            "goes": lambda state: e.Command(update={"bar": [name]}, goto=end),
            "commands": lambda state: [e.Command(update={"bar": [name]}), {"foo": name}],
            "says": lambda state: {"bar": [AIMessage(name, id=name)]},
        }[kind]


def form(chance: random.Random) -> dict[str, Any]:
    """Keywords of a stream. One form of the peer is wrong, see `test_differs`: it is left out."""
    modes = [*MODES, "custom", "messages"]
    listed = chance.sample(modes, chance.randint(1, 4))
    options: dict[str, Any] = {
        "stream_mode": chance.choice([chance.choice(modes), listed, None]),
        "subgraphs": chance.random() < 0.5,
        "version": chance.choice(["v1", "v2"]),
        "durability": chance.choice(["sync", "exit"]),
    }
    if chance.random() < 0.2:
        options["output_keys"] = chance.choice([["foo"], ["bar"], ["bar", "foo"]])
    return options


def turn(e: Engine, graph: Any, number: int) -> Any:
    """What goes on from where the graph stands: an answer, nothing, or new input."""
    state = graph.get_state(C)
    if state.interrupts:
        return e.Command(resume=f"answer {number}")
    return None if state.next else {"foo": f"x{number}", "bar": []}


def streamed(seed: int) -> Any:
    """The program of a seed."""

    def program(e: Engine, rec: Recorder) -> None:
        chance = random.Random(seed)
        options, turns, shape = form(chance), chance.randint(1, 4), chance.random()

        async def awaited(graph: Any) -> None:
            for number in range(turns):
                chunks: list[Any] = []
                rec.note("async", chunks)
                try:
                    async for chunk in graph.astream(turn(e, graph, number), C, **options):
                        chunks.append(chunk)
                except ValueError as error:
                    chunks.append(error)

        graph = Maker(e, shape).graph()
        for number in range(turns):
            chunks: list[Any] = []
            rec.note("sync", chunks)
            try:
                for chunk in graph.stream(turn(e, graph, number), C, **options):
                    chunks.append(chunk)
            except ValueError as error:
                chunks.append(error)
        rec.call("state", graph.get_state, C)
        asyncio.run(awaited(Maker(e, shape).graph()))

    return program


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_random_streams(first: int) -> None:
    for seed in range(first, first + 20):
        compare(streamed(seed))


@pytest.mark.soak
def test_many_random_streams() -> None:
    for seed in range(1_000, 4_000):
        compare(streamed(seed))
