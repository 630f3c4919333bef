"""Time travel, forks and edits into nested graphs."""

from __future__ import annotations

from typing import Any

from ..basics import C, adds, nested
from ..harness import Engine, Recorder
from .nested_interrupts import asking
from .subgraphs import calling, chain, two, under

MODES = ["updates", "values", "checkpoints"]


def place(config: Any) -> dict[str, Any]:
    """The config of a namespace, without a checkpoint."""
    kept = ("thread_id", "checkpoint_ns")
    return {"configurable": {k: v for k, v in config["configurable"].items() if k in kept}}


def waiting(e: Engine, rec: Recorder, memory: Any, answer: bool = False) -> tuple[Any, Any, Any]:
    """A graph that asks inside, run to its question or beyond; the places where it waits."""
    g = under(e, asking(e, memory))
    rec.invoke(g, {"foo": "i"}, C)
    outer = g.get_state(C, subgraphs=True)
    if answer:
        rec.invoke(g, e.Command(resume="r"), C)
    return g, outer.config, outer.tasks[0].state.config


@nested
def states_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g, outer, inner = waiting(e, rec, memory, answer=True)
        for config in (inner, place(inner), outer):
            rec.call("state", g.get_state, config)
            rec.call("deep", g.get_state, config, subgraphs=True)
            rec.call("history", lambda g=g, c=config: list(g.get_state_history(c)))
            rec.call("some", lambda g=g, c=config: list(g.get_state_history(place(c), limit=2)))
        old = list(g.get_state_history(place(inner)))[2].config
        rec.call("before", lambda g=g, c=old: list(g.get_state_history(place(c), before=c)))


@nested
def answers_at_a_place_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for answer in (False, True):
            for at in (0, 1):
                g, *configs = waiting(e, rec, memory, answer)
                if answer and at == 0:
                    continue  # a second answer at one place: see the list of differences
                rec.nested(g, e.Command(resume="second"), configs[at], stream_mode=MODES)
                rec.look_inside(g, C)


@nested
def replays_from_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for answer in (False, True):
            for step in range(5 if answer else 3):
                g, _, inner = waiting(e, rec, memory, answer)
                history = list(g.get_state_history(place(inner)))
                rec.nested(g, None, history[step].config, stream_mode=MODES)
                rec.look_inside(g, C)
                if g.get_state(C).interrupts:
                    rec.nested(g, e.Command(resume="later"), C, stream_mode=MODES)
                    rec.look_inside(g, C)


@nested
def replays_from_outside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for answer in (False, True):
            for step in range(4 if answer else 2):
                g, _, _ = waiting(e, rec, memory, answer)
                old = list(g.get_state_history(C))[step]
                if not old.next:
                    continue  # at a finished head: see the list of differences
                rec.nested(g, None, old.config, stream_mode=MODES)
                rec.look_inside(g, C)


def remembering(e: Engine, sub: Any) -> Any:
    g = under(e, sub)
    g.invoke({"foo": "i", "bar": ["in"]}, C, durability="sync")
    g.invoke({"foo": "j", "bar": ["jn"]}, C, durability="sync")
    return g


@nested
def replays_of_a_remembering_graph(e: Engine, rec: Recorder) -> None:
    def make() -> tuple[Any, ...]:
        lasting = two(e, True)
        deep = chain(e, {"d": adds("d"), "inner": two(e, True)}, True)
        mixed = chain(e, {"inner": two(e, True)})
        return lasting, calling(lasting), calling(lasting, lasting), deep, mixed

    for number in range(5):
        steps = len(list(remembering(e, make()[number]).get_state_history(C)))
        for step in range(1, steps, 2 if number else 1):
            g = remembering(e, make()[number])
            old = list(g.get_state_history(C))[step]
            if not old.next:
                continue
            rec.nested(g, None, old.config, stream_mode=MODES)
            rec.look_inside(g, C)
            rec.nested(g, {"foo": "k"}, C, stream_mode=MODES)


@nested
def forks_and_inputs_of_a_remembering_graph(e: Engine, rec: Recorder) -> None:
    for step in (1, 2, 3, 5, 6, 7):
        g = remembering(e, two(e, True))
        old = list(g.get_state_history(C))[step]
        rec.nested(g, {"foo": "new"}, old.config, stream_mode=MODES)
        g = remembering(e, two(e, True))
        old = list(g.get_state_history(C))[step]
        fork = rec.update(g, old.config, {"bar": ["fork"]}, as_node="a")
        rec.nested(g, None, fork, stream_mode=MODES)
        rec.look_inside(g, C)
        rec.nested(g, None, fork, stream_mode=MODES)
        rec.look_inside(g, C)


@nested
def edits_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for as_node in (None, "x1", "ask", "x3", e.END, "__input__", "__copy__"):
            for run_at in ("head", "fork"):
                g, _, inner = waiting(e, rec, memory)
                values = None if as_node in (e.END, "__copy__") else {"bar": ["edit"]}
                fork = rec.update(g, inner, values, as_node=as_node)
                rec.look_inside(g, C)
                config = C if run_at == "head" or fork is None else fork
                rec.nested(g, None, config, stream_mode=MODES)
                rec.look_inside(g, C)


@nested
def edits_inside_then_answers(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for at in ("place", "exact"):
            g, _, inner = waiting(e, rec, memory)
            config = inner if at == "exact" else place(inner)
            rec.update(g, config, {"bar": ["edit"]}, as_node="x1")
            rec.nested(g, e.Command(resume="r"), C, stream_mode=MODES)
            rec.look_inside(g, C)


@nested
def edits_outside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for as_node in (None, "a", "sub", "z"):
            g, _, _ = waiting(e, rec, memory)
            rec.update(g, C, {"bar": ["edit"]}, as_node=as_node)
            rec.look_inside(g, C)
            rec.nested(g, None, C, stream_mode=MODES)
            rec.look_inside(g, C)


@nested
def edits_of_a_finished_child(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        g, _, inner = waiting(e, rec, memory, answer=True)
        fork = rec.update(g, inner, {"bar": ["edit"]}, as_node="ask")
        rec.look_inside(g, C)
        rec.nested(g, None, fork, stream_mode=MODES)
        rec.look_inside(g, C)


@nested
def deep_places(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        middle = chain(e, {"m1": adds("m1"), "inner": asking(e, memory)}, memory)
        for act in ("answer", "replay", "edit", "history", "old"):
            g = under(e, middle)
            rec.invoke(g, {"foo": "i"}, C)
            deep = g.get_state(C, subgraphs=True).tasks[0].state.tasks[0].state
            if act == "answer":
                rec.nested(g, e.Command(resume="r"), deep.config, stream_mode=MODES)
            elif act == "replay":
                rec.nested(g, None, deep.config, stream_mode=MODES)
            elif act == "edit":
                rec.update(g, deep.config, {"bar": ["edit"]}, as_node="x1")
                rec.nested(g, e.Command(resume="r"), C, stream_mode=MODES)
            elif act == "old":
                rec.invoke(g, e.Command(resume="r"), C)
                old = list(g.get_state_history(place(deep.config)))[-2]
                rec.nested(g, None, old.config, stream_mode=MODES)
            rec.call("deep", lambda g=g, c=deep.config: list(g.get_state_history(place(c))))
            rec.look_inside(g, C)
