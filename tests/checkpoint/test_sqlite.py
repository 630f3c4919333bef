"""What a database file adds: other processes, threads, loops, and files that are none."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from random import randbytes
from typing import Annotated, Any

import aiosqlite
import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.base import Extending
from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.checkpoint.sqlite.aio import AsyncSqliteSaver
from ckpt_viz.errors import SerializationError, ThreadBusyError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.timeline import open_timeline

from .conftest import KEY
from .databases.make import HERE as DATABASES
from .databases.make import told
from .test_savers import chain, checkpoint, config, put


def test_a_file_is_there_for_the_next_process(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "c.db") as saver:
        chain(saver, 2)
    saver.close()
    assert len(list(SqliteSaver.from_conn_string(tmp_path / "c.db").list(config()))) == 2
    raw = sqlite3.connect(tmp_path / "c.db")
    assert raw.execute("PRAGMA user_version").fetchone()[0] == 0x636B7602
    assert raw.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    raw.execute(f"PRAGMA user_version={0x636B7603}")
    raw.close()
    with pytest.raises(RuntimeError, match="newer"):
        SqliteSaver.from_conn_string(tmp_path / "c.db").setup()


def test_two_writers_on_one_file_queue(tmp_path):
    path = tmp_path / "two.db"
    savers = [SqliteSaver.from_conn_string(path) for _ in range(2)]
    errors: list[BaseException] = []

    def work(saver: Any, thread: str) -> None:
        try:
            chain(saver, 100, thread)
        except sqlite3.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(s, f"t{i}")) for i, s in enumerate(savers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [row["checkpoints"] for row in savers[0].threads()] == [100, 100]
    for saver in savers:
        saver.close()


def test_from_conn_string_is_the_saver_in_async_programs(tmp_path):
    async def main() -> int:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "d.db")) as saver:
            made = await asyncio.gather(*(_one(saver, i) for i in range(20)))
            assert len(made) == 20
            assert len(saver.threads()) == 20
            return len([x async for x in saver.alist(None)])

    async def _one(saver: Any, i: int) -> Any:
        made = checkpoint(0, {"a": i}, {"a": "1.0"})
        return await saver.aput(config(f"t{i}"), made, {"step": 0}, {"a": "1.0"})

    assert asyncio.run(main()) == 20


def test_an_aiosqlite_connection_is_accepted(tmp_path):
    async def main() -> None:
        async with aiosqlite.connect(tmp_path / "e.db") as conn:
            saver = AsyncSqliteSaver(conn)
            made = checkpoint(0, {"a": 1}, {"a": "1.0"})
            cfg = await saver.aput(config(), made, {"step": 0}, {"a": "1.0"})
            await saver.conn.execute("PRAGMA synchronous=NORMAL")
            saver.put_writes(cfg, [("a", 2)], "task")
            found = saver.get_tuple(config())
            assert found.pending_writes == [("task", "a", 2)]
            assert len([x async for x in saver.alist(config())]) == 1

    asyncio.run(main())


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    missing = tmp_path / "no" / "such.db"
    with pytest.raises(sqlite3.OperationalError, match=r"such\.db"):
        SqliteSaver.from_conn_string(missing).get_tuple(config())
    other = tmp_path / "letter.txt"
    other.write_text("this is no database " * 100)
    with pytest.raises(sqlite3.DatabaseError) as caught:
        SqliteSaver.from_conn_string(other).get_tuple(config())
    assert "letter.txt" in caught.value.__notes__[0]
    assert other.read_text().startswith("this is no database")


def test_a_path_given_as_a_connection_is_explained():
    with pytest.raises(TypeError, match="from_conn_string"):
        SqliteSaver("file.db")


async def test_a_cancelled_put_leaves_the_saver_usable(tmp_path):
    saver = AsyncSqliteSaver.from_conn_string(tmp_path / "f.db")
    made = checkpoint(0, {"a": 1}, {"a": "1.0"})
    task = asyncio.create_task(saver.aput(config(), made, {"step": 0}, {"a": "1.0"}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await saver.aput(config("u"), made, {"step": 0}, {"a": "1.0"})
    assert await saver.aget_tuple(config("u")) is not None
    saver.close()


_OLD = (
    "CREATE TABLE ckpt_threads("
    "k INTEGER PRIMARY KEY, thread TEXT NOT NULL, ns TEXT NOT NULL, UNIQUE(thread, ns))",
    "CREATE TABLE ckpt_checkpoints(k INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, source TEXT,"
    "step INTEGER, tag TEXT NOT NULL, body BLOB NOT NULL, mtag TEXT NOT NULL, meta BLOB NOT NULL,"
    "PRIMARY KEY(k, id)) WITHOUT ROWID",
    "CREATE TABLE ckpt_blobs(k INTEGER NOT NULL, version NOT NULL, channel TEXT NOT NULL,"
    "tag TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(k, version, channel)) WITHOUT ROWID",
    "CREATE TABLE ckpt_writes(k INTEGER NOT NULL, id TEXT NOT NULL, task TEXT NOT NULL,"
    "idx INTEGER NOT NULL, path TEXT NOT NULL, channel TEXT NOT NULL, tag TEXT NOT NULL,"
    "data BLOB NOT NULL, PRIMARY KEY(k, id, task, idx)) WITHOUT ROWID",
    f"PRAGMA user_version={0x636B7601}",
)


def old_file(path: Any) -> list[Any]:
    """A database of version 1 with two checkpoints, and what they are to be read as."""
    dumps = JsonPlusSerializer().dumps_typed
    raw = sqlite3.connect(path)
    for sql in _OLD:
        raw.execute(sql)
    raw.execute("INSERT INTO ckpt_threads VALUES(1, 't', '')")
    parent, made = None, []
    values: dict[str, Any] = {"n": 0, "list": [{"i": i, "t": "x" * 40} for i in range(50)]}
    versions: dict[str, str] = {}
    for step in range(2):
        new = dict.fromkeys(("n", "list", "gone"), f"{step + 1:032}.0.{step + 12345}")
        versions = {**versions, **new}
        values = {"n": step, "list": [*values["list"], step]}
        body = checkpoint(step, values, versions)
        row = {k: v for k, v in body.items() if k != "channel_values"}
        meta = {"source": "loop", "step": step, "parents": {}}
        raw.execute(
            "INSERT INTO ckpt_checkpoints VALUES(1,?,?,?,?,?,?,?,?)",
            (body["id"], parent, "loop", step, *dumps(row), *dumps(meta)),
        )
        for channel, version in new.items():
            typed = dumps(values[channel]) if channel in values else ("empty", b"")
            raw.execute("INSERT INTO ckpt_blobs VALUES(1,?,?,?,?)", (version, channel, *typed))
        writes = [("n", step), ("big", "y" * 2000), ("none", None)]
        for index, (channel, value) in enumerate(writes):
            raw.execute(
                "INSERT INTO ckpt_writes VALUES(1,?,?,?,?,?,?,?)",
                (body["id"], "task", index, "~path", channel, *dumps(value)),
            )
        made.append((body, meta, parent, [("task", *write) for write in writes]))
        parent = body["id"]
    raw.commit()
    raw.close()
    return made


def test_a_file_of_the_first_version_is_read_without_a_change(tmp_path):
    path = tmp_path / "old.db"
    made = old_file(path)
    before = path.read_bytes()
    timeline = open_timeline(path, "t")
    assert [row.id for row in timeline.rows()] == [body["id"] for body, *_ in made]
    for body, _, _, writes in made:
        assert timeline.snapshot(body["id"]).values == body["channel_values"]
        assert timeline.tuple(body["id"]).pending_writes == writes
    assert [info.checkpoints for info in timeline.threads()] == [2]
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["old.db"]


def test_a_file_of_the_first_version_is_taken_over(tmp_path):
    made = old_file(tmp_path / "old.db")
    with SqliteSaver.from_conn_string(tmp_path / "old.db") as saver:
        found = list(saver.list(config()))
        assert [(f.checkpoint, f.metadata, f.pending_writes) for f in found] == [
            (body, meta, writes) for body, meta, _, writes in reversed(made)
        ]
        assert found[0].parent_config == found[1].config
        saver.put_writes(found[0].config, [("n", 7), ("more", 1)], "task", "~path")
        assert saver.get_tuple(config()).pending_writes == made[1][3]
        grown = [*made[1][0]["channel_values"]["list"], "on"]
        after = put(saver, found[0].config, 2, {"list": grown})
        assert saver.get_tuple(after).checkpoint["channel_values"] == {"list": grown}
        tables = {row[0] for row in saver.conn.execute("SELECT name FROM sqlite_master")}
        assert not any("old" in name for name in tables)
    with SqliteSaver.from_conn_string(tmp_path / "old.db") as saver:
        assert len(list(saver.list(config()))) == 3


@pytest.mark.parametrize("name", ["sqlite-2", "sqlite-2-encrypted"])
def test_a_file_of_an_older_package(tmp_path, name):
    """It is read, also without a change to it, and goes on: copied, put to, and pruned."""
    path, whole = tmp_path / "a.db", gzip.decompress((DATABASES / f"{name}.db.gz").read_bytes())
    expected = json.loads((DATABASES / f"{name}.json").read_text())
    serde = EncryptedSerializer.from_key(KEY) if "encrypted" in name else None
    path.write_bytes(whole)
    timeline = open_timeline(path, "grown", key=KEY if serde else None)
    assert len(timeline.snapshot(timeline.rows()[-1].id).values["list"]) == 150
    assert path.read_bytes() == whole
    with SqliteSaver.from_conn_string(path, serde=serde) as saver:
        assert told(saver) == expected
        report = {one["thread_id"]: one["bytes"] for one in saver.storage_report()["threads"]}
        assert report == {one["thread_id"]: one["bytes"] for one in saver.threads()}
        for thread in ("t", "grown", "wide"):
            saver.copy_thread(thread, f"copy of {thread}")
            head, values = states(saver, thread)[-1]
            assert states(saver, f"copy of {thread}")[-1] == (head, values)
            left = put(saver, config(thread, "", head), 999, {**values, "list": [1]})
            assert saver.prune([thread]).checkpoints
            assert saver.get_tuple(left).checkpoint["channel_values"] == {**values, "list": [1]}
            assert states(saver, f"copy of {thread}")[-1] == (head, values)


def states(saver: Any, thread: str) -> list[tuple[str, Any]]:
    """Ids and values of a thread's own checkpoints, oldest first."""
    found = [f.checkpoint for f in saver.list(config(thread))]
    return [(one["id"], one["channel_values"]) for one in reversed(found)]


def plan(conn: Any, reader: Any, work: Any) -> list[str]:
    """How SQLite finds the rows of all queries that a piece of work makes."""
    seen: list[str] = []
    conn.set_trace_callback(seen.append)
    work()
    conn.set_trace_callback(None)
    steps = []
    for sql in seen:
        if sql.startswith("SELECT"):
            steps += [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    return steps


@pytest.mark.parametrize("where", [config(), {"configurable": {"thread_id": "t"}}, None])
def test_a_page_is_found_by_index(tmp_path, where):
    """Nothing is scanned or sorted but the list of threads, and limit and before reach SQL."""
    with SqliteSaver.from_conn_string(tmp_path / "p.db") as saver:
        made = chain(saver, 60)
        chain(saver, 5, "t", "sub:1")
        chain(saver, 5, "u")
        cut = made[50]
        steps = plan(saver.conn, saver, lambda: list(saver.list(where, before=cut, limit=20)))
    assert steps
    for step in steps:
        if "ckpt_threads" in step or "t USING" in step or step.startswith("SCAN t"):
            continue
        assert "SCAN" not in step, steps
        assert "TEMP B-TREE" not in step or where != config(), steps


def test_a_page_costs_the_same_in_a_long_history(tmp_path):
    """Steps of SQLite's machine for a page of 20, of 200 checkpoints and of 5,000."""
    counts = {}
    for size in (200, 5000):
        with SqliteSaver.from_conn_string(tmp_path / f"{size}.db") as saver:
            chain(saver, size)
            ticks = [0]

            def tick(ticks: list[int] = ticks) -> int:
                ticks[0] += 1
                return 0

            for where in (config(), None):
                saver.conn.set_progress_handler(tick, 10)
                assert len(list(saver.list(where, limit=20))) == 20
                saver.conn.set_progress_handler(None, 0)
            counts[size] = ticks[0]
    assert counts[5000] <= counts[200] * 1.2


def test_no_text_of_a_deleted_thread_is_left(tmp_path):
    path = tmp_path / "gone.db"
    with SqliteSaver.from_conn_string(path) as saver:
        for thread in ("secretthread", "other"):
            cfg = config(thread)
            for step in range(5):
                value = [f"{thread}-text-{i}" for i in range(60 + step)]
                values = {"big": value, "small": f"{thread}-small", "hex": randbytes(9000).hex()}
                cfg = put(saver, cfg, step, values)
                saver.put_writes(cfg, [("w", f"{thread}-write")], "task")
            saver.set_label(cfg, f"{thread}-label")
        saver.delete_thread("secretthread")
        before = saver.compact(dry_run=True)
        after = saver.compact()
        assert after["after"] <= before["after"] < before["before"]
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"other" in left
    assert b"secretthread" not in left


def test_a_thread_deleted_by_another_program_is_begun_anew(tmp_path):
    path = tmp_path / "two.db"
    one, two = (SqliteSaver.from_conn_string(path) for _ in range(2))
    value = [{"i": i, "t": "x" * 50} for i in range(50)]
    cfg = put(one, config(), 0, {"big": value})
    cfg = put(one, cfg, 1, {"big": [*value, 1]})
    two.delete_thread("t")
    chain(two, 2, "another")
    cfg = put(one, cfg, 2, {"big": [*value, 1, 2]})
    assert two.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*value, 1, 2]}
    assert [row["thread_id"] for row in two.threads()] == ["t", "another"]
    two.prune(["t"])
    cfg = put(one, cfg, 3, {"big": [*value, 1, 2, 3]})
    assert two.get_tuple(cfg).checkpoint["channel_values"] == {"big": [*value, 1, 2, 3]}
    one.close()
    two.close()


_WRITER = """
import sys, time
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.test_savers import config, put
path, thread, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
saver = SqliteSaver.from_conn_string(path)
end, step, value = time.monotonic() + seconds, 0, ["x" * 600]
cfg = config(thread)
while time.monotonic() < end:
    value = [*value, f"{thread}{step}" * 5]
    cfg = put(saver, cfg, step, {"big": value, "n": step})
    saver.put_writes(cfg, [("big", value[-1:]), ("n", step)], "task")
    step += 1
print(step)
"""


def hammer(path: Any, threads: list[str], seconds: float) -> None:
    """A process a thread id, all on one file; every acknowledged step must be there."""
    root = Path(__file__).parents[2]
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), thread, str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        for thread in threads
    ]
    steps = []
    for program in programs:
        out, err = program.communicate(timeout=seconds + 60)
        assert program.returncode == 0, err
        steps.append(int(out))
    with SqliteSaver.from_conn_string(path) as saver:
        assert saver.conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counted = {row["thread_id"]: row["checkpoints"] for row in saver.threads()}
        assert sum(counted.values()) == sum(steps) > 0
        for thread in set(threads):
            for found in saver.list(config(thread), limit=50):
                value = found.checkpoint["channel_values"]
                assert len(value["big"]) == value["n"] + 2
                assert found.pending_writes == [
                    ("task", "big", value["big"][-1:]),
                    ("task", "n", value["n"]),
                ]


@pytest.mark.parametrize("threads", [["a", "b"], ["a", "a"]], ids=["two threads", "one thread"])
def test_two_processes_on_one_file(tmp_path, threads):
    hammer(tmp_path / "shared.db", threads, 1.0)


@pytest.mark.soak
@pytest.mark.parametrize("threads", [["a", "b"], ["a", "a"]], ids=["two threads", "one thread"])
def test_two_processes_on_one_file_for_long(tmp_path, threads):
    hammer(tmp_path / "shared.db", threads, 20.0)


def at_most_two(_: int, new: int) -> int:
    if new > 2:
        raise ValueError(new)
    return new


class Rows(TypedDict):
    n: int


class Short(TypedDict):
    n: Annotated[int, at_most_two]


def counting(saver: Any, *, fails: bool = False) -> Any:
    def step(state: Rows) -> Any:
        return {"n": state["n"] + 1}

    builder = StateGraph(Short if fails else Rows)
    builder.add_node("step", step).add_edge(START, "step")
    if not fails:  # a router would meet the failure within the task
        ways = ["step", END]
        builder.add_conditional_edges("step", lambda s: END if s["n"] >= 3 else "step", ways)
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_sole_task_shares_its_steps_transaction(tmp_path, colour):
    with SqliteSaver.from_conn_string(tmp_path / "s.db") as saver:
        seen: list[str] = []
        saver.conn.set_trace_callback(seen.append)
        graph = counting(saver)
        if colour == "sync":
            graph.invoke({"n": 0}, config())
        else:
            asyncio.run(graph.ainvoke({"n": 0}, config()))
        commits = sum(sql.startswith("COMMIT") for sql in seen)
        history = list(saver.list(config()))
        assert len(history) == 5
        assert commits == 5  # the input, and a step each
        assert [len(f.pending_writes) for f in history] == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_writes_that_cannot_be_applied_are_kept(tmp_path, colour):
    with SqliteSaver.from_conn_string(tmp_path / "s.db") as saver:
        graph = counting(saver, fails=True)
        run = graph.invoke if colour == "sync" else lambda *a: asyncio.run(graph.ainvoke(*a))
        with pytest.raises(ValueError, match="3"):
            run({"n": 2}, config())
        assert ("n", 3) in [write[1:] for write in saver.get_tuple(config()).pending_writes]


def test_the_writes_stay_where_the_checkpoint_is_refused(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "s.db") as saver:
        made = chain(saver, 2)
        writes = (made[0], [("n", 5)], "task", "~path")
        body = checkpoint(1, {"n": 5}, {"n": "9.0"})
        with pytest.raises(ThreadBusyError):
            saver.put_step(writes, Extending(made[0]), body, {"step": 1}, {"n": "9.0"})
        assert saver.get_tuple(made[0]).pending_writes == [("task", "n", 5)]
        bad = checkpoint(1, {"n": object()}, {"n": "9.0"})
        with pytest.raises(SerializationError):
            saver.put_step((made[1], *writes[1:]), made[1], bad, {"step": 1}, {"n": "9.0"})
        assert saver.get_tuple(made[1]).pending_writes == [("task", "n", 5)]
        assert len(list(saver.list(config()))) == 2
