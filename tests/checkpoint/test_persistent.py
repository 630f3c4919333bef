"""The memory saver on dictionaries that have a file."""

from __future__ import annotations

import operator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver, PersistentDict
from ckpt_viz.graph import START, StateGraph

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[str], operator.add]


def graph_on(saver: Any) -> Any:
    flow = StateGraph(State).add_node("a", lambda s: {"log": ["a"]}).add_edge(START, "a")
    return flow.compile(checkpointer=saver)


def test_a_dictionary_comes_back(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    with PersistentDict(filename=path) as kept:
        kept["a", 1] = {"b": (1, b"x")}
    again = PersistentDict(filename=path)
    assert again == {}
    again.load()
    assert again == {("a", 1): {"b": (1, b"x")}}
    with pytest.raises(FileNotFoundError):
        PersistentDict(filename=str(tmp_path / "never")).load()


def test_a_saver_goes_on_where_another_process_left(tmp_path: Path) -> None:
    names = iter(["storage", "writes", "blobs"] * 2)

    def factory(*args: Any) -> PersistentDict:
        return PersistentDict(*args, filename=str(tmp_path / next(names)))

    with InMemorySaver(factory=factory) as saver:
        graph_on(saver).invoke({"log": ["1"]}, THREAD)
    later = InMemorySaver(factory=factory)
    for kept in (later.storage, later.writes, later.blobs):
        kept.load()  # type: ignore[attr-defined, union-attr]
    graph = graph_on(later)
    assert graph.get_state(THREAD).values == {"log": ["1", "a"]}
    assert graph.invoke({"log": ["2"]}, THREAD) == {"log": ["1", "a", "2", "a"]}


def test_as_a_partial(tmp_path: Path) -> None:
    saver = InMemorySaver(factory=partial(PersistentDict, filename=str(tmp_path / "one")))
    assert graph_on(saver).invoke({"log": ["1"]}, THREAD) == {"log": ["1", "a"]}
