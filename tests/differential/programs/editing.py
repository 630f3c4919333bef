"""Edits of a history in every case: as which node, onto a copy, in bulk, beside questions."""

from __future__ import annotations

from typing import Any

from ..basics import C, State, adds, linear_graph, program, says
from ..harness import Engine, Recorder

AS = ["a", "b", "c", "__start__", "__end__", "__copy__", "__input__", "nobody", None]


def stopped(e: Engine) -> Any:
    """A linear graph that has stopped before its second node."""
    g = linear_graph(e)
    g.invoke({"foo": "x"}, C, durability="sync", interrupt_before=["b"])
    return g


def question(e: Engine) -> Any:
    """A graph whose middle node asks, and has asked."""

    def ask(state: Any) -> dict[str, Any]:
        return {"bar": [f"{state['foo']}: {e.interrupt('?')}"]}

    nodes = {"before": says("before"), "ask": ask, "after": adds("after")}
    edges = [(e.START, "before"), ("before", "ask"), ("ask", "after")]
    g = e.build(State, nodes, edges)
    g.invoke({"foo": "x"}, C, durability="sync")
    return g


def brief(graph: Any) -> list[Any]:
    """The history in a few words."""
    return [(s.values, s.next, s.metadata, s.parent_config) for s in graph.get_state_history(C)]


@program
def an_update_as_each_node(e: Engine, rec: Recorder) -> None:
    for values in ({"foo": "u"}, None, {}, {"bar": ["u"]}):
        for as_node in AS:
            for make in (linear_graph, stopped):
                g = make(e)
                rec.update(g, C, values, as_node=as_node)
                rec.call("history", brief, g)


@program
def updates_in_bulk(e: Engine, rec: Recorder) -> None:
    update = e.StateUpdate
    rounds: list[Any] = [
        [],
        [[]],
        [[update({"foo": "1"}, "a")], [update({"foo": "2"}, "b")]],
        [[update({"bar": ["1"]}, "a"), update({"bar": ["2"]}, "b")]],
        [[update({"foo": "1"}, "a"), update({"foo": "2"}, "b")]],
        [[update({"bar": ["1"]}), update({"bar": ["2"]}, "b")]],
        [[update(None, "__end__"), update({"bar": ["2"]}, "b")]],
        [[update({"foo": "i"}, "__input__"), update({"foo": "i"}, "__input__")]],
        [[update({"foo": "i"}, "__input__")], [update({"bar": ["2"]}, "a")]],
        [[update({"foo": "1"}, "a")], [update(None, "__copy__")]],
        [[update({"bar": ["1"]}, "a", "t1"), update({"bar": ["2"]}, "a", "t2")]],
    ]
    for one in rounds:
        for make in (linear_graph, stopped):
            g = make(e)
            rec.call("bulk", g.bulk_update_state, C, one)
            rec.look(g, C)


@program
def updates_onto_a_copy(e: Engine, rec: Recorder) -> None:
    lists: list[Any] = [
        [({"foo": "c"}, "a")],
        [({"foo": "c"}, "b"), ({"bar": ["d"]}, "a")],
        [({"foo": "c"}, "a", "its task")],
        [e.StateUpdate({"foo": "c"}, "a")],
        [({"foo": "c"}, None)],
        [(None, "a")],
        [],
        ({"foo": "c"}, "a"),
    ]
    for values in lists:
        g = stopped(e)
        rec.update(g, C, values, as_node="__copy__")
        rec.look(g, C)


@program
def copies_and_ends_of_old_checkpoints(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    g.invoke({"foo": "x"}, C, durability="sync")
    for old in list(g.get_state_history(C)):
        rec.update(g, old.config, None, as_node="__copy__")
        rec.update(g, old.config, None, as_node="__end__")
        rec.update(g, old.config, {"foo": "in"}, as_node="__input__")
        rec.update(g, old.config, {"foo": "inferred"})
    rec.look(g, C)


@program
def a_command_as_the_values(e: Engine, rec: Recorder) -> None:
    for values in (
        e.Command(update={"foo": "c"}, goto="a"),
        e.Command(goto="b"),
        e.Send("b", {"foo": "sent"}),
        [e.Command(update={"foo": "1"}), e.Command(update={"bar": ["2"]})],
    ):
        g = stopped(e)
        rec.update(g, C, values, as_node="a")
        rec.look(g, C)
        rec.run(g, None, C)


@program
def an_update_for_a_task(e: Engine, rec: Recorder) -> None:
    g = stopped(e)
    task = g.get_state(C).tasks[0].id
    rec.update(g, C, {"foo": "mine"}, as_node="b", task_id=task)
    rec.update(g, C, {"foo": "other"}, as_node="b", task_id="no such task")
    rec.look(g, C)


@program
def who_wrote_last(e: Engine, rec: Recorder) -> None:
    """The node is inferred, at each checkpoint, of a fan and of a graph of one node."""
    nodes = {"a": says("a"), "b": adds("b"), "c": adds("c")}
    fan = e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("a", "c")])
    one = e.build(State, {"a": says("a")}, [(e.START, "a")])
    for g in (fan, one):
        rec.update(g, C, {"foo": "fresh"})
        rec.call("history", brief, g)
        g.invoke({"foo": "x"}, C, durability="sync")
        rec.update(g, C, {"foo": "last"})
        for old in list(g.get_state_history(C)):
            rec.update(g, old.config, {"foo": "old"})
        rec.call("history", brief, g)


@program
def an_update_beside_a_question(e: Engine, rec: Recorder) -> None:
    for as_node in ("before", "ask", "after", None):
        g = question(e)
        rec.update(g, C, {"foo": "edited"}, as_node=as_node)
        rec.look(g, C)
        rec.run(g, None, C)
        rec.look(g, C)


@program
def an_answer_after_an_update(e: Engine, rec: Recorder) -> None:
    for as_node in ("before", "ask"):
        g = question(e)
        rec.update(g, C, {"foo": "edited"}, as_node=as_node)
        rec.run(g, e.Command(resume="answer"), C)
        rec.look(g, C)


@program
def an_answer_with_more(e: Engine, rec: Recorder) -> None:
    for more in ({"update": {"foo": "u", "bar": ["once"]}}, {"goto": "after"}):
        g = question(e)
        rec.run(g, e.Command(resume="answer", **more), C)
        rec.look(g, C)
        g = question(e)
        rec.run(g, e.Command(**more), C)
        rec.look(g, C)
        rec.run(g, e.Command(resume="later"), C)
        rec.look(g, C)


@program
def a_caller_s_update_counts_once(e: Engine, rec: Recorder) -> None:
    """With two questions in the node, its writes stay on the checkpoint for two resumes."""

    def ask(state: Any) -> dict[str, Any]:
        return {"bar": [e.interrupt("one"), e.interrupt("two")]}

    g = e.build(State, {"a": ask}, [(e.START, "a")])
    rec.run(g, {"foo": "x"}, C)
    rec.run(g, e.Command(resume="1", update={"bar": ["once"]}), C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="2"), C)
    rec.look(g, C)


@program
def a_fork_of_a_question(e: Engine, rec: Recorder) -> None:
    g = question(e)
    waiting = g.get_state(C).config
    fork = rec.update(g, waiting, {"foo": "forked"}, as_node="before")
    rec.run(g, None, fork)
    rec.run(g, e.Command(resume="answer"), C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="the first"), waiting)
    rec.look(g, C)


@program
def updates_that_do_not_fit(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    for values in ("text", 5, [1], [("a",)], [{"foo": "1"}], (("foo", "1"),)):
        rec.update(g, C, values, as_node="a")
    rec.look(g, C)


@program
def an_update_as_a_node_that_sends(e: Engine, rec: Recorder) -> None:
    def spread(state: Any) -> list[Any]:
        return [e.Send("work", {"foo": n}) for n in "12"]

    nodes = {"a": says("a"), "work": lambda s: {"bar": [s["foo"]]}}
    g = e.build(State, nodes, [(e.START, "a")], [("a", spread, ["work"])])
    rec.run(g, {"foo": "x"}, C, interrupt_before=["work"])
    for as_node in ("work", "a"):
        rec.update(g, C, {"foo": "u"}, as_node=as_node)
        rec.look(g, C)
        rec.run(g, None, C)
    rec.look(g, C)
