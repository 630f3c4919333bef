"""The documented memory saver: what its dictionaries hold after a small run, byte by byte."""

from __future__ import annotations

from typing import Any, Literal

import ormsgpack
import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.store.memory import InMemoryStore
from ckpt_viz.types import Command


class GraphState(TypedDict):
    name: str
    address: str


def get_address(state: GraphState) -> Command[Literal["__end__"]]:
    return Command(update={"name": "pavaneeshwar", "address": "Hyderabad residency"})


@pytest.fixture
def saver() -> InMemorySaver:
    """The saver of the example, after its run."""
    checkpointer = InMemorySaver()
    graph = StateGraph(GraphState)
    graph.add_node("get_address", get_address)
    graph.add_edge(START, "get_address")
    graph.add_edge("get_address", END)
    app = graph.compile(checkpointer=checkpointer, store=InMemoryStore())
    app.invoke({}, config={"configurable": {"thread_id": "12345"}})
    return checkpointer


def stored(saver: InMemorySaver) -> list[tuple[str, Any, Any, str | None]]:
    """(id, checkpoint, metadata, parent) of each stored checkpoint, oldest first."""
    rows = []
    for key, (checkpoint, metadata, parent) in sorted(saver.storage["12345"][""].items()):
        assert checkpoint[0] == metadata[0] == "msgpack"
        rows.append((key, ormsgpack.unpackb(checkpoint[1]), ormsgpack.unpackb(metadata[1]), parent))
    return rows


def short(value: Any) -> Any:
    """Versions by their counter, in any nesting."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    counter, _, tail = value.partition(".")
    assert len(counter) == 32
    assert 0 <= float(tail) < 1
    return int(counter)


def test_three_linked_checkpoints(saver: InMemorySaver) -> None:
    assert {"serde", "storage", "writes", "blobs"} <= set(vars(saver))
    rows = stored(saver)
    assert list(saver.storage) == ["12345"]
    assert list(saver.storage["12345"]) == [""]
    assert [row[3] for row in rows] == [None, rows[0][0], rows[1][0]]
    assert [row[2] for row in rows] == [
        {"source": "input", "step": -1, "parents": {}},
        {"source": "loop", "step": 0, "parents": {}},
        {"source": "loop", "step": 1, "parents": {}},
    ]
    assert [row[0].split("-")[3] for row in rows] == ["bfff", "8000", "8001"]


def test_each_checkpoint(saver: InMemorySaver) -> None:
    rows = stored(saver)
    for key, checkpoint, _, _ in rows:
        assert list(checkpoint) == [
            "v",
            "ts",
            "id",
            "channel_versions",
            "versions_seen",
            "updated_channels",
        ]
        assert checkpoint["v"] == 4
        assert checkpoint["id"] == key
    assert [short(c["channel_versions"]) for _, c, _, _ in rows] == [
        {"__start__": 1},
        {"__start__": 2, "branch:to:get_address": 2},
        {"__start__": 2, "branch:to:get_address": 3, "name": 3, "address": 3},
    ]
    assert [short(c["versions_seen"]) for _, c, _, _ in rows] == [
        {"__input__": {}},
        {"__input__": {}, "__start__": {"__start__": 1}},
        {
            "__input__": {},
            "__start__": {"__start__": 1},
            "get_address": {"branch:to:get_address": 2},
        },
    ]
    assert [c["updated_channels"] for _, c, _, _ in rows] == [
        ["__start__"],
        ["branch:to:get_address"],
        ["address", "name"],
    ]
    versions = [c["channel_versions"] for _, c, _, _ in rows]
    assert versions[1]["__start__"] == versions[1]["branch:to:get_address"]
    assert versions[2]["name"] == versions[2]["address"] == versions[2]["branch:to:get_address"]


def test_the_writes(saver: InMemorySaver) -> None:
    first, second, _ = (row[0] for row in stored(saver))
    assert set(saver.writes) == {("12345", "", first), ("12345", "", second)}
    (route,) = saver.writes["12345", "", first].items()
    assert route == (
        (route[0][0], 0),
        (
            route[0][0],
            "branch:to:get_address",
            ("null", b""),
            "~__pregel_pull, __start__",
        ),
    )
    values = saver.writes["12345", "", second]
    (task,) = {key[0] for key in values}
    assert values == {
        (task, 0): (
            task,
            "name",
            ("msgpack", b"\xacpavaneeshwar"),
            "~__pregel_pull, get_address",
        ),
        (task, 1): (
            task,
            "address",
            ("msgpack", b"\xb3Hyderabad residency"),
            "~__pregel_pull, get_address",
        ),
    }


def test_the_blobs(saver: InMemorySaver) -> None:
    one, two, three = (row[1]["channel_versions"] for row in stored(saver))
    branch = "branch:to:get_address"
    assert dict(saver.blobs) == {
        ("12345", "", "__start__", one["__start__"]): ("msgpack", b"\x80"),
        ("12345", "", "__start__", two["__start__"]): ("empty", b""),
        ("12345", "", branch, two[branch]): ("null", b""),
        ("12345", "", branch, three[branch]): ("empty", b""),
        ("12345", "", "name", three["name"]): ("msgpack", b"\xacpavaneeshwar"),
        ("12345", "", "address", three["address"]): ("msgpack", b"\xb3Hyderabad residency"),
    }
