"""The graphs of these tests, made with either engine."""

from __future__ import annotations

import importlib
import operator
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict

ENGINES = ("langgraph", "ckpt_viz")


def engine(name: str) -> SimpleNamespace:
    graph = importlib.import_module(f"{name}.graph")
    types = importlib.import_module(f"{name}.types")
    memory = importlib.import_module(f"{name}.checkpoint.memory")
    return SimpleNamespace(
        name=name,
        StateGraph=graph.StateGraph,
        START=graph.START,
        END=graph.END,
        interrupt=types.interrupt,
        Command=types.Command,
        Send=types.Send,
        Saver=memory.InMemorySaver,
    )


class State(TypedDict, total=False):
    xs: Annotated[list, operator.add]
    foo: str
    odd: Any


CONFIG = {"configurable": {"thread_id": "1"}}


def plan_graph(e: SimpleNamespace, saver: Any = None) -> Any:
    """a -router-> ask (interrupt) -sends-> w x3 -> join; barrier [a, ask] -> join."""

    def a(state: State) -> dict:
        return {"xs": ["a"], "foo": "x"}

    def ask(state: State) -> dict:
        return {"xs": [e.interrupt("ok?")]}

    def w(arg: dict) -> dict:
        return {"xs": [f"w{arg['i']}"]}

    def join(state: State) -> dict:
        return {"xs": ["j"]}

    def route(state: State) -> str:
        return "ask"

    def fan(state: State) -> list:
        return [e.Send("w", {"i": i}) for i in range(3)]

    b = e.StateGraph(State)
    for name, node in {"a": a, "ask": ask, "w": w, "join": join}.items():
        b.add_node(name, node)
    b.add_edge(e.START, "a")
    b.add_conditional_edges("a", route, ["ask"])
    b.add_conditional_edges("ask", fan, ["w"])
    b.add_edge("w", "join")
    b.add_edge(["a", "ask"], "join")
    return b.compile(checkpointer=saver or e.Saver())


def chain_graph(e: SimpleNamespace, nodes: dict[str, Any], saver: Any = None) -> Any:
    b = e.StateGraph(State)
    last = e.START
    for name, node in nodes.items():
        b.add_node(name, node)
        b.add_edge(last, name)
        last = name
    b.add_edge(last, e.END)
    return b.compile(checkpointer=saver or e.Saver())
