"""The messages stream: models called in nodes, messages that nodes return, and callbacks."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import operator
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import (
    FakeListChatModel,
    FakeListLLM,
    FakeMessagesListChatModel,
    GenericFakeChatModel,
)
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from typing_extensions import TypedDict

from ..basics import C, program
from ..harness import Engine, Recorder

Q = {"messages": [HumanMessage("q", id="h1")]}
Named = type("Named", (BaseCallbackHandler,), {})


class Chat(TypedDict, total=False):
    messages: Annotated[list[Any], operator.add]
    other: Any


def model() -> Any:
    """A model that says something else each time, token by token."""
    texts = ("a b", "c d e", "f", "g h")
    said = (AIMessage(text, id=f"m{n}") for n, text in enumerate(itertools.cycle(texts)))
    return GenericFakeChatModel(messages=said)


def plain(chunk: Any) -> Any:
    """A chunk with its messages as short lists: class, content, id where it is no random one."""
    if isinstance(chunk, BaseMessage):
        known = chunk.id if chunk.id and len(chunk.id) < 10 else "random"
        return [type(chunk).__name__, chunk.content, known]
    if isinstance(chunk, dict):
        return {k: plain(v) for k, v in chunk.items() if k not in ("lc_versions",)}
    if isinstance(chunk, list | tuple):
        return [plain(one) for one in chunk]
    return chunk


def said(rec: Recorder, make: Any, *values: Any, config: Any = C, **options: Any) -> None:
    """Log what streams of a graph say, sync and then async."""
    options.setdefault("stream_mode", "messages")

    async def collected(graph: Any, value: Any) -> None:
        chunks: list[Any] = []
        try:
            async for chunk in graph.astream(value, config, **options):
                chunks.append(plain(chunk))
        except Exception as error:  # noqa: BLE001 - every error is part of the comparison
            chunks.append(error)
        rec.note("async", chunks)

    for colour in ("sync", "async"):
        graph = make()
        for value in values:
            if colour == "async":
                asyncio.run(collected(graph, value))
                continue
            chunks: list[Any] = []
            try:
                for chunk in graph.stream(value, config, **options):
                    chunks.append(plain(chunk))
            except Exception as error:  # noqa: BLE001 - every error is part of the comparison
                chunks.append(error)
            rec.note("sync", chunks)


def one_node(e: Engine, node: Any, schema: Any = Chat) -> Any:
    """What makes a graph of one node; a factory of nodes gets a fresh model for each graph."""

    def make() -> Any:
        return e.build(schema, {"n": node(model())}, [(e.START, "n")])

    return make


def returns(output: Any) -> Any:
    return lambda m: lambda state: output() if callable(output) else output


@program
def models_in_nodes(e: Engine, rec: Recorder) -> None:
    prompt = ChatPromptTemplate.from_messages([("user", "{x}")])
    letters = FakeListChatModel(responses=["xy", "zw"])
    whole = FakeMessagesListChatModel(responses=[AIMessage("one", id="r1"), AIMessage("two")])
    nodes = [
        lambda m: lambda s: {"messages": [m.invoke("x")]},
        lambda m: lambda s: {"messages": [m.invoke("x"), m.invoke("y")]},
        lambda m: lambda s: {"other": m.invoke("x").content},
        lambda m: lambda s: {"other": [c.content for c in m.stream("x")]},
        lambda m: lambda s: {"messages": [(prompt | m).invoke({"x": 1})]},
        lambda m: lambda s: {"messages": [RunnableLambda(lambda x: m.invoke("x")).invoke(1)]},
        lambda m: lambda s: {"messages": [m.invoke("x", {"tags": ["t"], "metadata": {"u": 1}})]},
        lambda m: lambda s: {"messages": [m.invoke("x", {"callbacks": []})]},
        lambda m: lambda s: {"messages": [letters.invoke("x")]},
        lambda m: lambda s: {"messages": [whole.invoke("x")]},
        lambda m: lambda s: {"other": whole.invoke("x").content},
        lambda m: lambda s: {"other": FakeListLLM(responses=["llm"]).invoke("x")},
        lambda m: lambda s: {"messages": m.batch(["x", "y"], {"max_concurrency": 1})},
    ]
    for node in nodes:
        said(rec, one_node(e, node), Q)
    said(rec, one_node(e, nodes[0]), Q, version="v2")
    said(rec, one_node(e, nodes[0]), Q, subgraphs=True)
    said(rec, one_node(e, nodes[0]), Q, stream_mode=["messages", "updates", "values"])
    config = {**C, "tags": ["run"], "metadata": {"m": 1}, "run_name": "r"}
    said(rec, one_node(e, nodes[6]), Q, config=config)


@program
def models_that_keep_quiet(e: Engine, rec: Recorder) -> None:
    for tag in ("nostream", "langsmith:nostream", "langsmith:hidden"):
        for node in (
            lambda m: lambda s: {"messages": [m.with_config(tags=[tag]).invoke("x")]},
            lambda m: lambda s: {"other": m.with_config(tags=[tag]).invoke("x").content},
        ):
            said(rec, one_node(e, node), Q)
    said(
        rec,
        one_node(e, lambda m: lambda s: {"messages": [m.invoke("x")]}),
        Q,
        config={**C, "tags": ["nostream"]},
    )
    quiet = FakeListChatModel(responses=["xy"], disable_streaming=True)
    said(rec, one_node(e, lambda m: lambda s: {"messages": [quiet.invoke("x")]}), Q)


@program
def models_in_async_nodes(e: Engine, rec: Recorder) -> None:
    def implicit(m: Any) -> Any:
        async def node(state: Any) -> dict[str, Any]:
            return {"messages": [await m.ainvoke("x")]}

        return node

    def explicit(m: Any) -> Any:
        async def node(state, config):
            return {"messages": [await m.ainvoke("x", config)]}

        return node

    def in_tasks(m: Any) -> Any:
        async def node(state: Any) -> dict[str, Any]:
            return {"messages": [await asyncio.create_task(m.ainvoke("x"))]}

        return node

    async def run(node: Any) -> Any:
        graph = one_node(e, node)()
        return [plain(c) async for c in graph.astream(Q, C, stream_mode=["messages", "updates"])]

    for node in (implicit, explicit, in_tasks):
        rec.call("async", lambda node=node: asyncio.run(run(node)))


@dataclass
class Talk:
    messages: Annotated[list[Any], operator.add] = field(default_factory=list)


@program
def messages_that_nodes_return(e: Engine, rec: Recorder) -> None:
    def ai(id_: str | None = "p1", text: str = "p") -> AIMessage:
        return AIMessage(text, id=id_)

    outputs = [
        lambda: {"messages": [ai(), HumanMessage("h")]},
        lambda: {"other": ai()},
        lambda: {"other": [ai(), 3, "text"]},
        lambda: {"other": (ai(),)},
        lambda: {"other": {"nested": ai()}},
        lambda: {"other": [[ai()]]},
        lambda: {"unknown": ai()},
        lambda: {"messages": [("ai", "p"), {"role": "user", "content": "u"}]},
        lambda: {"messages": [HumanMessage("changed", id="h1")]},
        lambda: {"messages": [ToolMessage("t", tool_call_id="c", id="t1")]},
        lambda: {"messages": [ai(text="")]},
        lambda: {"messages": [RemoveMessage("h1"), RemoveMessage("other")]},
        lambda: {"messages": [ai()], "other": ai()},
        lambda: {"messages": [ai(None), ai(None)]},
        lambda: e.Command(update={"messages": [ai()]}),
        lambda: e.Command(update=[("messages", [ai()])]),
        lambda: [e.Command(update={"messages": [ai()]}), {"messages": [ai("p2")]}],
        lambda: e.Command(goto=[]),
        lambda: None,
    ]
    for output in outputs:
        said(rec, one_node(e, returns(output)), Q)
    said(rec, one_node(e, returns(lambda: Talk([AIMessage("d", id="d1")])), Talk), Q)
    said(rec, one_node(e, lambda m: lambda s: {"messages": s["messages"]}), Q)


@program
def messages_that_were_seen(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        nodes = {
            "n": lambda s: {"messages": [*s["messages"], AIMessage("p", id="p1")]},
            "m": lambda s: {"messages": [AIMessage("again", id="p1"), AIMessage("q", id="p2")]},
        }
        return e.build(Chat, nodes, [(e.START, "n"), ("n", "m")])

    said(rec, make, Q, Q)
    said(rec, make, Q, stream_mode=["messages", "values"])


@program
def messages_sent_and_asked_for(e: Engine, rec: Recorder) -> None:
    def spread() -> Any:
        nodes = {
            "s": lambda s: e.Command(goto=[e.Send("n", {"other": n}) for n in (1, 2)]),
            "n": lambda s: {"messages": [AIMessage("p", id=f"p{s['other']}")]},
        }
        return e.build(Chat, nodes, [(e.START, "s")])

    def asking() -> Any:
        m = model()

        def node(state: Any) -> dict[str, Any]:
            return {"messages": [m.invoke("x"), AIMessage(e.interrupt("q"), id="asked")]}

        return e.build(Chat, {"n": node}, [(e.START, "n")])

    def failing() -> Any:
        m = model()

        def node(state: Any) -> None:
            m.invoke("x")
            raise ValueError("no luck")

        return e.build(Chat, {"n": node}, [(e.START, "n")])

    said(rec, spread, Q)
    said(rec, asking, Q, e.Command(resume="r"), stream_mode=["messages", "updates"])
    said(rec, failing, Q, stream_mode=["messages", "updates"])


@program
def models_in_tasks(e: Engine, rec: Recorder) -> None:
    func = importlib.import_module(f"{e.root}.func")
    writer = importlib.import_module(f"{e.root}.config").get_stream_writer

    def make() -> Any:
        m = model()

        @func.task
        def inner(word: str) -> Any:
            writer()("inner")
            return m.invoke(word)

        @func.task
        def outer(word: str, *more: Any, key: int = 0) -> Any:
            writer()("outer")
            return inner(word).result()

        @func.entrypoint(checkpointer=e.MemorySaver())
        def flow(word: str) -> Any:
            found = outer(word, 1, key=2).result()
            writer()("flow")
            return [found, AIMessage("end", id="end")]

        return flow

    for mode in ("messages", ["messages", "custom", "updates"]):
        said(rec, make, "word", stream_mode=mode)
        said(rec, make, "word", stream_mode=mode, subgraphs=True)
        said(rec, make, "word", stream_mode=mode, version="v2")
    log: list[Any] = []
    rec.call("invoke", lambda: plain(make().invoke("word", {**C, "callbacks": [teller(log)]})))
    rec.note("told", log)


@program
def models_in_nested_graphs(e: Engine, rec: Recorder) -> None:
    def inner(m: Any) -> Any:
        def node(state: Any) -> dict[str, Any]:
            return {"messages": [m.invoke("x"), AIMessage("more", id="more")]}

        return e.build(Chat, {"inner": node}, [(e.START, "inner")], saver=None)

    def before(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("before", id="before")]}

    def as_a_node() -> Any:
        nodes = {"before": before, "sub": inner(model())}
        return e.build(Chat, nodes, [(e.START, "before"), ("before", "sub")])

    def called() -> Any:
        graph = inner(model())

        def node(state: Any) -> dict[str, Any]:
            return {"messages": graph.invoke(state)["messages"][1:]}

        return e.build(Chat, {"call": node}, [(e.START, "call")])

    def twice_nested() -> Any:
        middle = e.build(Chat, {"mid": inner(model())}, [(e.START, "mid")], saver=None)
        return e.build(Chat, {"top": middle}, [(e.START, "top")])

    def streamed() -> Any:
        graph = inner(model())

        def node(state: Any) -> dict[str, Any]:
            heard = [plain(c) for c in graph.stream(state, stream_mode="messages")]
            rec.note("heard in the node", heard)
            return {"messages": [AIMessage("done", id="done")]}

        return e.build(Chat, {"call": node}, [(e.START, "call")])

    for make in (as_a_node, called, twice_nested, streamed):
        said(rec, make, Q)
        said(rec, make, Q, version="v2")
        for mode in ("messages", ["messages", "updates"]):
            said(rec, make, Q, subgraphs=True, stream_mode=mode)


@program
def callbacks_hear_of_nested_graphs(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        m = model()
        inner = e.build(
            Chat,
            {"in": lambda s: {"messages": [m.invoke("x")]}},
            [(e.START, "in")],
            saver=None,
            name="inner",
        )
        nodes = {"sub": inner, "call": lambda s: {"other": len(inner.invoke(Q))}}
        return e.build(Chat, nodes, [(e.START, "sub"), ("sub", "call")])

    log: list[Any] = []
    config = {**C, "callbacks": [teller(log)], "tags": ["t"], "metadata": {"m": 1}}
    rec.call("invoke", lambda: plain(make().invoke(Q, config)))
    rec.note("told", log)


@program
def models_and_tools_in_turn(e: Engine, rec: Recorder) -> None:
    prebuilt = importlib.import_module(f"{e.root}.prebuilt")
    graphs = importlib.import_module(f"{e.root}.graph")
    writer = importlib.import_module(f"{e.root}.config").get_stream_writer

    @tool
    def look_up(word: str) -> str:
        """Looks a word up."""
        writer()(f"looking for {word}")
        said_inside = GenericFakeChatModel(messages=iter([AIMessage("in the tool", id="t")]))
        return str(said_inside.invoke(word).content)

    def make() -> Any:
        call = {"name": "look_up", "args": {"word": "w"}, "id": "c1"}
        turns = [AIMessage("calling", id="a1", tool_calls=[call]), AIMessage("done", id="a2")]
        m = FakeMessagesListChatModel(responses=turns)
        builder = e.StateGraph(graphs.MessagesState)
        builder.add_node("model", lambda s: {"messages": [m.invoke(s["messages"])]})
        builder.add_node("tools", prebuilt.ToolNode([look_up]))
        builder.add_edge(e.START, "model")
        builder.add_conditional_edges("model", prebuilt.tools_condition)
        builder.add_edge("tools", "model")
        return builder.compile(checkpointer=e.MemorySaver())

    for mode in ("messages", ["messages", "custom", "updates"]):
        said(rec, make, Q, stream_mode=mode)
    log: list[Any] = []
    rec.call("invoke", lambda: plain(make().invoke(Q, {**C, "callbacks": [teller(log)]})))
    rec.note("told", log)


@program
def pushed_messages(e: Engine, rec: Recorder) -> None:
    module = importlib.import_module(f"{e.root}.graph.message")
    Merged = TypedDict(  # noqa: UP013 - a class here could not name what is local
        "Merged",
        {"messages": Annotated[list[Any], module.add_messages], "other": Any},
        total=False,
    )

    def pushes(m: Any) -> Any:
        def node(state: Any) -> dict[str, Any]:
            rec.call("no id", module.push_message, AIMessage("no id"))
            rec.note("pushed", plain(module.push_message(AIMessage("first", id="1"))))
            module.push_message({"role": "user", "content": "dict", "id": "2"})
            module.push_message(AIMessage("again", id="1"))
            module.push_message(AIMessage("kept nowhere", id="3"), state_key=None)
            module.push_message(AIMessage("other", id="4"), state_key="other")
            return {"messages": [AIMessage("first", id="1"), AIMessage("last", id="5")]}

        return node

    rec.call("outside", module.push_message, AIMessage("x", id="x"))
    for mode in ("messages", ["messages", "updates", "values"], "values"):
        said(rec, one_node(e, pushes, Merged), Q, stream_mode=mode)


@program
def pushed_components(e: Engine, rec: Recorder) -> None:
    ui = importlib.import_module(f"{e.root}.graph.ui")
    Shown = TypedDict(  # noqa: UP013 - as above
        "Shown", {"ui": Annotated[list[Any], ui.ui_message_reducer]}, total=False
    )

    def node(m: Any) -> Any:
        def pushes(state: Any) -> dict[str, Any]:
            ui.push_ui_message("chart", {"a": 1}, id="1")
            more = {"message": AIMessage("m", id="m"), "metadata": {"k": 1}}
            ui.push_ui_message("chart", {"b": 2}, id="1", merge=True, **more)
            ui.push_ui_message("gone", {}, id="2")
            ui.delete_ui_message("2")
            return {"ui": [{"type": "ui", "id": "3", "name": "n", "props": {}, "metadata": {}}]}

        return pushes

    config = {**C, "tags": ["t"], "run_name": "r"}
    said(rec, one_node(e, node, Shown), {}, config=config, stream_mode=["custom", "values"])
    chart = {"type": "ui", "id": "1", "name": "chart", "props": {"a": 1}, "metadata": {}}
    merge = {**chart, "props": {"b": 2}, "metadata": {"merge": True}}
    gone = {"type": "remove-ui", "id": "1"}
    for left, right in (
        ([chart], gone),
        ([], gone),
        (chart, merge),
        ([chart], [{**chart, "props": {}}, {**chart, "id": "2"}]),
        ([chart], [gone, chart]),
    ):
        rec.call("merged", ui.ui_message_reducer, left, right)


@program
def models_in_routers(e: Engine, rec: Recorder) -> None:
    def make(source: Any) -> Any:
        m = model()

        def route(state: Any) -> str:
            m.invoke("which way")
            return "m"

        nodes = {"n": lambda s: {"other": 1}, "m": lambda s: {"other": 2}}
        edges = [] if source == e.START else [(e.START, "n")]
        return e.build(Chat, nodes, edges, [(source, route, ["m", "n"])])

    for source in ("n", e.START):
        said(rec, lambda source=source: make(source), Q)


def teller(log: list[Any]) -> Any:
    """A callback handler that keeps what it is told, without the ids of runs."""
    names: dict[UUID, str] = {}

    def told(event: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> None:
            run = names.setdefault(kwargs["run_id"], f"run {len(names)}")
            parent = names.get(kwargs.get("parent_run_id"))
            metadata = {
                k: v for k, v in (kwargs.get("metadata") or {}).items() if k != "lc_versions"
            }
            given = args[1:] if event.endswith("start") else ()
            what = [str(sorted(a.items()) if isinstance(a, dict) else a) for a in given]
            about = [kwargs.get("name"), sorted(kwargs.get("tags") or ()), metadata]
            log.append([event, run, parent, about, [w for w in what if "AIMessage" not in w]])

        return method

    events = ("chain_start", "chain_end", "chain_error", "chat_model_start", "llm_end")
    return type("Teller", (BaseCallbackHandler,), {f"on_{e}": told(e) for e in events})()


@program
def callbacks_hear_of_graph_and_nodes(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        m = model()

        def ask(state: Any) -> dict[str, Any]:
            return {"other": e.interrupt("q")}

        def fail(state: Any) -> None:
            raise ValueError("no luck")

        nodes = {
            "n": (lambda s: {"messages": [m.invoke("x")]}, {"metadata": {"mine": 1}}),
            "ask": ask,
            "fail": fail,
        }
        return e.build(Chat, nodes, [(e.START, "n"), ("n", "ask"), ("ask", "fail")])

    async def awaited(graph: Any, value: Any, config: Any) -> Any:
        return await graph.ainvoke(value, config)

    for colour in ("sync", "async"):
        log: list[Any] = []
        more = {"tags": ["t"], "metadata": {"m": 1}, "run_name": "name", "run_id": UUID(int=7)}
        config = {**C, "callbacks": [teller(log)], **more}
        graph = make()
        for value in (Q, e.Command(resume="r")):
            if colour == "sync":
                rec.call("invoke", lambda value=value: plain(graph.invoke(value, config)))
            else:
                call = lambda value=value: asyncio.run(awaited(graph, value, config))  # noqa: E731
                rec.call("ainvoke", lambda call=call: plain(call()))
        rec.note("told", log)


@program
def callbacks_hear_of_routers(e: Engine, rec: Recorder) -> None:
    def start(state: Any) -> str:
        return "n"

    def after(state: Any) -> list[str]:
        return ["z"]

    def stop(state: Any) -> str:
        return e.END

    async def later(state: Any) -> str:
        return e.END

    def fail(state: Any) -> str:
        raise ValueError("no way")

    def make(last: Any) -> Any:
        nodes = {"n": lambda s: {"other": 1}, "z": lambda s: {"other": 2}}
        routers = [(e.START, start, ["n"]), ("n", after, ["z"]), ("n", stop, [e.END])]
        return e.build(Chat, nodes, [], [*routers, ("z", last, [e.END])])

    async def awaited(graph: Any, config: Any) -> Any:
        return await graph.ainvoke(Q, config)

    for colour, last in (("sync", stop), ("sync", fail), ("async", later), ("async", fail)):
        log: list[Any] = []
        config = {**C, "callbacks": [teller(log)]}
        graph = make(last)
        if colour == "sync":
            rec.call("invoke", lambda: plain(graph.invoke(Q, config)))
        else:
            rec.call("ainvoke", lambda: plain(asyncio.run(awaited(graph, config))))
        rec.note("told", log)


@program
def the_config_in_a_node(e: Engine, rec: Recorder) -> None:
    def make(seen: list[Any]) -> Any:
        def node(state, config):
            shown = {k: v for k, v in config.items() if k not in ("configurable", "callbacks")}
            own = config["configurable"]
            seen.append(
                [
                    shown,
                    own.get("thread_id"),
                    own.get("mine"),
                    own.get("other"),
                    own["checkpoint_ns"],
                ]
            )
            return {"other": 1}

        return e.build(Chat, {"n": (node, {"metadata": {"n": 1}})}, [(e.START, "n")])

    for more in (
        {},
        {"tags": ["t"], "metadata": {"m": 1}, "run_name": "r", "run_id": UUID(int=7)},
        {"recursion_limit": 7, "max_concurrency": 2},
        {"mine": 2, "other": "x"},
    ):
        for own in ({}, {"mine": 1, "assistant_id": "a", "run_id": "x", "user_id": "u"}):
            seen: list[Any] = []
            graph = make(seen)
            config = {"configurable": {"thread_id": "1", **own}, **more}
            rec.invoke(graph, Q, config)
            rec.note("seen", seen)


@program
def events_of_langchain(e: Engine, rec: Recorder) -> None:
    def make() -> Any:
        m = model()
        nodes = {"n": lambda s: {"messages": [m.invoke("x")]}, "z": lambda s: {"other": 1}}
        return e.build(Chat, nodes, [(e.START, "n"), ("n", "z")], saver=None)

    async def events(**options: Any) -> list[Any]:
        found = []
        async for one in make().astream_events(Q, {"tags": ["t"]}, **options):
            data = {k: str(v) for k, v in one["data"].items() if "Message" not in str(v)}
            found.append([one["event"], one["name"], one["tags"], data, len(one["parent_ids"])])
        return found

    for options in (
        {},
        {"version": "v2", "include_types": ["chat_model"]},
        {"stream_mode": "values"},
        {"exclude_names": ["n"]},
    ):
        rec.call("events", lambda options=options: asyncio.run(events(**options)))
