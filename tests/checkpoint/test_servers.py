"""What PostgreSQL and Redis add: pools, colours, time to live, other programs, dead connections."""

from __future__ import annotations

import ast
import asyncio
import threading
import time
from typing import Any

import psycopg
import pytest
import redis
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from redis import asyncio as aredis

from ckpt_viz.checkpoint.base import Extending
from ckpt_viz.checkpoint.postgres import PostgresSaver
from ckpt_viz.checkpoint.postgres.aio import AsyncPostgresSaver
from ckpt_viz.checkpoint.postgres.schema import MIGRATIONS
from ckpt_viz.checkpoint.redis import RedisSaver
from ckpt_viz.checkpoint.redis.aio import AsyncRedisSaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError, ThreadBusyError

from .test_savers import chain, checkpoint, config, ids, put


@pytest.fixture(params=["postgres", "redis"])
def open_saver(request: pytest.FixtureRequest) -> Any:
    """Makes savers of one empty server."""
    kind = {"postgres": PostgresSaver, "redis": RedisSaver}[request.param]
    url = request.getfixturevalue(f"{request.param}_url")
    made: list[Any] = []

    def make(**options: Any) -> Any:
        made.append(kind.from_conn_string(url, **options))
        return made[-1]

    yield make
    for saver in made:
        saver.close()


def test_the_async_names_mean_the_same_class() -> None:
    assert AsyncPostgresSaver is PostgresSaver
    assert AsyncRedisSaver is RedisSaver


def test_a_saver_is_a_context_manager_and_opens_again(open_saver: Any) -> None:
    with open_saver() as saver:
        saver.setup()
        chain(saver, 2)
    assert len(list(saver.list(config()))) == 2
    assert len(list(open_saver().list(config()))) == 2


async def test_one_saver_in_both_colours_at_once(open_saver: Any) -> None:
    async with open_saver() as saver:
        await saver.asetup()
        made = checkpoint(0, {"a": 1}, {"a": "1.0"})
        await asyncio.gather(
            *(saver.aput(config(f"t{i}"), made, {"step": 0}, {"a": "1.0"}) for i in range(30))
        )
        assert len(saver.threads()) == 30
        assert len([x async for x in saver.alist(None)]) == 30
        found = await asyncio.to_thread(saver.get_tuple, config("t7"))
        assert found.checkpoint["channel_values"] == {"a": 1}
    assert len(saver.threads()) == 30


def test_a_loop_that_ends_without_closing_does_not_hang(open_saver: Any) -> None:
    saver = open_saver()
    made = checkpoint(0, {"a": 1}, {"a": "1.0"})
    for i in range(5):
        asyncio.run(saver.aput(config(f"t{i}"), made, {"step": 0}, {"a": "1.0"}))
    assert len(saver.threads()) == 5


def test_many_threads_share_a_small_pool(open_saver: Any) -> None:
    saver = open_saver(pool_size=2)
    saver.setup()
    errors: list[BaseException] = []

    def work(i: int) -> None:
        try:
            chain(saver, 5, f"t{i}")
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    assert [row["checkpoints"] for row in saver.threads()] == [5] * 12


def test_an_extended_head_that_moved_is_refused(open_saver: Any) -> None:
    saver, other = open_saver(), open_saver()
    base = chain(saver, 1)[0]
    made = checkpoint(1, {"a": 1}, {"a": "2.0"})
    put(other, base, 1, {"n": 2})
    with pytest.raises(ThreadBusyError, match="newer checkpoint"):
        saver.put(Extending(base), made, {"step": 1}, {"a": "2.0"})
    head = saver.get_tuple(config())
    assert head.checkpoint["channel_values"] == {"n": 2}
    made = checkpoint(2, {"a": 1}, {"a": "3.0"})
    for _ in range(2):  # a retry of an own put is no other's
        saver.put(Extending(head.config), made, {"step": 2}, {"a": "3.0"})
    saver.put(base, checkpoint(1, {"a": 1}, {"a": "2.0"}), {"step": 1}, {"a": "2.0"})
    assert len(list(saver.list(config()))) == 4


def test_a_base_that_somebody_else_removed(open_saver: Any) -> None:
    """A value told against what is gone would be lost: it is stored whole instead."""
    saver, other = open_saver(), open_saver()
    big = [{"i": i, "text": "x" * 40} for i in range(60)]
    cfg = put(saver, config(), 0, {"big": big})
    other.delete_thread("t")
    cfg = put(saver, cfg, 1, {"big": [*big, 1]})
    assert saver.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*big, 1]}
    other.delete_thread("t")
    saver.put_writes(cfg, [("big", [*big, 1])], "task")
    cfg = put(saver, cfg, 2, {"big": [*big, 1, 2]})
    assert other.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*big, 1, 2]}


def test_a_value_that_was_there_already_is_no_base(open_saver: Any) -> None:
    """Blobs never change: what a second put says of a version does not count."""
    saver = open_saver()
    one, two = ([{"i": i, "t": mark * 40} for i in range(60)] for mark in "ab")
    made = checkpoint(0, {"big": one}, {"big": "1.0"})
    cfg = saver.put(config(), made, {"step": 0}, {"big": "1.0"})
    saver.put(config(), {**made, "channel_values": {"big": two}}, {"step": 0}, {"big": "1.0"})
    cfg = put(saver, cfg, 1, {"big": [*two, 1]})
    assert saver.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*two, 1]}


def test_a_step_and_its_only_task_are_stored_together(open_saver: Any) -> None:
    saver = open_saver()
    base = chain(saver, 1)[0]
    big = [{"i": i, "text": "x" * 40} for i in range(60)]
    made = checkpoint(1, {"big": big}, {"big": "2.0"})
    wrote = (base, [("big", big)], "task", "path")
    put(open_saver(), base, 1, {"n": 2})
    with pytest.raises(ThreadBusyError):
        saver.put_step(wrote, Extending(base), made, {"step": 1}, {"big": "2.0"})
    assert saver.get_tuple(base).pending_writes == []
    cfg = saver.put_step(wrote, base, made, {"step": 1}, {"big": "2.0"})
    assert saver.get_tuple(base).pending_writes == [("task", "big", big)]
    wrote = (cfg, [("big", [1])], "task", "path")
    made = checkpoint(2, {"big": [*big, 1]}, {"big": "3.0"})
    cfg = asyncio.run(saver.aput_step(wrote, cfg, made, {"step": 2}, {"big": "3.0"}))
    assert saver.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*big, 1]}


def test_names_that_servers_trip_over(open_saver: Any) -> None:
    saver = open_saver()
    odd = "a\x00b\\u0000 'é\ud800{}:*?[x]\n"
    made = checkpoint(0, {odd: odd}, {odd: "1.0"})
    cfg = saver.put(config(odd, odd), made, {"source": odd, "k": odd}, {odd: "1.0"})
    saver.put_writes(cfg, [(odd, odd)], odd, odd)
    saver.set_label(cfg, odd)
    saver.copy_thread(odd, "plain")
    for thread in (odd, "plain"):
        (found,) = saver.list(config(thread, odd), filter={"k": odd})
        assert found.checkpoint["channel_values"] == {odd: odd}
        assert found.pending_writes == [(odd, odd, odd)]
        assert [row["label"] for row in saver.labels(thread)] == [odd]
        assert saver.namespaces(thread) == [odd]
    assert {row["thread_id"] for row in saver.threads()} == {odd, "plain"}
    saver.delete_thread(odd)
    assert [row["thread_id"] for row in saver.threads()] == ["plain"]


def test_versions_of_other_kinds(open_saver: Any) -> None:
    saver, cfg = open_saver(), config()
    for step, version in enumerate([1, "1", 1.5, "\\n00000000000000000001"]):
        made = checkpoint(step, {"a": step}, {"a": version})
        cfg = saver.put(cfg, made, {"step": step}, {"a": version})
    assert [t.checkpoint["channel_values"]["a"] for t in saver.lineage(cfg)] == [3, 2, 1, 0]
    values = saver.storage_report()["threads"][0]["values"]
    assert sorted(map(repr, (v["version"] for v in values))) == sorted(
        map(repr, [1, "1", 1.5, "\\n00000000000000000001"])
    )


def test_listing_while_a_thread_is_deleted(open_saver: Any) -> None:
    saver = open_saver()
    chain(saver, 120)
    chain(saver, 3, "other")
    listing = saver.list(None)
    first = [next(listing) for _ in range(5)]
    saver.delete_thread("t")
    rest = list(listing)
    assert len(ids(first + rest)) <= 123
    assert {t.config["configurable"]["thread_id"] for t in saver.list(None)} == {"other"}


async def test_setup_may_be_awaited(open_saver: Any, postgres_url: str) -> None:
    """Programs with LangGraph's async savers await it, those with the sync ones do not."""
    async with open_saver() as saver:
        await saver.setup()
    await open_saver().setup()
    open_saver().setup()
    async with AsyncConnectionPool(postgres_url, kwargs={"autocommit": True}) as pool:
        await AsyncPostgresSaver(pool).setup()
    await SqliteSaver.from_conn_string(":memory:").setup()


def test_a_serializer_of_the_older_form(open_saver: Any) -> None:
    class Old:
        def dumps(self, obj: Any) -> bytes:
            return repr(obj).encode()

        def loads(self, data: bytes) -> Any:
            return ast.literal_eval(data.decode())

    saver = open_saver(serde=Old())
    cfg = put(saver, config(), 0, {"a": [1, (2,)], "b": "x" * 3000}, user="me")
    put(saver, cfg, 1, {"a": [1, (2,)], "b": "x" * 3001}, user="you")
    (found,) = saver.list(config(), filter={"user": "me"})
    assert found.checkpoint["channel_values"] == {"a": [1, (2,)], "b": "x" * 3000}


# -- PostgreSQL ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["connection", "dict rows", "no autocommit", "pool"])
def test_a_connection_of_the_users(postgres_url: str, kind: str) -> None:
    if kind == "pool":
        with ConnectionPool(postgres_url, min_size=1, kwargs={"autocommit": True}) as pool:
            _use(PostgresSaver(pool))
        return
    options: dict[str, Any] = {"autocommit": kind != "no autocommit"}
    if kind == "dict rows":
        options |= {"row_factory": dict_row, "prepare_threshold": 0}
    with psycopg.connect(postgres_url, **options) as conn:
        _use(PostgresSaver(conn))
    _use(PostgresSaver.from_conn_string(postgres_url, pipeline=False), "again")


def _use(saver: Any, thread: str = "t") -> None:
    chain(saver, 3, thread)
    assert len(list(saver.list(config(thread)))) == 3
    assert asyncio.run(saver.aget_tuple(config(thread))).metadata["step"] == 2
    saver.prune([thread])
    assert saver.compact()["after"] > 0
    saver.close()


async def test_an_async_connection_refuses_to_wait_for_itself(postgres_url: str) -> None:
    options: dict[str, Any] = {"autocommit": True}
    async with await psycopg.AsyncConnection.connect(postgres_url, **options) as conn:
        saver = AsyncPostgresSaver(conn)
        made = checkpoint(0, {"a": 1}, {"a": "1.0"})
        cfg = await saver.aput(config(), made, {"step": 0}, {"a": "1.0"})
        with pytest.raises(RuntimeError, match="from_conn_string"):
            saver.get_tuple(cfg)
        found = await asyncio.to_thread(saver.get_tuple, cfg)
        assert found.config == cfg
        await asyncio.gather(*(saver.aget_tuple(cfg) for _ in range(5)))
    async with AsyncConnectionPool(postgres_url, kwargs=options) as pool:
        assert (await AsyncPostgresSaver(pool).aget_tuple(cfg)).config == cfg


def test_what_is_no_connection_is_explained() -> None:
    for kind, wrong in ((PostgresSaver, "postgresql://x"), (RedisSaver, "redis://x")):
        with pytest.raises(TypeError, match="from_conn_string"):
            kind(wrong)  # type: ignore[abstract]


def test_two_programs_set_up_one_database_together(postgres_url: str) -> None:
    savers = [PostgresSaver.from_conn_string(postgres_url) for _ in range(6)]
    workers = [threading.Thread(target=saver.setup) for saver in savers]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with psycopg.connect(postgres_url) as conn:
        steps = conn.execute("SELECT v FROM ckpt_migrations ORDER BY v").fetchall()
        assert steps == [(number + 1,) for number in range(len(MIGRATIONS))]
        conn.execute("INSERT INTO ckpt_migrations VALUES(99)")
    with pytest.raises(RuntimeError, match="newer ckpt_viz"):
        PostgresSaver.from_conn_string(postgres_url).get_tuple(config())
    for saver in savers:
        saver.close()


def test_dead_connections_of_a_pool_are_replaced(postgres_url: str) -> None:
    saver = PostgresSaver.from_conn_string(postgres_url)
    chain(saver, 2)
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'ckpt_viz'"
        )
    assert len(list(saver.list(config()))) == 2
    chain(saver, 2, "u")
    saver.close()


def test_pages_come_from_the_index(postgres_url: str) -> None:
    """A page costs what it costs, however many checkpoints there are."""
    saver = PostgresSaver.from_conn_string(postgres_url)
    chain(saver, 60)
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute(
            """INSERT INTO ckpt_checkpoints SELECT 1, '0' || lpad(i::text, 8, '0'), NULL, NULL,
            'loop', i, '{}', tag, body, mtag, meta FROM generate_series(1, 100000) AS i,
            (SELECT * FROM ckpt_checkpoints ORDER BY id LIMIT 1) AS c"""
        )
        conn.execute("ANALYZE ckpt_checkpoints")
        rows = saver._rows  # type: ignore[attr-defined]
        from ckpt_viz.checkpoint.scripted.rows import Query

        for query in (Query("t", "", before="1"), Query("t"), Query()):
            script = rows.read_rows(query, 20)
            sql, values = next(script).statements[0]
            plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {sql}", values))
            assert "Limit" in plan
            assert "Seq Scan on ckpt_checkpoints" not in plan
            assert "Sort" not in plan or query.ns is None
    before = config("t", "", "000050000")
    begin = time.perf_counter()
    assert len(list(saver.list(config(), before=before, limit=20))) == 20
    assert time.perf_counter() - begin < 0.5
    saver.close()


@pytest.mark.parametrize(
    "change",
    [
        "blobs SET data = substr(data, 1, 20)",
        "blobs SET data = 'x', tag = 'msgpack+zstd'",
        "blobs SET tag = 'delta', base = version, base_channel = channel, data = '\\x9401c00190'",
        "blobs SET tag = 'delta', base = 'nowhere', base_channel = 'big', data = '\\x9200c0'",
        "blobs SET tag = 'delta', base = version, base_channel = 'big', data = '\\x940390000a'",
        "blobs SET tag = 'delta', base = version, base_channel = 'big', data = '\\xc1'",
        "blobs SET tag = 'unheard of'",
        "checkpoints SET body = substr(body, 1, 9)",
        "checkpoints SET tag = 'delta', base = id, body = '\\x9504c0808080'",
        "checkpoints SET body = 'hello'",
        "checkpoints SET meta = 'hello'",
        "writes SET data = '\\xc1'",
    ],
)
def test_damaged_rows_are_told(postgres_url: str, change: str) -> None:
    """A clear error: no crash, no hang, and no value that nobody wrote."""
    saver = PostgresSaver.from_conn_string(postgres_url)
    cfg = put(saver, config(), 0, {"big": [{"i": i, "t": "x" * 40} for i in range(60)]})
    saver.put_writes(cfg, [("a", [1, 2])], "task")
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute(f"UPDATE ckpt_{change}")  # type: ignore[call-overload]
    with pytest.raises(SerializationError):
        saver.get_tuple(config())
    saver.delete_thread("t")
    saver.close()


# -- Redis ---------------------------------------------------------------------------------------


def test_all_of_a_thread_lives_and_dies_together(redis_url: str) -> None:
    saver = RedisSaver.from_conn_string(redis_url, ttl=1)
    made = chain(saver, 3)
    chain(saver, 2, "t", "sub:1")
    saver.put_writes(made[-1], [("x", "y" * 3000)], "task")
    saver.set_label(made[0], "name")
    with redis.Redis.from_url(redis_url) as client:
        lives = [client.pttl(key) for key in client.scan_iter("*")]
        assert len(lives) == 2
        assert all(500 < life <= 1000 for life in lives)
        time.sleep(0.6)
        put(saver, made[-1], 5, {"n": 1})
        assert all(client.pttl(key) > 700 for key in client.scan_iter("*"))
        time.sleep(1.1)
        assert list(client.scan_iter("*")) == []
    assert saver.threads() == []
    assert saver.get_tuple(config()) is None
    cfg = put(saver, made[-1], 6, {"n": 2})
    assert saver.get_tuple(cfg).checkpoint["channel_values"] == {"n": 2}
    saver.close()


def test_ttl_in_other_words(redis_url: str) -> None:
    for ttl, life in ((None, -1), ({"default_ttl": 1}, 60_000), ({}, -1), (0.5, 500)):
        saver = RedisSaver.from_conn_string(redis_url, ttl=ttl, prefix="p")
        chain(saver, 1, f"t{life}")
        with redis.Redis.from_url(redis_url) as client:
            assert life - 400 <= client.pttl(f"p:{{t{life}}}:rows") <= life
        saver.close()
    with pytest.raises(ValueError, match="cannot live"):
        RedisSaver.from_conn_string(redis_url, ttl=-1)


async def test_a_client_of_the_users(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        chain(RedisSaver(client), 2)
    async with aredis.Redis.from_url(redis_url) as aclient:
        saver = RedisSaver(aclient)
        assert (await saver.aget_tuple(config())).metadata["step"] == 1
        with pytest.raises(RuntimeError, match="from_conn_string"):
            saver.get_tuple(config())
    text = redis.Redis.from_url(redis_url, decode_responses=True)
    with pytest.raises(ValueError, match="decode_responses"):
        RedisSaver(text)


def test_a_prune_gives_way_to_a_run(redis_url: str) -> None:
    """Written to between survey and removal: the removal begins again, and nothing is lost."""
    saver = RedisSaver.from_conn_string(redis_url)
    made = chain(saver, 10)
    rows = saver._rows
    survey, calls = rows.survey, []

    def disturbed(thread: str) -> Any:
        found = yield from survey(thread)
        if not calls:
            calls.append(put(RedisSaver.from_conn_string(redis_url), made[-1], 50, {"n": 99}))
        return found

    rows.survey = disturbed  # type: ignore[method-assign]
    gone = saver.prune(["t"])
    assert len(gone.checkpoints) == 10
    assert [t.checkpoint["channel_values"] for t in saver.list(config())] == [{"n": 99}]
    saver.close()


def test_a_thread_that_the_server_lost_a_part_of_spoils_no_other(redis_url: str) -> None:
    saver = RedisSaver.from_conn_string(redis_url)
    for thread in ("a", "b", "c"):
        put(saver, config(thread), 0, {"n": 0})
    with redis.Redis.from_url(redis_url) as client:
        client.delete("ckpt:{a}:rows")
        client.delete("ckpt:{b}:order")
        assert [told["thread_id"] for told in saver.threads()] == ["c"]
        assert [f.config["configurable"]["thread_id"] for f in saver.list(None)] == ["c"]
        name = next(name for name in client.hkeys("ckpt:{c}:rows") if name[:1] == b"c")
        client.hset("ckpt:{c}:rows", name, b"\xff")
    with pytest.raises(SerializationError, match=r"thread 'c'.*its row are damaged"):
        saver.get_tuple(config("c"))
    saver.close()
