"""Where graph building differs on purpose: each test fails when the peer changes, or we do."""

import enum
import importlib
import warnings
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

from .basics import C, State, adds
from .harness import Engine
from .test_differs import both, outcome


def test_nodes_named_by_an_enum() -> None:
    """There an Enum of texts is another name than its text; here it is the same."""

    class Name(str, enum.Enum):  # noqa: UP042 - a StrEnum has no such trap
        B = "b"

    def question(e: Engine) -> Any:
        graph = e.build(
            State, {"a": adds("a"), "b": adds("b")}, [(e.START, "a")], [("a", lambda s: Name.B)]
        )
        return graph.invoke({"foo": "x"}, C)["bar"]

    assert both(question) == (["a"], ["a", "b"])


def test_a_builtin_without_a_signature_reduces() -> None:
    class Most(TypedDict):
        most: Annotated[int, max]

    def question(e: Engine) -> Any:
        return outcome(lambda: e.StateGraph(Most))

    assert both(question) == ("ValueError", "fine")


def test_a_delta_channel_is_saved_with_its_value() -> None:
    """There its checkpoints hold nothing, and reading replays the writes before them."""

    def fold(value: list[Any], updates: list[Any]) -> list[Any]:
        return [*(value or []), *(x for update in updates for x in update)]

    def question(e: Engine) -> Any:
        class Log(TypedDict):
            log: Annotated[list[Any], e.DeltaChannel(fold)]

        graph = e.build(Log, {"a": lambda s: {"log": ["a"]}}, [(e.START, "a")])
        graph.invoke({"log": ["x"]}, C)
        saved = graph.checkpointer.get_tuple(C).checkpoint["channel_values"].get("log")
        return graph.get_state(C).values["log"], saved

    assert both(question) == ((["x", "a"], None), (["x", "a"], ["x", "a"]))


def test_a_tool_node_outside_of_a_graph() -> None:
    """There it needs a runtime in the config; here it runs."""

    def question(e: Engine) -> Any:
        node = importlib.import_module(f"{e.root}.prebuilt").ToolNode([twice])
        call = {"name": "twice", "args": {"x": 2}, "id": "1", "type": "tool_call"}
        said = AIMessage("", tool_calls=[call])
        return outcome(lambda: node.invoke({"messages": [said]}))

    assert both(question) == ("ValueError", "fine")


def twice(x: int) -> int:
    """Twice the number."""
    return 2 * x


@pytest.mark.parametrize("update", [5, "text", [{"foo": "x"}]])
def test_a_command_with_an_update_that_is_no_dictionary(update: Any) -> None:
    """There it is dropped without a word."""

    def question(e: Engine) -> Any:
        graph = e.build(State, {"a": lambda s: e.Command(update=update)}, [(e.START, "a")])
        return outcome(lambda: graph.invoke({"foo": "x"}, C))

    assert both(question) == ("fine", "InvalidUpdateError")


def test_a_word_that_nobody_knows() -> None:
    """There a keyword that means nothing is taken without a word."""

    def question(e: Engine) -> Any:
        builder = e.StateGraph(State)
        nodes = outcome(lambda: builder.add_node("a", adds("a"), retries=3))
        return outcome(lambda: e.StateGraph(State, inputs=State)), nodes

    assert both(question) == (("fine", "fine"), ("TypeError", "TypeError"))


def test_a_change_after_compiling_is_a_warning() -> None:
    """There it is a line in the log."""

    def question(e: Engine) -> Any:
        builder = e.StateGraph(State).add_node("a", adds("a")).add_edge(e.START, "a")
        builder.compile()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            builder.add_node("b", adds("b"))
        return len(told)

    assert both(question) == (0, 1)


def test_a_frame_without_edges_inside_a_frame() -> None:
    """There the drawing of such a subgraph leaves its node out."""

    def question(e: Engine) -> Any:
        inner = e.build(State, {"a": adds("a")}, [(e.START, "a")], saver=None)
        middle = {"in": inner, "k": adds("k")}
        outer = e.build(State, middle, [(e.START, "in"), ("in", "k")], saver=None)
        graph = e.build(State, {"sub": outer, "z": adds("z")}, [(e.START, "sub"), ("sub", "z")])
        return "(a)" in graph.get_graph(xray=True).draw_mermaid()

    assert both(question) == (False, True)


def test_the_node_of_a_handler_is_not_drawn() -> None:
    """There it stands alone beside the graph, whose start is no start any more."""

    def question(e: Engine) -> Any:
        nodes = {"a": (adds("a"), {"error_handler": lambda s: None})}
        drawn = e.build(State, nodes, [(e.START, "a")]).get_graph().draw_mermaid()
        return "__error_handler__a" in drawn, ":::first" in drawn

    assert both(question) == ((True, False), (False, True))


def test_a_builder_with_a_default_handler_compiles_twice() -> None:
    def question(e: Engine) -> Any:
        builder = e.StateGraph(State).set_node_defaults(error_handler=lambda s: None)
        builder.add_node("a", adds("a")).add_edge(e.START, "a").compile()
        return outcome(builder.compile)

    assert both(question) == ("ValueError", "fine")


def test_a_topic_and_its_checkpoint_share_nothing() -> None:
    """There what is written to the copy is written to the channel too."""

    def question(e: Engine) -> Any:
        topic = e.Topic(str, accumulate=True)
        topic.update(["a"])
        topic.from_checkpoint(topic.checkpoint()).update(["b"])
        return topic.get()

    assert both(question) == (["a", "b"], ["a"])
