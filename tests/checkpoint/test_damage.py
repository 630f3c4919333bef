"""Damaged and hand-made bytes: a clear error or an `Opaque`, and nothing is imported or called."""

from __future__ import annotations

import operator
import random
import shutil
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, TypedDict

import ormsgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde import Opaque, registry
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError
from ckpt_viz.graph import END, START, StateGraph
from tests.fuzz.blobs import MARKER, TAGS, check, corpus, serde

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
SEEDS = corpus()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Stored bytes, changed in a few places, cut, or mixed with others."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(["set", "flip", "cut", "add", "mix"]))
        if how == "cut":
            del data[at:]
        elif how == "add":
            data[at:at] = draw(st.binary(max_size=12))
        elif how == "mix":
            data[at:at] = draw(st.sampled_from(SEEDS))[1:]
        elif at < len(data):
            data[at] = draw(st.integers(0, 255)) if how == "set" else data[at] ^ 1 << at % 8
    return bytes(data)


def test_any_bytes_are_read_or_refused() -> None:
    came = Counter[str]()

    @settings(max_examples=1_500, deadline=2_000, database=None)
    @given(damaged() | st.binary(max_size=60))
    def look(data: bytes) -> None:
        came[check(data)] += 1

    look()
    assert min(came["read"], came["refused"]) > 50, came
    assert {check(data) for data in SEEDS} == {"read"}


def crafted(code: int, *parts: Any) -> tuple[str, bytes]:
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(list(parts))))


@pytest.mark.parametrize(
    "typed",
    [
        crafted(registry.ARGS, "fractions", "Fraction", ["1e999999999"]),
        crafted(registry.ONE, "fractions", "Fraction", "1e999999999"),
        crafted(registry.ARGS, "builtins", "bytearray", [10**11]),
        crafted(registry.NUMPY, "<U2", [2], "C", 3_469_659_854),
        crafted(registry.NUMPY, "<U2", [1], "C", b"a\0\0\0r\0\0\1"),
        crafted(registry.NUMPY_SCALAR, "<U1", b"\xff\xff\xff\xff"),
        crafted(registry.ONE, MARKER, "check", ["x"]),
        crafted(registry.REFERENCE, MARKER, "check"),
    ],
)
def test_a_few_bytes_do_not_become_hours_or_gigabytes(typed: tuple[str, bytes]) -> None:
    began = time.process_time()
    assert isinstance(serde.loads_typed(typed), Opaque)
    assert time.process_time() - began < 1
    assert MARKER not in sys.modules


def test_a_nest_without_end_is_refused() -> None:
    with pytest.raises(SerializationError, match="Recursion"):
        serde.loads_typed(("msgpack", b"\x91" * 200_000 + b"\x01"))
    deep = ormsgpack.packb(1)
    for _ in range(5_000):
        head = b"\x93" + ormsgpack.packb("builtins") + ormsgpack.packb("frozenset")
        deep = ormsgpack.packb(ormsgpack.Ext(registry.ONE, head + deep))
    assert isinstance(serde.loads_typed(("msgpack", deep)), Opaque)


@pytest.mark.parametrize("tag", [t for t in TAGS if t not in ("null", "bytes", "bytearray")])
def test_an_error_says_what_and_why(tag: str) -> None:
    with pytest.raises(SerializationError, match=r"damaged|pickle|'x'|zstd"):
        serde.loads_typed((tag, b"\xc1junk"))


# -- in a saver ----------------------------------------------------------------------------------


class State(TypedDict):
    n: int
    log: Annotated[list[str], operator.add]
    text: str


def step(state: State) -> dict[str, Any]:
    n = state["n"]
    return {"n": n + 1, "log": [f"item {n} " * 20], "text": f"{n} " * 400}


def graph(saver: Any) -> Any:
    build = StateGraph(State).add_node("a", step).add_edge(START, "a")
    build.add_conditional_edges("a", lambda s: END if s["n"] >= 20 else "a")
    return build.compile(checkpointer=saver)


def bent(value: Any, rng: random.Random) -> Any:
    """A cell's value, damaged."""
    if not isinstance(value, bytes | str) or not value:
        return rng.choice([-1, 0, 10**9, "x", None, b"x"])
    data = bytearray(value if isinstance(value, bytes) else value.encode())
    for _ in range(rng.choice([1, 1, 3])):
        if not data:
            break
        at, how = rng.randrange(len(data)), rng.random()
        if how < 0.6:
            data[at] = rng.randrange(256)
        elif how < 0.85:
            del data[at:]
        else:
            data += b"zz"
    return bytes(data) if isinstance(value, bytes) else data.decode("latin-1")


def bend_a_cell(path: Path, rng: random.Random) -> bool:
    """Damage one cell of a database; False if its table does not take it."""
    conn = sqlite3.connect(path)
    try:
        tables = "checkpoints", "values", "big", "writes", "threads", "chains"
        table = "ckpt_" + rng.choice([*tables, *tables[:4]])
        names = [row[1] for row in conn.execute(f"PRAGMA table_info({table})")]
        row = rng.choice(conn.execute(f"SELECT * FROM {table}").fetchall())
        name = rng.choice(names)
        where = " AND ".join(f"{n} IS ?" for n in names)
        new = bent(row[names.index(name)], rng)
        conn.execute(f"UPDATE {table} SET {name}=? WHERE {where}", (new, *row))
        conn.commit()
    except sqlite3.Error:
        return False
    finally:
        conn.close()
    return True


def read_damaged(folder: Path, rounds: int) -> Counter[str]:
    whole, rng, came = folder / "whole.db", random.Random(time.time_ns()), Counter[str]()
    with SqliteSaver.from_conn_string(str(whole)) as saver:
        graph(saver).invoke({"n": 0, "log": [], "text": ""}, THREAD)
    with sqlite3.connect(whole) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(rounds):
        path = folder / f"{number}.db"
        shutil.copy(whole, path)
        if not bend_a_cell(path, rng):
            continue
        with SqliteSaver.from_conn_string(str(path)) as saver:
            one = graph(saver)
            for read in (
                lambda: list(one.get_state_history(THREAD)),
                lambda: one.get_state(THREAD),
                saver.threads,
                saver.thread_heads,
                lambda: saver.namespaces("1"),
                lambda: saver.labels("1"),
                lambda: saver.prune(["1"], dry_run=True),
                saver.storage_report,
            ):
                try:
                    read()
                    came["read"] += 1
                except (SerializationError, sqlite3.DatabaseError):
                    came["refused"] += 1
        path.unlink()
    return came


def test_a_damaged_cell_of_a_database(tmp_path: Path) -> None:
    came = read_damaged(tmp_path, 120)
    assert min(came["read"], came["refused"]) > 10, came


@pytest.mark.soak
def test_damaged_cells_of_many_databases(tmp_path: Path) -> None:
    came = read_damaged(tmp_path, 5_000)
    assert came["refused"] > 500, came


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_error_names_checkpoint_and_channel(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(str(path))
    one = graph(saver)
    one.invoke({"n": 0, "log": [], "text": ""}, THREAD)
    head = one.get_state(THREAD).config["configurable"]["checkpoint_id"]
    if kind == "memory":
        key = max(key for key in saver.blobs if key[2] == "text")
        saver.blobs[key] = ("msgpack", b"\xd9\xff")
    else:
        with sqlite3.connect(path) as conn:
            conn.execute(
                "UPDATE ckpt_big SET data=x'28b5' WHERE at IN (SELECT max(at) FROM ckpt_big)"
            )
    place = rf"Checkpoint '{head}' of thread '1'.*('text'|its rows)"
    with pytest.raises(SerializationError, match=place):
        one.get_state(THREAD)
    older = list(one.get_state_history(THREAD, before={"configurable": {"checkpoint_id": head}}))
    assert len(older) == 21
