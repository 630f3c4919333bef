"""What a node can reach: the context, the store, its config."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from typing_extensions import TypedDict

from ..basics import C, State, program
from ..harness import Engine, Recorder


@dataclasses.dataclass
class Person:
    user: str
    age: int = 3


class Named(TypedDict):
    user: str


def telling(e: Engine, schema: Any = None) -> tuple[Any, list[Any]]:
    """A graph that tells the context that its node and its router saw."""
    seen: list[Any] = []

    def node(state, runtime):  # type: ignore[no-untyped-def]
        seen.append(repr(runtime.context))
        return {}

    def router(state, runtime):  # type: ignore[no-untyped-def]
        seen.append(repr(runtime.context))
        return str(e.END)

    builder = e.StateGraph(State, context_schema=schema).add_node("a", node)
    builder.add_edge(e.START, "a").add_conditional_edges("a", router)
    return builder.compile(), seen


@program
def contexts(e: Engine, rec: Recorder) -> None:
    given: list[Any] = [{"user": "u"}, Person("v"), None, {"user": "u", "age": 5}, {"bad": 1}, {}]
    for schema in (Person, Named, None):
        g, seen = telling(e, schema)
        for context in given:
            rec.call("run", g.invoke, {"foo": "x"}, context=context)
        rec.call("none", g.invoke, {"foo": "x"})
        rec.call("config", g.invoke, {"foo": "x"}, {"configurable": {"user": "c"}})
        both = {"configurable": {"user": "c"}}
        rec.call("both", g.invoke, {"foo": "x"}, both, context={"user": "u"})
        rec.call("async", lambda: asyncio.run(g.ainvoke({"foo": "x"}, context={"user": "u"})))
        rec.note("seen", seen)


@program
def contexts_as_models(e: Engine, rec: Recorder) -> None:
    from pydantic import BaseModel

    class Model(BaseModel):
        user: str
        age: int = 1

    g, seen = telling(e, Model)
    for context in ({"user": "u", "age": "7"}, Model(user="z"), None, {"bad": 1}):
        rec.call("run", g.invoke, {"foo": "x"}, context=context)
    rec.note("seen", seen)


@program
def the_store(e: Engine, rec: Recorder) -> None:
    store = e.module("store.memory").InMemoryStore()
    store.put(("before",), "k", {"v": 0})

    def by_parameter(state, *, store):  # type: ignore[no-untyped-def]
        store.put(("n",), "a", {"v": 1})
        return {"foo": str(store.get(("before",), "k").value)}

    def by_runtime(state, runtime):  # type: ignore[no-untyped-def]
        runtime.store.put(("n",), "b", {"v": 2})
        return {"bar": ["b"]}

    def by_function(state: Any) -> dict[str, Any]:
        e.get_store().put(("n",), "c", {"v": 3})
        return {"bar": ["c"]}

    def router(state, store):  # type: ignore[no-untyped-def]
        return "c" if store.get(("n",), "b") else str(e.END)

    nodes = {"a": by_parameter, "b": by_runtime, "c": by_function}
    edges = [(e.START, "a"), ("a", "b")]
    g = e.build(State, nodes, edges, [("b", router)], store=store)
    rec.invoke(g, {"foo": "x"}, C)
    rec.note("kept", [(i.key, i.value) for i in store.search(("n",))])
    rec.note("same", g.store is store)
    for node in (by_parameter, by_function, lambda s, store=None: {"foo": str(store)}):
        rec.invoke(e.build(State, {"a": node}, [(e.START, "a")]), {"foo": "x"}, C)


@program
def an_awaited_store(e: Engine, rec: Recorder) -> None:
    store = e.module("store.memory").InMemoryStore()

    async def node(state, *, store):  # type: ignore[no-untyped-def]
        await store.aput(("n",), "a", {"v": 1})
        return {"foo": str((await store.aget(("n",), "a")).value)}

    g = e.build(State, {"a": node}, [(e.START, "a")], store=store)
    rec.call("run", lambda: asyncio.run(g.ainvoke({"foo": "x"}, C, durability="sync")))
    rec.note("kept", [(i.key, i.value) for i in store.search(("n",))])


def shown(found: Any) -> Any:
    """An item, or a list of them, without its times."""
    if isinstance(found, list):
        return [shown(one) for one in found]
    return (found.namespace, found.key, found.value) if hasattr(found, "namespace") else found


@program
def a_store_by_itself(e: Engine, rec: Recorder) -> None:
    store = e.module("store.memory").InMemoryStore()
    store.put(("u", "1"), "k", {"a": 1})
    store.put(("u", "1"), "k", {"a": 2, "b": {"c": 3}})
    store.put(("u", "2"), "k2", {"a": 5})
    store.put(("v",), "k3", {"a": 6, "t": ["x"]})
    for prefix in (("u",), (), ("u", "1"), ("zz",)):
        rec.call("search", lambda p=prefix: shown(store.search(p)))
    rec.call("part", lambda: shown(store.search((), limit=2, offset=1)))
    for wanted in ({"a": 5}, {"a": {"$gt": 2}}, {"b": {"c": 3}}, {"b": {}}, {"a": {"$in": [1]}}):
        rec.call("filter", lambda w=wanted: shown(store.search((), filter=w)))
    for kind in ({}, {"prefix": ("u",)}, {"suffix": ("2",)}, {"max_depth": 1}, {"prefix": ("*",)}):
        rec.call("namespaces", store.list_namespaces, **kind)
    for bad in ((), ("",), ("a.b",), ("langgraph",), (1,)):
        rec.call("refused", store.put, bad, "k", {"a": 1})
    rec.call("ttl", store.put, ("a",), "k", {"a": 1}, ttl=5)


@program
def the_config_of_a_node(e: Engine, rec: Recorder) -> None:
    seen: list[Any] = []

    def by_parameter(state, config):  # type: ignore[no-untyped-def]
        where = {k: v for k, v in config["configurable"].items() if not k.startswith("__")}
        seen.append([config["metadata"], config["tags"], config["recursion_limit"], where])
        return {}

    def by_function(state: Any) -> dict[str, Any]:
        seen.append(e.get_config()["metadata"])
        return {}

    nodes = {"a": by_parameter, "b": by_function}
    g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
    config = {
        "configurable": {"thread_id": "1", "user": "u"},
        "metadata": {"m": 1},
        "tags": ["t"],
        "recursion_limit": 7,
    }
    rec.invoke(g, {"foo": "x"}, config)
    rec.note("seen", seen)
    for outside in (e.get_config, e.get_store, e.get_stream_writer, e.get_runtime):
        rec.call("outside", outside)
