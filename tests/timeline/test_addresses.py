"""Databases by address: read-only by the server's own rule; clear words where that can't be."""

from __future__ import annotations

import socket
import time
from importlib import import_module
from typing import Any

import psycopg
import pytest
from graphs import engine
from runs import PROGRAMS

from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.errors import ReadOnlyError, SerializationError, SourceError
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.databases.peer_postgres import PostgresPlace

PATIENCE = 5.0
KEY = b"0123456789abcdef" * 2
C = {"configurable": {"thread_id": "1"}}


def ours(url: str, saver_of: Any) -> Any:
    with saver_of(url) as saver:
        return PROGRAMS["asks"](engine("ckpt_viz"), saver, C)


@pytest.fixture
def postgres(postgres_url: str) -> str:
    from ckpt_viz.checkpoint.postgres import PostgresSaver

    ours(postgres_url, PostgresSaver.from_conn_string)
    return postgres_url


def sql(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        for one in statements:
            conn.execute(one)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    "address", ["postgresql://a:secret@127.0.0.1:{}/x", "redis://127.0.0.1:{}"]
)
def test_a_server_that_is_not_there(address: str) -> None:
    start = time.monotonic()
    with pytest.raises(SourceError, match="can't be read") as told:
        open_timeline(address.format(free_port()))
    assert time.monotonic() - start < PATIENCE
    assert "secret" not in str(told.value)


def test_the_server_itself_refuses_to_write(postgres: str) -> None:
    timeline = open_timeline(postgres, "1")
    assert "secret" not in timeline.title
    with pytest.raises(ReadOnlyError):
        timeline.saver.put(C, {}, {}, {})
    with pytest.raises(SourceError, match="read-only transaction"):
        PostgresPlace(postgres).read(("CREATE TABLE mine(a int)", ()))
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        timeline.saver._saver.delete_thread("1")
    assert len(timeline.rows()) == 3


def test_acting_on_an_address(postgres: str) -> None:
    e = engine("ckpt_viz")
    graph = PROGRAMS["asks"](e, e.Saver(), C)
    timeline = open_timeline(postgres, "1", graph=graph, write=True)
    timeline.resume(None, "yes")
    timeline.saver.close()
    assert open_timeline(postgres, "1").snapshot().values["xs"] == ["a", "yes"]


def test_other_and_newer_tables(postgres: str) -> None:
    sql(postgres, "INSERT INTO ckpt_migrations VALUES (99)")
    with pytest.raises(SourceError, match=r"schema 99.*upgrade"):
        open_timeline(postgres)
    sql(postgres, "DROP TABLE ckpt_checkpoints", "CREATE TABLE checkpoints(what text)")
    with pytest.raises(SourceError, match=r"There are no checkpoints in 127\.0\.0\.1/postgres"):
        open_timeline(postgres)
    sql(postgres, "DROP TABLE checkpoints", "CREATE TABLE checkpoints(checkpoint_id text)")
    with pytest.raises(SourceError, match="checkpoint_blobs"):
        open_timeline(postgres)


def test_a_locked_table_is_told_of_in_time(postgres: str) -> None:
    with psycopg.connect(postgres) as conn:
        conn.execute("LOCK TABLE ckpt_checkpoints IN ACCESS EXCLUSIVE MODE")
        start = time.monotonic()
        with pytest.raises(SourceError, match="locked by another transaction"):
            open_timeline(postgres)
        assert time.monotonic() - start < PATIENCE
    assert open_timeline(postgres, "1").rows()


def test_a_lost_connection_is_made_anew(postgres: str) -> None:
    place = PostgresPlace(postgres)
    ask = ("SELECT pg_backend_pid()", ())
    ((before,),) = place.read(ask)[0]
    sql(postgres, f"SELECT pg_terminate_backend({before})")
    ((after,),) = place.read(ask)[0]
    assert after != before


async def test_langgraphs_async_postgres_saver(postgres_url: str) -> None:
    import asyncio

    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(postgres_url) as saver:
        await saver.setup()
        e = engine("langgraph")
        b = e.StateGraph(dict)

        async def a(state: Any) -> Any:
            return {"n": 1}

        b.add_node("a", a)
        b.add_edge(e.START, "a")
        graph = b.compile(checkpointer=saver)
        await graph.ainvoke({"n": 0}, C)
        for timeline in (open_timeline(graph, "1"), open_timeline(saver, "1")):
            rows = await asyncio.to_thread(timeline.rows)
            assert [row.step for row in rows] == [-1, 0, 1]
        timeline = open_timeline(graph, "1")
        await asyncio.to_thread(timeline.run, {"n": 5})
        assert len(await asyncio.to_thread(timeline.rows)) == 6
        assert [i.id for i in await asyncio.to_thread(timeline.threads)] == ["1"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_our_encrypted_databases_open_with_their_key(
    kind: str, request: pytest.FixtureRequest, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    serde = EncryptedSerializer.from_key(KEY)
    saver_of = getattr(import_module(f"ckpt_viz.checkpoint.{kind}"), f"{kind.title()}Saver", None)
    place = tmp_path / "e.db" if kind == "sqlite" else request.getfixturevalue(f"{kind}_url")
    ours(place, lambda where: saver_of.from_conn_string(where, serde=serde))
    with pytest.raises(SourceError, match=r"encrypted \(.*gcm\..*key="):
        open_timeline(place, "1").rows()
    with pytest.raises((SourceError, SerializationError), match="key"):
        open_timeline(place, "1", key=b"x" * 32).rows()
    timeline = open_timeline(place, "1", key=KEY)
    assert [row.status for row in timeline.rows()] == ["", "", "interrupt"]
    assert timeline.snapshot().values == {"xs": ["a"]}
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY.decode())
    assert len(open_timeline(place, "1").rows()) == 3


@pytest.mark.parametrize("pooled", [False, True])
async def test_langgraphs_async_postgres_saver_in_its_own_loop(
    pooled: bool, postgres_url: str
) -> None:
    """As in a notebook's cell: the caller keeps the loop busy that the saver is bound to."""
    import asyncio
    from contextlib import AsyncExitStack

    import psycopg_pool
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async def a(state: Any) -> Any:
        return {"n": state["n"] + 1}

    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        saver = await enter(AsyncPostgresSaver.from_conn_string(postgres_url))
        await saver.setup()
        if pooled:
            kwargs = {"autocommit": True, "row_factory": psycopg.rows.dict_row}
            pool = psycopg_pool.AsyncConnectionPool(postgres_url, kwargs=kwargs, open=False)
            saver = AsyncPostgresSaver(await enter(pool))
        e = engine("langgraph")
        graph = e.StateGraph(dict).add_node("a", a).add_edge(e.START, "a").compile(saver)
        threads = [{"configurable": {"thread_id": str(n)}} for n in range(4)]
        await asyncio.gather(*(graph.ainvoke({"n": 0}, thread) for thread in threads))
        timeline = open_timeline(graph, "1")
        timeline.run({"n": 5})
        timeline.update(timeline.rows()[0].id, {"n": 7}, "a")
        assert len(timeline.rows()) == 7
        assert timeline.snapshot().values == {"n": 7}
        await asyncio.gather(*(graph.ainvoke({"n": 0}, thread) for thread in threads))
