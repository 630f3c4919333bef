"""Entrypoints and tasks: futures, previous, interrupts, failures, and tasks in graphs."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import as_completed
from typing import Any

from ..basics import C, State, program
from ..harness import Engine, Recorder


def flow(e: Engine, **options: Any) -> Any:
    """The decorator of an entrypoint with a saver."""
    return e.entrypoint(checkpointer=e.MemorySaver(), **options)


def doubling(e: Engine) -> Any:
    @e.task
    def double(x: Any) -> Any:
        return x * 2

    return double


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
def falsy_results(e: Engine, rec: Recorder) -> None:
    calls: list[Any] = []

    @e.task
    def give(x: Any) -> Any:
        calls.append(x)
        return x

    @flow(e)
    def wf(x: Any) -> Any:
        found = [give(v).result() for v in (None, 0, "", [], {}, False)]
        return [found, e.interrupt("go?")]

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="yes"), C)
    rec.look(wf, C)
    rec.note("calls", calls)


@program
def previous_and_final(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def total(x: int, *, previous: Any) -> Any:
        return (previous or 0) + x

    @flow(e)
    def kept(x: int, *, previous: Any = None) -> Any:
        return e.entrypoint.final(value=previous, save={"last": x})

    for wf in (total, kept):
        for x in (1, 2, 3):
            rec.run(wf, x, C)
        rec.look(wf, C)


@program
def previous_of_another_thread(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return [x, previous]

    other = {"configurable": {"thread_id": "2"}}
    for config in (C, other, C, other):
        rec.invoke(wf, 1, config)
    rec.look(wf, other)


@program
def final_with_none(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return e.entrypoint.final(value=None, save=[x, previous])

    rec.run(wf, 1, C)
    rec.run(wf, 2, C)
    rec.look(wf, C)


@program
def workflow_without_a_saver(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @e.entrypoint()
    def wf(x: int, *, previous: Any) -> Any:
        return [double(x).result(), previous]

    for _ in range(2):
        rec.call("invoke", wf.invoke, 2)
        rec.call("stream", lambda: list(wf.stream(2)))
        rec.call("values", lambda: list(wf.stream(2, stream_mode="values")))
        rec.call("updates", wf.invoke, 2, stream_mode="updates")


@program
def question_in_an_entrypoint(e: Engine, rec: Recorder) -> None:
    double = doubling(e)
    ran: list[Any] = []

    @e.task
    def noted(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(x: int, *, previous: Any = None) -> Any:
        first = noted(x).result()
        answer = e.interrupt({"q": first})
        more = e.interrupt("more?")
        return [first, answer, more, double(x).result(), noted(9).result(), previous]

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="a"), C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="b"), C)
    rec.look(wf, C)
    rec.run(wf, 2, C)
    rec.invoke(wf, e.Command(resume="c"), C)
    rec.invoke(wf, e.Command(resume="d"), C)
    rec.look(wf, C)
    rec.note("ran", ran)


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
def questions_in_a_loop(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    def step(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(n: int) -> Any:
        found = []
        for i in range(n):
            step(i).result()
            found.append(e.interrupt(i))
        return found

    rec.run(wf, 3, C)
    for answer in "abc":
        rec.run(wf, e.Command(resume=answer), C)
    rec.look(wf, C)
    rec.note("ran", ran)


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
def entrypoint_fails(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        double(x).result()
        raise KeyError("no")

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, 2, C)
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
def wrong_functions(e: Engine, rec: Recorder) -> None:
    def generator(x: Any) -> Any:
        yield x

    async def agenerator(x: Any) -> Any:
        yield x

    for function in (generator, agenerator, lambda: 1):
        rec.call("entrypoint", e.entrypoint(), function)
    rec.call("outside", doubling(e), 1)

    @e.entrypoint()
    def two(a: Any, b: Any) -> Any:
        return a

    rec.call("two", two.invoke, 1)
    rec.call("none", two.invoke, None)


@program
def what_a_function_gets(e: Engine, rec: Recorder) -> None:
    seen: list[Any] = []

    def keys(config: Any) -> Any:
        meta = dict(config["metadata"])
        return {**meta, "tags": config.get("tags"), "ns": config["configurable"]["checkpoint_ns"]}

    @e.task
    def look(x: Any, config, *, store, writer, runtime, previous) -> Any:
        writer({"in": "task"})
        seen.append(["task", keys(config), store, previous, runtime.context, runtime.previous])
        return x

    @flow(e, context_schema=dict)
    def wf(x: Any, config, *, writer, runtime, previous, store) -> Any:
        writer("in entrypoint")
        seen.append(["entry", keys(config), store, previous, runtime.context, runtime.previous])
        return look(x).result()

    config = {**C, "metadata": {"user": "u"}, "tags": ["t"]}
    for x in (1, 2):
        rec.call(
            "custom", lambda x=x: list(wf.stream(x, config, stream_mode=["custom", "updates"]))
        )
    rec.invoke(wf, 3, config, context={"a": 1})
    rec.note("seen", seen)
    rec.look(wf, config)


@program
def an_argument_given_by_hand(e: Engine, rec: Recorder) -> None:
    @e.task
    def look(x: Any, store: Any = None, previous: Any = "p") -> Any:
        return [x, store, previous]

    @flow(e)
    def wf(x: Any) -> Any:
        return [look(x).result(), look(x, store="mine").result()]

    rec.invoke(wf, 1, C)
    rec.invoke(wf, 2, C)


@program
def commands_as_results(e: Engine, rec: Recorder) -> None:
    @e.task
    def make(x: Any) -> Any:
        return e.Command(update={"a": x}, goto="zz")

    @flow(e)
    def wf(x: Any) -> Any:
        return make(x).result()

    rec.run(wf, 1, C)
    rec.look(wf, C)


@program
def edits_of_an_entrypoint(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return e.entrypoint.final(value=[x, previous], save=(previous or 0) + x)

    rec.run(wf, 1, C)
    rec.update(wf, C, 50)
    rec.look(wf, C)
    rec.run(wf, 2, C)
    rec.update(wf, C, e.entrypoint.final(value="v", save=100), as_node="wf")
    rec.run(wf, 3, C)
    rec.update(wf, C, 5, as_node="nope")
    rec.look(wf, C)


@program
def time_travel_of_an_entrypoint(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    def step(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return [step(x).result(), e.interrupt("?"), previous]

    rec.run(wf, 1, C)
    asked = wf.get_state(C).config
    rec.run(wf, e.Command(resume="a"), C)
    rec.run(wf, None, asked)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="b"), C)
    rec.look(wf, C)
    rec.note("ran", ran)


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
def workflow_saved_at_the_exit(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return [double(x).result(), e.interrupt("?")]

    rec.run(wf, 1, C, durability="exit")
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="a"), C, durability="exit")
    rec.look(wf, C)


@program
def stopped_before_an_entrypoint(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return double(x).result()

    rec.run(wf, 1, C, interrupt_before=["wf"])
    rec.look(wf, C)
    rec.run(wf, None, C, interrupt_after="*")
    rec.look(wf, C)


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


@program
def default_streams(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return double(x).result()

    rec.call("default", lambda: list(wf.stream(1, C)))
    for mode in (
        "values",
        "updates",
        "tasks",
        "custom",
        "debug",
        ["values"],
        ["updates", "custom"],
    ):
        rec.call(str(mode), lambda mode=mode: list(wf.stream(1, C, stream_mode=mode)))
    rec.call("subgraphs", lambda: list(wf.stream(1, C, subgraphs=True)))
    rec.call("batch", wf.batch, [1, 2], C)


@program
def unserialisable_results(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return {"x": x, "previous": previous, "nested": {"a": [1, {"b": (1, 2)}], 5: b"x"}}

    rec.invoke(wf, 1, C)
    rec.invoke(wf, 2, C)
    rec.look(wf, C)
