"""What the programs share: their list, states, nodes and small graphs."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Annotated, Any

from typing_extensions import TypedDict

from .harness import Engine, Recorder

Program = Callable[[Engine, Recorder], None]
PROGRAMS: dict[str, Program] = {}
C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    foo: str
    bar: Annotated[list[Any], operator.add]


class Numbers(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]
    free: Any


def program(function: Program) -> Program:
    """Put a program on the list."""
    assert function.__name__ not in PROGRAMS, "two programs of one name"
    PROGRAMS[function.__name__] = function
    return function


NESTED: dict[str, Program] = {}


def nested(function: Program) -> Program:
    """Put a program on the list of those that run in both colours."""
    assert function.__name__ not in NESTED, "two programs of one name"
    NESTED[function.__name__] = function
    return function


def says(name: str) -> Callable[[Any], dict[str, Any]]:
    """A node that sets ``foo`` and appends its name."""
    return lambda state: {"foo": name, "bar": [name]}


def adds(name: str) -> Callable[[Any], dict[str, Any]]:
    """A node that only appends its name."""
    return lambda state: {"bar": [name]}


def fails(text: str = "boom", wait: float = 0.06) -> Callable[[Any], dict[str, Any]]:
    """A node that fails after its siblings had time to finish."""

    def node(state: Any) -> dict[str, Any]:
        time.sleep(wait)
        raise ValueError(text)

    return node


def linear_graph(e: Engine, **options: Any) -> Any:
    nodes = {"a": says("a"), "b": says("b"), "c": adds("c")}
    return e.build(State, nodes, [(e.START, "a"), ("a", "b"), ("b", "c"), ("c", e.END)], **options)


def joined_graph(e: Engine, b: Any = None, c: Any = None) -> Any:
    nodes = {"a": says("a"), "b": b or adds("b"), "c": c or adds("c"), "d": says("d")}
    edges = [(e.START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d"), ("d", e.END)]
    return e.build(State, nodes, edges)


def asking_graph(e: Engine) -> Any:
    def ask(state: Any) -> dict[str, Any]:
        return {"bar": [e.interrupt("first"), e.interrupt({"second": state["foo"]})]}

    nodes = {"a": says("a"), "ask": ask, "side": adds("side"), "z": adds("z")}
    edges = [(e.START, "a"), ("a", "ask"), ("a", "side"), (["ask", "side"], "z")]
    return e.build(State, nodes, edges)
