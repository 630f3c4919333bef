"""Savers of all four kinds to keep sessions in, with real servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.agents import OptimizedStateManager, StateManager
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.postgres import PostgresSaver
from ckpt_viz.checkpoint.redis import RedisSaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver

SAVERS = ["memory", "sqlite", "postgres", "redis"]


def open_saver(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A saver of a kind, over nothing."""
    if kind == "sqlite":
        return SqliteSaver.from_conn_string(str(tmp_path / "sessions.db"))
    if kind == "postgres":
        return PostgresSaver.from_conn_string(request.getfixturevalue("postgres_url"))
    if kind == "redis":
        return RedisSaver.from_conn_string(request.getfixturevalue("redis_url"))
    return InMemorySaver()


@pytest.fixture(params=SAVERS)
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = open_saver(request.param, request, tmp_path)
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture(params=[StateManager, OptimizedStateManager], ids=["plain", "optimized"])
def kind(request: pytest.FixtureRequest) -> Any:
    """The class of manager."""
    return request.param


@pytest.fixture
def manager(kind: Any, saver: Any) -> Any:
    return kind(saver)


async def echo(messages: Any) -> str:
    """A model: it says again what it was told last."""
    return f"You said: {messages[-1]['content']}"
