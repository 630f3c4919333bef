"""Every kind of source tells the same of the same runs, but for what its `can` says is missing.

The measure is our engine over its own memory. Each source keeps the runs of all programs, a thread
each. What a source without a graph can't know (`can.shape`) is in `histories.shapeless`.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from graphs import engine
from histories import shapeless, told
from runs import PROGRAMS

from ckpt_viz.checkpoint.langgraph import as_langgraph
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.timeline import open_timeline

OURS, PEER = "ckpt_viz", "langgraph"


class Kept:
    """A saver of one engine, and how what it keeps is opened."""

    def __init__(self, name: str, saver: Any, view: Callable[[Any, Any], Any]) -> None:
        """``view(graph, saver)`` gives the source, and the options to open it with."""
        self.engine, self.saver, self.view = engine(name), saver, view

    def of(self, program: str) -> Any:
        """The timeline of a program's runs, which happen now."""
        graph = PROGRAMS[program](self.engine, self.saver, config(program))
        source, options = self.view(graph, self.saver)
        return open_timeline(source, program, **options)


def config(program: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": program}}


@functools.cache
def measure(program: str) -> Any:
    ours = engine(OURS)
    return told(Kept(OURS, ours.Saver(), lambda graph, _: (graph, {})).of(program))


class Stranger:
    """A saver of somebody else's for LangGraph, which has what the base class asks for alone."""

    def __new__(cls) -> Any:
        from langgraph.checkpoint.base import BaseCheckpointSaver

        inner = engine(PEER).Saver()
        names = ("get_tuple", "list", "put", "put_writes", "get_next_version")
        methods = {name: _handed_on(inner, name) for name in names}
        return type("StrangeSaver", (BaseCheckpointSaver,), methods)()


def _handed_on(inner: Any, name: str) -> Any:
    return lambda self, *args, **kwargs: getattr(inner, name)(*args, **kwargs)


def live(graph: Any, saver: Any) -> Any:
    return graph, {}


def alone(graph: Any, saver: Any) -> Any:
    return saver, {}


def with_graph(graph: Any, saver: Any) -> Any:
    return saver, {"graph": graph}


def at(place: Any) -> Any:
    return lambda graph, saver: (place, {})


def at_with_graph(place: Any) -> Any:
    return lambda graph, saver: (place, {"graph": graph})


def peer_sqlite(path: Path) -> Any:
    from langgraph.checkpoint.sqlite import SqliteSaver as PeerSaver

    return PeerSaver(sqlite3.connect(path, check_same_thread=False))


def peer_postgres(url: str, stack: ExitStack) -> Any:
    from langgraph.checkpoint.postgres import PostgresSaver as PeerSaver

    saver = stack.enter_context(PeerSaver.from_conn_string(url))
    saver.setup()
    return saver


def own_postgres(url: str, stack: ExitStack) -> Any:
    from ckpt_viz.checkpoint.postgres import PostgresSaver

    return stack.enter_context(PostgresSaver.from_conn_string(url))


def own_redis(url: str, stack: ExitStack) -> Any:
    from ckpt_viz.checkpoint.redis import RedisSaver

    return stack.enter_context(RedisSaver.from_conn_string(url))


ON_FILE = {
    "engine over SQLite": (OURS, SqliteSaver.from_conn_string, lambda p: live),
    "our saver alone": (OURS, SqliteSaver.from_conn_string, lambda p: alone),
    "our file": (OURS, SqliteSaver.from_conn_string, at),
    "our file with its graph": (OURS, SqliteSaver.from_conn_string, at_with_graph),
    "LangGraph over SQLite": (PEER, peer_sqlite, lambda p: live),
    "LangGraph's SQLite saver alone": (PEER, peer_sqlite, lambda p: alone),
    "LangGraph's file": (PEER, peer_sqlite, at),
    "LangGraph's file with its graph": (PEER, peer_sqlite, at_with_graph),
    "LangGraph over our SQLite": (
        PEER,
        lambda path: as_langgraph(SqliteSaver.from_conn_string(path)),
        lambda p: live,
    ),
}
IN_MEMORY = {
    "our memory alone": (OURS, lambda: engine(OURS).Saver(), alone),
    "LangGraph": (PEER, lambda: engine(PEER).Saver(), live),
    "LangGraph's memory alone": (PEER, lambda: engine(PEER).Saver(), alone),
    "LangGraph over a stranger": (PEER, Stranger, live),
    "a stranger alone": (PEER, Stranger, alone),
    "a stranger with its graph": (PEER, Stranger, with_graph),
}
ON_SERVER = {
    "engine over PostgreSQL": (OURS, own_postgres, lambda url: live),
    "our PostgreSQL address": (OURS, own_postgres, at),
    "our Redis address": (OURS, own_redis, at),
    "LangGraph over PostgreSQL": (PEER, peer_postgres, lambda url: live),
    "LangGraph's PostgreSQL address": (PEER, peer_postgres, at),
    "LangGraph's PostgreSQL address with its graph": (PEER, peer_postgres, at_with_graph),
}

ON_SERVERS_TOO = ("sends", "several", "edited", "mended", "nested_question", "functional")


@pytest.fixture(scope="module")
def kept(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Kept]:
    name = request.param
    with ExitStack() as stack:
        if name in IN_MEMORY:
            package, make, view = IN_MEMORY[name]
            yield Kept(package, make(), view)
        elif name in ON_FILE:
            path = tmp_path_factory.mktemp("source") / "runs.db"
            package, make, view_of = ON_FILE[name]
            yield Kept(package, make(path), view_of(path))
        else:
            package, make, view_of = ON_SERVER[name]
            url = _empty(name, request, stack)
            yield Kept(package, make(url, stack), view_of(url))


def _empty(name: str, request: pytest.FixtureRequest, stack: ExitStack) -> str:
    """The address of an empty database of one's own."""
    if "Redis" in name:
        import redis

        server = request.getfixturevalue("redis_server")
        with redis.Redis.from_url(server.url) as client:
            client.flushall()
        return str(server.url)
    import psycopg

    server = request.getfixturevalue("postgres_server")
    space = f"s{uuid4().hex}"
    conn = stack.enter_context(psycopg.connect(server.url, autocommit=True))
    conn.execute(f"CREATE SCHEMA {space}")
    return f"{server.url}?options=-csearch_path%3D{space}"


def cases() -> Iterator[Any]:
    """Every source with every program; on servers, which are slow, some of them are soaked."""
    for source in (*IN_MEMORY, *ON_FILE, *ON_SERVER):
        for program in PROGRAMS:
            waits = source in ON_SERVER and program not in ON_SERVERS_TOO
            yield pytest.param(source, program, marks=[pytest.mark.soak] if waits else [])


@pytest.mark.parametrize(("kept", "program"), list(cases()), indirect=["kept"])
def test_a_source_tells_what_our_engine_tells(kept: Kept, program: str) -> None:
    timeline = kept.of(program)
    wanted, found = measure(program), told(timeline)
    if not timeline.can.shape.ok:
        wanted, found = shapeless(wanted), shapeless(found)
    assert found == wanted
    assert program in {info.id for info in timeline.threads(program)}
