"""What nested graphs take from around them, and graphs of other front doors inside each other."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import TypedDict

from ..basics import C, State, adds, nested, says
from ..harness import Engine, Recorder
from .nested_interrupts import asking, asks
from .subgraphs import calling, chain, two, under


@dataclass
class Context:
    who: str = "nobody"


@dataclass
class Typed:
    foo: str
    bar: Annotated[list[Any], operator.add]


def surroundings(e: Engine) -> Any:
    """A node that tells what it can reach."""

    def node(state: Any, runtime) -> dict[str, Any]:
        store = runtime.store and [i.value for i in runtime.store.search(("ns",))]
        return {"bar": [runtime.context, store]}

    node.__annotations__["runtime"] = e.Runtime
    return node


@nested
def contexts_and_stores(e: Engine, rec: Recorder) -> None:
    for own in (False, True):
        for given in (None, {"who": "me"}, Context("dataclass")):
            outer, inner = e.InMemoryStore(), e.InMemoryStore()
            outer.put(("ns",), "k", {"store": "outer"})
            inner.put(("ns",), "k", {"store": "inner"})
            b = e.StateGraph(State, context_schema=Context)
            b.add_node("look", surroundings(e)).add_edge(e.START, "look")
            sub = b.compile(store=inner if own else None)

            def call(state: Any, sub: Any = sub) -> dict[str, Any]:
                return {"bar": sub.invoke({"bar": []}, context=Context("call"))["bar"]}

            b = e.StateGraph(State, context_schema=Context)
            b.add_node("sub", sub).add_node("call", call).add_node("look", surroundings(e))
            b.add_edge(e.START, "sub").add_edge("sub", "call").add_edge("call", "look")
            for store in (outer, None):
                g = b.compile(checkpointer=e.MemorySaver(), store=store)
                rec.invoke(g, {"foo": "i"}, C, context=given)


@nested
def breaks_of_the_call(e: Engine, rec: Recorder) -> None:
    g = under(e, two(e))
    rec.nested(g, {"foo": "i"}, C, interrupt_before=["sub"])
    rec.nested(g, None, C, interrupt_before="*")
    rec.nested(g, None, C, interrupt_after="*")
    rec.look_inside(g, C)


@nested
def output_keys_and_modes(e: Engine, rec: Recorder) -> None:
    g = under(e, two(e))
    for options in (
        {"output_keys": ["foo"]},
        {"output_keys": "foo", "stream_mode": ["values", "updates"]},
        {"stream_mode": "values"},
        {"stream_mode": "tasks"},
        {"stream_mode": "checkpoints"},
        {"stream_mode": ["debug"]},
        {"stream_mode": ["values", "updates"], "version": "v2"},
        {"stream_mode": "values", "version": "v2"},
    ):
        for inside in (False, True):
            rec.nested(g, {"foo": "i"}, C, subgraphs=inside, **options)


@nested
def typed_states_inside(e: Engine, rec: Recorder) -> None:
    b = e.StateGraph(Typed)
    b.add_node("t", lambda s: {"foo": s.foo + "!", "bar": [type(s).__name__]}).add_edge(
        e.START, "t"
    )
    sub = b.compile()
    for schema in (State, Typed):
        b = e.StateGraph(schema)
        b.add_node("a", adds("a")).add_node("sub", sub).add_node("z", says("z"))
        b.add_edge(e.START, "a").add_edge("a", "sub").add_edge("sub", "z")
        g = b.compile(checkpointer=e.MemorySaver())
        for version in ("v1", "v2"):
            rec.nested(g, {"foo": "i", "bar": []}, C, stream_mode=["values"], version=version)
        rec.look_inside(g, C)


@nested
def entrypoints_and_graphs(e: Engine, rec: Recorder) -> None:
    sub = asking(e)

    @e.task
    def step(n: int) -> int:
        return n + 1

    @e.entrypoint()
    def inner(n: int) -> Any:
        return [step(n).result(), e.interrupt("inner")]

    @e.entrypoint(checkpointer=e.MemorySaver())
    def outer(n: int) -> Any:
        first = inner.invoke(n)
        found = sub.invoke({"foo": "f", "bar": []})["bar"]
        return [first, found, e.interrupt("outer")]

    rec.nested(outer, 1, C)
    for number in range(3):
        rec.nested(outer, e.Command(resume=number), C)
    rec.look_inside(outer, C)

    g = under(e, lambda s: {"bar": inner.invoke(5)})
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)
    rec.nested(g, e.Command(resume="r"), C)
    rec.look_inside(g, C)


@nested
def graphs_called_in_tasks(e: Engine, rec: Recorder) -> None:
    sub = asking(e)

    @e.task
    def step(n: int) -> Any:
        return [sub.invoke({"foo": "f", "bar": [n]})["bar"], sub.invoke({"bar": []})["bar"]]

    @e.entrypoint(checkpointer=e.MemorySaver())
    def outer(n: int) -> Any:
        return [step(n).result(), step(n + 1).result()]

    rec.nested(outer, 1, C)
    for number in range(4):
        rec.nested(outer, e.Command(resume=number), C)
        rec.look_inside(outer, C)


@nested
def retries_around_graphs(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        failed: list[int] = []

        def fails(state: Any, failed: list[int] = failed) -> dict[str, Any]:
            failed.append(1)
            if len(failed) % 3:
                raise ConnectionError("try again")
            return {"bar": ["worked"]}

        policy = e.RetryPolicy(initial_interval=0.01, jitter=False)
        sub = chain(e, {"x1": adds("x1"), "fails": fails}, memory)
        nodes = {"a": adds("a"), "sub": (sub, {"retry_policy": policy}), "z": adds("z")}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "sub"), ("sub", "z")])
        rec.nested(g, {"foo": "i"}, C)
        rec.look_inside(g, C)


@nested
def chunks_as_they_come(e: Engine, rec: Recorder) -> None:
    times: list[float] = []

    def slow(state: Any) -> dict[str, Any]:
        time.sleep(0.25)
        return {"bar": ["slow"]}

    g = under(e, chain(e, {"x1": adds("x1"), "slow": slow}))
    begin = time.monotonic()
    for ns, _ in rec.stream(g, {"foo": "i"}, C, stream_mode="updates", subgraphs=True):
        times.append(time.monotonic() - begin)
        rec.note("chunk", (ns, times[-1] > 0.2))


@nested
def sends_with_memory(e: Engine, rec: Recorder) -> None:
    sub = chain(e, {"ask": asks(e, "q")}, True)

    def spread(state: Any) -> list[Any]:
        return [e.Send("sub", {"foo": "s", "bar": []})]

    nodes = {"a": adds("a"), "sub": sub, "z": adds("z")}
    g = e.build(State, nodes, [(e.START, "a"), ("sub", "z")], [("a", spread, ["sub"])])
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)
    rec.nested(g, e.Command(resume="r"), C)
    rec.nested(g, {"foo": "j"}, C)
    rec.nested(g, e.Command(resume="r2"), C)
    rec.look_inside(g, C)


@nested
def managed_values_inside(e: Engine, rec: Recorder) -> None:
    class Counting(TypedDict, total=False):
        bar: Annotated[list[Any], operator.add]
        left: e.RemainingSteps  # type: ignore[name-defined]

    Counting.__annotations__["left"] = e.RemainingSteps
    b = e.StateGraph(Counting)
    b.add_node("n", lambda s: {"bar": [s["left"]]}).add_node("m", lambda s: {"bar": [s["left"]]})
    b.add_edge(e.START, "n").add_edge("n", "m")
    g = under(e, b.compile())
    rec.nested(g, {"foo": "i"}, {**C, "recursion_limit": 12})


@nested
def a_graph_that_calls_itself(e: Engine, rec: Recorder) -> None:
    held: list[Any] = []

    def node(state: Any) -> dict[str, Any]:
        depth = len(state["bar"])
        if depth < 4:
            return {"bar": held[0].invoke({"foo": "deeper", "bar": [*state["bar"], depth]})["bar"]}
        return {"bar": ["end"]}

    held.append(chain(e, {"node": node}, True))
    sub = chain(e, {"node": node})
    held[0] = sub
    g = under(e, sub)
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)


@nested
def tags_that_hide(e: Engine, rec: Recorder) -> None:
    sub = two(e)
    g = under(e, sub.with_config(tags=["langsmith:hidden"]))
    rec.nested(g, {"foo": "i"}, C)
    g = under(e, calling(sub.with_config(tags=["langsmith:hidden"])))
    rec.nested(g, {"foo": "i"}, {**C, "tags": ["seen"]})
