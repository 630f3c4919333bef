"""``kill -9`` of a program that talks in many sessions: every acknowledged turn is there."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import victim

ROOT = Path(__file__).parents[2]
URLS = {"postgres": "postgres_url", "redis": "redis_url"}


class Talk:
    """The program in one place, run again and again; what it has acknowledged so far."""

    def __init__(self, kind: str, url: str, cache_url: str, name: str) -> None:
        self.place = (kind, url, cache_url, name)
        self.acknowledged: dict[str, int] = {}

    def run(self, sessions: int, turns: int, lines: int | None, wait: float = 0.0) -> bool:
        """Let it talk; kill it some time after it has acknowledged some turns. Whether it ended."""
        command = [sys.executable, "-m", "tests.agents.victim", *self.place]
        program = subprocess.Popen(
            [*command, str(sessions), str(turns)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert program.stdout is not None
        text = b""
        while lines is None or text.count(b"\n") < lines:
            part = os.read(program.stdout.fileno(), 65536)
            if not part:
                break
            text += part
        time.sleep(wait)
        program.kill()
        text += program.stdout.read()
        program.wait()
        assert text, "the program has acknowledged nothing"
        whole = text[: text.rindex(b"\n")].decode()
        told = [line.split(" ") for line in whole.split("\n")]
        for session, turn in told:
            self.acknowledged[session] = max(self.acknowledged.get(session, 0), int(turn))
        return self.acknowledged.pop("end", None) is not None

    def check(self, sample: int = 10) -> dict[str, int]:
        """What is there now, once it was seen to be right."""
        kind, url, cache_url, name = self.place
        saver = victim.open_saver(kind, url)
        manager = victim.manager_of("plain" if name == "plain" else "", saver, cache_url)

        async def look() -> dict[str, int]:
            found = await victim.check(manager, self.acknowledged, sample)
            if name != "plain":
                await manager.cache.client.aclose()
            return found

        found = asyncio.run(look())
        saver.close()
        return found


def talk_of(kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Talk:
    cache_url = request.getfixturevalue("redis_url")
    url = str(tmp_path / "sessions.db") if kind == "sqlite" else request.getfixturevalue(URLS[kind])
    return Talk(kind, url, cache_url, name)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("sqlite", "optimized"), ("postgres", "optimized"), ("redis", "plain")],
)
def test_a_killed_program_loses_no_acknowledged_turn(
    kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    talk = talk_of(kind, name, request, tmp_path)
    for _ in range(2):
        talk.run(20, 10_000, random.randint(20, 60), random.uniform(0, 0.02))
        talk.check()


@pytest.mark.soak
@pytest.mark.parametrize("name", ["plain", "optimized"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_100_sessions_of_50_turns_with_kills_in_between(
    kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    talk, ended, kills = talk_of(kind, name, request, tmp_path), False, 0
    while not ended:
        some = random.randint(100, 400) if kills < 20 else None
        ended = talk.run(100, 50, some, random.uniform(0, 0.05))
        found = talk.check()
        kills += not ended
    assert found == {f"session{n}": 50 for n in range(100)}
    talk.check(sample=100)
    assert kills >= 10


def test_a_manager_that_caches_what_it_has_not_saved_is_caught(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    talk = talk_of("sqlite", "lying", request, tmp_path)
    talk.run(20, 10_000, 30)
    with pytest.raises(AssertionError, match="session"):
        talk.check()
