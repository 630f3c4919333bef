"""kill -9 of the writer and of the server, at random moments: what was acknowledged is there."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from . import killed

FEW, MANY = 3, 30
_LONG = 150
_ROOT = Path(__file__).parents[2]


def _url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "sqlite":
        return str(tmp_path / "killed.db")
    return str(request.getfixturevalue("postgres_url" if kind == "postgres" else "redis_url"))


def _run_and_kill(kind: str, url: str, seconds: float) -> int:
    """Let the program write for some time, kill it; returns the last step it was sure of."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.checkpoint.killed", kind, url],
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert program.stdout is not None
    first = program.stdout.readline()
    time.sleep(seconds)
    program.kill()
    lines = (first + program.stdout.read()).split(b"\n")
    program.wait()
    assert lines[0], "the program wrote nothing"
    return int(lines[-2])  # the last whole line


def _kill_writers(kind: str, url: str, times: int) -> None:
    rng = random.Random(time.time_ns())
    for _ in range(times):
        sure = _run_and_kill(kind, url, rng.uniform(0.0, 0.15))
        saver = killed.open_saver("redis" if kind == "control" else kind, url)
        if killed.check(saver, sure) > _LONG:
            saver.delete_thread("killed")  # a check costs the square of its length
        saver.close()
    if kind == "sqlite":
        with sqlite3.connect(url) as conn:
            assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_a_killed_writer(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    _kill_writers(kind, _url(kind, request, tmp_path), FEW)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_writers_killed_often(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    _kill_writers(kind, _url(kind, request, tmp_path), MANY)


def test_a_saver_that_commits_each_row_by_itself_is_caught(redis_url: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        _kill_writers("control", redis_url, MANY)


def _kill_server(kind: str, server: Any, seconds: float) -> None:
    """Write until the server is killed, start it again, and look; then the saver goes on."""
    saver = killed.open_saver(kind, server.url)
    at, step = killed.head(saver)
    sure = [step]
    gone = (psycopg.Error, redis.RedisError, OSError)

    def write(at: Any, step: int) -> None:
        try:
            while True:
                at = killed.put(saver, at, step + 1)
                step += 1
                sure[0] = step
        except gone:
            return

    writer = threading.Thread(target=write, args=(at, step))
    writer.start()
    time.sleep(seconds)
    server.kill()
    writer.join()
    server.start()
    newest = killed.check(saver, sure[0])
    at, step = killed.head(saver)
    assert step == newest
    sent = killed.put(saver, at, step + 1)  # the same saver, its old connections dead
    assert saver.get_tuple(killed.THREAD).config == sent
    if newest >= _LONG:
        saver.delete_thread("killed")
    saver.close()


@pytest.fixture(scope="module", params=["postgres", "redis"])
def mortal(request: pytest.FixtureRequest, new_server: Any) -> Any:
    server = new_server(request.param)
    server.start()
    yield request.param, server
    server.stop()


def test_a_killed_server(mortal: Any) -> None:
    for seconds in (0.05, 0.3):
        _kill_server(*mortal, seconds)


@pytest.mark.soak
def test_servers_killed_often(mortal: Any) -> None:
    rng = random.Random(time.time_ns())
    for _ in range(MANY):
        _kill_server(*mortal, rng.uniform(0.0, 0.3))
