"""A value that cannot be saved leaves no half of its task behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError
from ckpt_viz.graph import START, StateGraph

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    good: int
    bad: Any


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_task_runs_again_whole(kind: str, tmp_path: Path) -> None:
    answers: list[Any] = [lambda: None, "fine"]

    def node(state: State) -> dict[str, Any]:
        return {"good": 1, "bad": {"deep": [answers.pop(0)]}}

    path = str(tmp_path / "x.db")
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(path)
    graph = StateGraph(State).add_node("a", node).add_edge(START, "a").compile(checkpointer=saver)
    with pytest.raises(SerializationError, match=r"'bad'.*\$\.deep\[0\]") as caught:
        graph.invoke({"good": 0}, THREAD)
    assert (caught.value.channel, caught.value.type_name) == ("bad", "function")
    assert graph.get_state(THREAD).next == ("a",)
    assert graph.invoke(None, THREAD) == {"good": 1, "bad": {"deep": ["fine"]}}
