"""Twenty programs, from a line to nested questions, that both engines run alike.

Each is ``program(e, saver, c) -> graph`` and leaves its runs on the thread that the config ``c``
names. ``e`` is what `engine` of `graphs` gives.
"""

from __future__ import annotations

import contextlib
import operator
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, TypedDict

Config = dict[str, Any]


class State(TypedDict, total=False):
    xs: Annotated[list, operator.add]
    n: int
    odd: Any


def graph_of(
    e: Any, saver: Any, nodes: dict[str, Any], edges: list[Any], routes: Any = (), **options: Any
) -> Any:
    """A compiled graph; a node given as text adds that text."""
    b = e.StateGraph(State)
    for name, node in nodes.items():
        b.add_node(name, (lambda s, t=node: {"xs": [t]}) if isinstance(node, str) else node)
    for source, target in edges:
        b.add_edge(source, target)
    for source, router, targets in routes:
        b.add_conditional_edges(source, router, targets)
    return b.compile(checkpointer=saver, **options)


def line(e: Any, saver: Any, c: Config) -> Any:
    nodes = {"a": "a", "b": lambda s: {"n": len(s["xs"])}, "c": "c"}
    g = graph_of(e, saver, nodes, [(e.START, "a"), ("a", "b"), ("b", "c"), ("c", e.END)])
    g.invoke({"xs": ["in"], "odd": (1, {"k": [None, 2.5]})}, c)
    return g


def router(e: Any, saver: Any, c: Config) -> Any:
    route = ("a", lambda s: "c" if s["n"] else "b", ["b", "c"])
    g = graph_of(e, saver, {"a": lambda s: {"n": 1}, "b": "b", "c": "c"}, [(e.START, "a")], [route])
    g.invoke({"xs": []}, c)
    return g


def loop(e: Any, saver: Any, c: Config) -> Any:
    nodes = {"a": lambda s: {"n": s["n"] + 1, "xs": [s["n"]]}}
    route = ("a", lambda s: "a" if s["n"] < 4 else e.END, ["a", e.END])
    g = graph_of(e, saver, nodes, [(e.START, "a")], [route])
    g.invoke({"n": 0}, c)
    return g


def barrier(e: Any, saver: Any, c: Config) -> Any:
    edges = [(e.START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d"), ("d", e.END)]
    g = graph_of(e, saver, {n: n for n in "abcd"}, edges)
    g.invoke({"xs": []}, c)
    return g


def uneven(e: Any, saver: Any, c: Config) -> Any:
    """A barrier that waits for a longer way; stopped while it has one of two."""
    edges = [(e.START, "a"), (e.START, "b"), ("b", "c"), (["a", "c"], "d")]
    g = graph_of(e, saver, {n: n for n in "abcd"}, edges, interrupt_before=["c"])
    g.invoke({"xs": []}, c)
    return g


def sends(e: Any, saver: Any, c: Config) -> Any:
    nodes = {"a": "a", "w": lambda s: {"xs": [f"w{s['n']}"]}, "d": "d"}
    route = ("a", lambda s: [e.Send("w", {"n": i}) for i in range(3)], ["w"])
    g = graph_of(e, saver, nodes, [(e.START, "a"), ("w", "d")], [route])
    g.invoke({"xs": []}, c)
    return g


def commands(e: Any, saver: Any, c: Config) -> Any:
    def a(state: State) -> Any:
        return e.Command(update={"xs": ["a"]}, goto=["b", e.Send("w", {"n": 7})])

    nodes = {"a": a, "b": "b", "w": lambda s: {"n": s["n"]}}
    g = graph_of(e, saver, nodes, [(e.START, "a")])
    g.invoke({"xs": []}, c)
    return g


def stops(e: Any, saver: Any, c: Config) -> Any:
    edges = [(e.START, "a"), ("a", "b")]
    g = graph_of(e, saver, {"a": "a", "b": "b"}, edges, interrupt_before=["b"])
    g.invoke({"xs": ["in"]}, c)
    return g


def asks(e: Any, saver: Any, c: Config) -> Any:
    nodes = {"a": "a", "q": lambda s: {"xs": [e.interrupt({"ok?": s["xs"]})]}}
    g = graph_of(e, saver, nodes, [(e.START, "a"), ("a", "q")])
    g.invoke({"xs": []}, c)
    return g


def answered(e: Any, saver: Any, c: Config) -> Any:
    g = asks(e, saver, c)
    g.invoke(e.Command(resume="yes"), c)
    return g


def two_questions(e: Any, saver: Any, c: Config) -> Any:
    nodes = {"q": lambda s: {"xs": [e.interrupt("one?"), e.interrupt("two?")]}}
    g = graph_of(e, saver, nodes, [(e.START, "q")])
    g.invoke({"xs": []}, c)
    g.invoke(e.Command(resume=1), c)
    return g


def several(e: Any, saver: Any, c: Config) -> Any:
    """Two nodes ask side by side, a third has finished; one is answered by id."""
    nodes = {
        "p": lambda s: {"xs": [e.interrupt("p?")]},
        "q": lambda s: {"xs": [e.interrupt("q?")]},
        "r": "r",
    }
    g = graph_of(e, saver, nodes, [(e.START, n) for n in "pqr"])
    g.invoke({"xs": []}, c)
    asked = {i.value: i.id for i in g.get_state(c).interrupts}
    g.invoke(e.Command(resume={asked["q?"]: "q!"}), c)
    return g


def fails(e: Any, saver: Any, c: Config) -> Any:
    """One of two fails, after the other has finished."""
    done = threading.Event()

    def bad(state: State) -> Any:
        done.wait(5)
        time.sleep(0.03)  # until the engine has kept what the other wrote
        raise ValueError("no")

    def good(state: State) -> Any:
        done.set()
        return {"xs": ["good"]}

    edges = [(e.START, "a"), ("a", "bad"), ("a", "good")]
    g = graph_of(e, saver, {"a": "a", "bad": bad, "good": good}, edges)
    with contextlib.suppress(ValueError):
        g.invoke({"xs": []}, c)
    return g


def mended(e: Any, saver: Any, c: Config) -> Any:
    tries: list[int] = []

    def bad(state: State) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("no")
        return {"xs": ["bad"]}

    g = graph_of(e, saver, {"a": "a", "bad": bad}, [(e.START, "a"), ("a", "bad")])
    with contextlib.suppress(ValueError):
        g.invoke({"xs": []}, c)
    g.invoke(None, c)
    return g


def edited(e: Any, saver: Any, c: Config) -> Any:
    g = line(e, saver, c)
    base = next(s for s in g.get_state_history(c) if s.metadata["step"] == 1)
    new = g.update_state(base.config, {"xs": ["edit"], "n": 9}, as_node="b")
    g.invoke(None, new)
    g.update_state(c, {"odd": "new"})
    return g


def replayed(e: Any, saver: Any, c: Config) -> Any:
    g = line(e, saver, c)
    base = next(s for s in g.get_state_history(c) if s.metadata["step"] == 1)
    g.invoke(None, base.config)
    return g


def turns(e: Any, saver: Any, c: Config) -> Any:
    g = line(e, saver, c)
    g.invoke({"xs": ["again"]}, {**c, "metadata": {"who": "me"}})
    return g


def nested(e: Any, saver: Any, c: Config) -> Any:
    edges = [(e.START, "x"), ("x", "y")]
    inner = graph_of(e, None, {"x": "x", "y": lambda s: {"n": len(s["xs"])}}, edges)
    g = graph_of(
        e, saver, {"a": "a", "sub": inner, "z": "z"}, [(e.START, "a"), ("a", "sub"), ("sub", "z")]
    )
    g.invoke({"xs": []}, c)
    return g


def nested_question(e: Any, saver: Any, c: Config) -> Any:
    """Two graphs deep, a question that waits; before it, one that was answered."""

    def ask(state: State) -> Any:
        return {"xs": [e.interrupt("deep?")]}

    deep = graph_of(e, None, {"d": "d", "ask": ask}, [(e.START, "d"), ("d", "ask")])
    mid = graph_of(e, None, {"m": "m", "deep": deep}, [(e.START, "m"), ("m", "deep")])
    nodes = {"first": lambda s: {"xs": [e.interrupt("first?")]}, "mid": mid, "z": "z"}
    g = graph_of(e, saver, nodes, [(e.START, "first"), ("first", "mid"), ("mid", "z")])
    g.invoke({"xs": []}, c)
    g.invoke(e.Command(resume="1st"), c)
    return g


def own_memory(e: Any, saver: Any, c: Config) -> Any:
    """A subgraph with a persistence of its own, over two turns."""
    edges = [(e.START, "x")]
    inner = graph_of(e, True, {"x": lambda s: {"n": s.get("n", 0) + 1}}, edges)
    g = graph_of(e, saver, {"sub": inner}, [(e.START, "sub")])
    g.invoke({"xs": ["one"]}, c)
    g.invoke({"xs": ["two"]}, c)
    return g


def functional(e: Any, saver: Any, c: Config) -> Any:
    """An entrypoint with a task and a question; the first turn is answered, the second waits."""
    func = import_module(f"{e.name}.func")

    @func.task
    def double(x: int) -> int:
        return 2 * x

    @func.entrypoint(checkpointer=saver)
    def flow(x: int, *, previous: Any = None) -> Any:
        y = double(x).result()
        return [y, e.interrupt({"y": y}), previous]

    flow.invoke(2, c)
    flow.invoke(e.Command(resume="yes"), c)
    flow.invoke(3, c)
    return flow


def at_exit(e: Any, saver: Any, c: Config) -> Any:
    g = graph_of(e, saver, {"a": "a", "b": "b"}, [(e.START, "a"), ("a", "b")])
    g.invoke({"xs": []}, c, durability="exit")
    return g


PROGRAMS: dict[str, Callable[[Any, Any, Config], Any]] = {
    f.__name__: f
    for f in (
        line,
        router,
        loop,
        barrier,
        uneven,
        sends,
        commands,
        stops,
        asks,
        answered,
        two_questions,
        several,
        fails,
        mended,
        edited,
        replayed,
        turns,
        nested,
        nested_question,
        own_memory,
        functional,
        at_exit,
    )
}
