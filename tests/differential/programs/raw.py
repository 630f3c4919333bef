"""The engine without a state graph: nodes that subscribe to channels by hand."""

from __future__ import annotations

import asyncio
import operator
from typing import Any

from ..basics import C, program
from ..harness import Engine, Recorder


def inc(x: int) -> int:
    return x + 1


def copied(d: Any) -> Any:
    return {**d}


def app(e: Engine, nodes: dict[str, Any], channels: dict[str, Any], **options: Any) -> Any:
    """A graph from ``input`` to ``output``, with a saver unless one is given."""
    options.setdefault("checkpointer", e.MemorySaver())
    options.setdefault("input_channels", "input")
    options.setdefault("output_channels", "output")
    return e.Pregel(nodes=nodes, channels=channels, **options)


def ints(e: Engine, *names: str) -> dict[str, Any]:
    return {name: e.LastValue(int) for name in ("input", "output", *names)}


def one(e: Engine) -> Any:
    return e.NodeBuilder().subscribe_only("input").do(inc).write_to("output")


def two(e: Engine, **options: Any) -> Any:
    """Two nodes in a row."""
    nodes = {
        "one": e.NodeBuilder().subscribe_only("input").do(inc).write_to("inbox"),
        "two": e.NodeBuilder().subscribe_only("inbox").do(inc).write_to("output"),
    }
    return app(e, nodes, ints(e, "inbox"), **options)


@program
def raw_one_node(e: Engine, rec: Recorder) -> None:
    for build in (lambda node: node, lambda node: node.build()):
        g = app(e, {"one": build(one(e))}, ints(e))
        rec.run(g, 2, C)
        rec.look(g, C)
        rec.run(g, 5, C)
        rec.look(g, C)


@program
def raw_chain(e: Engine, rec: Recorder) -> None:
    g = two(e)
    rec.run(g, 2, C)
    rec.look(g, C)
    rec.invoke(g, 3, C)
    rec.look(g, C)
    for mode in ("values", "updates", ["values", "updates"]):
        rec.call("stream", lambda mode=mode: list(g.stream(1, C, stream_mode=mode)))
    rec.call("default", lambda: list(g.stream(1, C)))
    rec.call("invoke updates", g.invoke, 1, C, stream_mode="updates")
    rec.call("keys", g.invoke, 1, C, output_keys=["inbox", "output"])
    rec.call("key", lambda: list(g.stream(1, C, output_keys="inbox")))


@program
def raw_without_saver(e: Engine, rec: Recorder) -> None:
    g = two(e, checkpointer=None)
    rec.call("invoke", g.invoke, 2)
    rec.call("tasks", lambda: list(g.stream(2, stream_mode="tasks")))
    rec.call("batch", g.batch, [1, 2, 3])
    rec.call("state", g.get_state, C)


@program
def raw_many_inputs_and_outputs(e: Engine, rec: Recorder) -> None:
    nodes = {
        "sum": e.NodeBuilder()
        .subscribe_to("input", "more")
        .do(lambda d: sum(d.values()))
        .write_to("output", copy=lambda x: -x, fixed=7),
    }
    g = app(
        e,
        nodes,
        ints(e, "more", "copy", "fixed"),
        input_channels=["input", "more"],
        output_channels=["output", "copy", "fixed"],
    )
    for value in ({"input": 1}, {"input": 1, "more": 2}, {"more": 2}, {"zz": 1, "input": 4}):
        rec.run(g, value, C)
    for value in ({"zz": 1}, {}, 5, None):
        rec.call("bad", g.invoke, value, {"configurable": {"thread_id": "2"}})
    rec.look(g, C)


@program
def raw_reads_and_triggers(e: Engine, rec: Recorder) -> None:
    nodes = {
        "one": e.NodeBuilder().subscribe_to("input").read_from("kept").do(copied).write_to("seen"),
        "two": e.NodeBuilder().subscribe_to("input", read=False).do(copied).write_to("empty"),
        "keep": e.NodeBuilder().subscribe_only("input").write_to("kept"),
        "late": e.NodeBuilder().subscribe_to("seen", "empty").do(copied).write_to("output"),
    }
    g = app(e, nodes, ints(e, "kept", "seen", "empty"))
    rec.run(g, 2, C)
    rec.run(g, 3, C)
    rec.look(g, C)


@program
def raw_nothing_written(e: Engine, rec: Recorder) -> None:
    nodes = {
        "none": e.NodeBuilder().subscribe_only("input").do(lambda x: None).write_to("output"),
        "mute": e.NodeBuilder().subscribe_only("input").do(inc),
        "mapped": e.NodeBuilder().subscribe_only("input").write_to(mapped=lambda x: None),
    }
    g = app(e, nodes, ints(e, "mapped"))
    rec.run(g, 1, C)
    rec.look(g, C)
    g = app(e, {"mute": nodes["mute"]}, ints(e))
    rec.invoke(g, 1, C)
    rec.run(g, 1, C)
    rec.look(g, C)


@program
def raw_output_only_when_written(e: Engine, rec: Recorder) -> None:
    def odd(x: int) -> Any:
        return x if x % 2 else None

    nodes = {
        "odd": e.NodeBuilder().subscribe_only("input").do(odd).write_to("found"),
        "pass": e.NodeBuilder().subscribe_only("found").do(lambda x: x).write_to("output"),
        "stop": e.NodeBuilder().subscribe_only("input").write_to("other"),
    }
    g = app(e, nodes, ints(e, "found", "other"))
    for x in (1, 2, 3):
        rec.invoke(g, x, C)
        rec.call("values", lambda: list(g.stream(4, C, stream_mode="values")))
    g = app(e, {"stop": nodes["stop"]}, ints(e, "other"))
    rec.invoke(g, 1, C)
    rec.update(g, C, 3, as_node="stop")
    rec.invoke(g, 2, C)
    rec.look(g, C)


@program
def raw_cycle(e: Engine, rec: Recorder) -> None:
    def grow(text: str) -> Any:
        return text + text if len(text) < 10 else None

    nodes = {
        "grow": e.NodeBuilder().subscribe_only("value").do(grow).write_to("value"),
    }
    g = app(
        e,
        {"grow": nodes["grow"]},
        {"value": e.EphemeralValue(str)},
        input_channels="value",
        output_channels="value",
    )
    rec.run(
        g,
        "ab",
        C,
    )
    rec.call("limit", g.invoke, "ab", {**C, "recursion_limit": 2})


@program
def raw_limit(e: Engine, rec: Recorder) -> None:
    nodes = {"loop": e.NodeBuilder().subscribe_only("input").do(inc).write_to("input", "output")}
    g = app(e, nodes, ints(e))
    rec.run(g, 1, {**C, "recursion_limit": 4})
    rec.look(g, C)


@program
def raw_topics(e: Engine, rec: Recorder) -> None:
    for accumulate in (False, True):
        nodes = {
            "a": e.NodeBuilder().subscribe_only("input").do(inc).write_to("topic"),
            "b": e.NodeBuilder().subscribe_only("input").do(lambda x: [x, x * 2]).write_to("topic"),
            "c": e.NodeBuilder().subscribe_to("topic").do(lambda d: d["topic"]).write_to("output"),
            "d": e.NodeBuilder().subscribe_only("output").do(sum).write_to("total"),
        }
        channels = {
            "input": e.LastValue(int),
            "topic": e.Topic(int, accumulate=accumulate),
            "output": e.Topic(int),
            "total": e.LastValue(int),
        }
        g = app(e, nodes, channels, output_channels=["output", "total", "topic"])
        rec.run(g, 1, C)
        rec.run(g, 10, C)
        rec.look(g, C)


@program
def raw_topic_output(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": e.NodeBuilder().subscribe_only("input").do(inc).write_to("mid", "output"),
        "b": e.NodeBuilder().subscribe_only("mid").do(inc).write_to("output"),
    }
    channels = {"input": e.LastValue(int), "mid": e.LastValue(int), "output": e.Topic(int)}
    g = app(e, nodes, channels)
    rec.invoke(g, 1, C)
    rec.run(g, 2, C)
    rec.look(g, C)


@program
def raw_reducers(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": e.NodeBuilder().subscribe_only("input").do(inc).write_to("sum", "log"),
        "b": e.NodeBuilder().subscribe_only("input").do(lambda x: x * 10).write_to("sum", "log"),
        "c": e.NodeBuilder().subscribe_to("sum").do(lambda d: d["sum"]).write_to("output"),
    }
    channels = {
        "input": e.LastValue(int),
        "sum": e.BinaryOperatorAggregate(int, operator.add),
        "log": e.Topic(int, accumulate=True),
        "output": e.LastValue(int),
    }
    g = app(e, nodes, channels, output_channels=["output", "sum", "log"])
    for x in (1, 2):
        rec.run(g, x, C)
    rec.look(g, C)


@program
def raw_two_writers_of_one_value(e: Engine, rec: Recorder) -> None:
    nodes = {"a": one(e), "b": one(e)}
    for channel in (e.AnyValue(int), e.EphemeralValue(int, guard=False)):
        g = app(e, nodes, {"input": e.LastValue(int), "output": channel})
        rec.run(g, 1, C)
        rec.look(g, C)


@program
def raw_barrier(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": e.NodeBuilder().subscribe_only("input").write_to(done="a"),
        "b": e.NodeBuilder().subscribe_only("input").write_to("mid"),
        "b2": e.NodeBuilder().subscribe_only("mid").write_to(done="b"),
        "c": e.NodeBuilder().subscribe_to("done", read=False).read_from("input").write_to("output"),
    }
    channels = {**ints(e, "mid"), "done": e.NamedBarrierValue(str, {"a", "b"})}
    g = app(e, nodes, {**channels, "output": e.LastValue(dict)})
    rec.run(g, 1, C)
    rec.run(g, 2, C)
    rec.look(g, C)


@program
def raw_wrong_graphs(e: Engine, rec: Recorder) -> None:
    def make(title: str, **options: Any) -> None:
        options.setdefault("nodes", {"one": one(e)})
        options.setdefault("channels", ints(e))
        rec.call(title, lambda: type(app(e, **options)).__name__)

    make("fine")
    make("node reads", nodes={"one": e.NodeBuilder().subscribe_only("zz")})
    make("input", input_channels="zz")
    make("inputs", input_channels=["input", "zz"])
    make("not subscribed", input_channels="output")
    make("none subscribed", input_channels=["output"])
    make("output", output_channels="zz")
    make("outputs", output_channels=["output", "zz"])
    make("stream", stream_channels=["zz"])
    make("before", interrupt_before_nodes=["zz"])
    make("after", interrupt_after_nodes=["zz"])
    make("reserved node", nodes={"__interrupt__": one(e)})
    make("reserved channel", channels={**ints(e), "__error__": e.LastValue(int)})
    make("tasks", channels={**ints(e), "__pregel_tasks": e.LastValue(int)})
    make("no nodes", nodes={})
    only, several = e.NodeBuilder().subscribe_only("a"), e.NodeBuilder().subscribe_to("a")
    for build in (
        lambda: only.subscribe_only("b"),
        lambda: only.subscribe_to("b"),
        lambda: several.subscribe_only("b"),
        lambda: only.read_from("b"),
    ):
        rec.call("builder", build)


@program
def raw_several_functions(e: Engine, rec: Recorder) -> None:
    seen: list[Any] = []

    def look(x: int, config, writer) -> int:  # type: ignore[no-untyped-def]
        writer({"at": x})
        meta = config["metadata"]
        seen.append(
            [meta["langgraph_node"], meta["langgraph_triggers"], meta.get("k"), config["tags"], x]
        )
        return x

    node = e.NodeBuilder().subscribe_only("input").do(inc).do(look).do(inc).write_to("output")
    g = app(e, {"one": node.meta("tag", k="v")}, ints(e))
    rec.run(g, 1, C)
    rec.call("custom", lambda: list(g.stream(1, C, stream_mode="custom")))
    rec.note("seen", seen)


@program
def raw_async(e: Engine, rec: Recorder) -> None:
    async def slow(x: int) -> int:
        await asyncio.sleep(0)
        return x + 1

    nodes = {
        "one": e.NodeBuilder().subscribe_only("input").do(slow).do(inc).write_to("inbox"),
        "two": e.NodeBuilder().subscribe_only("inbox").do(inc).write_to("output"),
    }
    g = app(e, nodes, ints(e, "inbox"))
    rec.call("ainvoke", lambda: asyncio.run(g.ainvoke(1, C, durability="sync")))
    rec.look(g, C)


@program
def raw_attributes(e: Engine, rec: Recorder) -> None:
    names = ["stream_mode", "stream_eager", "input_channels", "output_channels", "stream_channels"]
    names += ["stream_channels_asis", "stream_channels_list", "name", "debug", "checkpointer"]
    names += ["store", "cache", "cache_policy", "context_schema", "trigger_to_nodes"]
    names += ["step_timeout", "interrupt_before_nodes", "interrupt_after_nodes"]

    @e.entrypoint()
    def wf(x: int) -> int:
        return x

    for g in (two(e, checkpointer=None, name="mine"), wf):
        rec.note("attributes", {name: getattr(g, name) for name in names})
        rec.note("channels", sorted(g.channels))
        rec.note("nodes", list(g.nodes))


@program
def raw_untracked(e: Engine, rec: Recorder) -> None:
    nodes = {
        "a": e.NodeBuilder().subscribe_only("input").do(inc).write_to("secret", "mid"),
        "b": e.NodeBuilder().subscribe_to("mid").read_from("secret").do(copied).write_to("output"),
    }
    channels = {**ints(e, "mid"), "secret": e.UntrackedValue(int), "output": e.LastValue(dict)}
    g = app(e, nodes, channels)
    rec.run(g, 1, C)
    rec.look(g, C)


@program
def raw_sends(e: Engine, rec: Recorder) -> None:
    nodes = {
        "plan": e.NodeBuilder()
        .subscribe_only("input")
        .do(lambda n: [e.Send("work", i) for i in range(n)])
        .write_to("__pregel_tasks"),
        "work": e.NodeBuilder().subscribe_only("other").do(inc).write_to("output"),
    }
    channels = {"input": e.LastValue(int), "other": e.LastValue(int), "output": e.Topic(int, True)}
    g = app(e, nodes, channels)
    rec.run(g, 3, C)
    rec.look(g, C)
