"""What a database file adds: other processes, threads, loops, and files that are none."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import Any

import aiosqlite
import pytest

from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.checkpoint.sqlite.aio import AsyncSqliteSaver

from .test_savers import chain, checkpoint, config


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
