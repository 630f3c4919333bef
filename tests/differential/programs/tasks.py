"""Tasks: futures, nesting, questions and failures, in entrypoints and in graphs."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import as_completed
from typing import Any

from ..basics import C, State, program
from ..harness import Engine, Recorder
from .functional import doubling, flow


@program
def tasks_in_order(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> list[int]:
        return [double(x).result(), double(x + 1).result()]

    rec.run(wf, 3, C)
    rec.look(wf, C)
    rec.run(wf, 4, C)
    rec.look(wf, C)


@program
def tasks_side_by_side(e: Engine, rec: Recorder) -> None:
    @e.task
    def wait(x: int) -> int:
        time.sleep(0.03 * x)
        return x

    @flow(e)
    def wf(xs: list[int]) -> list[int]:
        return [f.result() for f in [wait(x) for x in xs]]

    rec.run(wf, [3, 1, 2], C)
    rec.look(wf, C)


@program
def tasks_as_completed(e: Engine, rec: Recorder) -> None:
    @e.task
    def wait(x: int) -> int:
        time.sleep(0.05 * x)
        return x

    @flow(e)
    def wf(xs: list[int]) -> list[int]:
        return [f.result() for f in as_completed([wait(x) for x in xs])]

    rec.invoke(wf, [3, 1, 2], C)


@program
def tasks_call_tasks(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @e.task
    def add(x: int, y: int = 1) -> Any:
        return double(x).result() + y

    @e.task(name="outermost")
    def outer(x: int) -> Any:
        return add(x, y=add(x).result()).result()

    @flow(e)
    def wf(x: int) -> Any:
        return outer(x).result()

    rec.run(wf, 3, C)
    rec.look(wf, C)


@program
def question_in_a_task(e: Engine, rec: Recorder) -> None:
    @e.task
    def ask(q: str) -> Any:
        return e.interrupt(q)

    @flow(e)
    def wf(x: int) -> Any:
        name = ask("name").result()
        age = ask("age").result()
        return {"name": name, "age": age}

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="bob"), C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume=7), C)
    rec.look(wf, C)


@program
def two_questions_in_one_task(e: Engine, rec: Recorder) -> None:
    ran: list[int] = []

    @e.task
    def ask(q: str) -> Any:
        ran.append(1)
        return [e.interrupt(q), e.interrupt(q + "!")]

    @e.task
    def outer(q: str) -> Any:
        return ask(q).result()

    @flow(e)
    def wf(x: int) -> Any:
        return outer("q").result()

    rec.run(wf, 1, C)
    rec.run(wf, e.Command(resume="a"), C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="b"), C)
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def questions_in_parallel_tasks(e: Engine, rec: Recorder) -> None:
    @e.task
    def ask(q: str) -> Any:
        return e.interrupt(q)

    @flow(e)
    def wf(x: int) -> Any:
        return [f.result() for f in (ask("a"), ask("b"))]

    rec.invoke(wf, 1, C)
    asked = wf.get_state(C).interrupts
    rec.note("asked", asked)
    rec.invoke(wf, e.Command(resume={asked[0].id: "A"}), C)
    asked = wf.get_state(C).interrupts
    rec.note("asked", asked)
    rec.invoke(wf, e.Command(resume={asked[0].id: "B"}), C)
    rec.call("state", wf.get_state, C)


@program
def one_task_fails(e: Engine, rec: Recorder) -> None:
    ran: list[str] = []
    broken = [True]

    @e.task
    def good(x: int) -> Any:
        ran.append("good")
        return x

    @e.task
    def bad(x: int) -> Any:
        ran.append("bad")
        if broken[0]:
            raise ValueError("boom")
        return -x

    @flow(e)
    def wf(x: int) -> Any:
        return [good(x).result(), bad(x).result(), good(x + 1).result()]

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, None, C)
    rec.look(wf, C)
    broken[0] = False
    rec.run(wf, None, C)
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def a_failure_is_caught(e: Engine, rec: Recorder) -> None:
    @e.task
    def bad(x: int) -> Any:
        raise ValueError("boom")

    @flow(e)
    def wf(x: int) -> Any:
        try:
            return bad(x).result()
        except ValueError as error:
            return f"caught {error}"

    rec.run(wf, 1, C)
    rec.look(wf, C)


@program
def nobody_waits(e: Engine, rec: Recorder) -> None:
    @e.task
    def slow(x: int) -> Any:
        time.sleep(0.1)
        return x

    @flow(e)
    def wf(x: int) -> Any:
        slow(x)
        return "ended"

    rec.run(wf, 1, C)
    rec.look(wf, C)


@program
def tasks_in_a_graph(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    def a(state: Any) -> Any:
        return {"foo": double("x").result(), "bar": [double(2).result()]}

    def b(state: Any) -> Any:
        return {"bar": [double(i).result() for i in range(3)]}

    g = e.build(State, {"a": a, "b": b}, [(e.START, "a"), ("a", "b")])
    rec.run(g, {"foo": ""}, C)
    rec.look(g, C)


@program
def tasks_in_parallel_nodes(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    def work(x: Any) -> Any:
        ran.append(x)
        return x

    def node(name: str, wait: float) -> Any:
        def call(state: Any) -> Any:
            time.sleep(wait)
            return {"bar": [work(name).result(), e.interrupt(name) if name == "b" else name]}

        return call

    nodes = {"a": node("a", 0.0), "b": node("b", 0.1)}
    g = e.build(State, nodes, [(e.START, "a"), (e.START, "b")])
    rec.invoke(g, {"foo": ""}, C)
    rec.look(g, C)
    rec.invoke(g, e.Command(resume="yes"), C)
    rec.look(g, C)
    rec.note("ran", sorted(ran))


@program
def a_failing_task_in_a_graph(e: Engine, rec: Recorder) -> None:
    tries: list[int] = []

    @e.task
    def first(x: Any) -> Any:
        tries.append(0)
        return x

    @e.task
    def second(x: Any) -> Any:
        tries.append(1)
        if len(tries) < 4:
            raise ValueError("boom")
        return x

    def a(state: Any) -> Any:
        return {"bar": [first(1).result(), second(2).result()]}

    g = e.build(State, {"a": a}, [(e.START, "a")])
    rec.run(g, {"foo": ""}, C)
    rec.run(g, None, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.note("tries", tries)


@program
def tasks_of_two_colours(e: Engine, rec: Recorder) -> None:
    @e.task
    async def slow(x: int) -> int:
        await asyncio.sleep(0.02 * x)
        return x

    @e.task
    def plain(x: int) -> int:
        return -x

    @flow(e)
    async def wf(x: int, *, previous: Any) -> Any:
        both = await asyncio.gather(slow(1), plain(2))
        return [both, await slow(x), previous]

    @flow(e)
    def synchronous(x: int) -> Any:
        return [slow(1).result(), plain(2).result()]

    async def events(graph: Any) -> Any:
        return [ev async for ev in graph.astream(1, C, stream_mode=["updates", "values"])]

    for graph in (wf, synchronous):
        rec.call("ainvoke", lambda graph=graph: asyncio.run(graph.ainvoke(1, C)))
        rec.call("invoke", graph.invoke, 1, C)
        rec.call("astream", lambda graph=graph: asyncio.run(events(graph)))
        rec.call("state", graph.get_state, C)


@program
def async_questions_and_failures(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    async def ask(q: str) -> Any:
        return e.interrupt(q)

    @e.task
    async def work(x: Any) -> Any:
        ran.append(x)
        if x == "bad" and len(ran) < 4:
            raise ValueError("boom")
        return x

    @flow(e)
    async def wf(x: Any) -> Any:
        first = await work("first")
        answer = await ask("?")
        return [first, answer, await work("bad")]

    def again(value: Any) -> Any:
        return lambda: asyncio.run(wf.ainvoke(value, C, durability="sync"))

    rec.call("invoke", again(1))
    rec.look(wf, C)
    rec.call("answer", again(e.Command(resume="a")))
    rec.look(wf, C)
    rec.call("again", again(None))
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def a_failure_cancels_async_siblings(e: Engine, rec: Recorder) -> None:
    ended: list[str] = []

    @e.task
    async def slow(x: Any) -> Any:
        try:
            await asyncio.sleep(5)
            ended.append("slow ended")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    @e.task
    async def bad(x: Any) -> Any:
        await asyncio.sleep(0.02)
        raise ValueError("boom")

    @flow(e)
    async def wf(x: Any) -> Any:
        return await asyncio.gather(slow(x), bad(x))

    rec.call("invoke", lambda: asyncio.run(wf.ainvoke(1, C, durability="sync")))
    rec.note("ended", ended)
