"""The caches of node results: one suite for all, in both colours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.cache.base import BaseCache
from ckpt_viz.cache.memory import InMemoryCache
from ckpt_viz.cache.sqlite import SqliteCache

ONE, TWO, SHORT = (("a", "b"), "k"), (("a", "c"), "k"), (("a", "b"), "t")


@pytest.fixture(params=["memory", "sqlite"])
def cache(request: Any, tmp_path: Path) -> BaseCache[Any]:
    if request.param == "memory":
        return InMemoryCache()
    return SqliteCache(path=str(tmp_path / "cache.db"))


async def test_what_is_put_is_found_again(cache: BaseCache[Any]) -> None:
    value = [("x", {"y": 1})]
    cache.set({ONE: (value, None)})
    await cache.aset({TWO: ("two", None)})
    assert cache.get([ONE, TWO, SHORT]) == {ONE: value, TWO: "two"}
    assert await cache.aget([TWO]) == {TWO: "two"}
    assert cache.get([ONE])[ONE] is not value
    assert cache.get([]) == {}


async def test_forgetting(cache: BaseCache[Any]) -> None:
    cache.set({ONE: (1, None), TWO: (2, None)})
    cache.clear([("a", "b"), ("not", "there")])
    assert cache.get([ONE, TWO]) == {TWO: 2}
    await cache.aclear()
    assert await cache.aget([ONE, TWO]) == {}


def test_a_time_to_live(cache: BaseCache[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    cache.set({SHORT: ("v", 5), ONE: (1, None)})
    assert cache.get([SHORT]) == {SHORT: "v"}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 6)
    assert cache.get([SHORT, ONE]) == {ONE: 1}
    monkeypatch.undo()
    assert cache.get([SHORT]) == {}


def test_a_file_outlives_its_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.db")
    SqliteCache(path=path).set({ONE: ({"x": 1}, None)})
    assert SqliteCache(path=path).get([ONE]) == {ONE: {"x": 1}}


def test_the_base_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        BaseCache()  # type: ignore[abstract]
