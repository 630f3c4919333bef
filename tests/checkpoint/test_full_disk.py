"""A disk that is full: nothing acknowledged is lost, no half of a step is there, and it goes on."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from . import killed

_ROOT = Path(__file__).parents[2]


def _limit() -> None:
    """No file of this process grows past 400 kB: a write beyond it fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def _write_until_full(path: Path, limited: bool) -> None:
    program = subprocess.run(
        [sys.executable, "-m", "tests.checkpoint.killed", "sqlite", str(path)],
        capture_output=True,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        preexec_fn=_limit if limited else None,
        timeout=60,
        check=False,
    )
    assert program.returncode == 1
    assert b"sqlite3.OperationalError: d" in program.stderr, program.stderr[-300:]
    sure = int(program.stdout.split()[-1])
    assert sure > 5
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    saver = killed.open_saver("sqlite", str(path))
    killed.check(saver, sure)
    saver.close()


def test_files_that_cannot_grow(tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    _write_until_full(path, limited=True)
    saver = killed.open_saver("sqlite", str(path))  # there is room again
    at, step = killed.head(saver)
    for more in range(1, 4):
        at = killed.put(saver, at, step + more)
    assert killed.check(saver, step + 3) == step + 3
    saver.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB; needs the right to mount."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.soak
def test_a_small_disk_that_fills(small_disk: Path) -> None:
    for number in range(30):
        path = small_disk / f"{number}.db"
        (small_disk / "ballast").write_bytes(b"x" * 17_000 * (number % 20))
        _write_until_full(path, limited=False)
        for file in small_disk.iterdir():
            file.unlink()
