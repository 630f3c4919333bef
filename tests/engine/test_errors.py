"""Errors: their classes, what they name, and that nothing was written."""

from __future__ import annotations

import operator
import warnings
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    EmptyInputError,
    GraphRecursionError,
    InvalidUpdateError,
    MissingThreadIdError,
    NothingToResumeError,
    SerializationError,
)
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Command, interrupt

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}
UNKNOWN: dict[str, Any] = {
    "configurable": {"thread_id": "1", "checkpoint_id": "1f000000-0000-6000-8000-000000000000"}
}


class State(TypedDict):
    foo: Any
    bar: Annotated[list[Any], operator.add]


def build(node: Any = None, **options: Any) -> Any:
    """A graph of two nodes, the second being the given one."""
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"bar": ["a"]})
    builder.add_node("b", node or (lambda state: {"bar": ["b"]}))
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("b", END)
    options.setdefault("checkpointer", InMemorySaver())
    return builder.compile(**options)


def ids(graph: Any) -> list[str]:
    """The ids of all checkpoints of the thread."""
    return [c.config["configurable"]["checkpoint_id"] for c in graph.checkpointer.list(CONFIG)]


@pytest.mark.parametrize("config", [{}, {"configurable": {}}, None])
def test_no_thread_id(config: Any) -> None:
    graph = build()
    calls = [
        lambda: graph.invoke({"foo": 1}, config),
        lambda: list(graph.stream({"foo": 1}, config)),
        lambda: graph.get_state(config or {}),
        lambda: list(graph.get_state_history(config or {})),
        lambda: graph.update_state(config or {}, {"foo": 1}),
    ]
    for call in calls:
        with pytest.raises(MissingThreadIdError, match="thread_id") as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, KeyError)


def test_an_unknown_checkpoint_is_not_a_new_thread() -> None:
    graph = build()
    graph.invoke({"foo": 1}, CONFIG)
    before = ids(graph)
    calls = [
        lambda: graph.invoke({"foo": 2}, UNKNOWN),
        lambda: graph.invoke(None, UNKNOWN),
        lambda: list(graph.stream(None, UNKNOWN)),
        lambda: graph.update_state(UNKNOWN, {"foo": 2}),
        lambda: graph.update_state(UNKNOWN, None, as_node="__copy__"),
    ]
    for call in calls:
        with pytest.raises(CheckpointNotFoundError, match="1f000000-0000-6000") as caught:
            call()
        assert isinstance(caught.value, ValueError)
    assert ids(graph) == before
    assert graph.get_state(UNKNOWN).values == {}
    assert graph.checkpointer.get_tuple(UNKNOWN) is None


def test_an_unknown_thread_is_empty() -> None:
    graph = build()
    snapshot = graph.get_state(CONFIG)
    assert (snapshot.values, snapshot.next, snapshot.tasks) == ({}, (), ())
    assert snapshot.metadata is None
    assert list(graph.get_state_history(CONFIG)) == []


@pytest.mark.parametrize("as_node", [None, "a", "b"])
def test_an_unknown_channel_in_an_update(as_node: str | None) -> None:
    graph = build()
    graph.invoke({"foo": 1}, CONFIG)
    before, writes = ids(graph), {k: dict(v) for k, v in graph.checkpointer.writes.items()}
    with pytest.raises(InvalidUpdateError) as caught:
        graph.update_state(CONFIG, {"foo": 2, "fooo": 3}, as_node=as_node)
    text = str(caught.value)
    assert "fooo" in text
    assert "bar" in text, "the known keys are named"
    assert ids(graph) == before
    assert {k: dict(v) for k, v in graph.checkpointer.writes.items()} == writes
    assert graph.get_state(CONFIG).values["foo"] == 1


def test_an_unknown_node_in_an_update() -> None:
    graph = build()
    graph.invoke({"foo": 1}, CONFIG)
    before = ids(graph)
    with pytest.raises(InvalidUpdateError, match="nope"):
        graph.update_state(CONFIG, {"foo": 2}, as_node="nope")
    assert ids(graph) == before


@pytest.mark.parametrize("wrong", [1, "text", ["a"], ("foo", 1), object(), {1, 2}])
def test_a_node_that_returns_the_wrong_thing(wrong: Any) -> None:
    graph = build(lambda state: wrong)
    with pytest.raises(InvalidUpdateError, match="Expected dict, got") as caught:
        graph.invoke({"foo": 1}, CONFIG)
    told = str(caught.value) + " ".join(getattr(caught.value, "__notes__", []))
    assert "'b'" in told, "the node is named"
    state = graph.get_state(CONFIG)
    assert state.next == ("b",)
    assert "Expected dict" in str(state.tasks[0].error)


def test_two_values_for_one_key() -> None:
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"foo": 1})
    builder.add_node("b", lambda state: {"foo": 2})
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(InvalidUpdateError, match="'foo'"):
        graph.invoke({"foo": 0}, CONFIG)


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [("a", "nope", "nope"), ("nope", "a", "nope"), (["a", "nope"], "a", "nope")],
)
def test_an_edge_to_or_from_a_missing_node(source: Any, target: str, named: str) -> None:
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {})
    builder.add_edge(START, "a")
    with pytest.raises(ValueError, match=named):
        builder.add_edge(source, target).compile()


def test_input_with_no_known_key() -> None:
    graph = build()
    with pytest.raises(InvalidUpdateError, match="zz"):
        graph.invoke({"zz": 1}, CONFIG)
    assert ids(graph) == []


@pytest.mark.parametrize("wrong", ["text", 3, ["a"]])
def test_input_that_is_no_dictionary(wrong: Any) -> None:
    with pytest.raises(InvalidUpdateError):
        build().invoke(wrong, CONFIG)


def test_nothing_to_do() -> None:
    with pytest.raises(EmptyInputError):
        build().invoke(None, CONFIG)


def test_the_recursion_limit() -> None:
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"bar": ["a"]})
    builder.add_edge(START, "a")
    builder.add_edge("a", "a")
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(GraphRecursionError, match="7"):
        graph.invoke({"foo": 1}, {**CONFIG, "recursion_limit": 7})
    assert graph.get_state(CONFIG).values["bar"] == ["a"] * 7
    with pytest.raises(ValueError, match="recursion_limit"):
        graph.invoke({"foo": 1}, {**CONFIG, "recursion_limit": 0})


def test_no_saver() -> None:
    graph = build(checkpointer=None)
    assert graph.invoke({"foo": 1}) == {"foo": 1, "bar": ["a", "b"]}
    for call in (
        lambda: graph.get_state(CONFIG),
        lambda: list(graph.get_state_history(CONFIG)),
        lambda: graph.update_state(CONFIG, {"foo": 1}),
    ):
        with pytest.raises(ValueError, match="checkpointer"):
            call()


class Odd:
    """A class that no serializer knows."""

    def __reduce__(self) -> Any:
        raise TypeError("no pickling either")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"inner": {"list": [1, lambda: 1]}}, "$.inner.list[1]"),
        ([0, {"f": lambda: 1}], "$[1].f"),
        (lambda: 1, "$"),
    ],
)
def test_a_value_that_cannot_be_saved(value: Any, path: str) -> None:
    graph = build(lambda state: {"foo": value})
    with pytest.raises(SerializationError) as caught:
        graph.invoke({"foo": 1}, CONFIG, durability="sync")
    error = caught.value
    assert isinstance(error, TypeError)
    assert error.channel == "foo"
    assert error.path.removeprefix("foo").replace("$", "") == path.replace("$", "")
    assert "function" in error.type_name
    for part in ("foo", path.removeprefix("$"), "function"):
        assert part in str(error)
    assert [c.checkpoint["channel_values"].get("foo") for c in graph.checkpointer.list(CONFIG)] == [
        1,
        1,
        None,
    ]


def test_an_update_that_cannot_be_saved_writes_nothing() -> None:
    graph = build()
    graph.invoke({"foo": 1}, CONFIG)
    before = ids(graph)
    with pytest.raises(SerializationError) as caught:
        graph.update_state(CONFIG, {"foo": lambda: 1}, as_node="a")
    assert caught.value.channel == "foo"
    assert ids(graph) == before
    assert graph.get_state(CONFIG).values["foo"] == 1


def asking() -> Any:
    return build(lambda state: {"bar": [interrupt("q")]})


def test_nothing_to_resume() -> None:
    graph = asking()
    with pytest.raises(NothingToResumeError):
        graph.invoke(Command(resume="r"), CONFIG)
    graph.invoke({"foo": 1}, CONFIG)
    graph.invoke(Command(resume="r"), CONFIG)
    before = ids(graph)
    with pytest.raises(NothingToResumeError):
        graph.invoke(Command(resume="again"), CONFIG)
    assert ids(graph) == before


def test_none_is_an_answer() -> None:
    graph = asking()
    graph.invoke({"foo": 1}, CONFIG)
    assert graph.invoke(Command(resume=None), CONFIG)["bar"] == ["a", None]


def test_a_map_with_an_unknown_id_names_the_open_ones() -> None:
    graph = asking()
    graph.invoke({"foo": 1}, CONFIG)
    (open_one,) = graph.get_state(CONFIG).interrupts
    with pytest.raises((ValueError, RuntimeError), match=open_one.id):
        graph.invoke(Command(resume={"0" * 31 + "1": "r"}), CONFIG)
    assert graph.get_state(CONFIG).next == ("b",)


def test_a_dictionary_may_be_the_answer() -> None:
    graph = asking()
    graph.invoke({"foo": 1}, CONFIG)
    assert graph.invoke(Command(resume={"a": 1}), CONFIG)["bar"] == ["a", {"a": 1}]


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_a_nested_graph_is_not_told_of_a_durability_that_nobody_asked_of_it(saver: Any) -> None:
    inner = build(checkpointer=False)
    outer = build(lambda state: inner.invoke(state), checkpointer=saver)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outer.invoke({"foo": 1}, CONFIG)
    with pytest.warns(UserWarning, match="`durability` has no effect"):
        inner.invoke({"foo": 1}, durability="async")
