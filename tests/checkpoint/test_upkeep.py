"""Whole threads: copied, pruned, deleted, named. What remains keeps its state, whatever goes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ckpt_viz.errors import CheckpointNotFoundError

from .test_savers import chain, checkpoint, config, ids, put


def tree(saver: Any, seed: int, thread: str = "t", ns: str = "", size: int = 40) -> None:
    """A random tree of checkpoints whose values grow, change, shrink and stay as they are."""
    rng = random.Random(seed)
    states: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
    for step in range(size):
        cfg, values, versions = (
            (config(thread, ns), {}, {}) if not states else rng.choice(states[-4:] + states[:1])
        )
        values, new = dict(values), {}
        for channel in rng.sample(["list", "dict", "text", "gone", "n"], rng.randint(1, 4)):
            new[channel] = f"{step + 1:032}.0.{rng.getrandbits(53)}"
            values[channel] = _next(rng, channel, values.get(channel))
            if values[channel] is None:
                del values[channel]
        versions = {**versions, **new}
        made = checkpoint(step, values, versions)
        metadata = {"source": "loop", "step": step, "run_id": f"r{step % 3}"}
        cfg = saver.put(cfg, made, metadata, new)
        saver.put_writes(cfg, [("list", ["x" * rng.choice([5, 2000])]), ("w", step)], f"task{step}")
        states.append((cfg, values, versions))


def _next(rng: random.Random, channel: str, old: Any) -> Any:
    if channel == "list":
        value = list(old or ({"i": i, "t": "y" * 50} for i in range(30)))
        if rng.random() < 0.3:
            value[rng.randrange(len(value))] = {"changed": rng.random()}
        return value + [{"new": rng.random()}] * rng.randint(0, 3)
    if channel == "dict":
        value = dict(old or {f"k{i}": "z" * 50 for i in range(30)})
        value[f"k{rng.randrange(40)}"] = rng.random()
        return value
    if channel == "text":
        return old if old and rng.random() < 0.5 else rng.randbytes(1500).hex()
    return rng.choice([None, rng.random()])


def states(saver: Any, thread: str = "t") -> dict[tuple[str, str], Any]:
    found = saver.list({"configurable": {"thread_id": thread}})
    return {
        (
            f.config["configurable"]["checkpoint_ns"],
            f.checkpoint["id"],
        ): (f.checkpoint, f.metadata, f.pending_writes)
        for f in found
    }


@pytest.mark.parametrize("seed", range(6))
def test_what_remains_is_as_before(saver: Any, seed: int) -> None:
    """Prune, delete for runs, copy: every state that is left equals what it was."""
    tree(saver, seed)
    tree(saver, seed + 100, "t", "sub:1", 12)
    tree(saver, seed + 200, "other", "", 8)
    before, other = states(saver), states(saver, "other")
    saver.copy_thread("t", "copy")
    assert states(saver, "copy") == before
    rng = random.Random(seed)
    for id_ in rng.sample([id_ for ns, id_ in before if not ns], 4):
        saver.set_label(config("t", "", id_), f"label {id_}")
    doomed = saver.delete_for_runs(["r1"], dry_run=True)
    assert states(saver) == before
    assert saver.delete_for_runs(["r1"]) == doomed
    left = states(saver)
    assert left == {k: v for k, v in before.items() if v[1]["run_id"] != "r1"}
    doomed = saver.prune(["t"], dry_run=True)
    assert states(saver) == left
    assert saver.prune(["t"]) == doomed
    kept = states(saver)
    named = {row["checkpoint_id"] for row in saver.labels("t")}
    newest = {max(k for k in left if k[0] == ns) for ns in ("", "sub:1")}
    assert kept == {k: v for k, v in left.items() if k in newest or k[1] in named}
    head = max(k for k in kept if not k[0])
    grown = {**kept[head][0]["channel_values"], "list": ["on"]}
    cfg = put(saver, config("t", "", head[1]), 99, grown)
    assert saver.get_tuple(cfg).checkpoint["channel_values"] == grown
    saver.delete_thread("t")
    assert states(saver) == {}
    assert saver.labels("t") == []
    assert states(saver, "copy") != {}
    assert states(saver, "other") == {k: v for k, v in other.items() if v[1]["run_id"] != "r1"}


def test_prune_by_strategy(saver: Any) -> None:
    made = chain(saver, 5, "a")
    chain(saver, 3, "a", "sub:1")
    chain(saver, 2, "b")
    saver.put_writes(made[0], [("x", 1), ("y", 2)], "task")
    saver.set_label(made[1], "good")
    told = saver.prune(["a"], dry_run=True, keep_labelled=False)
    assert len(told.checkpoints) == 6
    assert (told.writes, told.values) == (2, 12)
    saver.prune(["a", "nobody"])
    assert ids(saver.list(config("a"))) == [
        c["configurable"]["checkpoint_id"] for c in (made[4], made[1])
    ]
    saver.prune(["a"], strategy="delete")
    assert [row["thread_id"] for row in saver.threads()] == ["b"]
    with pytest.raises(ValueError, match="keep_latest"):
        saver.prune(["b"], strategy="everything")


def test_values_that_only_writes_tell_are_kept(saver: Any) -> None:
    """LangGraph's DeltaChannel stores no value: its ancestors' writes must outlive a prune."""
    cfg, made = config(), []
    for step in range(4):
        version = f"{step + 1:032}.0.5"
        body = checkpoint(step, {}, {"log": version})
        cfg = saver.put(cfg, body, {"step": step}, {"log": version})
        saver.put_writes(cfg, [("log", step)], f"task{step}")
        made.append(cfg)
    saver.prune(["t"])
    assert [f.pending_writes[0][2] for f in saver.lineage(made[-1])] == [3, 2, 1, 0]


def test_lineage_goes_up_one_branch(saver: Any) -> None:
    made = chain(saver, 3)
    fork = put(saver, made[0], 1, {"n": 5})
    assert [f.config for f in saver.lineage(fork)] == [fork, made[0]]
    assert [f.config for f in saver.lineage(config())] == [fork, made[0]]
    assert list(saver.lineage(config("nobody"))) == []


def test_namespaces(saver: Any) -> None:
    chain(saver, 1, "t", "b:1")
    chain(saver, 1, "t", "a:1")
    chain(saver, 1, "t")
    assert saver.namespaces("t") == ["", "a:1", "b:1"]
    assert saver.namespaces("nobody") == []


def test_labels(saver: Any) -> None:
    made = chain(saver, 3)
    saver.set_label(made[0], "first")
    saver.set_label(made[2], "second")
    saver.set_label(made[2], "third ✓")
    assert [row["label"] for row in saver.labels("t")] == ["third ✓", "first"]
    saver.set_label(made[2], None)
    assert [row["checkpoint_id"] for row in saver.labels("t")] == [
        made[0]["configurable"]["checkpoint_id"]
    ]
    with pytest.raises(CheckpointNotFoundError, match="nowhere"):
        saver.set_label(config("t", "", "nowhere"), "x")


def test_copying_over_an_own_thread_and_onwards(saver: Any) -> None:
    tree(saver, 1, "t", "", 10)
    before = states(saver)
    saver.copy_thread("t", "t")
    saver.copy_thread("nobody", "t")
    saver.copy_thread("t", "u")
    saver.delete_thread("t")
    assert states(saver, "u") == before
    head = saver.get_tuple(config("u"))
    values = {**head.checkpoint["channel_values"], "list": [1]}
    assert saver.get_tuple(put(saver, head.config, 50, values)).parent_config == head.config


def test_the_report_adds_up(saver: Any) -> None:
    tree(saver, 2)
    chain(saver, 2, "u")
    report = saver.storage_report()
    rows = {row["thread_id"]: row for row in saver.threads()}
    assert report["bytes"] == sum(t["bytes"] for t in report["threads"])
    for thread in report["threads"]:
        assert thread["bytes"] == rows[thread["thread_id"]]["bytes"] > 0
        parts = ("checkpoints", "writes", "shared", "unique")
        assert sum(thread[part] for part in parts) == thread["bytes"]
        values = thread["values"]
        assert sum(v["bytes"] for v in values) == thread["shared"] + thread["unique"]
        assert {v["channel"] for v in values} <= {"list", "dict", "text", "gone", "n", "odd"}
    size = saver.compact(dry_run=True)
    assert size["after"] <= size["before"]
    assert saver.compact()["before"] >= report["bytes"] // 2
