"""``kill -9`` at random moments of a run: it is resumed to the same end, and what was acknowledged
does not run again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver

from .victim import THREAD, graph_of, run, saver_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Crash:
    """What came of one kill and the resumed run."""

    lines: tuple[str, ...]  # the journal up to the kill
    again: frozenset[str]  # acknowledged tasks that ran again
    values: Any

    @property
    def in_commit(self) -> bool:
        """Whether the kill came between a write and its commit."""
        return self.lines.count("write") > self.lines.count("commit")


def expected() -> Any:
    graph = graph_of(InMemorySaver(), lambda *words: None)
    return graph.invoke({"round": 0, "log": []}, THREAD)


def length(folder: Path) -> int:
    """How many lines the journal of a whole run has."""
    lines: list[Any] = []
    note = lambda *words: lines.append(words)  # noqa: E731
    run(graph_of(saver_of(str(folder / "whole.db"), note), note), "sync")
    return len(lines)


def crash(folder: Path, colour: str, kind: str, after: int, wait: float) -> Crash:
    """Kill a run some time after a line of its journal, then resume it in this process."""
    database, journal = folder / "run.db", folder / "journal"
    journal.touch()
    command = [sys.executable, "-m", "tests.crash.victim"]
    victim = subprocess.Popen([*command, str(database), str(journal), colour, kind], cwd=ROOT)
    end = time.monotonic() + 60
    while journal.read_text().count("\n") < after and victim.poll() is None:
        assert time.monotonic() < end, "the victim does not get on"
        time.sleep(0.0005)
    time.sleep(wait)
    victim.kill()
    victim.wait()
    lines = tuple(journal.read_text().splitlines())
    started: set[str] = set()

    def note(*words: str) -> None:
        if words[0] == "start":
            started.add(words[1])

    graph = graph_of(saver_of(str(database), note), note)
    run(graph, colour)
    acknowledged = {line.split()[1] for line in lines if line.startswith("ack")}
    return Crash(lines, frozenset(acknowledged & started), graph.get_state(THREAD).values)


def crashes(folder: Path, count: int, kind: str = "honest") -> list[Crash]:
    """Crashes at moments spread over the run, in both colours."""
    whole, found = length(folder), []
    for index in range(count):
        own = folder / str(index)
        own.mkdir()
        after = 2 + int((index + random.random()) * (whole - 12) / count)
        colour = ("sync", "async")[index % 2]
        found.append(crash(own, colour, kind, after, random.uniform(0, 0.003)))
    return found


def check(found: list[Crash]) -> None:
    target = expected()
    for one in found:
        assert one.values == target
        assert not one.again, f"ran again: {one.again} after {one.lines[-5:]}"


@pytest.mark.parametrize(
    "count", [5, pytest.param(50, marks=pytest.mark.soak)], ids=["few", "many"]
)
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, count: int) -> None:
    found = crashes(tmp_path, count)
    check(found)
    assert all("end" not in one.lines for one in found)
    if count >= 50:
        assert sum(one.in_commit for one in found) >= count / 5
    print(f"{sum(one.in_commit for one in found)} of {count} between a write and its commit")


def test_a_kill_between_a_write_and_its_commit(tmp_path: Path) -> None:
    for index in range(20):
        own = tmp_path / str(index)
        own.mkdir()
        one = crash(own, ("sync", "async")[index % 2], "honest", 30 + index, 0)
        check([one])
        if one.in_commit:
            return
    pytest.fail("no kill came between a write and its commit")


def test_a_saver_that_only_says_so_is_caught(tmp_path: Path) -> None:
    found = crashes(tmp_path, 8, "lying")
    assert any(one.again for one in found)
    with pytest.raises(AssertionError, match="ran again"):
        check(found)
