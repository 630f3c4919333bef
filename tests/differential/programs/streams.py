"""Streams: modes and their forms, what each shows, and keywords. In both colours."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from typing_extensions import TypedDict

from ..basics import C, State, adds, linear_graph, program
from ..harness import MODES, Engine, Recorder

SINGLE = [*MODES, "custom", "messages"]


def shown(rec: Recorder, make: Any, *values: Any, config: Any = C, **options: Any) -> None:
    """Log what streams of the values show on one thread, sync and then async on a new graph."""
    options.setdefault("durability", None if config is not C else "sync")

    def sync(graph: Any) -> None:
        for value in values:
            chunks: list[Any] = []
            ended: Any = None
            try:
                for chunk in graph.stream(value, config, **options):
                    chunks.append(chunk)
            except Exception as error:  # noqa: BLE001 - every error is part of the comparison
                ended = error
            rec.note("sync", [chunks, ended])

    async def awaited(graph: Any) -> None:
        for value in values:
            chunks: list[Any] = []
            ended: Any = None
            try:
                async for chunk in graph.astream(value, config, **options):
                    chunks.append(chunk)
            except Exception as error:  # noqa: BLE001 - every error is part of the comparison
                ended = error
            rec.note("async", [chunks, ended])

    sync(make())
    asyncio.run(awaited(make()))


@program
def each_mode_alone(e: Engine, rec: Recorder) -> None:
    for mode in SINGLE:
        shown(rec, lambda: linear_graph(e), {"foo": ""}, stream_mode=mode)


@program
def forms_of_the_mode(e: Engine, rec: Recorder) -> None:
    for mode in (None, ["updates"], ("updates",), ["values", "updates"], [], {"values"}):
        for subgraphs in (False, True):
            shown(rec, lambda: linear_graph(e), {"foo": ""}, stream_mode=mode, subgraphs=subgraphs)


@program
def the_graph_s_own_mode(e: Engine, rec: Recorder) -> None:
    def make(mode: Any) -> Any:
        g = linear_graph(e)
        g.stream_mode = mode
        return g

    for mode in ("values", ["updates", "values"]):
        shown(rec, lambda mode=mode: make(mode), {"foo": ""})
        shown(rec, lambda mode=mode: make(mode), {"foo": ""}, stream_mode="updates")


@program
def typed_parts(e: Engine, rec: Recorder) -> None:
    for mode in (*SINGLE, ["values", "updates"], None):
        shown(rec, lambda: linear_graph(e), {"foo": ""}, stream_mode=mode, version="v2")
    shown(rec, lambda: linear_graph(e), {"foo": ""}, stream_mode=MODES, version="v2")
    shown(rec, lambda: linear_graph(e), {"foo": ""}, version="v2", subgraphs=True)


def asking_graph(e: Engine, **options: Any) -> Any:
    def ask(state: Any) -> dict[str, Any]:
        return {"bar": [e.interrupt({"question": 1}), e.interrupt("and?")]}

    nodes = {"a": adds("a"), "ask": ask, "z": adds("z")}
    return e.build(State, nodes, [(e.START, "a"), ("a", "ask"), ("ask", "z")], **options)


@program
def questions(e: Engine, rec: Recorder) -> None:
    turns = ({"foo": "x"}, e.Command(resume="one"), e.Command(resume="two"))
    for mode in (*SINGLE, MODES):
        for version in ("v1", "v2"):
            shown(rec, lambda: asking_graph(e), *turns, stream_mode=mode, version=version)


@program
def questions_side_by_side(e: Engine, rec: Recorder) -> None:
    def ask(name: str) -> Any:
        async def waits(state: Any) -> dict[str, Any]:
            return {"bar": [e.interrupt(name)]}

        def asks(state: Any) -> dict[str, Any]:
            return {"bar": [e.interrupt(name)]}

        return asks

    def make() -> Any:
        nodes = {"a": ask("a"), "z": adds("z")}
        edges = [(e.START, "a"), (e.START, "z")]
        return e.build(State, nodes, edges)

    for mode in ("values", ["values"]):
        for version in ("v1", "v2"):
            turns = ({"foo": "x"}, e.Command(resume="r"))
            shown(rec, make, *turns, stream_mode=mode, version=version)


@program
def break_points(e: Engine, rec: Recorder) -> None:
    for where in (
        {"interrupt_before": ["b"]},
        {"interrupt_after": ["a"]},
        {"interrupt_before": "*"},
    ):
        for mode in ("values", "updates", "tasks", MODES):
            for version in ("v1", "v2"):
                shown(
                    rec,
                    lambda: linear_graph(e),
                    {"foo": "x"},
                    None,
                    None,
                    stream_mode=mode,
                    version=version,
                    **where,
                )


@program
def forms_of_updates(e: Engine, rec: Recorder) -> None:
    outputs: list[Any] = [
        None,
        {},
        {"zz": 1},
        {"foo": "x", "zz": 1},
        e.Command(update={"foo": "c"}),
        e.Command(update=[("foo", "c"), ("bar", ["t"])]),
        e.Command(update=[("bar", ["1"]), ("bar", ["2"])]),
        e.Command(goto="b"),
        e.Command(),
        [e.Command(update={"bar": ["1"]}), e.Command(update={"bar": ["2"]})],
        [e.Command(update={"bar": ["1"]}), {"foo": "d"}],
        [e.Command(update={"bar": ["1"]}), {"bar": ["2"]}, {"foo": "3"}],
        e.Command(update={"bar": ["1"]}, goto=e.Send("b", {"foo": "s"})),
    ]
    for output in outputs:

        def make(output: Any = output) -> Any:
            nodes = {"a": lambda s: output, "b": adds("b")}
            return e.build(State, nodes, [(e.START, "a")])

        for mode in ("updates", "tasks", "values", ["debug"]):
            shown(rec, make, {"foo": "x"}, stream_mode=mode)


@program
def sends_that_run_twice(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        nodes = {
            "a": lambda s: e.Command(goto=[e.Send("b", {"foo": n}) for n in "12"]),
            "b": lambda s: {"bar": [s["foo"]]},
        }
        return e.build(State, nodes, [(e.START, "a")])

    for mode in ("values", "updates", ["values", "updates"]):
        shown(rec, make, {"foo": "x"}, stream_mode=mode)


class Out(TypedDict):
    bar: list[str]


@program
def shown_keys(e: Engine, rec: Recorder) -> None:
    for keys in ("foo", "bar", ["foo"], ["bar", "foo"], ["nope"]):
        for mode in ("values", "updates", "tasks", ["checkpoints"]):
            shown(rec, lambda: asking_graph(e), {"foo": "x"}, stream_mode=mode, output_keys=keys)
        for version in ("v1", "v2"):
            options = {"output_keys": keys, "version": version}
            rec.invoke(asking_graph(e), {"foo": "x"}, C, **options)
            rec.invoke(linear_graph(e), {"foo": "x"}, C, **options)


@program
def keys_of_the_output(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        builder = e.StateGraph(State, output_schema=Out)
        builder.add_node("a", adds("a"))
        builder.add_edge(e.START, "a")
        return builder.compile(checkpointer=e.MemorySaver())

    for mode in (*SINGLE, MODES):
        shown(rec, make, {"foo": "x"}, stream_mode=mode)
    for mode in ("values", "updates", ["values", "updates"]):
        rec.invoke(make(), {"foo": "x"}, C, stream_mode=mode)


@program
def values_that_change_nothing(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        nodes = {"a": lambda s: None, "b": lambda s: {}, "c": lambda s: {"foo": s["foo"]}}
        return e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c")])

    for value in ({"foo": "x"}, {}, {"bar": []}, {"foo": None}):
        for mode in ("values", "updates", ["values", "updates"]):
            shown(rec, make, value, value, stream_mode=mode)


def failing_graph(e: Engine) -> Any:
    def fails(state: Any) -> None:
        raise ValueError("no luck")

    nodes = {"a": adds("a"), "b": fails, "c": adds("c")}
    return e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c")])


@program
def failures(e: Engine, rec: Recorder) -> None:
    for mode in (*SINGLE, MODES):
        for version in ("v1", "v2"):
            shown(
                rec,
                lambda: failing_graph(e),
                {"foo": "x"},
                None,
                stream_mode=mode,
                version=version,
            )


@program
def too_many_steps(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        return e.build(State, {"a": adds("a")}, [(e.START, "a"), ("a", "a")])

    config = {**C, "recursion_limit": 3}
    for mode in ("values", "updates", "tasks", MODES):
        shown(rec, make, {"foo": "x"}, None, config=config, stream_mode=mode, durability="sync")


@program
def streams_saved_at_the_exit(e: Engine, rec: Recorder) -> None:
    for make in (linear_graph, asking_graph, failing_graph):
        for mode in (*SINGLE, MODES):
            shown(
                rec,
                lambda make=make: make(e),
                {"foo": "x"},
                stream_mode=mode,
                durability="exit",
            )


@program
def streams_without_a_saver(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        edges = [(e.START, "a"), ("a", "b")]
        return e.build(State, {"a": adds("a"), "b": adds("b")}, edges, saver=None)

    for mode in (*SINGLE, MODES):
        shown(rec, make, {"foo": "x"}, config={}, stream_mode=mode)
        shown(rec, make, {"foo": "x"}, config=None, stream_mode=mode, version="v2")


@program
def tags_and_metadata(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        nodes = {"a": (adds("a"), {"metadata": {"mine": 1, "both": "node"}}), "b": adds("b")}
        return e.build(State, nodes, [(e.START, "a"), ("a", "b")])

    for more in (
        {"tags": ["t"]},
        {"metadata": {"both": "run", "n": 2}},
        {"tags": ["t"], "metadata": {"x": [1]}},
        {"tags": ["langsmith:hidden"]},
        {"run_name": "r"},
    ):
        shown(rec, make, {"foo": "x"}, config={**C, **more}, stream_mode=MODES, durability="sync")


@dataclass
class Point:
    foo: str = ""
    bar: Any = None


class Model(BaseModel):
    foo: str = ""
    bar: list[str] = []


@program
def instances_in_version_2(e: Engine, rec: Recorder) -> None:
    def ask(state: Any) -> dict[str, Any]:
        return {"foo": e.interrupt(state.foo)}

    for schema in (Point, Model):

        def make(schema: Any = schema) -> Any:
            nodes = {"a": lambda s: {"foo": s.foo + "a"}, "b": ask}
            return e.build(schema, nodes, [(e.START, "a"), ("a", "b")])

        for version in ("v1", "v2"):
            for mode in (*SINGLE, MODES):
                turns = ({"foo": "x"}, e.Command(resume="r"))
                shown(rec, make, *turns, stream_mode=mode, version=version)
            graph = make()
            rec.invoke(graph, {"foo": "x"}, C, version=version)
            rec.invoke(graph, e.Command(resume="r"), C, version=version)


@program
def invoke_in_every_mode(e: Engine, rec: Recorder) -> None:
    for make in (linear_graph, asking_graph, failing_graph):
        for mode in (*SINGLE, MODES, None, ["values"]):
            for version in ("v1", "v2"):
                options = {"stream_mode": mode, "version": version, "durability": "sync"}
                rec.call("invoke", make(e).invoke, {"foo": "x"}, C, **options)
                rec.call("ainvoke", _ainvoke, make(e), {"foo": "x"}, C, **options)


def _ainvoke(graph: Any, *args: Any, **options: Any) -> Any:
    async def run() -> Any:
        return await graph.ainvoke(*args, **options)

    return asyncio.run(run())


@program
def output_like_a_dictionary(e: Engine, rec: Recorder) -> None:
    found = asking_graph(e).invoke({"foo": "x"}, C, version="v2")
    rec.note("like a dictionary", [found["foo"], found["__interrupt__"], "bar" in found])
    rec.note("fields", [found.value, found.interrupts, "nope" in found, "__interrupt__" in found])
    rec.call("missing", lambda: found["nope"])
    done = linear_graph(e).invoke({"foo": "x"}, C, version="v2")
    rec.note("no questions", ["__interrupt__" in done, done.interrupts, repr(done)])
    rec.call("missing", lambda: done["__interrupt__"])
    rec.note("equal", [done == e.GraphOutput(done.value), done == done.value])


@program
def batches(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        return e.build(State, {"a": adds("a")}, [(e.START, "a")], saver=None)

    inputs = [{"foo": "1"}, {"foo": "2"}]
    for options in ({}, {"stream_mode": "updates"}, {"version": "v2"}, {"output_keys": "foo"}):
        rec.call("batch", make().batch, inputs, **options)
        rec.call("abatch", lambda options=options: asyncio.run(_abatch(make(), inputs, options)))
    rec.call("two configs", make().batch, inputs, [{"tags": ["1"]}, {"tags": ["2"]}])
    rec.call("one config too few", make().batch, inputs, [{"tags": ["1"]}])
    rec.call("none", make().batch, [])


async def _abatch(graph: Any, inputs: Any, options: Any) -> Any:
    return await graph.abatch(inputs, **options)


@program
def printed(e: Engine, rec: Recorder) -> None:
    for options in (
        {"print_mode": "updates"},
        {"print_mode": ["values", "updates"], "stream_mode": "values"},
        {"print_mode": "custom"},
        {"print_mode": "values", "version": "v2"},
        {"print_mode": "values", "subgraphs": True},
        {"debug": True},
    ):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            shown(rec, lambda: linear_graph(e), {"foo": "x"}, **options)
            options.pop("subgraphs", None)
            options.pop("stream_mode", None)
            rec.invoke(linear_graph(e), {"foo": "x"}, C, **options)
        rec.note("printed", out.getvalue())


@program
def keywords_that_mean_nothing(e: Engine, rec: Recorder) -> None:
    shown(rec, lambda: linear_graph(e), {"foo": "x"}, nonsense=1)
    rec.invoke(linear_graph(e), {"foo": "x"}, C, nonsense=1)
    rec.call("both", linear_graph(e).invoke, {}, C, durability="sync", checkpoint_during=True)


@program
def typed_parts_of_a_workflow(e: Engine, rec: Recorder) -> None:
    func = importlib.import_module(f"{e.root}.func")

    def make() -> Any:
        @func.task
        def one_more(n: int) -> int:
            return n + 1

        @func.entrypoint(checkpointer=e.MemorySaver())
        def flow(n: int) -> Any:
            return {"more": one_more(n).result(), "answer": e.interrupt("q")}

        return flow

    for version in ("v1", "v2"):
        graph = make()
        rec.invoke(graph, 1, C, version=version)
        rec.invoke(graph, e.Command(resume="r"), C, version=version)
        for mode in ("values", "updates", "tasks", "checkpoints", None):
            turns = (1, e.Command(resume="r"))
            shown(rec, make, *turns, stream_mode=mode, version=version)
