"""Where questions differ on purpose: each test fails when the peer changes, or we do."""

from __future__ import annotations

from typing import Any

from .basics import C, State, adds
from .harness import Engine
from .test_differs import asking, both


def test_an_empty_map_is_an_answer() -> None:
    """There it is a map of answers by id, and answers nothing."""

    def question(e: Engine) -> Any:
        found = asking(e).invoke(e.Command(resume={}), C)
        return found["bar"], "__interrupt__" in found

    assert both(question) == (([], True), ([{}], False))


def test_what_is_shown_while_a_router_asks() -> None:
    """There the result has the node's writes, which are not in the state; here it is the state."""

    def question(e: Engine) -> Any:
        nodes = {"a": adds("a"), "b": adds("b")}
        routers = [("a", lambda s: e.interrupt("where?"))]
        graph = e.build(State, nodes, [(e.START, "a")], routers)
        result = graph.invoke({"foo": "x"}, C)["bar"]
        return result, graph.get_state(C).values["bar"]

    assert both(question) == ((["a"], []), ([], []))


def test_a_router_at_the_start_asks() -> None:
    """There the result does not tell of it, though the state does."""

    def question(e: Engine) -> Any:
        graph = e.build(State, {"a": adds("a")}, [], [(e.START, lambda s: e.interrupt("where?"))])
        result = graph.invoke({"foo": "x"}, C)
        return "__interrupt__" in result, len(graph.get_state(C).interrupts)

    assert both(question) == ((False, 1), (True, 1))
