"""A history's size is what changed: the bars, and that no change is ever missed."""

from __future__ import annotations

import copy
import itertools
import operator
import random
import sqlite3
import string
import time
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.kept import Changes
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.ids import checkpoint_id

from .test_savers import config, put


class Chat(TypedDict):
    n: int
    messages: Annotated[list, operator.add]


def text(rng: random.Random, size: int = 200) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits, k=size))


def chat(saver: Any, steps: int) -> list[Any]:
    rng = random.Random(7)

    def step(state: Chat) -> dict[str, Any]:
        return {"n": state["n"] + 1, "messages": [{"role": "user", "content": text(rng)}]}

    builder = StateGraph(Chat).add_node("step", step).add_edge(START, "step")
    builder.add_conditional_edges(
        "step", lambda s: END if s["n"] >= steps else "step", ["step", END]
    )
    graph = builder.compile(checkpointer=saver)
    made = graph.invoke({"n": 0, "messages": []}, {**config(), "recursion_limit": steps + 5})
    return made["messages"]


def memory_bytes(saver: InMemorySaver) -> int:
    blobs = sum(len(data) for _, data in saver.blobs.values())
    writes = sum(len(row[2][1]) for rows in saver.writes.values() for row in rows.values())
    rows = [
        row for spaces in saver.storage.values() for ids in spaces.values() for row in ids.values()
    ]
    return blobs + writes + sum(len(row[0][1]) + len(row[1][1]) for row in rows)


def test_a_growing_list_in_memory() -> None:
    sizes = {}
    for steps in (500, 1000):
        saver = InMemorySaver()
        messages = chat(saver, steps)
        sizes[steps] = memory_bytes(saver)
        packed = len(saver.serde.dumps_typed(messages)[1])
        assert sizes[steps] <= 1200 * steps + packed
        assert saver.get_tuple(config()).checkpoint["channel_values"]["messages"] == messages
    assert sizes[1000] / sizes[500] <= 2.1


def grow(saver: Any, values: list[Any]) -> list[dict[str, Any]]:
    """One checkpoint a value, one after the other."""
    cfg, made = config(), []
    for step, value in enumerate(values):
        cfg = put(saver, cfg, step, {"big": value})
        made.append(cfg)
    return made


def read(saver: Any, cfg: dict[str, Any]) -> Any:
    return saver.get_tuple(cfg).checkpoint["channel_values"]["big"]


def messages(n: int, rng: random.Random) -> list[Any]:
    return [{"id": i, "text": text(rng)} for i in range(n)]


def variants() -> dict[str, list[Any]]:
    rng = random.Random(3)
    base = messages(30, rng)
    changed = [*base]
    changed[7] = {"id": 7, "text": "other"}
    both = [*changed, {"id": 30, "text": "new"}]
    named = {m["id"]: m for m in base}
    texts = {f"k{i}": text(rng) for i in range(30)}
    return {
        "append": [base[:n] for n in range(10, 31)],
        "changed inside": [base, changed, both, [*both, 1], both[:20], both],
        "same": [base, list(base), list(base)],
        "number keys": [named, {**named, 99: 1}, {**named, 99: 1, 3: 2}],
        "dict": [texts, {**texts, "k3": 1}, {**texts, "new": 2, "k3": 1}, texts],
        "dict reordered": [texts, dict(reversed(texts.items())), texts],
        "kinds": [base, {"a": base}, tuple(base), "x" * 3000, b"x" * 3000, b"x" * 3001, base],
        "headers": [[0] * n for n in (14, 15, 16, 1100, 65535, 65536, 65540)],
        "odd values": [
            [*base, {1, 2}, (3,), bytearray(b"x")],
            [*base, {1, 3}, (3,), bytearray(b"y")],
        ],
        "nested": [{"m": base[:n], "n": n} for n in range(10, 31)],
    }


@pytest.mark.parametrize("kind", variants())
def test_every_version_comes_back(saver: Any, kind: str) -> None:
    values = variants()[kind]
    for cfg, value in zip(grow(saver, values), values, strict=True):
        found = read(saver, cfg)
        assert found == value
        assert type(found) is type(value)
        if isinstance(value, dict):
            assert list(found) == list(value)


def test_an_item_changed_in_place_is_seen(saver: Any) -> None:
    value = messages(40, random.Random(1))
    first = put(saver, config(), 0, {"big": value})
    value[20]["text"] = "changed in place"
    second = put(saver, first, 1, {"big": value})
    assert read(saver, second)[20] == {"id": 20, "text": "changed in place"}
    assert read(saver, first)[20] != read(saver, second)[20]


def test_forks_do_not_see_each_other(saver: Any) -> None:
    value = messages(40, random.Random(2))
    base = grow(saver, [value[:n] for n in range(20, 41)])
    fork = put(saver, base[5], 6, {"big": [*value[:25], "other branch"]})
    again = put(saver, fork, 7, {"big": [*value[:25], "other branch", "more"]})
    put(saver, base[-1], 21, {"big": [*value, "first branch"]})
    assert read(saver, again) == [*value[:25], "other branch", "more"]
    assert [len(read(saver, cfg)) for cfg in base] == list(range(20, 41))


def test_what_is_stored_of_a_change_is_the_change() -> None:
    """An item changed, a key changed, a value written again as it was."""
    rng = random.Random(4)
    value = messages(200, rng)
    by_key = {str(m["id"]): m for m in value}
    saver = InMemorySaver()
    cfg = put(saver, config(), 0, {"list": value, "dict": by_key, "text": text(rng, 5000)})
    before = memory_bytes(saver)
    for step in range(1, 101):
        value = [*value]
        value[rng.randrange(200)] = {"id": step, "text": text(rng)}
        by_key = {**by_key, str(rng.randrange(200)): {"id": step, "text": text(rng)}}
        held = saver.get_tuple(cfg).checkpoint["channel_values"]["text"]
        cfg = put(saver, cfg, step, {"list": value, "dict": by_key, "text": held})
    assert memory_bytes(saver) - before < 100 * 1500
    found = saver.get_tuple(cfg).checkpoint["channel_values"]
    assert (found["list"], found["dict"]) == (value, by_key)


def test_a_delta_can_be_looked_at() -> None:
    rng = random.Random(5)
    saver = InMemorySaver()
    value = messages(30, rng)
    grow(saver, [value, [*value, "tail"], [*value, "tail"]])
    tags = [tag for tag, _ in saver.blobs.values()]
    assert tags == ["msgpack", "delta", "delta"]
    versions = [key[3] for key in saver.blobs]
    shown = [saver.serde.loads_typed(typed) for typed in saver.blobs.values()]
    assert shown[1] == {"delta": "list", "base": versions[0], "append": ["tail"]}
    assert shown[2] == {"delta": "same", "base": versions[1]}


def test_many_channels_are_not_rewritten_at_each_step() -> None:
    saver = InMemorySaver()
    builder = StateGraph(Chat)
    names = [f"node_{i}" for i in range(200)]
    for name in names:
        builder.add_node(name, lambda s: {"n": s["n"] + 1})
    builder.add_edge(START, names[0])
    for one, other in itertools.pairwise(names):
        builder.add_edge(one, other)
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"n": 0, "messages": []}, {**config(), "recursion_limit": 500})
    rows = saver.storage["t"][""].values()
    sizes = [len(row[0][1]) for row in rows]
    assert sum(sizes) < 200 * 2500
    seen = [found.checkpoint for found in saver.list(config())]
    assert len(seen[0]["versions_seen"]) == 202
    assert [len(c["channel_versions"]) for c in seen] == [*range(202, 2, -1), 3] or len(seen) == 202
    fresh = InMemorySaver()
    for found in reversed(list(saver.list(config()))):
        fresh.put(found.parent_config or config(), found.checkpoint, found.metadata, {})
    assert [f.checkpoint["versions_seen"] for f in fresh.list(config())] == [
        c["versions_seen"] for c in seen
    ]


@pytest.mark.parametrize("seed", range(6))
def test_long_maps_come_back_whoever_tells_what_changed(seed: int) -> None:
    """Puts that tell their changes and puts that do not, on one line and on branches of it."""
    rng, saver = random.Random(seed), InMemorySaver()
    made: list[tuple[Any, dict[str, Any]]] = []
    maps: dict[str, Any] = {"channel_versions": {}, "versions_seen": {}}
    parent = config()
    for step in range(80):
        if made and rng.random() < 0.2:
            parent, maps = rng.choice(made)
        maps = copy.deepcopy(maps)
        version = f"{step:032}.{seed}"
        new = {f"channel {rng.randrange(40)}": version for _ in range(3)}
        seen = {f"node {rng.randrange(40)}": {"c": version} for _ in range(2)}
        maps["channel_versions"] |= new
        maps["versions_seen"] |= seen
        told = Changes(new, dict.fromkeys(seen, True)) if rng.random() < 0.7 else new
        body = {
            "v": 4,
            "ts": "2024-08-29T19:19:38.821749+00:00",
            "id": checkpoint_id(step, parent["configurable"].get("checkpoint_id")),
            "channel_values": dict.fromkeys(new, step),
            **maps,
            "updated_channels": sorted(new),
        }
        parent = saver.put(parent, body, {"source": "loop", "step": step, "parents": {}}, told)
        made.append((parent, maps))
    tags = {row[0][0] for row in saver.storage["t"][""].values()}
    assert tags == {"msgpack", "delta"}
    for where, known in made:
        found = saver.get_tuple(where).checkpoint
        assert {key: found[key] for key in known} == known


def sqlite_bytes(path: Any) -> int:
    with SqliteSaver.from_conn_string(path) as saver:
        saver.compact()
        pages, size = (
            saver.conn.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size")
        )
        return pages * size


def test_a_growing_list_in_sqlite(tmp_path: Any) -> None:
    """The bar: 2,000 steps of a message of 200 bytes take at most 2.5 MB after VACUUM."""
    sizes = {}
    for steps in (1000, 2000):
        path = tmp_path / f"{steps}.db"
        with SqliteSaver.from_conn_string(path) as saver:
            messages = chat(saver, steps)
            found = saver.get_tuple(config()).checkpoint["channel_values"]
            assert found["messages"] == messages
        sizes[steps] = sqlite_bytes(path)
    assert sizes[2000] <= 2_500_000
    assert sizes[2000] / sizes[1000] <= 2.1


class Big(TypedDict):
    n: int
    big: str


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_value_that_does_not_change(tmp_path: Any, kind: str) -> None:
    """The bar: itself and 1 kB a step."""
    path = tmp_path / "big.db"
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(path)
    builder = StateGraph(Big).add_node("step", lambda s: {"n": s["n"] + 1})
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda s: END if s["n"] >= 500 else "step", ["step", END])
    big = text(random.Random(1), 1_000_000)
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"n": 0, "big": big}, {**config(), "recursion_limit": 600})
    assert graph.get_state(config()).values["big"] == big
    size = memory_bytes(saver) if kind == "memory" else 0
    if kind == "sqlite":
        saver.close()
        size = sqlite_bytes(path)
    assert size <= 1_000_000 + 1000 * 502


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("how", ["append", "set"])
def test_an_old_state_costs_little_more_than_its_bytes(tmp_path: Any, kind: str, how: str) -> None:
    """The bar: at most five times a bare read and unpacking, in CPU time.

    In memory a chain is not merged, and changes inside of a list are put in one by one: both
    cost more, and are held to what they cost.
    """
    path = tmp_path / "old.db"
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(path)
    rng, value, cfgs = random.Random(5), messages(1000, random.Random(6)), [config()]
    for step in range(300):
        value = [*value, {"id": step, "text": text(rng)}] if how == "append" else [*value]
        if how == "set":
            value[rng.randrange(1000)] = {"id": step, "text": text(rng)}
        cfgs.append(put(saver, cfgs[-1], step, {"big": value}))
    bare = sqlite3.connect(":memory:")
    bare.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, data BLOB)")
    wanted = rng.sample(cfgs[1:], 20)
    for k, cfg in enumerate(wanted):
        typed = saver.serde.dumps_typed(read(saver, cfg))
        bare.execute("INSERT INTO t VALUES(?,?)", (k, typed[1]))

    def cheapest(work: Any) -> float:
        times = []
        for _ in range(5):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        return min(times)

    def bare_read() -> None:
        for k in range(len(wanted)):
            (data,) = bare.execute("SELECT data FROM t WHERE k=?", (k,)).fetchone()
            saver.serde.loads_typed(("msgpack", data))

    ours = cheapest(lambda: [saver.get_tuple(cfg) for cfg in wanted])
    bar = 5 if (kind, how) == ("sqlite", "append") else 20
    assert ours <= bar * cheapest(bare_read)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_change_costs_its_bytes(tmp_path: Any, kind: str) -> None:
    """A list that is changed inside, by a graph's node that changes it in place."""

    class State(TypedDict):
        n: int
        items: list

    def step(state: State) -> dict[str, Any]:
        state["items"][state["n"] * 7 % 400]["text"] = f"changed {state['n']}"
        return {"n": state["n"] + 1, "items": state["items"]}

    path = tmp_path / "set.db"
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(path)
    builder = StateGraph(State).add_node("step", step).add_edge(START, "step")
    builder.add_conditional_edges("step", lambda s: END if s["n"] >= 100 else "step", ["step", END])
    graph = builder.compile(checkpointer=saver)
    graph.invoke(
        {"n": 0, "items": messages(400, random.Random(8))}, {**config(), "recursion_limit": 200}
    )
    for snapshot in graph.get_state_history(config()):
        n = snapshot.values.get("n")
        if n:
            assert snapshot.values["items"][(n - 1) * 7 % 400]["text"] == f"changed {n - 1}"
            assert n == 100 or snapshot.values["items"][n * 7 % 400]["text"] != f"changed {n}"
