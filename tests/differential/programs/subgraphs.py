"""Graphs as nodes and graphs called inside nodes: namespaces, memory, streams, Commands upwards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from typing_extensions import TypedDict

from ..basics import C, State, adds, nested, says
from ..harness import Engine, Recorder


def chain(e: Engine, nodes: dict[str, Any], saver: Any = None, **options: Any) -> Any:
    """A graph of nodes one after the other; without a saver of its own unless one is given."""
    names = [e.START, *nodes]
    edges = list(pairwise(names))
    return e.build(State, nodes, edges, saver=saver, **options)


def under(e: Engine, sub: Any, **options: Any) -> Any:
    """A graph with ``sub`` between two nodes."""
    return chain(e, {"a": adds("a"), "sub": sub, "z": adds("z")}, True, **options)


def two(e: Engine, memory: Any = None, **options: Any) -> Any:
    return chain(e, {"x1": adds("x1"), "x2": says("x2")}, memory, **options)


def calling(*graphs: Any) -> Callable[[Any], Any]:
    """A node that calls graphs one after the other."""

    def node(state: Any) -> dict[str, Any]:
        found: list[Any] = []
        for graph in graphs:
            found += graph.invoke({"foo": "call", "bar": ["q"]})["bar"]
        return {"bar": found}

    return node


@nested
def a_graph_as_a_node(e: Engine, rec: Recorder) -> None:
    g = under(e, two(e))
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)
    rec.nested(g, {"foo": "j"}, C)
    rec.look_inside(g, C)


@nested
def a_graph_called_in_a_node(e: Engine, rec: Recorder) -> None:
    sub = two(e)

    def call(state: Any, config) -> dict[str, Any]:
        return {"bar": sub.invoke({"bar": ["q"]}, config)["bar"]}

    for node in (call, calling(sub), calling(sub, sub, sub)):
        g = under(e, node)
        rec.nested(g, {"foo": "i"}, C)
        rec.look_inside(g, C)


@nested
def three_levels(e: Engine, rec: Recorder) -> None:
    g = under(e, chain(e, {"m1": adds("m1"), "inner": two(e), "m2": adds("m2")}))
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)
    rec.run(g, {"foo": "i"}, C)


@nested
def own_memory(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for outer in (None, True):
            middle = chain(e, {"inner": two(e, memory), "m": adds("m")}, outer)
            g = under(e, middle)
            rec.nested(g, {"foo": "i"}, C)
            rec.nested(g, {"foo": "j"}, C)
            rec.look_inside(g, C)


@nested
def memory_of_several_calls(e: Engine, rec: Recorder) -> None:
    lasting, fresh, none = two(e, True), two(e), two(e, False)
    g = under(e, calling(lasting, fresh, lasting, fresh, none))
    rec.nested(g, {"foo": "i"}, C, durability="async")
    rec.nested(g, {"foo": "j"}, C, durability="async")
    rec.look_inside(g, C)


@nested
def no_memory_at_all(e: Engine, rec: Recorder) -> None:
    g = under(e, two(e, False))
    rec.nested(g, {"foo": "i"}, C, durability="async")
    rec.look_inside(g, C)
    g = chain(e, {"a": adds("a"), "sub": two(e), "again": calling(two(e))})
    rec.nested(g, {"foo": "i"}, {}, durability=None)


@nested
def durabilities(e: Engine, rec: Recorder) -> None:
    for durability in ("exit", "async"):
        for memory in (None, True):
            g = under(e, two(e, memory))
            rec.nested(g, {"foo": "i"}, C, durability=durability)
            rec.nested(g, {"foo": "j"}, C, durability=durability)
            rec.look_inside(g, C)


@nested
def an_own_saver_is_not_used(e: Engine, rec: Recorder) -> None:
    own = e.MemorySaver()
    sub = two(e, own)
    rec.nested(under(e, sub), {"foo": "i"}, C)
    rec.nested(chain(e, {"sub": sub}), {"foo": "i"}, C, durability=None)
    rec.note("own", list(own.list(None)))
    rec.run(sub, {"foo": "i"}, C)
    rec.look(sub, C)


def root_with_memory(e: Engine, rec: Recorder) -> None:
    g = two(e, True)
    rec.call("invoke", g.invoke, {"foo": "x"}, C)
    rec.call("state", g.get_state, C)
    rec.call("off", lambda: two(e, False).invoke({"foo": "x"}, C))


nested(root_with_memory)


@nested
def a_thread_of_its_own(e: Engine, rec: Recorder) -> None:
    own = e.MemorySaver()
    sub, seen = two(e, own), []

    def look(state: Any, config) -> dict[str, Any]:
        places = {k: v for k, v in config["configurable"].items() if not k.startswith("__")}
        seen.append((places, config["metadata"], config.get("tags"), config.get("recursion_limit")))
        return {"bar": ["look"]}

    other = chain(e, {"look": look, "sub": two(e)}, own)

    def node(state: Any) -> dict[str, Any]:
        there = {"configurable": {"thread_id": "2"}, "tags": ["t2"]}
        found = sub.invoke({"bar": ["q"]}, there)["bar"]
        elsewhere = other.invoke({"bar": ["o"]}, {"configurable": {"thread_id": "3"}})
        return {"bar": found + elsewhere["bar"]}

    g = under(e, node)
    config = {**C, "metadata": {"m": 1}, "tags": ["t"], "recursion_limit": 20}
    rec.nested(g, {"foo": "i"}, config)
    rec.look_inside(g, C)
    rec.note("own", list(own.list({"configurable": {"thread_id": "2"}})))
    rec.note("seen", [(p | {"checkpoint_map": 0}, m, t, r) for p, m, t, r in seen])


@nested
def what_a_nested_node_sees(e: Engine, rec: Recorder) -> None:
    seen: list[Any] = []

    def look(state: Any, config) -> dict[str, Any]:
        places = {k: v for k, v in config["configurable"].items() if not k.startswith("__")}
        seen.append((places, config["metadata"], config.get("tags"), config.get("recursion_limit")))
        return {"bar": ["look"]}

    sub = chain(e, {"look": look})
    tagged = sub.with_config(tags=["inner"], metadata={"inner": 1}, configurable={"inner": "c"})

    def passing(state: Any, config) -> dict[str, Any]:
        return {"bar": sub.invoke({"bar": []}, config)["bar"]}

    def extending(state: Any, config) -> dict[str, Any]:
        more = {**config["configurable"], "extra": "e"}
        return {"bar": sub.invoke({"bar": []}, {**config, "configurable": more})["bar"]}

    def limiting(state: Any) -> dict[str, Any]:
        return {"bar": sub.invoke({"bar": []}, {"recursion_limit": 4, "tags": ["l"]})["bar"]}

    nodes = {
        "look": look,
        "sub": sub,
        "tagged": tagged,
        "call": calling(sub, tagged),
        "passing": passing,
        "extending": extending,
        "limiting": limiting,
        "deep": chain(e, {"sub": sub}),
    }
    g = chain(e, nodes, True)
    config = {"configurable": {"thread_id": "1", "user": "u"}, "metadata": {"m": 1}, "tags": ["t"]}
    rec.nested(g, {"foo": "i"}, config)
    rec.note("seen", seen)
    rec.look_inside(g, C)


@nested
def custom_chunks(e: Engine, rec: Recorder) -> None:
    def write(state: Any, writer) -> dict[str, Any]:
        writer("inside")
        return {"bar": ["w"]}

    sub = chain(e, {"w": write})

    def call(state: Any, writer) -> dict[str, Any]:
        writer("before")
        found = calling(sub, sub)(state)
        writer("after")
        return found

    for modes in ("custom", ["custom", "updates"], "updates", ["values", "custom"]):
        for inside in (False, True):
            g = chain(e, {"sub": sub, "call": call}, True)
            rec.nested(g, {"foo": "i"}, C, stream_mode=modes, subgraphs=inside)


@nested
def streams_read_inside_a_node(e: Engine, rec: Recorder) -> None:
    sub = two(e)

    def node(state: Any) -> dict[str, Any]:
        found = list(sub.stream({"bar": ["q"]}, stream_mode=["updates", "values"]))
        found += list(sub.stream({"bar": ["q"]}, stream_mode="updates", subgraphs=True))
        found += list(chain(e, {"sub": sub}).stream({"bar": ["q"]}, subgraphs=True))
        return {"bar": found}

    for modes in (["updates"], ["values", "tasks"]):
        for inside in (False, True):
            g = chain(e, {"node": node}, True)
            rec.nested(g, {"foo": "i"}, C, stream_mode=modes, subgraphs=inside)


@nested
def side_by_side(e: Engine, rec: Recorder) -> None:
    deep = chain(e, {"d1": adds("d1"), "deep": chain(e, {"x1": adds("x1")})})
    nodes = {"p": chain(e, {"x1": adds("x1")}), "q": deep, "r": adds("r"), "z": adds("z")}
    edges = [(e.START, "p"), (e.START, "q"), (e.START, "r"), (["p", "q", "r"], "z")]
    g = e.build(State, nodes, edges)
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)


@nested
def sends_to_a_graph(e: Engine, rec: Recorder) -> None:
    sub = chain(e, {"x1": adds("x1")})

    def spread(state: Any) -> list[Any]:
        return [e.Send("sub", {"foo": str(i), "bar": [i]}) for i in range(3)]

    g = e.build(State, {"a": adds("a"), "sub": sub}, [(e.START, "a")], [("a", spread, ["sub"])])
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)


def jumping(e: Engine, command: Any, memory: Any = None) -> Any:
    """A graph whose inner graph answers with a Command."""
    sub = chain(e, {"x1": adds("x1"), "up": lambda s: command, "x3": adds("x3")}, memory)
    nodes = {"sub": sub, "other": adds("other"), "after": adds("after")}
    return e.build(State, nodes, [(e.START, "sub"), ("sub", "after")])


@nested
def commands_to_the_parent(e: Engine, rec: Recorder) -> None:
    up = e.Command.PARENT
    for command in (
        e.Command(graph=up, update={"bar": ["up"], "foo": "f"}, goto="other"),
        e.Command(graph=up, update=[("bar", ["u1"]), ("bar", ["u2"])], goto=["after", "other"]),
        e.Command(graph=up, goto=[e.Send("other", {"foo": "s", "bar": []}), "after"]),
        e.Command(graph=up, update={"bar": ["only"]}),
        e.Command(graph=up, goto=e.END),
        e.Command(graph=up, goto="nope"),
        e.Command(graph=up, update={"zzz": 1}, goto="other"),
        [e.Command(graph=up, goto="other"), e.Command(update={"bar": ["inner"]})],
        e.Command(graph="elsewhere", update={"bar": ["own"]}, goto="x3"),
    ):
        g = jumping(e, command)
        rec.nested(g, {"foo": "i"}, C, grouped=True)
        rec.look_inside(g, C)


@nested
def commands_to_the_parent_and_memory(e: Engine, rec: Recorder) -> None:
    command = e.Command(graph=e.Command.PARENT, update={"bar": ["up"]}, goto="other")
    for durability in ("sync", "exit"):
        g = jumping(e, command, True)
        rec.nested(g, {"foo": "i"}, C, grouped=True, durability=durability)
        rec.nested(g, {"foo": "j"}, C, grouped=True, durability=durability)
        rec.look_inside(g, C)


@nested
def commands_through_levels(e: Engine, rec: Recorder) -> None:
    up = e.Command(graph=e.Command.PARENT, update={"bar": ["up"]}, goto="other")
    further = e.Command(graph=e.Command.PARENT, update={"bar": ["further"]}, goto="other")
    for answer in ({"bar": ["stays"]}, further):
        inner = chain(e, {"y1": adds("y1"), "up": lambda s: up})
        nodes = {"inner": inner, "other": lambda s, a=answer: a}
        middle = e.build(State, nodes, [(e.START, "inner")], saver=None)
        outer = {"sub": middle, "other": adds("other"), "after": adds("after")}
        g = e.build(State, outer, [(e.START, "sub"), ("sub", "after")])
        rec.nested(g, {"foo": "i"}, C, grouped=True)
        rec.look_inside(g, C)


@nested
def commands_from_called_graphs(e: Engine, rec: Recorder) -> None:
    up = e.Command(graph=e.Command.PARENT, update={"bar": ["up"]}, goto="other")
    sub = chain(e, {"up": lambda s: up})
    g = e.build(
        State,
        {"sub": calling(two(e), sub), "other": adds("other")},
        [(e.START, "sub")],
        [("sub", lambda s: ["other"] if "up" in s["bar"] else e.END, ["other", e.END])],
    )
    rec.nested(g, {"foo": "i"}, C, grouped=True)
    rec.look_inside(g, C)
    root = chain(e, {"up": lambda s: up}, True)
    rec.nested(root, {"foo": "i"}, C, grouped=True)
    rec.look(root, C)


@nested
def failures_inside(e: Engine, rec: Recorder) -> None:
    for memory in (None, True):
        for durability in ("sync", "exit"):
            failed: list[int] = []

            def fail(state: Any, failed: list[int] = failed) -> dict[str, Any]:
                if not failed:
                    failed.append(1)
                    raise ValueError("inside")
                return {"bar": ["worked"]}

            g = under(e, chain(e, {"x1": adds("x1"), "fail": fail, "x3": adds("x3")}, memory))
            rec.nested(g, {"foo": "i"}, C, durability=durability)
            rec.look_inside(g, C)
            rec.nested(g, None, C, durability=durability)
            rec.look_inside(g, C)


@nested
def limits_inside(e: Engine, rec: Recorder) -> None:
    loop = e.build(State, {"l": adds("l")}, [(e.START, "l"), ("l", "l")], saver=None)
    g = under(e, loop)
    rec.nested(g, {"foo": "i"}, {**C, "recursion_limit": 4})
    rec.look_inside(g, C)


@nested
def graphs_found(e: Engine, rec: Recorder) -> None:
    inner = two(e)
    middle = chain(e, {"inner": inner, "m": adds("m")})

    class Holder:
        graph = inner

        def __init__(self) -> None:
            self.held = inner

    holder = Holder()

    def attribute(state: Any) -> Any:
        return holder.held.invoke(state)

    async def awaiting(state: Any) -> Any:
        return await inner.ainvoke(state)

    def listed(state: Any, graphs: Any = (inner,)) -> Any:
        return graphs[0].invoke(state)

    nodes = {
        "mid": middle,
        "calls": calling(inner),
        "attribute": attribute,
        "awaiting": awaiting,
        "listed": listed,
        "configured": middle.with_config(tags=["x"]),
        "plain": adds("p"),
    }
    g = chain(e, nodes, True)
    for options in (
        {},
        {"recurse": True},
        {"namespace": "mid"},
        {"namespace": "mid", "recurse": True},
        {"namespace": "mid|inner"},
        {"namespace": "mid|inner", "recurse": True},
        {"namespace": "mid|nope", "recurse": True},
        {"namespace": "nope"},
        {"namespace": ""},
    ):
        rec.call("paths", lambda o=options: [name for name, _ in g.get_subgraphs(**o)])
    rec.note("itself", dict(g.get_subgraphs())["mid"] is middle)
    for ns in ("nope", "nope:123", "mid|nope"):
        rec.call("state", g.get_state, {"configurable": {"thread_id": "1", "checkpoint_ns": ns}})


@nested
def schemas_of_their_own(e: Engine, rec: Recorder) -> None:
    class Inner(TypedDict):
        foo: str
        secret: str

    class Out(TypedDict):
        foo: str

    b = e.StateGraph(Inner, output_schema=Out)
    b.add_node("s", lambda s: {"secret": s["foo"] + "!"})
    b.add_node("t", lambda s: {"foo": s["secret"] + "?"})
    b.add_edge(e.START, "s")
    b.add_edge("s", "t")
    g = under(e, b.compile())
    rec.nested(g, {"foo": "i", "bar": []}, C)
    rec.look_inside(g, C)


@nested
def a_router_that_calls_a_graph(e: Engine, rec: Recorder) -> None:
    sub = two(e)

    def router(state: Any) -> str:
        return "b" if "x1" in sub.invoke({"bar": []})["bar"] else e.END

    g = e.build(
        State, {"a": calling(sub), "b": adds("b")}, [(e.START, "a")], [("a", router, ["b", e.END])]
    )
    rec.nested(g, {"foo": "i"}, C)
    rec.look_inside(g, C)


@nested
def awaited_graphs(e: Engine, rec: Recorder) -> None:
    async def x1(state: Any) -> dict[str, Any]:
        return {"bar": ["x1"]}

    sub = chain(e, {"x1": x1, "x2": adds("x2")})

    async def call(state: Any) -> dict[str, Any]:
        first = await sub.ainvoke({"bar": ["q"]})
        seen = [c async for c in sub.astream({"bar": ["r"]}, stream_mode="updates")]
        return {"bar": [*first["bar"], seen]}

    g = chain(e, {"sub": sub, "call": call}, True)
    rec.nested(g, {"foo": "i"}, C)
    if rec.colour == "async":
        rec.look_inside(g, C)
