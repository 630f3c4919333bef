"""What this process may not load is shown and passed on, and nothing runs on it."""

from __future__ import annotations

import dataclasses
import operator
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde import Opaque, registry
from ckpt_viz.errors import SerializationError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Overwrite

from .colour import COLOURS, Calls

THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


@pytest.fixture(params=COLOURS)
def colour(request: pytest.FixtureRequest) -> Calls:
    return Calls(request.param)


@dataclasses.dataclass
class Foreign:
    x: int


class Named(TypedDict):
    n: int


class State(Named):
    foreign: Any
    log: Annotated[list, operator.add]


def saved(monkeypatch: pytest.MonkeyPatch, value: dict[str, Any]) -> InMemorySaver:
    """The saver of a run of another process, whose class this one does not know."""
    saver = InMemorySaver()
    graph = StateGraph(State).add_node("a", lambda s: value).add_edge(START, "a")
    graph.compile(checkpointer=saver).invoke({"n": 0}, THREAD)
    monkeypatch.setattr(registry, "_known", {})
    return saver


def reading(schema: Any, answer: Any) -> StateGraph:
    def node(state: Any) -> Any:
        return answer

    builder = StateGraph(State).add_node("b", node, input_schema=schema)
    return builder.add_edge(START, "b").add_edge("b", END)


@pytest.mark.parametrize("value", [Foreign(1), [{"k": (Foreign(1),)}]], ids=["plain", "deep"])
def test_a_task_that_reads_it_is_refused(
    value: Any, monkeypatch: pytest.MonkeyPatch, colour: Calls
) -> None:
    saver = saved(monkeypatch, {"foreign": value})
    before = dict(saver.blobs)
    graph = reading(State, {"n": 1}).compile(checkpointer=saver)
    assert "Opaque" in repr(graph.get_state(THREAD).values["foreign"])
    with pytest.raises(SerializationError, match=r"'b' reads channel 'foreign'.*Foreign") as caught:
        colour.invoke(graph, {"n": 5}, THREAD)
    assert caught.value.channel == "foreign"
    assert before.items() <= saver.blobs.items()


def test_a_task_that_reads_something_else_runs(
    monkeypatch: pytest.MonkeyPatch, colour: Calls
) -> None:
    saver = saved(monkeypatch, {"foreign": Foreign(1), "log": [1]})
    graph = reading(Named, {"n": 7, "log": [2]}).compile(checkpointer=saver)
    made = colour.invoke(graph, {"n": 5}, THREAD)
    assert (made["n"], made["log"]) == (7, [1, 2])
    assert isinstance(made["foreign"], Opaque)
    stored = [typed for (_, _, channel, _), typed in saver.blobs.items() if channel == "foreign"]
    assert len(stored) == 1


def test_a_reducer_does_not_go_on_from_it(monkeypatch: pytest.MonkeyPatch, colour: Calls) -> None:
    saver = saved(monkeypatch, {"log": [Foreign(1)]})
    graph = reading(Named, {"log": [2]}).compile(checkpointer=saver)
    with pytest.raises(SerializationError, match=r"reducer.*'b'.*'log'.*Foreign"):
        colour.invoke(graph, {"n": 5}, THREAD)
    graph = reading(Named, {"log": Overwrite([3])}).compile(checkpointer=saver)
    assert colour.invoke(graph, {"n": 5}, THREAD)["log"] == [3]
    assert colour.invoke(reading(State, {"n": 1}).compile(checkpointer=saver), {"n": 5}, THREAD)
