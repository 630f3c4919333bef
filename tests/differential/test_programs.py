"""Programs that both engines must run alike, event by event and checkpoint by checkpoint."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from .harness import Engine, Recorder, compare, record

Program = Callable[[Engine, Recorder], None]
PROGRAMS: dict[str, Program] = {}
C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    foo: str
    bar: Annotated[list[Any], operator.add]


class Numbers(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]
    free: Any


def program(function: Program) -> Program:
    """Put a program on the list."""
    PROGRAMS[function.__name__] = function
    return function


def says(name: str) -> Callable[[Any], dict[str, Any]]:
    """A node that sets ``foo`` and appends its name."""
    return lambda state: {"foo": name, "bar": [name]}


def adds(name: str) -> Callable[[Any], dict[str, Any]]:
    """A node that only appends its name."""
    return lambda state: {"bar": [name]}


def fails(text: str = "boom", wait: float = 0.06) -> Callable[[Any], dict[str, Any]]:
    """A node that fails after its siblings had time to finish."""

    def node(state: Any) -> dict[str, Any]:
        time.sleep(wait)
        raise ValueError(text)

    return node


def linear_graph(e: Engine, **options: Any) -> Any:
    nodes = {"a": says("a"), "b": says("b"), "c": adds("c")}
    return e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c"), ("c", e.END)], **options)


def joined_graph(e: Engine, b: Any = None, c: Any = None) -> Any:
    nodes = {"a": says("a"), "b": b or adds("b"), "c": c or adds("c"), "d": says("d")}
    edges = [(e.START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d"), ("d", e.END)]
    return e.build(State, nodes, edges)


@program
def linear(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.run(g, {"foo": "", "bar": ["i"]}, C)
    rec.look(g, C)
    rec.run(g, {"foo": "again"}, C)
    rec.look(g, C)


@program
def partial_and_empty_input(e: Engine, rec: Recorder) -> None:
    for i, value in enumerate([{}, {"bar": [1]}, {"foo": "x", "zz": 1}, {"foo": None}]):
        g = linear_graph(e)
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, value, config)
        rec.look(g, config)


@program
def nothing_to_run(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.invoke(g, {"foo": ""}, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def loop(e: Engine, rec: Recorder) -> None:
    def count(state: Any) -> dict[str, Any]:
        return {"n": state.get("n", 0) + 1, "log": [f"count {state.get('n')}"]}

    def again(state: Any) -> str:
        return "count" if state["n"] < 4 else e.END

    g = e.build(Numbers, {"count": count}, [(e.START, "count")], [("count", again)])
    rec.run(g, {"n": 0}, C)
    rec.look(g, C)


@program
def self_edge_hits_limit(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a")}, [(e.START, "a"), ("a", "a")])
    rec.run(g, {"foo": ""}, {**C, "recursion_limit": 3})
    rec.look(g, C)
    rec.run(g, None, {**C, "recursion_limit": 2})
    rec.look(g, C)


@program
def limit_is_just_enough(e: Engine, rec: Recorder) -> None:
    for limit in (2, 3, 4):
        g = linear_graph(e)
        rec.run(g, {"foo": ""}, {**C, "recursion_limit": limit})
        rec.look(g, C)


@program
def fan_out_and_join(e: Engine, rec: Recorder) -> None:
    g = joined_graph(e)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, {"foo": "y"}, C)
    rec.look(g, C)


@program
def fan_in_without_join(e: Engine, rec: Recorder) -> None:
    nodes = {"a": adds("a"), "b": adds("b"), "b2": adds("b2"), "c": adds("c"), "z": adds("z")}
    edges = [(e.START, "a"), ("a", "b"), ("b", "b2"), ("a", "c"), ("b2", "z"), ("c", "z")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def barrier_fires_twice_in_a_loop(e: Engine, rec: Recorder) -> None:
    def more(state: Any) -> list[str] | str:
        return ["b", "c"] if len(state["bar"]) < 8 else e.END

    nodes = {"b": adds("b"), "c": adds("c"), "d": adds("d")}
    edges = [(e.START, "b"), (e.START, "c"), (["b", "c"], "d")]
    g = e.build(State, nodes, edges, [("d", more, ["b", "c", e.END])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def conditional(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "left" if state["foo"] == "a" else "right"

    nodes = {"a": says("a"), "x": adds("x"), "y": adds("y")}
    g = e.build(
        State, nodes, [(e.START, "a"), ("x", e.END)], [("a", route, {"left": "x", "right": "y"})]
    )
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def conditional_entry(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> list[str]:
        return ["a", "b"] if state["foo"] == "both" else ["b"]

    g = e.build(State, {"a": adds("a"), "b": adds("b")}, [], [(e.START, route, ["a", "b"])])
    for i, foo in enumerate(["both", "one"]):
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, {"foo": foo}, config)
        rec.look(g, config)


@program
def router_reads_fresh_state(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "n" + str(len(state["bar"]))

    nodes = {"a": adds("a"), "b": adds("b"), "n1": adds("n1"), "n2": adds("n2")}
    edges = [(e.START, "a"), (e.START, "b")]
    g = e.build(State, nodes, edges, [("a", route, ["n1", "n2"]), ("b", route, ["n1", "n2"])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def routers_that_go_wrong(e: Engine, rec: Recorder) -> None:
    for target in ("nope", [e.END], [], e.END, 5):
        g = e.build(State, {"a": adds("a")}, [(e.START, "a")], [("a", lambda state, t=target: t)])
        rec.run(g, {"foo": "x"}, C)
        rec.look(g, C)


@pytest.mark.parametrize("wrong", ["other", None, "__start__", "send to the end"])
def test_a_failed_router_runs_again(wrong: Any) -> None:
    """There such a node counts as finished and its route is lost; ours runs again."""

    def again(root: str) -> tuple[int, list[str]]:
        e = Engine(root)
        ran: list[int] = []
        answer = e.Send("__end__", 1) if wrong == "send to the end" else wrong
        paths = {"b": "b"} if wrong == "other" else None

        def node(state: Any) -> dict[str, Any]:
            ran.append(1)
            return {"bar": ["a"]}

        def router(state: Any) -> Any:
            return answer if router.fails else "b"  # type: ignore[attr-defined]

        router.fails = True  # type: ignore[attr-defined]
        branches = [("a", router, paths)] if paths else [("a", router)]
        g = e.build(State, {"a": node, "b": adds("b")}, [(e.START, "a")], branches)
        with pytest.raises(Exception, match=r"other|destination|END node"):
            g.invoke({"foo": "x"}, C)
        router.fails = False  # type: ignore[attr-defined]
        return len(ran), g.invoke(None, C)["bar"]

    assert again("langgraph") == (1, ["a"])
    assert again("ckpt_viz") == (1, ["a", "b"])


@program
def sends(e: Engine, rec: Recorder) -> None:
    def spread(state: Any) -> list[Any]:
        return [e.Send("w", {"i": i}) for i in range(12)] + ["b"]

    nodes = {"a": says("a"), "w": lambda s: {"bar": [s["i"]]}, "b": adds("b"), "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "a"), ("w", "z")], [("a", spread, ["w", "b"])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def sends_that_go_wrong(e: Engine, rec: Recorder) -> None:
    send = lambda state: [e.Send("nope", 1)]  # noqa: E731
    g = e.build(State, {"a": adds("a")}, [(e.START, "a")], [("a", send)])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def sends_from_the_entry(e: Engine, rec: Recorder) -> None:
    g = e.build(
        State,
        {"w": lambda s: {"bar": [s]}},
        [],
        [(e.START, lambda s: [e.Send("w", i) for i in range(3)], ["w"])],
    )
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def a_failing_send(e: Engine, rec: Recorder) -> None:
    runs: list[int] = []

    def worker(arg: int) -> dict[str, Any]:
        if arg == 1:
            time.sleep(0.06)
            runs.append(arg)
            if len(runs) < 2:
                raise ValueError("one")
        return {"bar": [arg]}

    route = ("a", lambda s: [e.Send("w", i) for i in range(3)], ["w"])
    g = e.build(State, {"a": adds("a"), "w": worker}, [(e.START, "a")], [route])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def command_goto_and_update(e: Engine, rec: Recorder) -> None:
    def a(state: Any) -> Any:
        return e.Command(update={"foo": "A", "bar": ["a"]}, goto=["b", e.Send("c", {"x": 1})])

    nodes = {"a": a, "b": says("b"), "c": lambda s: {"bar": [s]}}
    g = e.build(State, nodes, [(e.START, "a")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def commands_of_all_forms(e: Engine, rec: Recorder) -> None:
    forms: list[Any] = [
        e.Command(goto="b"),
        e.Command(goto=e.END),
        e.Command(update={"foo": "u"}),
        e.Command(update=[("foo", "pairs"), ("bar", ["p"])], goto="b"),
        e.Command(),
        [e.Command(goto="b"), {"bar": ["list"]}],
        [e.Command(update={"bar": [1]}), e.Command(update={"bar": [2]}, goto="b")],
        e.Command(goto="nope"),
        e.Command(update={"unknown": 1}),
    ]
    for i, form in enumerate(forms):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": lambda s, f=form: f, "b": says("b")}
        g = e.build(State, nodes, [(e.START, "a")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def command_as_input(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.run(g, e.Command(update={"foo": "Z"}, goto="b"), C)
    rec.look(g, C)
    rec.run(g, e.Command(goto=[e.Send("c", {}), "b"]), C)
    rec.look(g, C)
    rec.run(g, e.Command(update={"foo": "only"}), C)
    rec.look(g, C)
    rec.run(g, e.Command(graph=e.Command.PARENT, goto="b"), C)


@program
def command_on_a_fresh_thread(e: Engine, rec: Recorder) -> None:
    for i, form in enumerate([e.Command(update={"foo": "Z"}), e.Command(goto="b")]):
        g = linear_graph(e)
        config = {"configurable": {"thread_id": str(i)}}
        rec.run(g, form, config)
        rec.look(g, config)


def asking_graph(e: Engine) -> Any:
    def ask(state: Any) -> dict[str, Any]:
        return {"bar": [e.interrupt("first"), e.interrupt({"second": state["foo"]})]}

    nodes = {"a": says("a"), "ask": ask, "side": adds("side"), "z": adds("z")}
    edges = [(e.START, "a"), ("a", "ask"), ("a", "side"), (["ask", "side"], "z")]
    return e.build(State, nodes, edges)


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


@program
def failing_sibling_then_resume(e: Engine, rec: Recorder) -> None:
    runs: list[str] = []

    def sometimes(state: Any) -> dict[str, Any]:
        time.sleep(0.06)
        runs.append("c")
        if len(runs) == 1:
            raise ValueError("first time")
        return {"bar": ["c"]}

    def once(state: Any) -> dict[str, Any]:
        runs.append("b")
        runs.pop()
        return {"bar": ["b"]}

    g = joined_graph(e, b=once, c=sometimes)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def failing_alone(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": says("a"), "b": fails()}, [(e.START, "a"), ("a", "b")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.invoke(g, {"foo": "new input while b is pending"}, C)
    rec.look(g, C)
    rec.update(g, C, {"foo": "mended"}, as_node="b")
    rec.look(g, C)
    rec.run(g, None, C)


@program
def failure_beside_an_interrupt(e: Engine, rec: Recorder) -> None:
    g = joined_graph(e, b=lambda s: {"bar": [e.interrupt("q")]}, c=fails())
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def failed_once_beside_an_interrupt(e: Engine, rec: Recorder) -> None:
    runs: list[int] = []

    def once(state: Any) -> dict[str, Any]:
        time.sleep(0.06)
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("once")
        return {"bar": ["c"]}

    g = joined_graph(e, b=lambda s: {"bar": [e.interrupt("q")]}, c=once)
    rec.run(g, {"foo": "x"}, C)
    rec.run(g, None, C)
    rec.run(g, None, C)
    rec.run(g, e.Command(resume="r"), C)
    rec.look(g, C)


@program
def concurrent_last_value(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": says("a"), "b": says("b")}, [(e.START, "a"), (e.START, "b")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def wrong_returns(e: Engine, rec: Recorder) -> None:
    returns: list[Any] = [1, "s", [1], None, {}, {"zz": 1}, [{"foo": "1"}], ("foo", 1)]
    for i, value in enumerate(returns):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": lambda s, v=value: v, "b": adds("b")}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def wrong_inputs(e: Engine, rec: Recorder) -> None:
    for i, value in enumerate(["s", [1], 1, [("foo", "1")]]):
        config = {"configurable": {"thread_id": str(i)}}
        g = linear_graph(e)
        rec.call("invoke", g.invoke, value, config, durability="sync")


@program
def reducers(e: Engine, rec: Recorder) -> None:
    class S(TypedDict):
        most: Annotated[int, lambda a, b: max(a, b)]
        sets: Annotated[set[str], operator.or_]
        maps: Annotated[dict[str, int], lambda a, b: {**a, **b}]
        plain: Any

    nodes = {
        "a": lambda s: {"most": 3, "sets": {"a"}, "maps": {"a": 1}},
        "b": lambda s: {"most": 2, "sets": {"b"}, "maps": {"b": 1, "a": 2}, "plain": None},
    }
    g = e.build(S, nodes, [(e.START, "a"), (e.START, "b")])
    rec.run(g, {"plain": (1, 2)}, C)
    rec.look(g, C)
    rec.run(g, {"most": 9, "sets": {"i"}}, C)
    rec.look(g, C)


@program
def overwrite(e: Engine, rec: Recorder) -> None:
    for other in ({"bar": ["b"]}, {"bar": e.Overwrite(["B"])}, {}):
        nodes = {"a": lambda s: {"bar": e.Overwrite(["A"])}, "b": lambda s, o=other: o}
        g = e.build(State, nodes, [(e.START, "a"), (e.START, "b")])
        rec.run(g, {"foo": "x", "bar": ["i"]}, C)
        rec.look(g, C)


@program
def deferred(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": adds("a"),
        "b": adds("b"),
        "b2": adds("b2"),
        "z": (adds("z"), {"defer": True}),
        "after": adds("after"),
    }
    edges = [(e.START, "a"), ("a", "b"), ("b", "b2"), ("a", "z"), ("b2", "z"), ("z", "after")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def deferred_join(e: Engine, rec: Recorder) -> None:
    nodes = {"a": adds("a"), "b": adds("b"), "c": adds("c"), "z": (adds("z"), {"defer": True})}
    edges = [(e.START, "a"), (e.START, "b"), ("b", "c"), (["a", "b"], "z")]
    g = e.build(State, nodes, edges)
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def fork_and_run(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    for at in (1, 2, 3):
        config = rec.update(g, history[at].config, {"foo": f"fork {at}"})
        rec.look(g, C)
        if config:
            rec.run(g, None, config)
            rec.look(g, C)


@program
def replay_each(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    for snapshot in history[1:]:  # the finished head differs on purpose
        rec.run(g, None, snapshot.config)
    rec.look(g, C)
    rec.run(g, {"foo": "input at an old one"}, history[1].config)
    rec.look(g, C)
    rec.call("old state", g.get_state, history[2].config)


@program
def replay_runs_side_effects_again(e: Engine, rec: Recorder) -> None:
    ran: list[str] = []

    def node(name: str) -> Callable[[Any], dict[str, Any]]:
        def run(state: Any) -> dict[str, Any]:
            ran.append(name)
            return {"bar": [name]}

        return run

    edges = [(e.START, "a"), ("a", "b"), ("b", "c")]
    g = e.build(State, {n: node(n) for n in "abc"}, edges)
    rec.invoke(g, {"foo": "x"}, C)
    history = list(g.get_state_history(C))
    ran.clear()
    rec.invoke(g, None, history[2].config)
    rec.note("ran", ran)


@program
def replay_an_interrupted_one(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.invoke(g, e.Command(resume="r1"), C)
    rec.invoke(g, e.Command(resume="r2"), C)
    asked = next(s for s in g.get_state_history(C) if "ask" in s.next)
    rec.run(g, None, asked.config)
    rec.look(g, C)
    rec.run(g, e.Command(resume="other"), C)
    rec.look(g, C)


UPDATES: dict[str, tuple[Any, Any]] = {
    "a": ({"foo": "U"}, "a"),
    "b, the pending one": ({"foo": "U", "bar": ["u"]}, "b"),
    "c, the last": ({"foo": "U"}, "c"),
    "inferred": ({"foo": "U"}, None),
    "nothing, inferred": (None, None),
    "nothing as a": (None, "a"),
    "start": ({"foo": "U"}, "__start__"),
    "input": ({"foo": "U"}, "__input__"),
    "input of nothing": (None, "__input__"),
    "end": (None, "__end__"),
    "end with values": ({"foo": "U"}, "__end__"),
    "copy": (None, "__copy__"),
    "copy with values": ({"foo": "U"}, "__copy__"),
    "unknown node": ({"foo": "U"}, "nope"),
    "not a dict": ("text", "a"),
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("when", ["fresh", "stopped", "finished", "old", "failed"])
def test_update_state(name: str, when: str) -> None:
    """Each form of ``update_state`` in each place."""
    values, as_node = UPDATES[name]

    def run(e: Engine, rec: Recorder) -> None:
        nodes = {"a": says("a"), "b": adds("b"), "c": adds("c"), "p": adds("p")}
        if when == "failed":
            nodes["b"] = fails()
        edges = [(e.START, "a"), ("a", "b"), ("a", "p"), (["b", "p"], "c")]
        before = ["b", "p"] if when == "stopped" else []
        g = e.build(State, nodes, edges, interrupt_before=before)
        config = C
        if when != "fresh":
            rec.invoke(g, {"foo": "x"}, C)
        if when == "old":
            config = list(g.get_state_history(C))[1].config
        rec.update(g, config, values, as_node=as_node)
        rec.look(g, C)
        rec.run(g, None, C, interrupt_before=[])
        rec.look(g, C)

    compare(run)


@program
def update_drops_a_waiting_send(e: Engine, rec: Recorder) -> None:
    route = ("a", lambda s: [e.Send("w", 1), e.Send("w", 2)], ["w"])
    g = e.build(
        State,
        {"a": adds("a"), "w": lambda s: {"bar": [s]}, "z": adds("z")},
        [(e.START, "a")],
        [route],
        interrupt_after=["a"],
    )
    rec.invoke(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.update(g, C, {"bar": ["u"]}, as_node="z")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def update_with_a_router(e: Engine, rec: Recorder) -> None:
    def route(state: Any) -> str:
        return "x" if state["foo"] == "to x" else "y"

    nodes = {"a": says("a"), "x": adds("x"), "y": adds("y")}
    g = e.build(State, nodes, [(e.START, "a")], [("a", route, ["x", "y"])])
    rec.invoke(g, {"foo": "q"}, C)
    rec.update(g, C, {"foo": "to x"}, as_node="a")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def update_after_an_interrupt(e: Engine, rec: Recorder) -> None:
    g = asking_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    rec.update(g, C, {"foo": "edited"}, as_node="a")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)
    rec.update(g, C, {"bar": ["answered by hand"]}, as_node="ask")
    rec.look(g, C)
    rec.run(g, None, C)
    rec.look(g, C)


@program
def ambiguous_update(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a"), "b": adds("b")}, [(e.START, "a"), (e.START, "b")])
    rec.invoke(g, {"foo": "x"}, C)
    rec.update(g, C, {"foo": "y"})
    rec.look(g, C)


@program
def update_one_node_graph(e: Engine, rec: Recorder) -> None:
    g = e.build(State, {"a": adds("a")}, [(e.START, "a")])
    rec.update(g, C, {"foo": "y"})
    rec.look(g, C)
    rec.run(g, None, C)
    rec.update(g, C, {"bar": ["z"]})
    rec.look(g, C)


@program
def bulk_updates(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.invoke(g, {"foo": "x"}, C)
    up = e.StateUpdate
    both = [up({"foo": "1", "bar": [1]}, "a"), up({"bar": [2]}, "b")]
    rec.call("bulk", g.bulk_update_state, C, [both, [up({"foo": "3"}, "b")]])
    rec.look(g, C)


@pytest.mark.parametrize("before", [None, ["b"], ["a", "b"], "*"])
@pytest.mark.parametrize("after", [None, ["a"], ["c"], "*"])
@pytest.mark.parametrize("where", ["compile", "run"])
def test_breakpoints(before: Any, after: Any, where: str) -> None:
    """Static breakpoints, all combinations, until the run is through."""

    def run(e: Engine, rec: Recorder) -> None:
        points = {"interrupt_before": before, "interrupt_after": after}
        g = linear_graph(e, **(points if where == "compile" else {}))
        options = points if where == "run" else {}
        rec.run(g, {"foo": "x"}, C, **options)
        for _ in range(4):
            rec.run(g, None, C, **options)
        rec.look(g, C)

    compare(run)


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


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("end", ["done", "interrupt", "error", "break"])
def test_durability(durability: str, end: str) -> None:
    """What each durability leaves behind, at each way to end."""

    def run(e: Engine, rec: Recorder) -> None:
        ends: dict[str, Any] = {
            "done": adds("c"),
            "break": adds("c"),
            "interrupt": lambda s: {"bar": [e.interrupt("q")]},
            "error": fails(),
        }
        g = joined_graph(e, c=ends[end])
        stop = {"interrupt_before": ["d"]} if end == "break" else {}
        rec.run(g, {"foo": "x"}, C, durability=durability, **stop)
        rec.look(g, C)
        following = e.Command(resume="r") if end == "interrupt" else None
        rec.run(g, following, C, durability=durability)
        rec.look(g, C)
        rec.run(g, {"foo": "y"}, C, durability=durability)
        rec.look(g, C)

    compare(run)


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


def bad_graph(e: Engine, part: str) -> Any:
    """A graph with one mistake."""
    builder = e.StateGraph(State)
    if part == "reserved":
        return builder.add_node(e.START, adds("a"))
    if part == "separator":
        return builder.add_node("a|b", adds("a"))
    builder.add_node("a", adds("a"))
    actions: dict[str, Callable[[], Any]] = {
        "no entry": lambda: None,
        "unknown target": lambda: builder.add_edge("a", "nope"),
        "unknown source": lambda: builder.add_edge("nope", "a"),
        "from the end": lambda: builder.add_edge(e.END, "a"),
        "to the start": lambda: builder.add_edge("a", e.START),
        "twice": lambda: builder.add_node("a", adds("a")),
        "join of unknown": lambda: builder.add_edge(["x", "y"], "a"),
        "map to unknown": lambda: builder.add_conditional_edges("a", str, {"x": "nope"}),
        "router of unknown": lambda: builder.add_conditional_edges("zz", str, ["a"]),
    }
    if part != "no entry":
        builder.add_edge(e.START, "a")
    actions.get(part, lambda: None)()
    stop = ["nope"] if part == "breakpoint" else None
    saver = 5 if part == "saver" else None
    return builder.compile(checkpointer=saver, interrupt_before=stop)


@pytest.mark.parametrize(
    "part",
    [
        "reserved",
        "separator",
        "no entry",
        "unknown target",
        "unknown source",
        "from the end",
        "to the start",
        "twice",
        "join of unknown",
        "map to unknown",
        "router of unknown",
        "breakpoint",
        "saver",
    ],
)
def test_bad_graphs_are_refused_alike(part: str) -> None:
    """The class of the error is the same, and it says no less: the name in question."""

    def refusal(root: str) -> BaseException:
        with pytest.raises((ValueError, TypeError)) as caught:
            bad_graph(Engine(root), part)
        return caught.value

    theirs, ours = refusal("langgraph"), refusal("ckpt_viz")
    assert isinstance(ours, type(theirs))
    for name in ("nope", "'a'", "`a`", "zz", "__start__", "|"):
        if name in str(theirs):
            assert name.strip("'`") in str(ours)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program(name: str) -> None:
    """Both engines log the same."""
    compare(PROGRAMS[name])


def test_interrupt_fields() -> None:
    """An interrupt's dictionary form in events has the same keys (the suite ignores one)."""

    def keys(root: str) -> Any:
        e = Engine(root)
        g = e.build(State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")])
        events = g.stream({"foo": ""}, C, stream_mode="tasks")
        return [sorted(i) for event in events for i in event.get("interrupts", [])]

    assert keys("ckpt_viz") == keys("langgraph")


def test_a_log_of_itself_is_stable() -> None:
    """What the normaliser leaves is the same in two runs of one engine."""
    for name in ("parallel_interrupts_and_a_map", "sends", "failing_sibling_then_resume"):
        assert record("langgraph", PROGRAMS[name]) == record("langgraph", PROGRAMS[name])
