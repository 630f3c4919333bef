"""Programs that both engines must run alike, event by event and checkpoint by checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from .basics import C, State
from .harness import Engine, compare, record
from .programs import NESTED, PROGRAMS


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program(name: str, colour: str) -> None:
    """Both engines log the same, in both colours."""
    compare(PROGRAMS[name], colour=colour)


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("name", list(NESTED))
def test_nested_program(name: str, colour: str) -> None:
    """Both engines log the same, in both colours."""
    compare(NESTED[name], colour=colour)


def test_interrupt_fields() -> None:
    """An interrupt's dictionary form in events has the same keys (the suite ignores one)."""

    def keys(root: str) -> Any:
        e = Engine(root)
        g = e.build(State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")])
        events = g.stream({"foo": ""}, C, stream_mode="tasks")
        return [sorted(i) for event in events for i in event.get("interrupts", [])]

    assert keys("ckpt_viz") == keys("langgraph")


def test_a_log_of_itself_is_stable() -> None:
    """What the normaliser leaves is the same in two runs of one engine."""
    for name in ("parallel_interrupts_and_a_map", "sends", "failing_sibling_then_resume"):
        assert record("langgraph", PROGRAMS[name]) == record("langgraph", PROGRAMS[name])
