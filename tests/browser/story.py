"""The history that pictures and access tests show: a search agent that failed, asked, was forked.

It holds one of everything that the Explorer draws: chat messages, many tasks of one node, a node
that raised, a question that waits, forks, a nested graph, a list that grew, bytes, an array and
texts in two directions.
"""

from __future__ import annotations

from contextlib import suppress
from operator import add
from typing import Annotated, Any, TypedDict

import numpy

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import END, START, StateGraph, add_messages
from ckpt_viz.types import Send, interrupt

THREAD = "support-7"
CONFIG: dict[str, Any] = {"configurable": {"thread_id": THREAD}}
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000180000001808060000")


class Review(TypedDict, total=False):
    """What the reviewer reads and writes."""

    answer: str
    grade: float


class State(TypedDict, total=False):
    """What the agent knows."""

    messages: Annotated[list, add_messages]
    budget: int
    results: Annotated[list[str], add]
    plan: dict[str, Any]
    embedding: Any
    image: bytes
    answer: str
    grade: float


def call_model(state: State) -> State:
    return {"messages": [("ai", "I will search twice and compare.")]}


def plan(state: State) -> State:
    return {
        "messages": [("ai", f"Budget is {state['budget']} calls.")],
        "plan": {"tool": "exa", "depth": 2, "languages": ["en", "العربية", "עברית"]},
        "embedding": numpy.linspace(-0.1, 0.1, 384, dtype="float32"),
        "image": PNG * 40,
    }


def worker(arg: dict[str, int]) -> State:
    return {"results": [f"page {arg['page']}: nothing"]}


def exa_search(state: State) -> State:
    return {"results": ["exa: 17 °C and fog until noon, then sun"]}


def tavily_search(state: State) -> State:
    return {"results": ["tavily: a mild day, 16 to 18 °C"]}


def approve(state: State) -> State:
    return {"results": [interrupt({"question": "Spend the second call?", "left": 1})]}


def summarize(state: State) -> State:
    if not any("°C" in result for result in state["results"]):
        raise ValueError("no results to summarize")
    return {"answer": "Fog in the morning, 17 °C. " + "Both sources agree on a mild day. " * 12}


def route(state: State) -> Any:
    if state["budget"] == 3:
        return [Send("worker", {"page": page}) for page in range(30)]
    return "approve" if state["budget"] == 1 else ["exa_search", "tavily_search"]


def review() -> Any:
    """A graph within the graph."""
    inner = StateGraph(Review)
    inner.add_node("draft_review", lambda state: {"grade": 0.5})
    inner.add_node("grade_review", lambda state: {"grade": 0.9})
    inner.add_edge(START, "draft_review").add_edge("draft_review", "grade_review")
    return inner.compile()


def make_graph(saver: Any = None) -> Any:
    """The agent, with nothing run."""
    graph = StateGraph(State)
    for node in (call_model, plan, worker, exa_search, tavily_search, approve, summarize):
        graph.add_node(node)
    graph.add_node("review", review())
    graph.add_edge(START, "call_model").add_edge("call_model", "plan")
    searches = ["worker", "approve", "exa_search", "tavily_search"]
    graph.add_conditional_edges("plan", route, searches)
    for node in searches:
        graph.add_edge(node, "summarize")
    graph.add_edge("summarize", "review").add_edge("review", END)
    return graph.compile(checkpointer=saver or InMemorySaver(), name="search agent")


def tell(saver: Any = None) -> Any:
    """The graph after all of the story has happened."""
    graph = make_graph(saver)
    asked = {"messages": [("human", "What is the weather in SF?")], "budget": 3}
    with suppress(ValueError):  # `summarize` fails, and this is where the story begins
        graph.invoke(asked, CONFIG)
    planned = next(s for s in graph.get_state_history(CONFIG) if s.next[:1] == ("worker",))
    waits = graph.update_state(planned.config, {"budget": 1}, as_node="plan")
    graph.invoke(None, waits)
    told = {"messages": [("human", "Budget is 2 calls. Use exa first.")], "budget": 2}
    forked = graph.update_state(planned.config, told, as_node="plan")
    graph.invoke(None, forked)
    return graph
