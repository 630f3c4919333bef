"""Savers under test, each behind one sync face, whatever colour it is called in."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
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


def _postgres(request: pytest.FixtureRequest) -> Any:
    from ckpt_viz.checkpoint.postgres import PostgresSaver

    return PostgresSaver.from_conn_string(request.getfixturevalue("postgres_url"))


def _redis(request: pytest.FixtureRequest) -> Any:
    from ckpt_viz.checkpoint.redis import RedisSaver

    return RedisSaver.from_conn_string(request.getfixturevalue("redis_url"))


def _savers(request: pytest.FixtureRequest, tmp_path: Any) -> dict[str, Any]:
    return {
        "postgres": lambda: _postgres(request),
        "redis": lambda: _redis(request),
        "memory": InMemorySaver,
        "sqlite-file": lambda: SqliteSaver.from_conn_string(tmp_path / "a.db"),
        "sqlite-memory": lambda: AsyncSqliteSaver.from_conn_string(":memory:"),
        "sqlite-conn": lambda: SqliteSaver(sqlite3.connect(tmp_path / "b.db")),
    }


@pytest.fixture(
    params=["memory", "sqlite-file", "sqlite-memory", "sqlite-conn", "postgres", "redis"]
)
def raw_saver(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    saver = _savers(request, tmp_path)[request.param]()
    yield saver
    if hasattr(saver, "close"):
        saver.close()


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def saver(request: pytest.FixtureRequest, raw_saver: Any) -> Any:
    return request.param(raw_saver)
