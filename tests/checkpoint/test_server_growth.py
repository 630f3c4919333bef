"""What a history takes in PostgreSQL and Redis: what changed, and no more."""

from __future__ import annotations

import random
import string
import time
from typing import Any, TypedDict

import psycopg
import pytest
import redis

from ckpt_viz.graph import END, START, StateGraph

from .conftest import open_saver
from .test_growth import chat
from .test_savers import config

_TABLES = ("ckpt_threads", "ckpt_checkpoints", "ckpt_blobs", "ckpt_writes", "ckpt_labels")
_EMPTY = 200_000
"""Bytes of PostgreSQL's tables and indexes with hardly anything in them."""


@pytest.fixture(params=["postgres", "redis"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def taken(kind: str, request: pytest.FixtureRequest) -> int:
    """Bytes on disk after compaction, or in Redis' memory."""
    url = request.getfixturevalue(f"{kind}_url")
    if kind == "redis":
        with redis.Redis.from_url(url) as client:
            return sum(client.memory_usage(key, samples=0) or 0 for key in client.scan_iter("*"))
    with psycopg.connect(url) as conn:
        sizes = [
            conn.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
            for table in _TABLES
        ]
        return sum(size[0] for size in sizes if size)


@pytest.mark.parametrize(
    "steps", [(150, 300), pytest.param((1000, 2000), marks=pytest.mark.soak)], ids=str
)
def test_a_growing_list(
    kind: str, steps: tuple[int, int], request: pytest.FixtureRequest, tmp_path: Any
) -> None:
    sizes = []
    saver = open_saver(kind, request, tmp_path)
    for many in steps:
        saver.delete_thread("t")
        messages = chat(saver, many)
        saver.compact()
        sizes.append(taken(kind, request))
        assert sizes[-1] <= 4000 * many + _EMPTY
        assert saver.get_tuple(config()).checkpoint["channel_values"]["messages"] == messages
    assert sizes[1] / sizes[0] <= 2.1
    history = list(saver.list(config()))
    for at in random.Random(1).sample(history, 10):
        found = at.checkpoint["channel_values"].get("messages", [])
        assert found == messages[: len(found)]
        again = saver.get_tuple(at.config)
        assert again.checkpoint == at.checkpoint


class Big(TypedDict):
    n: int
    big: str


def test_a_big_value_that_never_changes(
    kind: str, request: pytest.FixtureRequest, tmp_path: Any
) -> None:
    big = "".join(random.Random(5).choices(string.printable, k=1_000_000))
    saver = open_saver(kind, request, tmp_path)
    builder = StateGraph(Big).add_node("step", lambda s: {"n": s["n"] + 1})
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", lambda s: END if s["n"] >= 100 else "step", ["step", END])
    graph = builder.compile(checkpointer=saver)
    graph.invoke({"n": 0, "big": big}, {**config(), "recursion_limit": 200})
    saver.compact()
    assert taken(kind, request) <= 1_050_000 + 100 * 2000 + _EMPTY
    assert graph.get_state(config()).values == {"n": 100, "big": big}


def test_a_random_state_costs_a_few_bare_reads(
    kind: str, request: pytest.FixtureRequest, tmp_path: Any
) -> None:
    """The chain of a value is read in one go, and is short however long the history."""
    saver = open_saver(kind, request, tmp_path)
    chat(saver, 400)
    history = [t.config for t in saver.list(config())]
    whole = saver.get_tuple(history[0]).checkpoint["channel_values"]
    whole_config = config("whole")
    made = {**saver.get_tuple(history[0]).checkpoint, "channel_values": whole}
    saver.put(whole_config, made, {"step": 0}, made["channel_versions"])

    def cpu(cfg: Any) -> float:
        saver.get_tuple(cfg)
        begin = time.process_time()
        for _ in range(10):
            saver.get_tuple(cfg)
        return time.process_time() - begin

    bare = cpu(whole_config)
    assert cpu(history[5]) <= 5 * bare + 0.01
