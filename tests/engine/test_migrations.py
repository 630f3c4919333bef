"""A checkpoint that another version of the graph has saved: brought here, or refused."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import MigrationError
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.types import Command, interrupt

from .colour import COLOURS, Calls


@pytest.fixture(params=COLOURS)
def call(request: pytest.FixtureRequest) -> Calls:
    return Calls(request.param)


class One(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    name: str


class Two(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    names: list[str]


class Three(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    names: list[str]
    count: int


def split(values: dict[str, Any]) -> dict[str, Any]:
    return {"log": values["log"], "names": values["name"].split()} if "name" in values else values


def counted(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "count": len(values.get("names", ()))}


def graph_of(call: Calls, schema: Any, saver: Any, **options: Any) -> Any:
    flow = StateGraph(schema).add_node("a", call.node(lambda s: {"log": [f"{len(s)} keys"]}))
    return flow.add_edge(START, "a").compile(checkpointer=saver, **options)


def old_thread(call: Calls, **options: Any) -> tuple[InMemorySaver, Any]:
    saver = InMemorySaver()
    old = graph_of(call, One, saver, **options)
    call.invoke(old, {"log": [], "name": "Ada Lovelace"})
    return saver, old


def test_a_chain_of_functions_brings_a_checkpoint_through_all_versions(call: Calls) -> None:
    saver, old = old_thread(call, version="one")
    before = [(s.config, s.values) for s in call.history(old)]
    chain = {"one": split, "two": counted}
    new = graph_of(call, Three, saver, version="three", migrate=chain)
    assert call.state(new).values == {"log": ["2 keys"], "names": ["Ada", "Lovelace"], "count": 2}
    assert call.invoke(new, {"log": ["more"]}) == {
        "log": ["2 keys", "more", "3 keys"],
        "names": ["Ada", "Lovelace"],
        "count": 2,
    }
    made_by = [s.metadata["graph_version"] for s in call.history(new)]
    assert made_by == ["three"] * 3 + ["one"] * 3
    after = [(config, call.state(old, config).values) for config, _ in before]
    assert after == before  # what the old graph had saved is as it was


def test_a_version_in_the_middle_takes_the_rest_of_the_chain(call: Calls) -> None:
    saver = InMemorySaver()
    middle = graph_of(call, Two, saver, version=2)
    call.invoke(middle, {"log": [], "names": ["Ada"]})
    new = graph_of(call, Three, saver, version=3, migrate={1: split, 2: counted})
    assert call.state(new).values["count"] == 1


def everything(call: Calls, graph: Any, config: Any) -> list[Any]:
    return [
        lambda: call.state(graph),
        lambda: call.history(graph),
        lambda: call.invoke(graph, {"log": ["x"]}),
        lambda: call.update(graph, {"log": ["x"]}),
        lambda: call.update(graph, {"log": ["x"]}, config),
        lambda: call.invoke(graph, None, config),
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "without a way from there"),
        ({"migrate": {2: counted}}, "no path leads to version 3"),
        ({"migrate": lambda values, version: None}, "gave NoneType"),
    ],
    ids=["none", "gap", "no-dict"],
)
def test_where_no_path_leads_nothing_is_done(
    call: Calls, options: dict[str, Any], says: str
) -> None:
    saver, old = old_thread(call, version=1)
    new = graph_of(call, Three, saver, version=3, **options)
    before = call.history(old)
    for act in everything(call, new, before[0].config):
        with pytest.raises(MigrationError, match=says) as caught:
            act()
        assert caught.value.found == 1
        assert "thread '1'" in str(caught.value)
    assert call.history(old) == before


def test_a_newer_version_is_refused_by_the_older_graph(call: Calls) -> None:
    saver, old = old_thread(call, version=1)
    new = graph_of(call, Two, saver, version=2, migrate={1: split})
    call.invoke(new, {"log": []})
    with pytest.raises(MigrationError, match="saved by version 2 of the graph, and this is"):
        call.state(old)


def test_checkpoints_that_name_no_version_can_be_taken_as_they_are_or_be_brought(
    call: Calls,
) -> None:
    saver, old = old_thread(call)
    assert call.state(graph_of(call, One, saver, version=1)).values == call.state(old).values
    new = graph_of(call, Two, saver, version=2, migrate={None: split})
    assert call.state(new).values["names"] == ["Ada", "Lovelace"]
    with pytest.raises(MigrationError, match="version None"):
        call.state(graph_of(call, Two, saver, version=2, migrate={1: split}))


def test_one_word_for_the_version(call: Calls) -> None:
    with pytest.raises(ValueError, match="two words for one thing"):
        graph_of(call, One, InMemorySaver(), version=1, graph_version=2)
    with pytest.raises(TypeError, match="got 5"):
        graph_of(call, One, InMemorySaver(), version=1, migrate={0: 5})
    assert graph_of(call, One, None, version=1, graph_version=1).program.version == 1


def changed_in_place(values: dict[str, Any]) -> dict[str, Any]:
    values["name"].append("migrated")
    return values


def typed_anew(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "name": [float(n) for n in values["name"]]}


def test_what_a_migration_changes_in_place_is_saved_with_the_next_checkpoint(call: Calls) -> None:
    saver = InMemorySaver()
    old = graph_of(call, One, saver, version=1)
    call.invoke(old, {"log": [], "name": ["Ada"]})
    new = graph_of(call, One, saver, version=2, migrate={1: changed_in_place})
    call.update(new, {"log": ["more"]})
    plain = graph_of(call, One, saver)
    assert call.state(plain).values == {"log": ["2 keys", "more"], "name": ["Ada", "migrated"]}
    assert call.state(old, call.history(plain)[1].config).values["name"] == ["Ada"]


def test_a_change_of_type_alone_is_a_change(call: Calls) -> None:
    saver = InMemorySaver()
    old = graph_of(call, One, saver, version=1)
    call.invoke(old, {"log": [], "name": [1, 2]})
    new = graph_of(call, One, saver, version=2, migrate={1: typed_anew})
    call.update(new, {"log": ["more"]})
    numbers = call.state(graph_of(call, One, saver)).values["name"]
    assert [type(n) for n in numbers] == [float, float]


def test_a_question_asked_by_the_older_graph_is_answered_in_the_newer(call: Calls) -> None:
    def build(schema: Any, saver: Any, **options: Any) -> Any:
        flow = StateGraph(schema).add_node("ask", lambda s: {"log": [interrupt("really?")]})
        flow.add_node("then", lambda s: {"log": [" ".join(s.get("names", ["?"]))]})
        flow.add_edge(START, "ask").add_edge("ask", "then")
        return flow.compile(checkpointer=saver, **options)

    saver = InMemorySaver()
    old = build(One, saver, version=1)
    call.invoke(old, {"log": [], "name": "Ada Lovelace"})
    new = build(Two, saver, version=2, migrate={1: split})
    waiting = call.state(new)
    assert (waiting.next, waiting.values["names"]) == (("ask",), ["Ada", "Lovelace"])
    done = call.invoke(new, Command(resume="yes"))
    assert done == {"log": ["yes", "Ada Lovelace"], "names": ["Ada", "Lovelace"]}


def test_a_graph_inside_has_a_version_of_its_own(call: Calls) -> None:
    saver = InMemorySaver()

    def build(inner_version: int, migrate: Any) -> Any:
        inner = StateGraph(One).add_node("deep", lambda s: {"log": [str(interrupt("well?"))]})
        graph = inner.add_edge(START, "deep").compile(version=inner_version, migrate=migrate)
        flow = StateGraph(One).add_node("sub", graph).add_edge(START, "sub")
        return flow.compile(checkpointer=saver, version="root")

    call.invoke(build(1, None), {"log": [], "name": "Ada"})
    newer = build(2, {1: lambda values: {**values, "name": values["name"].upper()}})
    found = call.invoke(newer, Command(resume="done"))
    assert (found["log"], found["name"]) == (["done"], "ADA")
