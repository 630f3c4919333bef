"""What every saver guarantees, asked of each saver in both colours."""

from __future__ import annotations

import copy
import threading
from random import random
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver, MemorySaver
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


@pytest.mark.parametrize(
    "bad", [None, {}, {"configurable": None}, {"configurable": {"thread_id": None}}]
)
def test_a_config_without_a_thread_is_told_so(saver, bad):
    with pytest.raises(MissingThreadIdError, match="thread_id"):
        saver.get_tuple(bad)


def test_newest_is_the_greatest_id_whatever_the_branch(saver):
    made = chain(saver, 3)
    branch = put(saver, made[0], 1, {"n": 7})
    found = saver.get_tuple(config())
    assert found.config == branch
    assert found.parent_config == made[0]
    assert found.checkpoint["channel_values"] == {"n": 7}


def test_the_newest_id_is_told_without_its_checkpoint(saver):
    assert saver.newest_id(config()) is None
    first, *_, last = chain(saver, 3)
    assert saver.newest_id(config()) == last["configurable"]["checkpoint_id"]
    branch = put(saver, first, 9, {"n": 9})
    assert saver.newest_id(config()) == branch["configurable"]["checkpoint_id"]
    assert saver.newest_id(config(ns="other")) is None


def test_a_saver_that_reads_in_a_way_of_its_own_tells_its_own_newest():
    class Blind(InMemorySaver):
        def get_tuple(self, config: Any) -> Any:
            return None

    saver = Blind()
    chain(saver, 2)
    assert saver.newest_id(config()) is None


def test_list_goes_down_and_can_be_cut(saver):
    made = [c["configurable"]["checkpoint_id"] for c in chain(saver, 5)]
    assert ids(saver.list(config())) == made[::-1]
    assert ids(saver.list(config(), limit=2)) == made[:2:-1]
    assert saver.list(config(), limit=0) == []
    before = config("t", "", made[2])
    assert ids(saver.list(config(), before=before)) == [made[1], made[0]]
    assert ids(saver.list(config(), before=before, limit=1)) == [made[1]]
    assert ids(saver.list(config("t", "", made[3]))) == [made[3]]
    for ns in ({}, {"checkpoint_ns": ""}):
        one = {"configurable": {"thread_id": "t", **ns, "checkpoint_id": made[2]}}
        assert ids(saver.list(one, before=config("t", "", made[3]))) == [made[2]]
        assert saver.list(one, before=before, limit=1) == []


def test_a_list_goes_on_while_a_thread_with_old_checkpoints_comes(raw_saver):
    made = chain(raw_saver, 450, "a")
    put(raw_saver, config("b"), 0, {"n": 0})
    rows = raw_saver.list(None)
    next(rows)
    raw_saver.copy_thread("a", "c")
    own = [row.config for row in rows if row.config["configurable"]["thread_id"] == "a"]
    assert own[-1] == made[0]
    assert len(own) >= 449


def test_a_thread_without_a_name_is_a_thread(saver):
    for ns in ("", "x", "y"):
        chain(saver, 1, "", ns)
    chain(saver, 3, "other")
    found = saver.list({"configurable": {"thread_id": ""}})
    assert sorted(f.config["configurable"]["checkpoint_ns"] for f in found) == ["", "x", "y"]
    assert {f.config["configurable"]["thread_id"] for f in found} == {""}


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
    assert len(saver.list(None, filter={"missing": None})) == 2
    assert len(saver.list(None, filter={"missing": None, "step": 1})) == 1


@pytest.mark.parametrize(
    "wanted", [{"step": 2**70}, {"step": "0"}, {"source": 1}, {"source": "\ud800"}, {"step": [0]}]
)
def test_a_filter_of_another_type_finds_nothing(saver, wanted):
    """SQL would turn the types into each other, or refuse the value."""
    put(saver, config(), 0, {"a": 1})
    assert saver.list(config(), filter=wanted) == []
    assert len(saver.list(config(), filter={"step": 0.0})) == 1


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
    saver.put_writes(made, [(RESUME, "first"), (RESUME, "second")], "other")
    found = saver.get_tuple(made).pending_writes
    assert [write for write in found if write[0] == "other"] == [("other", RESUME, "second")]


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
    assert rows[0]["last_time"] >= rows[1]["last_time"] > 1_700_000_000


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


def test_a_run_and_its_readers_share_the_memory_saver():
    """A view reads in another thread while a run puts."""
    saver, errors, stop = InMemorySaver(), [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                saver.get_tuple(config())
                list(saver.list(config(), limit=2))
                saver.threads()
            except RuntimeError as error:
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    chain(saver, 2000)
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
