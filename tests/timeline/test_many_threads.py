"""Very many threads in one file: the table of threads is paged and searched, a tree is read alone.

The small sizes run always; the full ones (10,000 threads, 1,000,000 checkpoints) with `make soak`.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from graphs import engine
from runs import PROGRAMS

from ckpt_viz.checkpoint.sqlite import SqliteSaver

STEPS = 100
MEASURE = r"""
import re, sys, time
from pathlib import Path
from ckpt_viz.timeline import open_timeline

start = time.perf_counter()
timeline = open_timeline(sys.argv[1])
page, count = timeline.threads(limit=200), timeline.thread_count()
listed = time.perf_counter() - start
start = time.perf_counter()
found = timeline.threads("-0000077", limit=200)
searched = time.perf_counter() - start
start = time.perf_counter()
rows = timeline.at(page[-1].id).rows()
tree = time.perf_counter() - start
told = Path("/proc/self/status")  # of this program alone, where getrusage counts its parent
memory = int(re.search(r"VmHWM:\s+(\d+)", told.read_text())[1]) / 1024 if told.exists() else 0
assert {info.checkpoints for info in page} == {len(rows)}, (page[0], len(rows))
assert rows[-1].status == page[-1].status == "done"
print(count, len(page), len(found), len(rows), listed, searched, tree, memory)
"""

LIST_SECONDS, TREE_SECONDS, MEGABYTES = 2.0, 1.0, 500


def one_thread(package: str, path: Path) -> None:
    """A file with a thread that looped until it had at least `STEPS` checkpoints."""
    e = engine(package)
    if package == "ckpt_viz":
        saver = SqliteSaver.from_conn_string(path)
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver as PeerSaver

        saver = PeerSaver(sqlite3.connect(path, check_same_thread=False))
    config = {"configurable": {"thread_id": "first"}, "recursion_limit": 1000}
    for _ in range(STEPS // 6 + 1):
        PROGRAMS["loop"](e, saver, config)
    saver.conn.close()


COPY_OURS = """
INSERT INTO ckpt_threads(thread, ns) SELECT 'thread-' || printf('%07d', value), '' FROM numbers;
INSERT INTO ckpt_checkpoints SELECT t.k, substr(t.thread, 8) || substr(c.id, 8),
    c.parent, source, step, tag, body, mtag, meta
    FROM ckpt_threads t, ckpt_checkpoints c WHERE c.k = 1 AND t.k > 1;
INSERT INTO ckpt_values SELECT t.k, version, data FROM ckpt_threads t, ckpt_values c
    WHERE c.k = 1 AND t.k > 1;
"""
COPY_THEIRS = """
INSERT INTO checkpoints SELECT 'thread-' || printf('%07d', value), checkpoint_ns,
    printf('%07d', value) || substr(checkpoint_id, 8),
    printf('%07d', value) || substr(parent_checkpoint_id, 8), type, checkpoint, metadata
    FROM numbers, checkpoints WHERE thread_id = 'first';
"""


def copied(package: str, path: Path, threads: int) -> None:
    """The first thread again and again, under ids that sort by thread."""
    copy = COPY_OURS if package == "ckpt_viz" else COPY_THEIRS
    numbers = (
        "CREATE TEMP TABLE numbers AS WITH RECURSIVE n(value) AS (VALUES(1) UNION ALL "
        f"SELECT value + 1 FROM n WHERE value < {threads - 1}) SELECT value FROM n;"
    )
    with sqlite3.connect(path) as conn:
        conn.executescript(f"PRAGMA synchronous=OFF; {numbers} BEGIN; {copy} COMMIT;")
    conn.close()


def measured(path: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True
    )
    return [float(word) for word in done.stdout.split()]


@pytest.mark.parametrize(
    "threads", [300, pytest.param(10_000, marks=pytest.mark.soak)], ids=["few", "many"]
)
@pytest.mark.parametrize("package", ["ckpt_viz", "langgraph"])
def test_a_file_of_many_threads(package: str, threads: int, tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    one_thread(package, path)
    copied(package, path, threads)
    count, page, found, rows, listed, searched, tree, memory = measured(path)
    print(f"{package}: {threads} x {rows:.0f}: threads {listed:.2f} s, search {searched:.2f} s, ")
    print(f"tree {tree:.3f} s, {memory:.0f} MB")
    assert (count, page) == (threads, 200)
    assert found == 1
    assert rows >= STEPS
    assert listed < LIST_SECONDS
    assert searched < LIST_SECONDS
    assert tree < TREE_SECONDS
    assert memory < MEGABYTES
