"""The engine without a state graph: break points, questions, failures and edits."""

from __future__ import annotations

from typing import Any

from ..basics import C, program
from ..harness import Engine, Recorder
from .raw import app, inc, ints, one, two


@program
def raw_breaks(e: Engine, rec: Recorder) -> None:
    for options in (
        {"interrupt_before_nodes": ["two"]},
        {"interrupt_after_nodes": ["one"]},
        {"interrupt_after_nodes": "*"},
        {"interrupt_before_nodes": "*"},
    ):
        g = two(e, **options)
        for value in (2, None, None, 20, None):
            rec.run(g, value, C)
        rec.look(g, C)
    g = two(e)
    rec.run(g, 2, C, interrupt_after=["one"])
    rec.update(g, C, 100)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def raw_question(e: Engine, rec: Recorder) -> None:
    def ask(x: int) -> Any:
        return x + e.interrupt("how many?")

    nodes = {
        "ask": e.NodeBuilder().subscribe_only("input").do(ask).write_to("mid"),
        "two": e.NodeBuilder().subscribe_only("mid").do(inc).write_to("output"),
    }
    g = app(e, nodes, ints(e, "mid"))
    rec.run(g, 1, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume=10), C)
    rec.look(g, C)


@program
def raw_failure(e: Engine, rec: Recorder) -> None:
    broken = [True]

    def fail(x: int) -> Any:
        if broken[0]:
            raise ValueError("boom")
        return x

    nodes = {
        "a": e.NodeBuilder().subscribe_only("input").do(inc).write_to("mid"),
        "b": e.NodeBuilder().subscribe_only("mid").do(fail).write_to("output"),
    }
    g = app(e, nodes, ints(e, "mid"))
    rec.run(g, 1, C)
    rec.look(g, C)
    broken[0] = False
    rec.run(g, None, C)
    rec.look(g, C)


@program
def raw_edits(e: Engine, rec: Recorder) -> None:
    g = two(e)
    rec.update(g, C, 5, as_node="one")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.update(g, C, 50, as_node="two")
    rec.update(g, C, 9, as_node="nope")
    rec.look(g, C)
    first = list(g.get_state_history(C))[-1].config
    rec.run(g, None, first)
    rec.update(g, first, 7, as_node="one")
    rec.run(g, None, C)
    rec.look(g, C)


@program
def raw_edits_by_number(e: Engine, rec: Recorder) -> None:
    g = two(e)
    rec.run(g, 1, C)
    update = e.StateUpdate
    rec.call("bulk", g.bulk_update_state, C, [[update(5, "one")], [update(6, "two")]])
    rec.call("pair", g.bulk_update_state, C, [[update(5, "one"), update(6, "two")]])
    rec.call("input", g.bulk_update_state, C, [[update(5, "__input__")]])
    rec.run(g, None, C)
    rec.call("end", g.update_state, C, None, "__end__")
    rec.call("copy", g.update_state, C, None, "__copy__")
    rec.look(g, C)


@program
def raw_inferred_edit(e: Engine, rec: Recorder) -> None:
    g = app(e, {"one": one(e)}, ints(e))
    rec.update(g, C, 3)
    rec.run(g, 1, C)
    rec.update(g, C, 4)
    rec.look(g, C)
    g = two(e)
    rec.update(g, C, 3)
    rec.run(g, 1, C)
    rec.update(g, C, 4)
    rec.look(g, C)


@program
def raw_snapshot_channels(e: Engine, rec: Recorder) -> None:
    g = two(e, stream_channels=["inbox"])
    rec.run(g, 1, C)
    rec.look(g, C)
    g = two(e, stream_channels="output")
    rec.run(g, 1, C)
    rec.look(g, C)


@program
def raw_durability(e: Engine, rec: Recorder) -> None:
    g = two(e)
    rec.run(g, 1, C, durability="exit")
    rec.look(g, C)
    rec.run(g, 2, C, durability="exit", interrupt_before=["two"])
    rec.look(g, C)
