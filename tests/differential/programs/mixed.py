"""Entrypoints, tasks and graphs inside each other."""

from __future__ import annotations

from typing import Any

from ..basics import C, State, adds, nested, says
from ..harness import Engine, Recorder
from .functional import doubling, flow


def inner_graph(e: Engine, asks: bool = False, **options: Any) -> Any:
    """Two nodes, of which the second may ask."""

    def b(state: Any) -> dict[str, Any]:
        return {"bar": [e.interrupt("b?") if asks else "b"]}

    options.setdefault("saver", None)
    return e.build(State, {"a": says("a"), "b": b}, [(e.START, "a"), ("a", "b")], **options)


@nested
def an_entrypoint_in_an_entrypoint(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @e.entrypoint()
    def inner(x: Any) -> Any:
        return double(x).result()

    @flow(e)
    def outer(x: Any) -> Any:
        return [inner.invoke(x), double(x).result(), inner.invoke(x + 1)]

    rec.nested(outer, 1, C)
    rec.look_inside(outer, C)
    rec.nested(outer, 2, C)
    rec.look_inside(outer, C)


@nested
def an_entrypoint_in_a_task(e: Engine, rec: Recorder) -> None:
    @e.entrypoint()
    def inner(x: Any) -> Any:
        return [x, e.interrupt("inner?")]

    @e.task
    def call(x: Any) -> Any:
        return inner.invoke(x)

    @flow(e)
    def outer(x: Any) -> Any:
        return [call(x).result(), e.interrupt("outer?")]

    rec.nested(outer, 1, C)
    rec.look_inside(outer, C)
    rec.nested(outer, e.Command(resume="a"), C)
    rec.look_inside(outer, C)
    rec.nested(outer, e.Command(resume="b"), C)
    rec.look_inside(outer, C)


@nested
def a_graph_in_a_task(e: Engine, rec: Recorder) -> None:
    graph = inner_graph(e, asks=True)

    @e.task
    def call(x: Any) -> Any:
        return graph.invoke({"foo": x, "bar": []})

    @flow(e)
    def outer(x: Any) -> Any:
        return call(x).result()

    rec.nested(outer, "in", C)
    rec.look_inside(outer, C)
    rec.nested(outer, e.Command(resume="yes"), C)
    rec.look_inside(outer, C)


@nested
def a_graph_in_an_entrypoint(e: Engine, rec: Recorder) -> None:
    graph = inner_graph(e)

    @flow(e)
    def outer(x: Any, *, previous: Any = None) -> Any:
        first = graph.invoke({"foo": x, "bar": []})
        return [first["bar"], graph.invoke({"foo": "2", "bar": first["bar"]})["bar"], previous]

    for value in ("x", "y"):
        rec.nested(outer, value, C)
        rec.look_inside(outer, C)


@nested
def an_entrypoint_in_a_node(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @e.entrypoint()
    def inner(state: Any) -> Any:
        return {"bar": [double(state["foo"]).result(), e.interrupt("inner?")]}

    nodes = {"call": lambda state: inner.invoke(state), "z": adds("z")}
    graph = e.build(State, nodes, [(e.START, "call"), ("call", "z")])
    rec.nested(graph, {"foo": "x"}, C)
    rec.look_inside(graph, C)
    rec.nested(graph, e.Command(resume="a"), C)
    rec.look_inside(graph, C)


@nested
def an_entrypoint_as_a_node(e: Engine, rec: Recorder) -> None:
    @e.entrypoint()
    def inner(state: Any) -> Any:
        return {"bar": ["inner"]}

    graph = e.build(State, {"inner": inner, "z": adds("z")}, [(e.START, "inner"), ("inner", "z")])
    rec.nested(graph, {"foo": "x"}, C)
    rec.look_inside(graph, C)


@nested
def an_entrypoint_with_a_memory(e: Engine, rec: Recorder) -> None:
    @e.entrypoint(checkpointer=True)
    def inner(x: Any, *, previous: Any = None) -> Any:
        return (previous or 0) + x

    @flow(e)
    def outer(x: Any) -> Any:
        return inner.invoke(x)

    for x in (1, 2, 3):
        rec.nested(outer, x, C)
    rec.look_inside(outer, C)


@nested
def tasks_in_a_subgraph(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    def a(state: Any) -> Any:
        return {"bar": [double(state["foo"]).result(), e.interrupt("a?"), double(3).result()]}

    inner = e.build(State, {"a": a}, [(e.START, "a")], saver=None)
    graph = e.build(State, {"inner": inner, "z": adds("z")}, [(e.START, "inner"), ("inner", "z")])
    rec.nested(graph, {"foo": "x"}, C)
    rec.look_inside(graph, C)
    rec.nested(graph, e.Command(resume="yes"), C)
    rec.look_inside(graph, C)


@nested
def a_graph_by_hand_in_a_graph(e: Engine, rec: Recorder) -> None:
    node = e.NodeBuilder().subscribe_only("input").do(lambda x: x * 2).write_to("output")
    channels = {"input": e.LastValue(str), "output": e.LastValue(str)}
    io = {"input_channels": "input", "output_channels": "output"}
    raw = e.Pregel(nodes={"one": node}, channels=channels, **io)
    around = e.NodeBuilder().subscribe_only("input").do(raw).do(raw).write_to("output")
    outer = e.Pregel(nodes={"two": around}, channels=channels, checkpointer=e.MemorySaver(), **io)
    rec.nested(outer, "x", C)
    rec.look_inside(outer, C)

    graph = e.build(State, {"a": lambda s: {"bar": [raw.invoke(s["foo"])]}}, [(e.START, "a")])
    rec.nested(graph, {"foo": "y"}, C)
    rec.look_inside(graph, C)


@nested
def a_failure_below(e: Engine, rec: Recorder) -> None:
    broken = [True]
    ran: list[Any] = []

    @e.task
    def work(x: Any) -> Any:
        ran.append(x)
        if broken[0] and x == 2:
            raise ValueError("boom")
        return x

    @e.entrypoint()
    def inner(x: Any) -> Any:
        return [work(1).result(), work(2).result()]

    @flow(e)
    def outer(x: Any) -> Any:
        return [work(0).result(), inner.invoke(x)]

    rec.nested(outer, 1, C)
    rec.look_inside(outer, C)
    broken[0] = False
    rec.nested(outer, None, C)
    rec.look_inside(outer, C)
    rec.note("ran", ran)


@nested
def travels_in_an_entrypoint_with_a_graph(e: Engine, rec: Recorder) -> None:
    graph = inner_graph(e, asks=True)
    double = doubling(e)

    @flow(e)
    def outer(x: Any) -> Any:
        return [double(x).result(), graph.invoke({"foo": x, "bar": []})["bar"]]

    rec.nested(outer, "in", C)
    asked = outer.get_state(C).config
    rec.nested(outer, e.Command(resume="yes"), C)
    rec.nested(outer, None, asked)
    rec.look_inside(outer, C)
    rec.nested(outer, e.Command(resume="no"), C)
    rec.look_inside(outer, C)
