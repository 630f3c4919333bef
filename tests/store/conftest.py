"""Stores under test, each behind one sync face, whatever colour it is called in."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import pytest

from ckpt_viz.store.memory import InMemoryStore
from ckpt_viz.store.sqlite import AsyncSqliteStore, SqliteStore

FOUR = ("memory", "sqlite", "postgres", "redis")
KINDS = (*FOUR, "sqlite-memory", "sqlite-conn", "postgres-numpy")


class Sync:
    """Calls the plain methods."""

    colour = "sync"

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class Async:
    """Calls the async twins, each in a loop of its own."""

    colour = "async"

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            async def run() -> Any:
                return await getattr(self.store, f"a{name}")(*args, **kwargs)

            return asyncio.run(run())

        return call


def open_store(kind: str, request: pytest.FixtureRequest, tmp_path: Any, **options: Any) -> Any:
    """A store of a kind on an empty database, closed at the end of the test; see `KINDS`."""
    if kind == "memory":
        options.pop("ttl", None)
        return InMemoryStore(**options)
    store = _opened(kind, request, tmp_path, options)
    request.addfinalizer(store.close)
    return store


def _opened(kind: str, request: pytest.FixtureRequest, tmp_path: Any, options: Any) -> Any:
    if kind.startswith("postgres"):
        from ckpt_viz.store.postgres import PostgresStore

        if kind == "postgres-numpy" and options.get("index"):
            options["index"] = {**options["index"], "engine": "numpy"}
        return PostgresStore.from_conn_string(request.getfixturevalue("postgres_url"), **options)
    if kind == "redis":
        from ckpt_viz.store.redis import RedisStore

        return RedisStore.from_conn_string(request.getfixturevalue("redis_url"), **options)
    if kind == "sqlite-conn":
        return SqliteStore(sqlite3.connect(tmp_path / "b.db", check_same_thread=False), **options)
    if kind == "sqlite-memory":
        return AsyncSqliteStore.from_conn_string(":memory:", **options)
    return SqliteStore.from_conn_string(tmp_path / "a.db", **options)


def letters(texts: Sequence[str]) -> list[list[float]]:
    """How often each letter is in a text: an embedding that one can reckon with by hand."""
    return [[float(text.lower().count(chr(97 + n))) for n in range(26)] for text in texts]


INDEX = {"dims": 26, "embed": letters, "fields": ["text", "many[*]"]}


@pytest.fixture(params=KINDS)
def raw_store(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    return open_store(request.param, request, tmp_path)


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def store(request: pytest.FixtureRequest, raw_store: Any) -> Any:
    return request.param(raw_store)


@pytest.fixture(params=KINDS)
def indexed(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    return open_store(request.param, request, tmp_path, index=dict(INDEX))


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def searched(request: pytest.FixtureRequest, indexed: Any) -> Any:
    return request.param(indexed)


@pytest.fixture(params=["sqlite", "postgres", "redis", "sqlite-conn"])
def mortal(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    """A store whose items live ten minutes, if nobody reads them."""
    return open_store(request.param, request, tmp_path, ttl={"default_ttl": 10})


class Clock:
    """The time that the stores of a test see; it passes when it is told to."""

    def __init__(self) -> None:
        self.now = time.time_ns() // 1000

    def wait(self, minutes: float) -> None:
        """Let time pass."""
        self.now += round(minutes * 60_000_000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("ckpt_viz.store.scripted.store._now", lambda: made.now)
    return made
