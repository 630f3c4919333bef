"""Histories of many shapes, for tests and pictures of the tree: each a graph that has run."""

from __future__ import annotations

import operator
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph, add_messages
from ckpt_viz.types import Command, Overwrite, Send, interrupt

sys.path.insert(0, str(Path(__file__).parents[1] / "timeline"))
from long import NAMES, fill, loop_graph

__all__ = ["NAMES", "fill", "loop_graph"]
HERE = {"configurable": {"thread_id": "1"}}
LONG = "summarize_the_answers_of_all_the_search_workers_and_write_a_report_for_the_reader"


class State(TypedDict, total=False):
    items: Annotated[list, operator.add]
    note: str
    count: int


def flow(nodes: dict[str, Any], saver: Any = None) -> Any:
    """A chain of nodes, compiled."""
    graph = StateGraph(State)
    last = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    graph.add_edge(last, END)
    return graph.compile(checkpointer=saver)


def nested() -> Any:
    """A graph in a graph in a graph, run twice; the inner one asks a question in the second run."""
    deep = flow({"dig": lambda s: {"items": ["dug"]}, "lift": lambda s: {"items": ["lifted"]}})

    def ask(state: State) -> State:
        return {"items": [interrupt("Shall I go deeper?") if "again" in state["items"] else "no"]}

    middle = flow({"look": lambda s: {"items": ["looked"]}, "mine": deep, "ask": ask})
    graph = flow(
        {
            "plan": lambda s: {"items": ["planned"]},
            "field": middle,
            "tell": lambda s: {"note": "done"},
        },
        InMemorySaver(),
    )
    graph.invoke({"items": ["first"]}, HERE)
    graph.invoke({"items": ["again"]}, HERE)
    return graph


def mended() -> Any:
    """A finished branch in whose middle a node failed before it went on, beside the head's."""

    def third(state: State) -> State:
        if state["note"] == "bad":
            raise ValueError("a bad note")
        return {"items": ["third"]}

    first, second = (lambda s: {"items": ["first"]}), (lambda s: {"items": ["second"]})
    graph = flow({"first": first, "second": second, "third": third}, InMemorySaver())
    graph.invoke({"note": "good"}, HERE)
    base = next(one for one in graph.get_state_history(HERE) if one.next == ("second",))
    bad = graph.update_state(base.config, {"note": "bad"})
    with suppress(ValueError):
        graph.invoke(None, bad)
    graph.invoke(None, graph.update_state(HERE, {"note": "good"}))
    graph.invoke(None, graph.update_state(base.config, {"note": "better"}))
    return graph


def workers(count: int = 30) -> Any:
    """One plan and many tasks of one node; one fails, one asks."""

    def worker(arg: dict) -> State:
        if arg["n"] == 7:
            raise ValueError("no answer in 5 s")
        if arg["n"] == 11:
            return {"items": [interrupt("Spend the second call?")]}
        return {"items": [arg["n"]]}

    graph = StateGraph(State)
    graph.add_node("plan", lambda s: {"count": count})
    graph.add_node("worker", worker)
    graph.add_node(LONG, lambda s: {"note": "all"})
    graph.add_edge(START, "plan")
    sends = [Send("worker", {"n": n}) for n in range(count)]
    graph.add_conditional_edges("plan", lambda s: sends, ["worker"])
    graph.add_edge("worker", LONG)
    compiled = graph.compile(checkpointer=InMemorySaver())
    try:
        compiled.invoke({"items": []}, HERE)
    except ValueError:
        return compiled
    raise AssertionError("the worker did not fail")


def forks(count: int = 14, steps: int = 6) -> Any:
    """A chain of nodes with long names, forked `count` times, each branch run to its end."""
    nodes = {f"{LONG}_{k}" if k == 2 else f"step_{k}": _adder(k) for k in range(steps)}
    graph = flow(nodes, InMemorySaver())
    graph.invoke({"items": []}, HERE)
    history = list(graph.get_state_history(HERE))
    for k in range(count):
        base = history[1 + k % (steps - 1)]
        graph.invoke(None, graph.update_state(base.config, {"note": f"fork {k}"}))
    return graph


def _adder(k: int) -> Any:
    return lambda s: {"items": [k], "count": k}


def copies() -> Any:
    """A copy beside its base, a dead end, a root of its own, and a pruned parent."""
    graph = flow({f"step_{k}": _adder(k) for k in range(4)}, InMemorySaver())
    graph.invoke({"items": []}, HERE)
    history = list(graph.get_state_history(HERE))
    graph.update_state(history[2].config, None, as_node="__copy__")
    graph.update_state(history[3].config, {"items": Overwrite(["end"])}, as_node="step_3")
    saver = graph.checkpointer
    saver.storage["1"][""].pop(history[4].config["configurable"]["checkpoint_id"])
    return graph


def answered() -> Any:
    """A question that waits, and its answer on a branch."""

    def ask(state: State) -> State:
        return {"items": [interrupt("Tea or coffee?")]}

    graph = flow({"boil": lambda s: {"count": 1}, "ask": ask}, InMemorySaver())
    graph.invoke({"items": []}, HERE)
    graph.invoke(Command(resume="tea"), HERE)
    graph.invoke({"items": ["again"]}, HERE)
    return graph


def many_threads(count: int) -> Any:
    """Threads that are done, but for three that failed and three that wait."""

    def plan(state: State) -> State:
        if state["count"] in (5, 50, 99):
            raise ValueError("no answer in 5 s")
        return {"note": "The weather in SF is fine."}

    def ask(state: State) -> State:
        return {"items": [interrupt("ok?")] if state["count"] in (6, 60, 98) else []}

    graph = flow({"ask": ask, "plan": plan}, InMemorySaver())
    for k in range(count):
        with suppress(ValueError):
            graph.invoke({"count": k}, {"configurable": {"thread_id": f"support-{k}"}})
    return graph


def long(count: int, forks: int = 30) -> Any:
    """A history too long to run here: put straight into a saver."""
    saver = InMemorySaver()
    fill(saver, count, forks)
    return loop_graph(saver)


KEY = "a_channel_whose_name_tells_all_that_anybody_could_want_to_know_about_its_values"


def lengthy() -> Any:
    """Long names, long ids, long words without a space and deep values in every tab."""
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    deep: Any = {"leaf": word}
    for level in range(12):
        deep = {f"level_{level:02}_of_a_deeply_nested_configuration": deep, "n": level}
    Wide = TypedDict(
        "Wide",
        {KEY: Annotated[list, add_messages], "deep": dict, "ids": list, "note": str, "n": int},
        total=False,
    )

    def step(state: Any) -> Any:
        n = state.get("n", 0) + 1
        said = {"role": "assistant", "id": f"run-{n}-{'0123456789abcdef' * 4}", "content": word * n}
        return {
            KEY: [said],
            "n": n,
            "deep": {**deep, "n": n},
            "ids": [f"{k}-{'f' * 60}" for k in range(n)],
        }

    def ask(state: Any) -> Any:
        return {"note": interrupt({"question": f"{word}? " * 3, "of": KEY})}

    graph = StateGraph(Wide)
    for name, node in ((LONG, step), (f"{LONG}_again", step), ("ask_" + KEY, ask)):
        graph.add_node(name, node)
    graph.add_edge(START, LONG)
    graph.add_edge(LONG, f"{LONG}_again")
    graph.add_edge(f"{LONG}_again", "ask_" + KEY)
    compiled = graph.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "thread-of-a-customer-" + "0123456789" * 6}}
    compiled.invoke({KEY: [("user", "x" * 300)], "note": "old " * 80}, thread)
    return compiled
