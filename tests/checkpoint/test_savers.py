"""What every saver guarantees, asked of each saver in both colours."""

from __future__ import annotations

import asyncio
import copy
import sqlite3
import threading
from random import random
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver, MemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.checkpoint.sqlite.aio import AsyncSqliteSaver
from ckpt_viz.constants import ERROR, INTERRUPT, RESUME
from ckpt_viz.errors import MissingThreadIdError, SerializationError
from ckpt_viz.ids import checkpoint_id


def config(thread: str = "t", ns: str = "", id_: str | None = None) -> dict[str, Any]:
    conf = {"thread_id": thread, "checkpoint_ns": ns}
    return {"configurable": conf | ({"checkpoint_id": id_} if id_ else {})}


def checkpoint(step: int, values: dict[str, Any], versions: dict[str, Any]) -> dict[str, Any]:
    return {
        "v": 4,
        "ts": "2024-08-29T19:19:38.821749+00:00",
        "id": checkpoint_id(step),
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": {"__input__": {}},
        "updated_channels": sorted(values),
    }


def put(saver: Any, cfg: dict[str, Any], step: int, values: dict[str, Any], **more: Any) -> Any:
    versions = dict.fromkeys(values, f"{step + 2:032}.{random()}")
    made = checkpoint(step, values, versions)
    return saver.put(cfg, made, {"source": "loop", "step": step, "parents": {}, **more}, versions)


def chain(saver: Any, n: int, thread: str = "t", ns: str = "") -> list[dict[str, Any]]:
    cfg, made = config(thread, ns), []
    for step in range(n):
        cfg = put(saver, cfg, step, {"n": step, "odd": step % 2})
        made.append(cfg)
    return made


def ids(found: list[Any]) -> list[str]:
    return [item.config["configurable"]["checkpoint_id"] for item in found]


def test_a_checkpoint_comes_back_as_it_was(saver):
    made = put(saver, config(), 0, {"a": (1, {2}), "none": None}, user="x")
    found = saver.get_tuple(config())
    assert found.config == made
    assert found.checkpoint["channel_values"] == {"a": (1, {2}), "none": None}
    assert found.checkpoint["id"] == made["configurable"]["checkpoint_id"]
    assert found.metadata == {"source": "loop", "step": 0, "parents": {}, "user": "x"}
    assert found.parent_config is None
    assert found.pending_writes == []
    assert saver.get_tuple(made) == found


def test_put_neither_changes_nor_keeps_what_it_got(saver):
    values = {"a": [1]}
    versions = {"a": "1.0"}
    made = checkpoint(0, values, versions)
    before = copy.deepcopy(made)
    saver.put(config(), made, {"step": 0}, versions)
    assert made == before
    values["a"].append(2)
    versions["b"] = "2.0"
    found = saver.get_tuple(config())
    assert found.checkpoint["channel_values"] == {"a": [1]}
    assert found.checkpoint["channel_versions"] == {"a": "1.0"}
    found.checkpoint["channel_values"]["a"].append(3)
    assert saver.get_tuple(config()).checkpoint["channel_values"] == {"a": [1]}


def test_only_new_versions_are_stored_and_old_ones_are_joined(saver):
    first = saver.put(config(), checkpoint(0, {"a": 1}, {"a": "1.0"}), {}, {"a": "1.0"})
    later = checkpoint(1, {"a": 99, "b": 2}, {"a": "1.0", "b": "2.0", "gone": "2.0"})
    saver.put(first, later, {}, {"b": "2.0", "gone": "2.0"})
    found = saver.get_tuple(config())
    assert found.checkpoint["channel_values"] == {"a": 1, "b": 2}
    assert found.parent_config == first


def test_absent_things_are_none_and_not_errors(saver):
    assert saver.get_tuple(config("nobody")) is None
    chain(saver, 1)
    assert saver.get_tuple(config("t", "", "no-such-id")) is None
    assert saver.list(config("nobody")) == []
    saver.delete_thread("nobody")


def test_no_thread_id_is_both_kinds_of_error(saver):
    with pytest.raises(MissingThreadIdError):
        saver.get_tuple({"configurable": {}})


def test_newest_is_the_greatest_id_whatever_the_branch(saver):
    made = chain(saver, 3)
    branch = put(saver, made[0], 1, {"n": 7})
    found = saver.get_tuple(config())
    assert found.config == branch
    assert found.parent_config == made[0]
    assert found.checkpoint["channel_values"] == {"n": 7}


def test_list_goes_down_and_can_be_cut(saver):
    made = [c["configurable"]["checkpoint_id"] for c in chain(saver, 5)]
    assert ids(saver.list(config())) == made[::-1]
    assert ids(saver.list(config(), limit=2)) == made[:2:-1]
    assert saver.list(config(), limit=0) == []
    before = config("t", "", made[2])
    assert ids(saver.list(config(), before=before)) == [made[1], made[0]]
    assert ids(saver.list(config(), before=before, limit=1)) == [made[1]]
    assert ids(saver.list(config("t", "", made[3]))) == [made[3]]


def test_list_over_more_than_a_page(saver):
    made = [c["configurable"]["checkpoint_id"] for c in chain(saver, 450)]
    found = saver.list(config())
    assert ids(found) == made[::-1]
    assert [f.checkpoint["channel_values"]["n"] for f in found] == list(range(450))[::-1]


def test_list_filters_by_equal_metadata(saver):
    cfg = put(saver, config(), 0, {"a": 1}, user="x", deep={"k": [1]})
    put(saver, cfg, 1, {"a": 2}, user="y")
    assert len(saver.list(config(), filter={"user": "x"})) == 1
    assert len(saver.list(config(), filter={"user": "x", "step": 0})) == 1
    assert saver.list(config(), filter={"user": "x", "step": 1}) == []
    assert len(saver.list(None, filter={"deep": {"k": [1]}})) == 1
    assert len(saver.list(None, filter={"source": "loop"}, limit=1)) == 1
    assert saver.list(None, filter={"missing": None}) == []


@pytest.mark.parametrize("key", ["a' OR 1=1 --", "a b", "", "x;DROP TABLE t", 'a"', "é"])
def test_a_filter_key_that_is_no_name_is_refused(saver, key):
    chain(saver, 1)
    with pytest.raises(ValueError, match="filter key"):
        saver.list(config(), filter={key: 1})


def test_no_config_means_all_threads_and_no_ns_all_namespaces(saver):
    chain(saver, 2, "a")
    chain(saver, 1, "a", "child:1")
    chain(saver, 1, "b")
    assert len(saver.list(None)) == 4
    assert len(saver.list({"configurable": {"thread_id": "a"}})) == 3
    assert len(saver.list(config("a"))) == 2
    assert ids(saver.list(None)) == sorted(ids(saver.list(None)), reverse=True)


def test_writes_come_back_in_order_and_a_retry_changes_nothing(saver):
    made = chain(saver, 1)[0]
    saver.put_writes(made, [("x", 1), ("y", None)], "task-b", "~2")
    saver.put_writes(made, [("x", 3)], "task-a", "~3")
    saver.put_writes(made, [("x", 0)], "task-z", "~1")
    saver.put_writes(made, [("x", 100), ("y", 100)], "task-b", "~2")
    assert saver.get_tuple(made).pending_writes == [
        ("task-z", "x", 0),
        ("task-b", "x", 1),
        ("task-b", "y", None),
        ("task-a", "x", 3),
    ]


def test_of_the_steering_writes_the_last_counts(saver):
    made = chain(saver, 1)[0]
    for text in ("first", "second"):
        for channel in (ERROR, INTERRUPT, RESUME):
            saver.put_writes(made, [(channel, text)], "task")
    found = saver.get_tuple(made).pending_writes
    assert sorted(found) == [("task", c, "second") for c in sorted((ERROR, INTERRUPT, RESUME))]


def test_writes_may_come_before_their_checkpoint(saver):
    late = checkpoint(0, {"a": 1}, {"a": "1.0"})
    saver.put_writes(config("t", "", late["id"]), [("a", 5)], "task")
    assert saver.get_tuple(config()) is None
    saver.put(config(), late, {}, {"a": "1.0"})
    assert saver.get_tuple(config()).pending_writes == [("task", "a", 5)]


def test_delete_thread_takes_all_of_it_and_nothing_else(saver):
    for thread in ("a", "b"):
        made = chain(saver, 2, thread)
        chain(saver, 1, thread, "sub:1")
        saver.put_writes(made[-1], [("x", 1)], "task")
    saver.delete_thread("a")
    assert saver.list(config("a")) == []
    assert len(saver.list({"configurable": {"thread_id": "b"}})) == 3
    assert [row["thread_id"] for row in saver.threads()] == ["b"]
    again = chain(saver, 1, "a")
    assert saver.get_tuple(again[0]).pending_writes == []


def test_threads_tells_size_step_and_time(saver):
    chain(saver, 3, "old")
    chain(saver, 2, "new")
    rows = saver.threads()
    assert [(r["thread_id"], r["checkpoints"], r["last_step"]) for r in rows] == [
        ("new", 2, 1),
        ("old", 3, 2),
    ]
    assert rows[0]["last_time"] > rows[1]["last_time"] > 1_700_000_000


def test_the_same_checkpoint_put_twice_is_one(saver):
    made = checkpoint(0, {"a": 1}, {"a": "1.0"})
    for source in ("input", "loop"):
        saver.put(config(), made, {"source": source}, {"a": "1.0"})
    found = saver.list(config())
    assert [f.metadata["source"] for f in found] == ["loop"]


def test_a_value_that_cannot_be_saved_leaves_nothing_behind(saver):
    made = chain(saver, 1)
    with pytest.raises(SerializationError, match=r"Channel 'bad'.*\$\.x\[1\]") as caught:
        put(saver, made[0], 1, {"good": 1, "bad": {"x": [1, object()]}})
    assert (caught.value.channel, caught.value.path) == ("bad", "$.x[1]")
    with pytest.raises(SerializationError, match="Channel 'w'"):
        saver.put_writes(made[0], [("w", object())], "task")
    assert len(saver.list(config())) == 1
    put(saver, made[0], 1, {"good": 1})
    assert len(saver.list(config())) == 2


def test_text_that_sql_might_trip_over(saver):
    odd = "a\x00b'; DROP TABLE x --\ud800é"
    made = put(saver, config('th\'read "1"'), 0, {"v": odd})
    assert saver.get_tuple(made).checkpoint["channel_values"] == {"v": odd}


def test_next_version_always_grows(raw_saver):
    first = raw_saver.get_next_version(None, None)
    second = raw_saver.get_next_version(first, None)
    assert first < second
    assert first.startswith(f"{1:032}.")
    assert raw_saver.get_next_version(7, None) > second


async def test_sync_calls_inside_a_running_loop_just_work(raw_saver):
    made = chain(raw_saver, 2)
    assert raw_saver.get_tuple(config()).config == made[-1]
    found = await raw_saver.aget_tuple(config())
    assert found.config == made[-1]
    await raw_saver.aput_writes(made[-1], [("x", 1)], "task")
    assert len(list(raw_saver.list(config()))) == 2


def test_the_memory_saver_shows_its_documented_dictionaries():
    saver = InMemorySaver()
    assert list(saver.__dict__) == ["serde", "storage", "writes", "blobs", "stack"]
    made = checkpoint(0, {"a": {}, "b": None}, {"a": "1.0", "b": "1.0", "c": "1.0"})
    cfg = saver.put(config(), made, {"step": 0}, {"a": "1.0", "b": "1.0", "c": "1.0"})
    saver.put_writes(cfg, [("a", None)], "task", "~__pregel_pull, node")
    assert saver.blobs == {
        ("t", "", "a", "1.0"): ("msgpack", b"\x80"),
        ("t", "", "b", "1.0"): ("null", b""),
        ("t", "", "c", "1.0"): ("empty", b""),
    }
    assert saver.writes == {
        ("t", "", made["id"]): {
            ("task", 0): ("task", "a", ("null", b""), "~__pregel_pull, node"),
        }
    }
    (tag, body), (mtag, meta), parent = saver.storage["t"][""][made["id"]]
    assert (tag, mtag, meta, parent) == ("msgpack", "msgpack", b"\x81\xa4step\x00", None)
    assert list(saver.serde.loads_typed((tag, body))) == [
        "v",
        "ts",
        "id",
        "channel_versions",
        "versions_seen",
        "updated_channels",
    ]
    assert MemorySaver is InMemorySaver


def test_a_file_is_there_for_the_next_process(tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "c.db") as saver:
        chain(saver, 2)
    saver.close()
    assert len(list(SqliteSaver.from_conn_string(tmp_path / "c.db").list(config()))) == 2
    raw = sqlite3.connect(tmp_path / "c.db")
    assert raw.execute("PRAGMA user_version").fetchone()[0] == 0x636B7601
    assert raw.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    raw.execute(f"PRAGMA user_version={0x636B7602}")
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
    aiosqlite = pytest.importorskip("aiosqlite")

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
