"""Questions, their answers, and how each stream mode shows them."""

from __future__ import annotations

from typing import Any

from ..basics import (
    C,
    State,
    adds,
    asking_graph,
    linear_graph,
    program,
)
from ..harness import Engine, Recorder


@program
def two_interrupts_in_a_node(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="r1"), C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="r2"), C)
    rec.look(g, C)


@program
def interrupt_and_none_again(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="r1"), C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def resume_with_update_and_goto(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.run(g, e.Command(resume="r1", update={"foo": "new"}), C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="r2", goto="a"), C)
    rec.look(g, C)


@program
def new_input_at_an_interrupt(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.run(g, {"foo": "y"}, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="r1"), C)
    rec.run(g, e.Command(resume="r2"), C)
    rec.look(g, C)


def twice_asking_graph(e: Engine) -> Any:
    nodes = {
        "a": lambda s: {"bar": [e.interrupt("qa")]},
        "b": lambda s: {"bar": [e.interrupt("qb")]},
        "c": adds("c"),
    }
    return e.build(State, nodes, [(e.START, "a"), (e.START, "b"), (["a", "b"], "c")])


@program
def parallel_interrupts_and_a_map(e: Engine, rec: Recorder) -> None:
    g = twice_asking_graph(e)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="too few"), C)
    rec.look(g, C)
    first, _ = g.get_state(C).interrupts
    rec.run(g, e.Command(resume={first.id: "ra"}), C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="rb"), C)
    rec.look(g, C)


@program
def parallel_interrupts_one_map(e: Engine, rec: Recorder) -> None:
    g = twice_asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    answers = {i.id: f"re {i.value}" for i in g.get_state(C).interrupts}
    rec.run(g, e.Command(resume=answers), C)
    rec.look(g, C)


@program
def interrupt_caught_by_modes(e: Engine, rec: Recorder) -> None:
    for mode in ("values", "updates", ["values"], ["updates", "values"], "tasks", "debug"):
        g = e.build(State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")])
        rec.call("invoke", g.invoke, {"foo": "x"}, C, stream_mode=mode, durability="sync")
        rec.call("stream", lambda g=g, m=mode: list(g.stream(None, C, stream_mode=m)))
        rec.call("resumed", g.invoke, e.Command(resume=1), C, stream_mode=mode)


@program
def modes_of_a_plain_run(e: Engine, rec: Recorder) -> None:
    for mode in ("values", "updates", ["values"], ["updates", "values"], "tasks", "debug", None):
        g = linear_graph(e)
        rec.call("invoke", g.invoke, {"foo": "x"}, C, stream_mode=mode or "values")
        rec.call("stream", lambda g=g, m=mode: list(g.stream({"foo": ""}, C, stream_mode=m)))
    g = linear_graph(e)
    rec.call("default", lambda: list(g.stream({"foo": ""}, C)))
    rec.call("output keys", g.invoke, {"foo": ""}, C, output_keys=["foo"])
    rec.call("one output key", g.invoke, {"foo": ""}, C, output_keys="bar")
