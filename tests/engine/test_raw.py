"""Graphs by hand: what a comparison of histories does not show."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ckpt_viz.channels import EphemeralValue, LastValue, Topic
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import InvalidUpdateError
from ckpt_viz.pregel import ChannelWriteEntry, NodeBuilder, Pregel

C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


def node(source: str, target: str, function: Any = lambda x: x + 1) -> NodeBuilder:
    return NodeBuilder().subscribe_only(source).do(function).write_to(target)


def chain(**options: Any) -> Pregel:
    options.setdefault("channels", {k: LastValue(int) for k in ("input", "mid", "output")})
    return Pregel(
        nodes={"one": node("input", "mid"), "two": node("mid", "output")},
        input_channels="input",
        output_channels="output",
        **options,
    )


def test_errors_name_the_channel() -> None:
    """There a channel by hand has no name in errors."""
    for channel in (LastValue(int), EphemeralValue(int)):
        graph = Pregel(
            nodes={"a": node("input", "output"), "b": node("input", "output")},
            channels={"input": LastValue(int), "output": channel},
            input_channels="input",
            output_channels="output",
        )
        with pytest.raises(InvalidUpdateError, match="At key 'output'"):
            graph.invoke(1)


def test_the_tasks_channel_is_the_engines() -> None:
    graph = Pregel(
        nodes={"a": node("input", "__pregel_tasks")},
        channels={"input": LastValue(int)},
        input_channels="input",
        output_channels="input",
    )
    with pytest.raises(InvalidUpdateError, match="reserved channel TASKS"):
        graph.invoke(1)


def test_a_write_to_nowhere_is_told() -> None:
    graph = Pregel(
        nodes={"a": node("input", "nowhere")},
        channels={"input": LastValue(int)},
        input_channels="input",
        output_channels="input",
    )
    with pytest.warns(UserWarning, match="nowhere"):
        assert graph.invoke(1) is None


def test_the_result_is_what_was_shown_last() -> None:
    graph = Pregel(
        nodes={"a": node("input", "output"), "b": node("output", "rest")},
        channels={"input": LastValue(int), "output": EphemeralValue(int), "rest": Topic(int)},
        input_channels="input",
        output_channels="output",
        checkpointer=InMemorySaver(),
    )
    assert graph.invoke(1, C) == 2
    assert asyncio.run(graph.ainvoke(5, C)) == 6
    assert graph.get_state(C).values == {"input": 5, "rest": [7]}


def test_without_validation_it_is_built_as_it_is() -> None:
    options: Any = {"channels": {"input": LastValue(int)}, "input_channels": "input"}
    with pytest.raises(ValueError, match="Output channel 'output'"):
        Pregel(nodes={"a": node("input", "output")}, output_channels="output", **options)
    late = Pregel(
        nodes={"a": node("input", "output")},
        output_channels="output",
        auto_validate=False,
        **options,
    )
    with pytest.raises(ValueError, match="Output channel 'output'"):
        late.validate()


def test_attributes_can_be_copied() -> None:
    graph = chain()
    saved = graph.copy({"checkpointer": InMemorySaver()})
    assert saved.invoke(1, C) == 3
    assert saved.get_state(C).values == {"input": 1, "mid": 2, "output": 3}
    assert graph.checkpointer is None


def test_a_graph_by_hand_is_drawn_and_described() -> None:
    graph = chain(name="Mine")
    edges = {(e.source, e.target) for e in graph.get_graph().edges}
    assert edges == {("__start__", "one"), ("one", "two"), ("two", "__end__")}
    assert "one --> two" in graph.get_graph().draw_mermaid()
    assert graph.get_input_jsonschema() == {"title": "MineInput", "type": "integer"}


def test_several_channels_are_described_by_name() -> None:
    graph = Pregel(
        nodes={"a": NodeBuilder().subscribe_to("x", "y").do(lambda d: 1).write_to("z")},
        channels={"x": LastValue(int), "y": LastValue(str), "z": LastValue(int)},
        input_channels=["x", "y"],
        output_channels=["z", "x"],
    )
    assert list(graph.get_input_jsonschema()["properties"]) == ["x", "y"]
    assert list(graph.get_output_jsonschema()["properties"]) == ["z", "x"]
    assert graph.InputType is None


def test_entries_say_how_an_output_is_written() -> None:
    """A write of None can be left out, which ends a loop; others are constants or mapped."""
    grow = NodeBuilder().subscribe_only("value").do(lambda x: x + x if len(x) < 10 else None)
    loop = Pregel(
        nodes={"grow": grow.write_to(ChannelWriteEntry("value", skip_none=True))},
        channels={"value": EphemeralValue(str)},
        input_channels=["value"],
        output_channels=["value"],
    )
    assert loop.invoke({"value": "a"}) == {"value": "a" * 16}
    entries = (ChannelWriteEntry("mid", 3), ChannelWriteEntry("output", mapper=lambda x: x * 10))
    graph = Pregel(
        nodes={"one": NodeBuilder().subscribe_only("input").write_to(*entries)},
        channels={k: LastValue(int) for k in ("input", "mid", "output")},
        input_channels="input",
        output_channels=["mid", "output"],
    )
    assert graph.invoke(1) == {"mid": 3, "output": 10}
