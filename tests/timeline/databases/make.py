"""Writes a small database with one version of LangGraph, and what that version itself reads in it.

Run it by hand, in a throw-away environment that holds the version that is wanted:

    python make.py sqlite OUT.db             (and OUT.json beside it)
    python make.py postgres OUT.sql URL      (a dump of inserts, and OUT.json)
    ... --key 16BYTESOFAESKEY.               encrypted

The threads: ``line`` (messages, an edit, a fork), ``fan`` (parallel, Send, a barrier), ``stops``
(before a node), ``asks`` (an interrupt), ``fails``, ``nest`` (a subgraph). Runs on LangGraph 0.1
to 1.2.
"""

import contextlib
import json
import operator
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

try:
    from langgraph.types import Send
except ImportError:
    from langgraph.constants import Send
try:
    from langgraph.types import interrupt
except ImportError:
    interrupt = None


class State(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    xs: Annotated[list, operator.add]
    n: int
    odd: Any


def line(saver):
    b = StateGraph(State)
    b.add_node("plan", lambda s: {"messages": [AIMessage("", id="m2", tool_calls=[CALL])], "n": 1})
    b.add_node("tool", lambda s: {"messages": [ToolMessage("7", tool_call_id="c1", id="m3")]})
    b.add_node("talk", lambda s: {"messages": [AIMessage("seven", id="m4")], "n": s["n"] + 1})
    b.add_edge(START, "plan")
    b.add_conditional_edges("plan", lambda s: "tool", {"tool": "tool", "talk": "talk"})
    b.add_edge("tool", "talk")
    b.add_edge("talk", END)
    g = b.compile(checkpointer=saver)
    c = config("line")
    g.invoke({"messages": [HumanMessage("how many?", id="m1")], "odd": (1, {2, 3})}, c)
    g.update_state(c, {"n": 10}, as_node="plan")
    g.invoke(None, c)
    return g


CALL = {"name": "count", "args": {"what": "x"}, "id": "c1"}


def config(thread):
    return {"configurable": {"thread_id": thread}}


def fan(saver):
    b = StateGraph(State)
    for name in ("a", "b", "c"):
        b.add_node(name, lambda s, name=name: {"xs": [name]})
    b.add_node("w", lambda s: {"xs": [f"w{s['n']}"]})
    b.add_node("join", lambda s: {"xs": ["j"]})
    b.add_edge(START, "a")
    b.add_edge("a", "b")
    b.add_edge("a", "c")
    b.add_conditional_edges("a", lambda s: [Send("w", {"n": i}) for i in range(2)], ["w"])
    b.add_edge(["b", "c"], "join")
    b.add_edge("join", END)
    g = b.compile(checkpointer=saver)
    g.invoke({"xs": []}, config("fan"))
    return g


def stops(saver):
    b = StateGraph(State)
    b.add_node("a", lambda s: {"xs": ["a"]})
    b.add_node("b", lambda s: {"xs": ["b"]})
    b.add_edge(START, "a")
    b.add_edge("a", "b")
    b.add_edge("b", END)
    g = b.compile(checkpointer=saver, interrupt_before=["b"])
    g.invoke({"xs": ["in"]}, config("stops"))
    return g


def asks(saver):
    b = StateGraph(State)
    b.add_node("a", lambda s: {"xs": ["a"]})
    b.add_node("ask", lambda s: {"xs": [interrupt({"ok?": s["xs"]})]})
    b.add_edge(START, "a")
    b.add_edge("a", "ask")
    b.add_edge("ask", END)
    g = b.compile(checkpointer=saver)
    g.invoke({"xs": []}, config("asks"))
    return g


def fails(saver):
    def bad(s):
        raise ValueError("no")

    b = StateGraph(State)
    b.add_node("a", lambda s: {"xs": ["a"]})
    b.add_node("bad", bad)
    b.add_node("good", lambda s: {"xs": ["good"]})
    b.add_edge(START, "a")
    b.add_edge("a", "bad")
    b.add_edge("a", "good")
    g = b.compile(checkpointer=saver)
    with contextlib.suppress(ValueError):
        g.invoke({"xs": []}, config("fails"))
    return g


def nest(saver):
    inner = StateGraph(State)
    inner.add_node("x", lambda s: {"xs": ["x"]})
    inner.add_node("y", lambda s: {"xs": ["y"]})
    inner.add_edge(START, "x")
    inner.add_edge("x", "y")
    inner.add_edge("y", END)
    b = StateGraph(State)
    b.add_node("a", lambda s: {"n": 1})
    b.add_node("sub", inner.compile())
    b.add_edge(START, "a")
    b.add_edge("a", "sub")
    b.add_edge("sub", END)
    g = b.compile(checkpointer=saver)
    g.invoke({"xs": []}, config("nest"))
    return g


PROGRAMS = [line, fan, stops, asks, fails, nest]


def plain(value):
    """JSON of a value; a message by its kind and fields."""
    if hasattr(value, "content") and hasattr(value, "type"):
        kept = {"type": value.type, "content": value.content, "id": value.id}
        if getattr(value, "tool_calls", None):
            kept["tool_calls"] = [
                {k: c[k] for k in ("name", "args", "id")} for c in value.tool_calls
            ]
        return kept
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(v) for v in value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def truth(graph, thread):
    """What this LangGraph reads: newest first."""
    return [
        {
            "id": s.config["configurable"].get(
                "checkpoint_id", s.config["configurable"].get("thread_ts")
            ),
            "parent": (s.parent_config or {}).get("configurable", {}).get("checkpoint_id")
            or (s.parent_config or {}).get("configurable", {}).get("thread_ts"),
            "values": plain(s.values),
            "next": list(s.next),
            "step": s.metadata.get("step"),
            "source": s.metadata.get("source"),
            "tasks": [
                {
                    "name": t.name,
                    "error": t.error is not None,
                    "interrupts": [plain(i.value) for i in getattr(t, "interrupts", ())],
                }
                for t in getattr(s, "tasks", ())
            ],
        }
        for s in graph.get_state_history(config(thread))
    ]


def serializer(key):
    if key is None:
        return None
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

    return EncryptedSerializer.from_pycryptodome_aes(key=key.encode())


def run(saver):
    told = {}
    for program in PROGRAMS:
        name = program.__name__
        if name == "asks" and interrupt is None:
            continue
        graph = program(saver)
        told[name] = truth(graph, name)
    return told


def sqlite(out, key):
    import sqlite3

    from langgraph.checkpoint.sqlite import SqliteSaver

    conn = sqlite3.connect(out, check_same_thread=False)
    serde = serializer(key)
    told = run(SqliteSaver(conn) if serde is None else SqliteSaver(conn, serde=serde))
    conn.commit()
    conn.close()
    return told


def postgres(out, url, key):
    import psycopg
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row

    with psycopg.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row) as conn:
        serde = serializer(key)
        saver = PostgresSaver(conn) if serde is None else PostgresSaver(conn, serde=serde)
        saver.setup()
        told = run(saver)
    with psycopg.connect(url) as conn, open(out, "w") as file:
        for sql in dump(conn):
            file.write(sql + "\n")
    return told


def dump(conn):
    """The tables and rows as SQL, in few bytes."""
    from psycopg import sql

    names = conn.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        " ORDER BY 1"
    ).fetchall()
    for (table,) in names:
        columns = conn.execute(
            "SELECT column_name, data_type, is_nullable, column_default FROM"
            " information_schema.columns WHERE table_schema = current_schema() AND table_name = %s"
            " ORDER BY ordinal_position",
            (table,),
        ).fetchall()
        told = [
            f'"{c}" {kind}' + (" NOT NULL" if null == "NO" else "") + (f" DEFAULT {d}" if d else "")
            for c, kind, null, d in columns
        ]
        yield f"CREATE TABLE {table} ({', '.join(told)});"
        for row in conn.execute(
            f"SELECT * FROM {table} ORDER BY 1, 2, 3"
            if len(columns) > 2
            else f"SELECT * FROM {table} ORDER BY 1"
        ).fetchall():
            values = [json.dumps(v) if isinstance(v, dict) else v for v in row]
            values = sql.SQL(", ").join(map(sql.Literal, values)).as_string(conn)
            yield f"INSERT INTO {table} VALUES ({values});"


def main():
    words = sys.argv[1:]
    key = words.pop(words.index("--key") + 1) if "--key" in words else None
    words = [w for w in words if w != "--key"]
    kind, out = words[:2]
    told = sqlite(out, key) if kind == "sqlite" else postgres(out, words[2], key)
    names = ("langgraph", "langgraph-checkpoint", f"langgraph-checkpoint-{kind}", "langchain-core")
    made = {}
    for name in names:
        try:
            made[name] = version(name)
        except PackageNotFoundError:
            made[name] = None
    with open(out.rsplit(".", 1)[0] + ".json", "w") as file:
        json.dump({"versions": made, "threads": told}, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
