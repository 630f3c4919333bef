"""Nodes with policies: retries, error handlers, the node cache, managed values, and draining."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, TypedDict

from ..basics import C, State, adds, fails, program, says
from ..harness import Engine, Recorder


def quick(e: Engine, **more: Any) -> Any:
    """A retry policy that loses no time."""
    return e.RetryPolicy(initial_interval=0.001, jitter=False, **more)


def failing(times: int, error: type[Exception] = ConnectionError, then: str = "done") -> Any:
    """A node that fails some times, noting each attempt in the custom stream's stead: its state."""
    runs: list[int] = []

    def node(state: Any) -> dict[str, Any]:
        runs.append(1)
        if len(runs) <= times:
            raise error(f"attempt {len(runs)}")
        return {"bar": [f"{then} after {len(runs)}"]}

    return node


@program
def retries(e: Engine, rec: Recorder) -> None:
    classes = e.RetryPolicy(initial_interval=0.001, jitter=False, retry_on=(KeyError, ValueError))
    cases = [
        (failing(2), quick(e)),
        (failing(3), quick(e)),
        (failing(1, ValueError), quick(e)),
        (failing(1, ValueError), classes),
        (failing(1, ValueError), quick(e, retry_on=lambda error: "attempt" in str(error))),
        (failing(3, KeyError), [quick(e, retry_on=ValueError), quick(e, retry_on=KeyError)]),
        (failing(3), quick(e, max_attempts=1)),
        (failing(1), quick(e, retry_on=5)),
    ]
    for i, (node, policy) in enumerate(cases):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": (node, {"retry_policy": policy}), "b": adds("b")}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)
        rec.run(g, None, config)


@program
def a_router_that_fails_is_retried_with_its_node(e: Engine, rec: Recorder) -> None:
    ask = failing(1)
    nodes = {"a": (adds("a"), {"retry_policy": quick(e)}), "b": adds("b")}
    g = e.build(State, nodes, [(e.START, "a")], [("a", lambda s: ask(s) and "b", ["b"])])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def a_router_that_fails_has_a_handler(e: Engine, rec: Recorder) -> None:
    nodes = {"a": (adds("a"), {"error_handler": handler_of(e)}), "b": adds("b")}
    g = e.build(State, nodes, [(e.START, "a")], [("a", lambda s: s["none"], ["b"])])
    rec.invoke(g, {"foo": "x"}, C)


@program
def questions_and_retries(e: Engine, rec: Recorder) -> None:
    fail = failing(2)

    def node(state: Any) -> dict[str, Any]:
        answer = e.interrupt("q")
        fail(state)
        return {"bar": [answer]}

    g = e.build(State, {"a": (node, {"retry_policy": quick(e)})}, [(e.START, "a")])
    rec.run(g, {"foo": "x"}, C)
    rec.run(g, e.Command(resume="r"), C)
    rec.look(g, C)


def handler_of(e: Engine, *, goto: Any = None, fail: bool = False) -> Any:
    """An error handler that tells what it was given."""

    def handle(state: Any, error: e.NodeError) -> Any:  # type: ignore[name-defined]
        if fail:
            raise KeyError("the handler too")
        update = {"bar": [f"{error.node}: {error.error!r}"]}
        return update if goto is None else e.Command(update=update, goto=goto)

    handle.__annotations__["error"] = e.NodeError
    return handle


@program
def handlers(e: Engine, rec: Recorder) -> None:
    for i, handle in enumerate(
        (handler_of(e), handler_of(e, goto="c"), handler_of(e, fail=True), lambda s: None)
    ):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {
            "a": (fails(), {"error_handler": handle}),
            "b": adds("b"),
            "c": adds("c"),
        }
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)
        rec.run(g, None, config)
        rec.look(g, config)


@program
def a_handler_beside_a_sibling(e: Engine, rec: Recorder) -> None:
    for i, sibling in enumerate((adds("b"), fails())):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {
            "a": (failing(1, ValueError), {"error_handler": handler_of(e)}),
            "b": sibling,
            "c": adds("c"),
        }
        g = e.build(State, nodes, [(e.START, "a"), (e.START, "b"), (["a", "b"], "c")])
        rec.invoke(g, {"foo": "x"}, config)
        rec.call("values", lambda g=g, c=config: g.get_state(c).values)


@program
def a_handler_that_asks(e: Engine, rec: Recorder) -> None:
    def handle(state: Any) -> Any:
        return {"bar": [e.interrupt("what now?")]}

    nodes = {"a": (fails(), {"error_handler": handle}), "b": adds("b")}
    g = e.build(State, nodes, [(e.START, "a"), ("a", "b")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)
    rec.run(g, e.Command(resume="go on"), C)
    rec.look(g, C)


@program
def defaults_for_all_nodes(e: Engine, rec: Recorder) -> None:
    builder = e.StateGraph(State)
    builder.set_node_defaults(error_handler=handler_of(e), retry_policy=quick(e))
    builder.add_node("a", failing(2))
    builder.add_node("b", fails(), error_handler=handler_of(e, goto="c"))
    builder.add_node("c", failing(3), retry_policy=quick(e, max_attempts=2))
    builder.add_edge(e.START, "a").add_edge("a", "b")
    g = builder.compile(checkpointer=e.MemorySaver())
    rec.note("nodes", sorted(g.nodes))
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def handlers_of_sends(e: Engine, rec: Recorder) -> None:
    def node(arg: Any) -> Any:
        if arg["foo"] == 1:
            raise ValueError("one")
        return {"bar": [arg["foo"]]}

    nodes = {"t": (node, {"error_handler": lambda arg: {"bar": ["handled", arg["foo"]]}})}
    sends = lambda s: [e.Send("t", {"foo": i}) for i in range(3)]  # noqa: E731
    g = e.build(State, nodes, [], [(e.START, sends, ["t"])])
    rec.invoke(g, {"foo": "x"}, C)
    rec.call("values", lambda: g.get_state(C).values)


@program
def cached_results(e: Engine, rec: Recorder) -> None:
    runs: list[str] = []

    def node(state: Any) -> Any:
        runs.append(state["foo"])
        return {"bar": ["a"]}

    policies = [
        e.CachePolicy(),
        e.CachePolicy(key_func=lambda state: "one for all"),
        e.CachePolicy(ttl=0),
    ]
    for i, policy in enumerate(policies):
        nodes = {"a": (node, {"cache_policy": policy}), "b": adds("b")}
        edges = [(e.START, "a"), ("a", "b")]
        g = e.build(State, nodes, edges, cache=e.InMemoryCache())
        for k, foo in enumerate("xxy"):
            config = {"configurable": {"thread_id": f"{i}{k}"}}
            rec.run(g, {"foo": foo, "bar": []}, config)
            rec.look(g, config)
        g.clear_cache(["b", "unknown"])
        rec.invoke(g, {"foo": "x", "bar": []}, {"configurable": {"thread_id": f"{i}8"}})
        g.clear_cache()
        rec.invoke(g, {"foo": "x", "bar": []}, {"configurable": {"thread_id": f"{i}9"}})
        rec.note("runs", list(runs))
    rec.call("no cache", e.build(State, {"a": node}, [(e.START, "a")]).clear_cache)


@program
def cached_beside_others(e: Engine, rec: Recorder) -> None:
    asked: list[int] = []

    def ask(state: Any) -> Any:
        asked.append(1)
        return {"bar": [e.interrupt("q")]}

    nodes = {
        "a": (ask, {"cache_policy": e.CachePolicy()}),
        "b": (lambda s: None, {"cache_policy": e.CachePolicy()}),
    }
    g = e.build(State, nodes, [(e.START, "a"), ("a", "b")], cache=e.InMemoryCache())
    rec.run(g, {"foo": "x", "bar": []}, C)
    rec.run(g, e.Command(resume="r"), C)
    other = {"configurable": {"thread_id": "other"}}
    rec.run(g, {"foo": "x", "bar": []}, other)
    rec.run(g, {"foo": "x", "bar": []}, other, interrupt_before=["b"])
    rec.note("asked", len(asked))


@program
def steps_left(e: Engine, rec: Recorder) -> None:
    hints = {"foo": Any, "left": e.RemainingSteps, "last": e.IsLastStep}
    schema = TypedDict("schema", hints)  # type: ignore[operator]
    seen: list[Any] = []

    def node(state: Any) -> Any:
        seen.append(dict(state))
        return {"foo": state["foo"] + 1}

    def router(state: Any) -> str:
        seen.append(dict(state))
        return str(e.END if state["left"] <= 2 else "a")

    g = e.build(schema, {"a": node}, [(e.START, "a")], [("a", router)])
    rec.invoke(g, {"foo": 0, "left": 7}, {**C, "recursion_limit": 5})
    rec.note("seen", seen)
    rec.look(g, C)
    rec.invoke(g, {"foo": 0}, {"configurable": {"thread_id": "2"}, "recursion_limit": 1})


@program
def drained(e: Engine, rec: Recorder) -> None:
    for i, when in enumerate(("before", "a", "b", "c")):
        config = {"configurable": {"thread_id": str(i)}}
        control = e.RunControl()
        if when == "before":
            control.request_drain("early")

        def node(state: Any, name: str, when: str = when, control: Any = control) -> Any:
            if name == when:
                control.request_drain(f"in {name}")
            return {"bar": [name]}

        nodes = {n: lambda s, n=n, node=node: node(s, n) for n in "abc"}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c")])
        rec.run(g, {"foo": "x"}, config, control=control)
        rec.look(g, config)
        rec.run(g, None, config, control=control)
        rec.run(g, None, config)
        rec.look(g, config)


@program
def what_a_node_knows_of_its_attempt(e: Engine, rec: Recorder) -> None:
    fail = failing(2)

    def node(state: Any, runtime: e.Runtime) -> Any:  # type: ignore[name-defined]
        info = runtime.execution_info
        seen = [info.node_attempt, info.thread_id, info.task_id, info.checkpoint_id]
        rec.note("info", [*seen, info.checkpoint_ns, info.run_id, runtime.drain_requested])
        return fail(state)

    node.__annotations__["runtime"] = e.Runtime
    g = e.build(State, {"a": (node, {"retry_policy": quick(e)}), "b": says("b")}, [(e.START, "a")])
    rec.run(g, {"foo": "x"}, C)
    rec.look(g, C)


@program
def a_saver_that_fails(e: Engine, rec: Recorder) -> None:
    class Bad(e.MemorySaver):  # type: ignore[name-defined,misc]
        def put(self, config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
            if metadata.get("step") == 1:
                raise RuntimeError("the disk is full")
            return super().put(config, checkpoint, metadata, versions)

    nodes = {name: adds(name) for name in "abc"}
    for durability in ("sync", "async", "exit"):
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c")], saver=Bad())
        rec.call("invoke", g.invoke, {"foo": "x"}, C, durability=durability)
        rec.call("next", lambda g=g: g.get_state(C).next)
        rec.call("values", lambda g=g: g.get_state(C).values)


@program
def what_a_failure_leaves(e: Engine, rec: Recorder) -> None:
    for durability in ("sync", "async", "exit"):
        nodes = {"a": adds("a"), "b": fails(), "c": adds("c")}
        g = e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("a", "c")])
        rec.call("invoke", g.invoke, {"foo": "x"}, C, durability=durability)
        rec.look(g, C)
        rec.invoke(g, None, C)
        rec.look(g, C)


@program
def timeouts(e: Engine, rec: Recorder) -> None:
    """Async nodes only: called without awaiting, they are refused."""

    def sleeping(times: int) -> Any:
        runs: list[int] = []

        async def node(state: Any) -> Any:
            runs.append(1)
            await asyncio.sleep(3 if len(runs) <= times else 0)
            return {"bar": [len(runs)]}

        return node

    async def other(state: Any) -> Any:
        return {"bar": ["b"]}

    limits = [0.1, e.TimeoutPolicy(idle_timeout=0.1), e.TimeoutPolicy(run_timeout=0.1)]
    options = [{}, {"retry_policy": quick(e)}, {"error_handler": handler_of(e)}]
    for i, (limit, more) in enumerate(itertools.product(limits, options)):
        config = {"configurable": {"thread_id": str(i)}}
        nodes = {"a": (sleeping(1), {"timeout": limit, **more}), "b": other, "c": adds("c")}
        edges: list[Any] = [(e.START, "a"), (e.START, "b"), (["a", "b"], "c")]
        if rec.colour == "sync":  # else two nodes are refused in one step, which is a race
            edges = [(e.START, "a"), ("a", "c")]
        g = e.build(State, nodes, edges)
        rec.run(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def nodes_that_cancel_themselves(e: Engine, rec: Recorder) -> None:
    def node(state: Any) -> Any:
        raise asyncio.CancelledError("mine")

    async def anode(state: Any) -> Any:
        await asyncio.sleep(0.01)
        raise asyncio.CancelledError("mine")

    for i, (one, more) in enumerate(
        itertools.product((node, anode), ({}, {"error_handler": handler_of(e)}))
    ):
        config = {"configurable": {"thread_id": str(i)}}
        g = e.build(State, {"a": (one, more), "b": adds("b")}, [(e.START, "a"), ("a", "b")])
        rec.invoke(g, {"foo": "x"}, config)
        rec.look(g, config)


@program
def policies_inside_nested_graphs(e: Engine, rec: Recorder) -> None:
    quickly = {"retry_policy": quick(e)}
    inner = {
        "one": (failing(1), quickly),
        "two": (fails(wait=0), {"error_handler": handler_of(e)}),
        "three": adds("three"),
    }
    edges = [(e.START, "one"), ("one", "two"), ("one", "three")]
    sub = e.build(State, inner, edges, saver=None)
    broken = e.build(State, {"deep": fails(wait=0)}, [(e.START, "deep")], saver=None)
    nodes = {
        "sub": sub,
        "broken": (broken, {"error_handler": handler_of(e), **quickly}),
        "last": adds("last"),
    }
    g = e.build(State, nodes, [(e.START, "sub"), ("sub", "broken"), ("sub", "last")])
    rec.invoke(g, {"foo": "x"}, C)
    rec.look(g, C)
