"""Breakpoints, configuration, schemas, names, and a graph without a saver."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

from ..basics import (
    C,
    State,
    joined_graph,
    linear_graph,
    program,
)
from ..harness import Engine, Recorder


@program
def breakpoint_in_parallel(e: Engine, rec: Recorder) -> None:
    g = joined_graph(e)
    rec.run(g, {"foo": "x"}, C, interrupt_before=["c"])
    rec.look(g, C)
    rec.update(g, C, {"foo": "at the stop"}, as_node="a")
    rec.run(g, None, C, interrupt_after=["b"])
    rec.look(g, C)
    rec.run(g, {"foo": "new input at the stop"}, C, interrupt_before=["d"])
    rec.look(g, C)


@program
def resume_at_a_breakpoint(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e, interrupt_before=["b"])
    rec.run(g, {"foo": "x"}, C)
    rec.run(g, e.Command(update={"foo": "Z"}), C)
    rec.look(g, C)


@program
def no_saver(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e, saver=None)
    rec.run(g, {"foo": "x"}, {}, durability=None)
    rec.invoke(g, {"foo": "x"}, {}, durability=None)
    rec.call("state", g.get_state, C)
    rec.call("history", lambda: list(g.get_state_history(C)))
    rec.call("update", g.update_state, C, {"foo": 1})
    rec.invoke(g, e.Command(resume=1), {}, durability=None)
    asks = e.build(
        State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")], saver=None
    )
    rec.invoke(asks, {"foo": "x"}, {}, durability=None)


@program
def metadata_and_configurable(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    config = {
        "configurable": {"thread_id": "1", "user": "u", "__hidden": 1, "list": [1], "n": 3},
        "metadata": {"m": 1, "deep": {"a": 1}, "flag": True, "none": None},
        "tags": ["t"],
    }
    rec.run(g, {"foo": "x"}, config)
    rec.look(g, C)


@program
def history_filters(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.update(g, C, {"foo": "y"}, as_node="a")
    history = list(g.get_state_history(C))
    rec.call("limit", lambda: list(g.get_state_history(C, limit=2)))
    rec.call("filter", lambda: list(g.get_state_history(C, filter={"source": "update"})))
    rec.call("before", lambda: list(g.get_state_history(C, before=history[2].config)))
    rec.call("unknown thread", g.get_state, {"configurable": {"thread_id": "none"}})
    rec.call("none of it", lambda: list(g.get_state_history({"configurable": {"thread_id": "0"}})))


@program
def input_and_output_schemas(e: Engine, rec: Recorder) -> None:
    class Inward(TypedDict):
        foo: str

    class Outward(TypedDict):
        bar: list[Any]

    builder = e.StateGraph(State, input_schema=Inward, output_schema=Outward)
    builder.add_node("a", lambda s: {"bar": [sorted(s)]})
    builder.add_edge(e.START, "a")
    g = builder.compile(checkpointer=e.MemorySaver())
    rec.run(g, {"foo": "x", "bar": ["ignored?"]}, C)
    rec.look(g, C)


@program
def private_state(e: Engine, rec: Recorder) -> None:
    class Private(TypedDict):
        secret: str

    def read(state: Private) -> dict[str, Any]:
        return {"bar": [dict(state)]}

    builder = e.StateGraph(State)
    builder.add_node("a", lambda s: {"secret": "s", "bar": [sorted(s)]})
    builder.add_node("b", read, input_schema=Private)
    builder.add_edge(e.START, "a")
    builder.add_edge("a", "b")
    g = builder.compile(checkpointer=e.MemorySaver())
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def root_state(e: Engine, rec: Recorder) -> None:
    g = e.build(
        Annotated[list, operator.add],
        {"a": lambda s: ["a"], "b": lambda s: [len(s)]},
        [(e.START, "a"), ("a", "b")],
    )
    rec.run(g, ["i"], C)
    rec.look(g, C)
    rec.update(g, C, ["u"], as_node="a")
    rec.look(g, C)


@program
def sequence_and_names(e: Engine, rec: Recorder) -> None:
    def one(state: Any) -> dict[str, Any]:
        return {"bar": ["one"]}

    def two(state: Any) -> dict[str, Any]:
        return {"bar": ["two"]}

    builder = e.StateGraph(State)
    builder.add_sequence([one, two])
    builder.set_entry_point("one")
    builder.set_finish_point("two")
    g = builder.compile(checkpointer=e.MemorySaver())
    rec.run(g, {"foo": "x"}, C)
    rec.note("channels", sorted(g.channels))
    rec.note("nodes", sorted(g.nodes))
    rec.note("name", g.name)
    rec.note("edges", sorted(g.builder.edges))
    joined = joined_graph(e)
    rec.note("waiting", joined.builder.waiting_edges)
    rec.note("kinds", {name: type(c).__name__ for name, c in joined.channels.items()})
