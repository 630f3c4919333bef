"""The custom stream: writers in nodes, routers, tools, threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import threading
import time
from typing import Any

from langchain_core.runnables.utils import AddableDict
from langchain_core.tools import tool

from ..basics import State, adds, program
from ..harness import Engine, Recorder
from .streams import shown


def writer(e: Engine) -> Any:
    return importlib.import_module(f"{e.root}.config").get_stream_writer()


def one_node(e: Engine, node: Any) -> Any:
    return lambda: e.build(State, {"a": node}, [(e.START, "a")])


@program
def ways_to_get_a_writer(e: Engine, rec: Recorder) -> None:
    def asked(state: Any) -> dict[str, Any]:
        writer(e)("one")
        writer(e)({"two": 2})
        writer(e)(None)
        return {"bar": ["a"]}

    def keyword(state, *, writer) -> dict[str, Any]:
        writer("keyword")
        return {"bar": ["a"]}

    def parameter(state: Any, writer: e.StreamWriter) -> dict[str, Any]:
        writer("parameter")
        return {"bar": ["a"]}

    def runtime_s(state: Any, runtime: Any) -> dict[str, Any]:
        runtime.stream_writer("runtime")
        return {"bar": ["a"]}

    parameter.__annotations__["writer"] = e.StreamWriter
    runtime_s.__annotations__["runtime"] = importlib.import_module(f"{e.root}.runtime").Runtime
    for node in (asked, keyword, parameter, runtime_s):
        for mode in ("custom", ["custom", "updates"], "updates", ["custom", "values", "tasks"]):
            shown(rec, one_node(e, node), {"foo": "x"}, stream_mode=mode)
        shown(rec, one_node(e, node), {"foo": "x"}, stream_mode="custom", version="v2")


@program
def writers_elsewhere(e: Engine, rec: Recorder) -> None:
    def in_a_thread(state: Any) -> dict[str, Any]:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(lambda: writer(e)("thread"),))
        thread.start()
        thread.join()
        return {"bar": ["a"]}

    def route(state: Any) -> str:
        writer(e)("router")
        return "b"

    @tool
    def look_up(word: str) -> str:
        """Looks a word up."""
        writer(e)(f"looking for {word}")
        return word

    def uses_a_tool(state: Any) -> dict[str, Any]:
        return {"bar": [look_up.invoke({"word": "w"})]}

    def routed() -> Any:
        nodes = {"a": adds("a"), "b": adds("b")}
        return e.build(State, nodes, [(e.START, "a")], [("a", route, ["b"])])

    for make in (one_node(e, in_a_thread), one_node(e, uses_a_tool), routed):
        shown(rec, make, {"foo": "x"}, stream_mode=["custom", "updates"])


def awaited(rec: Recorder, make: Any, value: Any, **options: Any) -> None:
    """Log what an async stream shows."""

    async def run() -> list[Any]:
        return [c async for c in make().astream(value, **options)]

    rec.call("async", lambda: asyncio.run(run()))


@program
def writers_in_async_nodes(e: Engine, rec: Recorder) -> None:
    @tool
    async def look_up(word: str) -> str:
        """Looks a word up."""
        writer(e)(f"looking for {word}")
        return word

    async def plain(state: Any) -> dict[str, Any]:
        writer(e)("before")
        await asyncio.sleep(0.001)
        writer(e)("after")
        return {"bar": ["a"]}

    async def in_a_task(state: Any) -> dict[str, Any]:
        async def inner() -> None:
            writer(e)("task")

        await asyncio.create_task(inner())
        return {"bar": ["a"]}

    async def in_a_tool(state: Any) -> dict[str, Any]:
        return {"bar": [await look_up.ainvoke({"word": "w"})]}

    async def in_a_worker(state: Any) -> dict[str, Any]:
        await asyncio.to_thread(lambda: writer(e)("worker"))
        return {"bar": ["a"]}

    for node in (plain, in_a_task, in_a_tool, in_a_worker):
        graph = e.build(State, {"a": node}, [(e.START, "a")], saver=None)
        awaited(rec, lambda graph=graph: graph, {"foo": "x"}, stream_mode=["custom", "updates"])


@program
def chunks_before_an_end(e: Engine, rec: Recorder) -> None:
    def fails(state: Any) -> None:
        writer(e)("before")
        raise ValueError("no luck")

    def asks(state: Any) -> dict[str, Any]:
        writer(e)("asking")
        return {"bar": [e.interrupt("q")]}

    modes = ["custom", "updates", "values", "tasks"]
    shown(rec, one_node(e, fails), {"foo": "x"}, None, stream_mode=modes)
    turns = ({"foo": "x"}, e.Command(resume="r"))
    shown(rec, one_node(e, asks), *turns, stream_mode=modes)


@program
def siblings_that_write(e: Engine, rec: Recorder) -> None:
    def node(name: str, wait: float) -> Any:
        def writes(state: Any) -> dict[str, Any]:
            time.sleep(wait)
            writer(e)(f"{name} begins")
            time.sleep(0.3)
            writer(e)(f"{name} ends")
            return {"bar": [name]}

        return writes

    def make() -> Any:
        nodes = {"a": node("a", 0), "b": node("b", 0.15)}
        return e.build(State, nodes, [(e.START, "a"), (e.START, "b")])

    shown(rec, make, {"foo": "x"}, stream_mode=["custom", "updates", "values"])


@program
def sends_that_write(e: Engine, rec: Recorder) -> None:
    def spread(state: Any) -> Any:
        return e.Command(goto=[e.Send("b", {"foo": str(n)}) for n in range(3)])

    def told(state: Any) -> dict[str, Any]:
        time.sleep(0.15 * int(state["foo"]))
        writer(e)(state["foo"])
        return {"bar": [state["foo"]]}

    def make() -> Any:
        return e.build(State, {"a": spread, "b": told}, [(e.START, "a")])

    shown(rec, make, {"foo": "x"}, stream_mode=["custom", "updates", "values"])


@program
def a_writer_outside(e: Engine, rec: Recorder) -> None:
    rec.call("outside", writer, e)

    def writes(state: Any) -> dict[str, Any]:
        writer(e)("x")
        return {"bar": ["a"]}

    rec.invoke(one_node(e, writes)(), {"foo": "x"}, {"configurable": {"thread_id": "1"}})


@program
def writers_in_nested_graphs(e: Engine, rec: Recorder) -> None:
    def says(name: str) -> Any:
        def node(state: Any) -> dict[str, Any]:
            writer(e)(name)
            return {"bar": [name]}

        return node

    def as_a_node() -> Any:
        inner = e.build(State, {"in": says("in")}, [(e.START, "in")], saver=None)
        nodes = {"before": says("before"), "sub": inner}
        return e.build(State, nodes, [(e.START, "before"), ("before", "sub")])

    def called() -> Any:
        inner = e.build(State, {"in": says("in")}, [(e.START, "in")], saver=None)

        def node(state: Any) -> dict[str, Any]:
            rec.note("heard", list(inner.stream(state, stream_mode=["custom", "updates"])))
            return {"bar": ["called"]}

        return e.build(State, {"call": node}, [(e.START, "call")])

    for make in (as_a_node, called):
        for subgraphs in (False, True):
            for version in ("v1", "v2"):
                options = {"subgraphs": subgraphs, "version": version}
                modes = ["custom", "updates"]
                shown(rec, make, {"foo": "x", "bar": []}, stream_mode=modes, **options)


@program
def generators_as_nodes(e: Engine, rec: Recorder) -> None:
    def plain(state: Any) -> Any:
        writer(e)("between")
        yield {"bar": ["first"]}
        yield {"bar": ["second"]}

    def added(state: Any) -> Any:
        yield AddableDict(bar=["first"])
        yield AddableDict(bar=["second"], foo="y")

    def nothing(state: Any) -> Any:
        yield from ()

    async def slow(state: Any) -> Any:
        yield {"bar": ["first"]}
        yield {"foo": "z"}

    for node in (plain, added, nothing):
        shown(rec, one_node(e, node), {"foo": "x"}, stream_mode=["custom", "updates"])
    graph = e.build(State, {"a": slow}, [(e.START, "a")], saver=None)
    awaited(rec, lambda: graph, {"foo": "x"}, stream_mode="updates")
