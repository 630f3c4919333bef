"""Times to live: hidden when they are over, started anew by reads, swept away."""

from __future__ import annotations

import asyncio
import time

import pytest

from ckpt_viz.store.base import GetOp, PutOp, SearchOp
from ckpt_viz.store.sqlite import AsyncSqliteStore, SqliteStore

from .conftest import INDEX, Async, Sync, open_store

MINUTE = 60


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def store(request, mortal):
    return request.param(mortal)


def keys(store, **options):
    return [item.key for item in store.search(("a",), refresh_ttl=False, **options)]


def test_what_has_expired_is_gone_for_every_reader(store, clock):
    store.put(("a",), "default", {"n": 1})
    store.put(("a",), "forever", {"n": 1}, ttl=None)
    store.put(("a",), "long", {"n": 1}, ttl=50)
    store.put(("b",), "short", {"n": 1}, ttl=0.5)
    store.put(("b",), "over", {"n": 1}, ttl=-1)
    assert store.get(("b",), "over") is None
    assert keys(store) == ["default", "forever", "long"]
    clock.wait(10)
    assert keys(store) == keys(store, filter={"n": 1}) == ["forever", "long"]
    assert store.get(("a",), "default") is None
    assert store.list_namespaces() == [("a",)]
    assert store.sweep_ttl() == 3
    assert store.sweep_ttl() == 0
    assert keys(store) == ["forever", "long"]


def test_a_read_starts_the_time_anew(store, clock):
    for key in ("got", "found", "left", "batch"):
        store.put((key,), key, {})
    for turn in range(2):
        clock.wait(9)
        assert store.get(("got",), "got")
        assert store.search(("found",))
        assert bool(store.get(("left",), "left", refresh_ttl=False)) == (turn == 0)
        store.batch([GetOp(("batch",), "batch"), SearchOp(("left",), refresh_ttl=False)])
    assert [item.key for item in store.search((), refresh_ttl=False)] == ["got", "found", "batch"]


def test_an_update_starts_the_time_anew_and_may_change_it(store, clock):
    store.put(("a",), "k", {"n": 1})
    first = store.get(("a",), "k")
    clock.wait(9)
    store.put(("a",), "k", {"n": 2})
    clock.wait(9)
    found = store.get(("a",), "k")
    assert (found.value, found.created_at) == ({"n": 2}, first.created_at)
    store.put(("a",), "k", {"n": 3}, ttl=None)
    clock.wait(100)
    assert store.get(("a",), "k").value == {"n": 3}


def test_what_is_put_after_its_end_is_new(store, clock):
    store.put(("a",), "old", {"n": 1})
    store.put(("a",), "between", {}, ttl=None)
    first = store.get(("a",), "old")
    clock.wait(10)
    store.put(("a",), "old", {"n": 2}, ttl=None)
    assert keys(store) == ["between", "old"]
    assert store.get(("a",), "old").created_at > first.created_at


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_reads_that_leave_the_time_alone(kind, request, tmp_path, clock):
    ttl = {"default_ttl": 10, "refresh_on_read": False}
    store = open_store(kind, request, tmp_path, ttl=ttl)
    store.put(("a",), "k", {})
    store.put(("a",), "kept", {})
    clock.wait(9)
    assert store.get(("a",), "k")
    assert store.get(("a",), "kept", refresh_ttl=True)
    clock.wait(9)
    assert keys(store) == ["kept"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_shown_until_it_is_swept_away_if_that_is_wanted(kind, request, tmp_path):
    ttl = {"default_ttl": -1, "omit_expired": False}
    store = open_store(kind, request, tmp_path, ttl=ttl, index=dict(INDEX))
    store.put(("a",), "k", {"text": "x"})
    assert keys(store) == keys(store, query="x") == ["k"]
    assert store.get(("a",), "k", refresh_ttl=False)
    assert store.list_namespaces() == [("a",)]
    assert store.sweep_ttl() == 1
    assert keys(store) == keys(store, query="x") == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_the_expired_are_not_near(kind, request, tmp_path, clock):
    store = open_store(kind, request, tmp_path, index=dict(INDEX))
    store.put(("a",), "over", {"text": "pizza"}, ttl=1)
    store.put(("a",), "there", {"text": "pasta"})
    assert keys(store, query="pizza") == ["over", "there"]
    clock.wait(1)
    assert keys(store, query="pizza") == ["there"]
    assert store.sweep_ttl() == 1
    assert keys(store, query="pizza") == ["there"]


def until(question, patience=5.0):
    end = time.monotonic() + patience
    while not question():
        assert time.monotonic() < end
        time.sleep(0.01)


def rows(store):
    return store.conn.execute("SELECT count(*) FROM ckpt_items").fetchone()[0]


def test_the_sweeper_sweeps_until_it_is_stopped():
    ttl = {"default_ttl": 0.05 / MINUTE, "sweep_interval_minutes": 0.02 / MINUTE}
    with SqliteStore.from_conn_string(":memory:", ttl=ttl) as store:
        store.put(("a",), "k", {})
        going = store.start_ttl_sweeper()
        assert store.start_ttl_sweeper() is going
        until(lambda: rows(store) == 0)
        assert not going.done()
        assert store.stop_ttl_sweeper(timeout=5)
        assert going.done()
        assert store.stop_ttl_sweeper()
        store.put(("a",), "k", {})
        again = store.start_ttl_sweeper(0.01 / MINUTE)
        until(lambda: rows(store) == 0)
    assert again.done(), "closing the store stops it"


def test_without_a_time_to_live_there_is_nothing_to_sweep():
    with SqliteStore.from_conn_string(":memory:") as store:
        assert store.start_ttl_sweeper().result() is None
        assert store.stop_ttl_sweeper()
        assert store.sweep_ttl() == 0


def test_a_sweep_that_fails_is_told_and_tried_again(caplog):
    store = SqliteStore.from_conn_string(":memory:", ttl={"default_ttl": 1})
    tries = []

    def sweep():
        tries.append(1)
        raise OSError("away")

    store._sweeper.start(sweep, 0.01 / MINUTE)
    until(lambda: len(tries) > 2)
    assert store.stop_ttl_sweeper(timeout=5)
    assert "Could not sweep" in caplog.text


async def test_the_async_names_are_awaited():
    ttl = {"default_ttl": 0.05 / MINUTE, "sweep_interval_minutes": 0.02 / MINUTE}
    async with AsyncSqliteStore.from_conn_string(":memory:", ttl=ttl) as store:
        await store.setup()
        await store.aput(("a",), "k", {})
        await store.abatch([PutOp(("a",), "over", {}, ttl=-1)])
        assert await store.sweep_ttl() == 1
        task = await store.start_ttl_sweeper()
        assert isinstance(task, asyncio.Task)
        while await asyncio.to_thread(rows, store):
            await asyncio.sleep(0.01)
        assert await store.stop_ttl_sweeper(timeout=5)
        assert task.done()
        assert await store.stop_ttl_sweeper()
