"""A look at history: it decides as a run does, and what it gives belongs to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import add
from pathlib import Path
from typing import Annotated, Any, Self, TypedDict

import pytest
from pydantic import BaseModel, ValidationError

from ckpt_viz.channels import BaseChannel, BinaryOperatorAggregate, LastValue, Topic
from ckpt_viz.channels.base import MISSING
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import EmptyChannelError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.pregel import NodeBuilder, Pregel
from ckpt_viz.pregel.algo import prepare_next_tasks
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.past import Past
from ckpt_viz.types import Command, Send, interrupt

C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], add]
    never: str


class Doubled(BaseChannel[int, int, int]):
    """A user's own kind: it shows twice what was saved, and 0 where nothing was."""

    def __init__(self, typ: Any = int, key: str = "") -> None:
        super().__init__(typ, key)
        self.half: Any = MISSING

    ValueType = UpdateType = int  # type: ignore[assignment]

    def from_checkpoint(self, checkpoint: Any) -> Self:
        made = type(self)(self.typ, self.key)
        made.half = checkpoint
        return made

    def checkpoint(self) -> Any:
        return self.half

    def get(self) -> int:
        if self.half == -1:
            raise EmptyChannelError
        return 0 if self.half is MISSING else 2 * self.half

    def update(self, values: Any) -> bool:
        if values:
            self.half = values[-1]
        return bool(values)


class LateValue(LastValue):
    """A kind that shows its value in another form than it was saved in."""

    def peek(self) -> Any:
        found = super().peek()
        return found if found is MISSING else found + 100

    def get(self) -> Any:
        return self.peek()


def loop(saver: Any) -> Any:
    b = StateGraph(State)
    b.add_node("step", lambda s: {"n": s["n"] + 1, "log": [str(s["n"])]})
    b.add_edge(START, "step")
    b.add_conditional_edges("step", lambda s: END if s["n"] > 3 else "step")
    return b.compile(checkpointer=saver)


def wide(saver: Any) -> Any:
    """Sends, a barrier, a deferred node and a question."""
    b = StateGraph(State)
    for name in "ba":
        b.add_node(name, lambda s, name=name: {"log": [name]})
        b.add_edge(START, name)
    b.add_node("join", lambda s: {"log": ["join"]})
    b.add_edge(["a", "b"], "join")
    b.add_node("work", lambda s: {"log": [f"work{s['n']}"]})
    b.add_conditional_edges("join", lambda s: [Send("work", {"n": i}) for i in range(3)], ["work"])
    b.add_node("last", lambda s: {"log": [interrupt("well?")]}, defer=True)
    b.add_edge("work", "last")
    return b.compile(checkpointer=saver)


def by_hand(saver: Any) -> Any:
    """Channels of all kinds as triggers, one of a kind of its own."""

    def node(source: str, target: str) -> NodeBuilder:
        return NodeBuilder().subscribe_only(source).do(lambda x: 1).write_to(target)

    return Pregel(
        nodes={
            "z": node("input", "own"),
            "y": node("own", "late"),
            "x": node("late", "topic"),
            "w": node("topic", "sum"),
            "v": node("sum", "output"),
        },
        channels={
            "input": LastValue(int),
            "own": Doubled(),
            "late": LateValue(int),
            "topic": Topic(int),
            "sum": BinaryOperatorAggregate(int, add),
            "output": LastValue(int),
        },
        input_channels="input",
        output_channels="output",
        stream_channels=["input", "own", "late", "sum", "output"],
        checkpointer=saver,
    )


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
        return
    with SqliteSaver.from_conn_string(str(tmp_path / "h.db")) as found:
        yield found


@pytest.mark.filterwarnings("ignore:The update written as")
@pytest.mark.parametrize("make", [loop, wide, by_hand])
def test_a_look_decides_as_a_run_does(make: Callable[[Any], Any]) -> None:
    saver = InMemorySaver()
    graph = make(saver)
    graph.invoke(1 if make is by_hand else {"n": 0}, C)
    if make is wide:
        graph.invoke(Command(resume="yes"), C)
    graph.update_state(
        C, 5 if make is by_hand else {"n": 9}, as_node="z" if make is by_hand else None
    )
    names = graph.program.stream_channels
    waiting = 0
    for saved in saver.list(C):
        live = Live(graph.program, saved.checkpoint)
        live.updated = None
        expected = prepare_next_tasks(live, 7)
        past = Past(graph.program, saved.checkpoint, "")
        found = prepare_next_tasks(past, 7)
        assert [(t.name, t.path, t.triggers, t.id) for t in found] == [
            (t.name, t.path, t.triggers, t.id) for t in expected
        ]
        assert past.read(names) == live.read(names)
        waiting += len(found)
    assert waiting > 3


def test_a_snapshot_belongs_to_the_caller(saver: Any) -> None:
    graph = loop(saver)
    graph.invoke({"n": 0, "log": ["begin"]}, C)
    before = list(graph.get_state_history(C))
    spoilt = list(graph.get_state_history(C))
    for one in spoilt[::2]:
        for value in (one.values, one.metadata, one.config["configurable"], one.tasks):
            if isinstance(value, dict):
                if "log" in value:
                    value["log"].append("spoilt")
                value["n"] = "spoilt"
            elif value and value[0].result:
                value[0].result["log"].append("spoilt")
        if one.parent_config:
            one.parent_config["configurable"].clear()
    assert spoilt[1::2] == before[1::2]
    assert list(graph.get_state_history(C)) == before
    assert saver.get_tuple(C).checkpoint["channel_values"]["log"][-1] == "3"


def test_of_two_snapshots_only_one_is_changed_where_nothing_was_written(saver: Any) -> None:
    """A reducer's own empty list is not stored: each look makes one."""
    graph = loop(saver)
    graph.update_state(C, {"n": 3})
    first, second = graph.get_state(C), graph.get_state(C)
    first.values["log"].append("spoilt")
    assert second.values["log"] == [] == graph.get_state(C).values["log"]


def test_a_state_that_its_class_refuses_is_refused_in_a_look_too() -> None:
    """As there."""

    class Text(BaseModel):
        n: str = ""

    class Number(BaseModel):
        n: int = 0

    def make(schema: Any) -> Any:
        b = StateGraph(schema)
        b.add_node("x", lambda s: {}).add_node("y", lambda s: {}).add_edge(START, "x")
        return b.add_edge("x", "y").compile(checkpointer=saver, interrupt_before=["y"])

    saver = InMemorySaver()
    make(Text).invoke({"n": "no number"}, C)
    assert make(Text).get_state(C).next == ("y",)
    with pytest.raises(ValidationError) as caught:
        make(Number).get_state(C)
    assert "Before task with name 'y'" in caught.value.__notes__[0]
    with pytest.raises(ValidationError):
        list(make(Number).get_state_history(C))
