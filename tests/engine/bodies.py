"""Node bodies at the top of a module, so that another process finds them."""

from __future__ import annotations

import asyncio
import operator
import os
import threading
import time
from typing import Annotated, Any, TypedDict

from ckpt_viz.config import get_config, get_store, get_stream_writer
from ckpt_viz.func import task
from ckpt_viz.graph import START, StateGraph
from ckpt_viz.runtime import Runtime
from ckpt_viz.types import interrupt


class State(TypedDict, total=False):
    x: Any
    log: Annotated[list[Any], operator.add]


def says_where(state: State) -> Any:
    return {"x": (os.getpid(), threading.current_thread().name), "log": ["a"]}


async def says_where_async(state: State) -> Any:
    await asyncio.sleep(0.01)
    return says_where(state)


def fails(state: State) -> Any:
    raise ValueError("far away")


def asks(state: State) -> Any:
    return {"log": [interrupt("first"), interrupt("second")]}


def asks_too(state: State) -> Any:
    return {"log": [interrupt("other")]}


def looks_around(state: State, config: Any, runtime: Runtime) -> Any:
    get_stream_writer()("a chunk")
    runtime.stream_writer("another")
    here = get_config()["configurable"]["thread_id"], config["metadata"]["langgraph_node"]
    return {"x": [*here, runtime.context, runtime.execution_info.node_attempt]}


def drains(state: State, runtime: Runtime) -> Any:
    runtime.control.request_drain("enough")
    return {"log": ["a"]}


def wants_the_store(state: State) -> Any:
    get_store()


class Stubborn(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


def fails_stubbornly(state: State) -> Any:
    raise Stubborn("does not", "unpickle")


def fails_once_per_path(state: State) -> Any:
    if not os.path.exists(state["x"]):
        open(state["x"], "w").close()
        raise ConnectionError
    return {"log": [os.getpid()]}


@task
def where_it_is(n: int) -> Any:
    time.sleep(0.01)
    return n, (os.getpid(), threading.current_thread().name)


def nests(state: State) -> Any:
    flow = StateGraph(State).add_node(says_where).add_edge(START, "says_where")
    return flow.compile().invoke({})


def calls_a_task(state: State) -> Any:
    return {"log": [where_it_is(1).result()]}
