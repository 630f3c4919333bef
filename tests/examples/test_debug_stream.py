"""The documented debug stream: a model, two searches in parallel, a summary."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}
ANSWER = {"role": "assistant", "content": "Current weather in San Francisco"}


class State(TypedDict):
    messages: Annotated[list[dict[str, str]], operator.add]
    search_results: Annotated[list[str], operator.add]
    final_answer: Any


@pytest.fixture
def events() -> list[dict[str, Any]]:
    """All debug events of one run."""
    builder = StateGraph(State)
    builder.add_node("call_model", lambda s: {"messages": [ANSWER]})
    builder.add_node("exa_search", lambda s: {"search_results": ["exa"]})
    builder.add_node("tavily_search", lambda s: {"search_results": ["tavily"]})
    builder.add_node("summarize_search_results", lambda s: {"final_answer": s["search_results"]})
    builder.add_edge(START, "call_model")
    builder.add_edge("call_model", "exa_search")
    builder.add_edge("call_model", "tavily_search")
    builder.add_edge(["exa_search", "tavily_search"], "summarize_search_results")
    builder.add_edge("summarize_search_results", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    question = {"role": "user", "content": "What's the weather in SF?"}
    return list(graph.stream({"messages": [question]}, CONFIG, stream_mode="debug"))


def test_types_and_steps(events: list[dict[str, Any]]) -> None:
    assert [(event["type"], event["step"]) for event in events] == [
        ("checkpoint", -1),
        ("checkpoint", 0),
        ("task", 1),
        ("task_result", 1),
        ("checkpoint", 1),
        ("task", 2),
        ("task", 2),
        ("task_result", 2),
        ("task_result", 2),
        ("checkpoint", 2),
        ("task", 3),
        ("task_result", 3),
        ("checkpoint", 3),
    ]
    for event in events:
        assert set(event) == {"type", "timestamp", "step", "payload"}
    times = [event["timestamp"] for event in events]
    assert times == sorted(times)


def test_payload_keys(events: list[dict[str, Any]]) -> None:
    keys = {
        "checkpoint": {"config", "parent_config", "values", "metadata", "next", "tasks"},
        "task": {"id", "name", "input", "triggers"},
        "task_result": {"id", "name", "error", "result", "interrupts"},
    }
    for event in events:
        assert set(event["payload"]) == keys[event["type"]]


def test_tasks_and_results_belong_together(events: list[dict[str, Any]]) -> None:
    started = [e["payload"] for e in events if e["type"] == "task"]
    ended = [e["payload"] for e in events if e["type"] == "task_result"]
    assert [task["name"] for task in started] == [
        "call_model",
        "exa_search",
        "tavily_search",
        "summarize_search_results",
    ]
    assert {task["id"]: task["name"] for task in started} == {
        task["id"]: task["name"] for task in ended
    }
    by_name = {task["name"]: task for task in ended}
    assert by_name["call_model"]["result"] == {"messages": [ANSWER]}
    assert by_name["exa_search"]["result"] == {"search_results": ["exa"]}
    assert by_name["summarize_search_results"]["result"] == {"final_answer": ["exa", "tavily"]}
    assert all(task["error"] is None and task["interrupts"] == [] for task in ended)
    # the triggers name what woke the task (today's names: the page shows those of an older version)
    assert [tuple(task["triggers"]) for task in started] == [
        ("branch:to:call_model",),
        ("branch:to:exa_search",),
        ("branch:to:tavily_search",),
        (
            "branch:to:summarize_search_results",
            "join:exa_search+tavily_search:summarize_search_results",
        ),
    ]


def test_checkpoints_tell_what_comes_next(events: list[dict[str, Any]]) -> None:
    checkpoints = [e["payload"] for e in events if e["type"] == "checkpoint"]
    assert [c["next"] for c in checkpoints] == [
        ["__start__"],
        ["call_model"],
        ["exa_search", "tavily_search"],
        ["summarize_search_results"],
        [],
    ]
    assert [c["metadata"]["source"] for c in checkpoints] == ["input", *["loop"] * 4]
    assert checkpoints[0]["values"] == {"messages": [], "search_results": []}
    assert checkpoints[0]["parent_config"] is None
    for older, newer in itertools.pairwise(checkpoints):
        assert newer["parent_config"] == older["config"]
    for checkpoint in checkpoints:
        assert [t["name"] for t in checkpoint["tasks"]] == checkpoint["next"]
