"""How stores are opened and closed, and whose connections they use."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import aiosqlite
import psycopg
import psycopg_pool
import pytest
import redis
from redis import asyncio as aredis

from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.store.memory import InMemoryStore
from ckpt_viz.store.postgres import AsyncPostgresStore, PostgresStore
from ckpt_viz.store.redis import AsyncRedisStore, RedisStore
from ckpt_viz.store.sqlite import AsyncSqliteStore, SqliteStore

from .conftest import INDEX


def use(store):
    store.put(("a",), "k", {"n": 1})
    assert store.get(("a",), "k").value == {"n": 1}
    store.delete(("a",), "k")


async def ause(store):
    await store.aput(("a",), "k", {"n": 1})
    assert (await store.aget(("a",), "k")).value == {"n": 1}
    await store.adelete(("a",), "k")


CLASSES = {
    "sqlite": (SqliteStore, AsyncSqliteStore),
    "postgres": (PostgresStore, AsyncPostgresStore),
    "redis": (RedisStore, AsyncRedisStore),
}


@pytest.fixture(params=CLASSES)
def opened(request, tmp_path):
    """The two names of a store, and an address."""
    if request.param == "sqlite":
        return *CLASSES["sqlite"], str(tmp_path / "a.db")
    return *CLASSES[request.param], request.getfixturevalue(f"{request.param}_url")


def test_a_store_is_used_directly_or_by_with(opened):
    plain, _, address = opened
    store = plain.from_conn_string(address, index=dict(INDEX), ttl={"default_ttl": 5})
    assert type(store) is plain
    assert store.ttl_config == {"default_ttl": 5}
    assert store.index_config["dims"] == 26
    assert store.supports_ttl
    use(store)
    store.close()
    use(store)  # opens again
    store.close()
    with plain.from_conn_string(address) as same:
        assert same.setup() is not None
        use(same)


async def test_both_names_serve_async_programs(opened):
    plain, awaited, address = opened
    for kind in (plain, awaited):
        async with kind.from_conn_string(address) as store:
            await store.setup()
            await ause(store)
        store = kind.from_conn_string(address)
        await ause(store)
        await store.aclose()


async def test_sync_methods_of_an_async_store_serve_other_threads(opened):
    _, awaited, address = opened
    async with awaited.from_conn_string(address) as store:
        await asyncio.to_thread(use, store)
        for call in (
            lambda: store.get(("a",), "k"),
            lambda: store.put(("a",), "k", {}),
            lambda: store.delete(("a",), "k"),
            lambda: store.search(("a",)),
            lambda: store.list_namespaces(),
            lambda: store.batch([]),
        ):
            with pytest.raises(asyncio.InvalidStateError, match=r"await store\.a"):
                call()
    use(store)  # the loop has no part in it any more
    await store.aclose()


def test_the_same_store_in_loop_after_loop(opened):
    plain, awaited, address = opened
    for kind in (plain, awaited):
        store = kind.from_conn_string(address)
        for _ in range(3):
            asyncio.run(ause(store))
        use(store)
        store.close()


def test_sqlite_connections_of_the_caller(tmp_path):
    conn = sqlite3.connect(tmp_path / "a.db")
    store = SqliteStore(conn, index=dict(INDEX))
    use(store)
    asyncio.run(ause(store))
    store.close()
    assert store.conn is conn
    conn.execute("SELECT 1")
    with pytest.raises(TypeError, match="from_conn_string"):
        SqliteStore(str(tmp_path / "a.db"))


def test_a_deserializer_of_the_caller(tmp_path):
    conn = sqlite3.connect(tmp_path / "a.db")
    store = SqliteStore(conn, deserializer=lambda data: {"read": data})
    store.put(("a",), "k", {"n": 1})
    assert store.get(("a",), "k").value == {"read": b'{"n": 1}'}
    assert store.search(("a",))[0].value == {"read": b'{"n": 1}'}


async def test_an_aiosqlite_connection(tmp_path):
    async with aiosqlite.connect(tmp_path / "a.db") as conn:
        store = AsyncSqliteStore(conn, index=dict(INDEX))
        await store.setup()
        await ause(store)
        await asyncio.to_thread(use, store)


async def test_postgres_connections_of_the_caller(postgres_url):
    with psycopg.connect(postgres_url) as conn:
        use(PostgresStore(conn))
    with psycopg_pool.ConnectionPool(postgres_url, min_size=1, max_size=2) as pool:
        store = PostgresStore(pool, index=dict(INDEX))
        use(store)
        await ause(store)
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as conn:
        store = AsyncPostgresStore(conn)
        await ause(store)
        await asyncio.to_thread(use, store)
    with pytest.raises(TypeError, match="from_conn_string"):
        PostgresStore(postgres_url)


async def test_redis_clients_of_the_caller(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        use(RedisStore(client, prefix="mine"))
        assert all(key.startswith(b"mine:{store}:") for key in client.scan_iter())
    client = aredis.Redis.from_url(redis_url)
    store = AsyncRedisStore(client)
    await ause(store)
    await asyncio.to_thread(use, store)
    await client.aclose()
    with pytest.raises(TypeError, match="from_conn_string"):
        RedisStore(redis_url)
    with pytest.raises(ValueError, match="decode_responses"):
        RedisStore(redis.Redis.from_url(redis_url, decode_responses=True))


def test_a_deleted_item_leaves_nothing_in_redis(redis_url):
    with (
        redis.Redis.from_url(redis_url) as client,
        RedisStore.from_conn_string(redis_url, index=dict(INDEX)) as store,
    ):
        store.put(("a",), "k", {"text": "pizza"}, ttl=5)
        store.delete(("a",), "k")
        assert list(client.scan_iter()) == [b"ckpt:{store}:last"]


def test_one_file_holds_a_saver_and_a_store(tmp_path):
    config = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
    for _ in range(2):
        saver = SqliteSaver.from_conn_string(tmp_path / "a.db")
        store = SqliteStore.from_conn_string(tmp_path / "a.db")
        use(store)
        assert saver.get_tuple(config) is None
        saver.close()
        store.close()


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    with SqliteStore.from_conn_string(tmp_path / "a.db") as store:
        store.conn.execute("UPDATE ckpt_store SET version = 99")
    with pytest.raises(RuntimeError, match="schema 99"):
        SqliteStore.from_conn_string(tmp_path / "a.db").get(("a",), "k")


def test_a_folder_that_is_not_there():
    with pytest.raises(sqlite3.OperationalError, match="folder that exists"):
        SqliteStore.from_conn_string("/nowhere/a.db").get(("a",), "k")


PROGRAM = """
import sys
from ckpt_viz.store.sqlite import SqliteStore
store = SqliteStore.from_conn_string(sys.argv[1])
for n in range(40):
    store.put((sys.argv[2],), str(n), {"n": n})
"""


def test_programs_that_write_one_file_at_a_time_wait_for_each_other(tmp_path):
    file, root = str(tmp_path / "a.db"), str(Path(__file__).parents[2])
    command = [sys.executable, "-c", PROGRAM, file]
    going = [subprocess.Popen([*command, name], cwd=root) for name in "abc"]
    assert [one.wait() for one in going] == [0, 0, 0]
    store = SqliteStore.from_conn_string(file)
    assert len(store.search((), limit=1000)) == 120
    assert store.list_namespaces() == [("a",), ("b",), ("c",)]
    store.close()


async def test_the_memory_store_is_no_context():
    store = InMemoryStore()
    use(store)
    await ause(store)


ACKNOWLEDGING = """
import sys
from tests.store.conftest import INDEX
from ckpt_viz.store.sqlite import SqliteStore
store = SqliteStore.from_conn_string(sys.argv[1], index=INDEX)
for n in range(100_000):
    store.put(("a", str(n % 7)), str(n), {"text": f"pizza {n}"})
    print(n, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9(tmp_path):
    file, root = str(tmp_path / "a.db"), str(Path(__file__).parents[2])
    command = [sys.executable, "-c", ACKNOWLEDGING, file]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as program:
        last = 0
        while last < 200:
            last = int(program.stdout.readline())
        program.kill()
        last = int([str(last), *program.stdout.read().split()][-1])
    with SqliteStore.from_conn_string(file, index=dict(INDEX)) as store:
        kept = [int(item.key) for item in store.search(("a",), limit=100_000)]
        assert kept[: last + 1] == list(range(last + 1))
        found = store.search((), query="pizza", limit=100_000)
        assert sorted(int(item.key) for item in found) == kept
