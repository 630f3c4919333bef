"""Savers under test, each behind one sync face, whatever colour it is called in."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.checkpoint.sqlite.aio import AsyncSqliteSaver


class Sync:
    """Calls the plain methods."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver

    def __getattr__(self, name: str) -> Any:
        if name == "list":
            return lambda *a, **k: list(self.saver.list(*a, **k))
        return getattr(self.saver, name)


class Async:
    """Calls the async twins, each in a loop of its own."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            async def run() -> Any:
                made = getattr(self.saver, f"a{name}")(*args, **kwargs)
                many = name in ("list", "lineage")
                return [x async for x in made] if many else await made

            return asyncio.run(run())

        return call


def open_saver(kind: str, request: pytest.FixtureRequest, tmp_path: Any, serde: Any = None) -> Any:
    """A saver of a kind on an empty database, closed at the end of the test; see `KINDS`."""
    if kind == "memory":
        return InMemorySaver(serde)
    saver = _opened(kind, request, tmp_path, serde)
    request.addfinalizer(saver.close)
    return saver


def _opened(kind: str, request: pytest.FixtureRequest, tmp_path: Any, serde: Any) -> Any:
    if kind == "postgres":
        from ckpt_viz.checkpoint.postgres import PostgresSaver

        url = request.getfixturevalue("postgres_url")
        return PostgresSaver.from_conn_string(url, serde=serde)
    if kind == "redis":
        from ckpt_viz.checkpoint.redis import RedisSaver

        return RedisSaver.from_conn_string(request.getfixturevalue("redis_url"), serde=serde)
    if kind == "sqlite-conn":
        return SqliteSaver(sqlite3.connect(tmp_path / "b.db"), serde)
    if kind == "sqlite-memory":
        return AsyncSqliteSaver.from_conn_string(":memory:", serde=serde)
    return SqliteSaver.from_conn_string(tmp_path / "a.db", serde=serde)


FOUR = ("memory", "sqlite-file", "postgres", "redis")
KINDS = (*FOUR, "sqlite-memory", "sqlite-conn")
KEY = b"a key of 32 bytes, for the tests"


@pytest.fixture(params=[*KINDS, *(f"{kind}-encrypted" for kind in FOUR)])
def raw_saver(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    kind = request.param.removesuffix("-encrypted")
    serde = None if kind == request.param else EncryptedSerializer.from_key(KEY)
    return open_saver(kind, request, tmp_path, serde)


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def saver(request: pytest.FixtureRequest, raw_saver: Any) -> Any:
    return request.param(raw_saver)
