"""Database files as they are found: in use, locked, damaged, of another program. Never changed."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from graphs import engine
from histories import unpacked
from runs import PROGRAMS

from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import ReadOnlyError, SerializationError, SourceError
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.table import Ask, ThreadTable

PATIENCE = 5.0


def ours(folder: Path) -> Path:
    """A file of ours with two threads."""
    path = folder / "ours.db"
    with SqliteSaver.from_conn_string(path) as saver:
        for name in ("line", "asks"):
            PROGRAMS[name](engine("ckpt_viz"), saver, {"configurable": {"thread_id": name}})
    return path


def theirs(folder: Path) -> Path:
    return unpacked("sqlite-3.1", folder)


MAKERS = [ours, theirs]


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Checks that nothing was written, left beside the file, or waited for."""
    before, names = _sum(path), sorted(p.name for p in path.parent.iterdir())
    start = time.monotonic()
    yield
    assert time.monotonic() - start < PATIENCE
    assert _sum(path) == before
    assert sorted(p.name for p in path.parent.iterdir()) == names


def _sum(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""


@contextmanager
def process(code: str, *args: Any) -> Iterator[subprocess.Popen[str]]:
    """Another Python, which has said its first line."""
    command = [sys.executable, "-c", code, *map(str, args)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline()
        yield other
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("make", MAKERS)
def test_reading_leaves_no_trace(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    with untouched(path):
        timeline = open_timeline(path)
        for info in timeline.threads():
            here = timeline.at(info.id)
            for row in here.rows():
                here.snapshot(row.id)
                here.writes(row.id)
        assert not timeline.can.delete.ok
        with pytest.raises(ReadOnlyError):
            timeline.delete_thread("line")
        with pytest.raises(ReadOnlyError):
            timeline.saver.put({}, {}, {}, {})


WRITER = """
import sqlite3, sys, time
path, kind = sys.argv[1:]
if kind == "ours":
    from ckpt_viz.checkpoint.sqlite import SqliteSaver
    from ckpt_viz.checkpoint.base import empty_checkpoint
    saver = SqliteSaver.from_conn_string(path)
else:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.checkpoint.base import empty_checkpoint
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
config = {"configurable": {"thread_id": "busy", "checkpoint_ns": ""}}
for step in range(100_000):
    version = saver.get_next_version(step and version or None, None)
    made = empty_checkpoint() | {"channel_values": {"n": step}, "channel_versions": {"n": version}}
    config = saver.put(config, made, {"source": "loop", "step": step}, {"n": version})
    saver.put_writes(config, [("n", step)], "t%d" % step)
    time.sleep(0.002)
    if step == 5:
        print("ready", flush=True)
"""


@pytest.mark.parametrize("make", MAKERS)
def test_a_file_that_another_process_writes(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    with process(WRITER, path, make.__name__) as other:
        timeline = open_timeline(path, "busy")
        seen = 0
        for _ in range(10):
            timeline.refresh()
            rows = timeline.rows()
            assert [row.step for row in rows] == list(range(len(rows)))
            assert timeline.snapshot(rows[-1].id).values == {"n": rows[-1].step}
            assert len(rows) >= seen
            seen = len(rows)
            time.sleep(0.02)
        assert seen > 6
        assert other.poll() is None
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    rows = open_timeline(path, "busy").rows()  # what it left in its log is read as well
    assert len(rows) >= seen
    with sqlite3.connect(path) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


HOLDER = """
import sqlite3, sys, time
conn = sqlite3.connect(sys.argv[1], isolation_level=None)
conn.execute("PRAGMA journal_mode=DELETE")
conn.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
input()
"""


@pytest.mark.parametrize("make", MAKERS)
def test_a_locked_file_is_told_of_in_time(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    with process(HOLDER, path):
        start = time.monotonic()
        with pytest.raises(SourceError, match="locked by another process"):
            open_timeline(path).threads()
        assert time.monotonic() - start < PATIENCE
    assert open_timeline(path, "line").rows()


@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("make", MAKERS)
def test_a_file_that_is_cut_short(
    make: Callable[[Path], Path], part: float, tmp_path: Path
) -> None:
    path = make(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    with untouched(path), pytest.raises(SourceError, match="cut short"):
        open_timeline(path)


@pytest.mark.parametrize("make", MAKERS)
def test_a_file_with_a_hole_is_damaged_or_right(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = make(tmp_path)
    rows = [row.id for row in open_timeline(path, "line").rows()]
    whole = path.read_bytes()
    for at in range(4096, len(whole) - 4096, 8192):
        path.write_bytes(whole[:at] + b"\xff" * 4096 + whole[at + 4096 :])
        with untouched(path):
            try:
                found = [row.id for row in open_timeline(path, "line").rows()]
            except (SourceError, SerializationError):
                continue
            assert set(found) <= set(rows)


def test_what_is_no_database(tmp_path: Path) -> None:
    cases = {
        "picture.db": (b"\x89PNG\r\n\x1a\n" + b"\0" * 2000, "is not a SQLite database"),
        "short.db": (b"SQLite format 3\0", "cut short"),
    }
    for name, (data, told) in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        with untouched(path), pytest.raises(SourceError, match=told):
            open_timeline(path)
    with pytest.raises(FileNotFoundError, match="nothing was created"):
        open_timeline(tmp_path / "absent.db")
    with pytest.raises(FileNotFoundError, match="nothing was created"):
        open_timeline(tmp_path)
    with pytest.raises(SourceError, match=r"Can't open mysql://"):
        open_timeline("mysql://host/runs")


def test_tables_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE customers(id)")
        conn.execute("CREATE TABLE checkpoints(what)")
    conn.close()
    with untouched(path), pytest.raises(SourceError, match="its tables are checkpoints, customers"):
        open_timeline(path)
    beside = theirs(tmp_path)
    with sqlite3.connect(beside) as conn:
        conn.execute("CREATE TABLE customers(id)")
    conn.close()
    with untouched(beside):
        assert len(open_timeline(beside, "line").rows()) == 8


def test_newer_schemas(tmp_path: Path) -> None:
    path = ours(tmp_path)
    with sqlite3.connect(path) as conn:
        (version,) = conn.execute("PRAGMA user_version").fetchone()
        conn.execute(f"PRAGMA user_version={version + 1}")
    conn.close()
    with untouched(path), pytest.raises(SourceError, match=r"newer ckpt_viz.*Upgrade"):
        open_timeline(path)
    path = theirs(tmp_path)
    with sqlite3.connect(path) as conn:
        conn.execute("ALTER TABLE checkpoints ADD COLUMN colour TEXT")
        conn.execute("ALTER TABLE writes ADD COLUMN colour TEXT")
    conn.close()
    with untouched(path):
        assert len(open_timeline(path, "line").rows()) == 8
    with sqlite3.connect(path) as conn:
        conn.execute("ALTER TABLE checkpoints RENAME COLUMN checkpoint TO body")
    conn.close()
    with untouched(path), pytest.raises(SourceError, match=r"lacks checkpoint.*Upgrade"):
        open_timeline(path)


def test_acting_on_a_file_takes_a_graph_and_leave_to_write(tmp_path: Path) -> None:
    path = ours(tmp_path)
    e = engine("ckpt_viz")
    graph = PROGRAMS["asks"](e, e.Saver(), {"configurable": {"thread_id": "asks"}})
    with untouched(path):
        timeline = open_timeline(path, "asks", graph=graph)
        assert "write=True" in timeline.can.resume.why
        with pytest.raises(ReadOnlyError, match="write=True"):
            timeline.resume(None, "yes")
        timeline.set_label(timeline.rows()[0].id, "here")
        assert list(timeline.labels().values()) == ["here"]
    writing = open_timeline(path, "asks", graph=graph, write=True)
    writing.resume(None, "yes")
    assert writing.snapshot().values["xs"] == ["a", "yes"]
    assert writing.labels() == {}
    writing.set_label(str(writing.head), "kept")
    writing.saver.close()
    again = open_timeline(path, "asks")
    assert again.snapshot().values["xs"] == ["a", "yes"]
    assert list(again.labels().values()) == ["kept"]


def test_acting_on_langgraphs_file(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver as PeerSaver

    path, e, c = tmp_path / "peer.db", engine("langgraph"), {"configurable": {"thread_id": "1"}}
    graph = PROGRAMS["asks"](e, PeerSaver(sqlite3.connect(path, check_same_thread=False)), c)
    graph.checkpointer.conn.close()
    timeline = open_timeline(path, "1", graph=graph)
    with untouched(path):
        assert timeline.preview(timeline.rows()[1].id, {"n": 5}, "a", ()).values["n"] == 5
        with pytest.raises(ReadOnlyError):
            timeline.update(timeline.rows()[1].id, {"n": 5}, "a", ())
    writing = open_timeline(path, "1", graph=graph, write=True)
    writing.resume(None, "yes")
    writing.saver.conn.close()
    assert open_timeline(path, "1").snapshot().values["xs"] == ["a", "yes"]


def test_a_followed_file_that_is_locked_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import ckpt_viz

    path = theirs(tmp_path)
    explorer = ckpt_viz.explore(path, "line", follow=False)
    worker = explorer._session.worker
    path.rename(tmp_path / "away.db")
    for _ in range(3):
        worker._tick()
    (tmp_path / "away.db").rename(path)
    worker._tick()
    assert len(explorer.timeline.rows()) == 8
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "is not there any more" in caplog.text
    explorer.close()


@pytest.mark.parametrize("tag", ["msgpack", "json", "zzz", b"\x00\xff", None])
def test_a_damaged_thread_hides_no_other(tag: str | bytes | None, tmp_path: Path) -> None:
    path = theirs(tmp_path)
    whole = {info.id: info.status for info in open_timeline(path).threads()}
    conn = sqlite3.connect(path)
    sql = (
        "UPDATE checkpoints SET type = ?, checkpoint = x'9101', metadata = '7' WHERE thread_id = ?"
    )
    conn.execute(sql, (tag, "line"))
    conn.commit()
    conn.close()
    with untouched(path):
        timeline = open_timeline(path)
        assert {info.id: info.status for info in timeline.threads()} == {
            **whole, "line": "unreadable",
        }  # fmt: skip
        told = ThreadTable(timeline).page(Ask(), seconds=60)
        (line,) = (info for info in told.threads if info.id == "line")
        assert line.status == "unreadable"
        assert "line" in line.preview
        with pytest.raises(SourceError, match="line"):
            timeline.at("line").rows()
