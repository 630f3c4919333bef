"""Values that people's graphs hold and that a debugger must survive, and a serializer that keeps
them as they are: what a saver of somebody's own may give back."""

from __future__ import annotations

import copy
import itertools
import threading
import time
from typing import Any, TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.graph import START, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}


class Kept:
    """Saves an object by its number, without a look at it; the engine's own records as copies."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        own = isinstance(value, dict) and "channel_versions" in value
        self.objects.append(copy.deepcopy(value) if own else value)
        return "kept", str(len(self.objects) - 1).encode()

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self.objects[int(data[1])]


class Raises:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Exits:
    def __repr__(self) -> str:
        raise SystemExit(3)


class Sleeps:
    def __repr__(self) -> str:
        time.sleep(60)
        return "late"


class Alien:
    """Everything that one can ask of it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = object.__hash__


class LyingList(list):
    def __len__(self) -> int:
        raise RuntimeError("no length")


class LyingDict(dict):
    def items(self) -> Any:
        raise RuntimeError("no items")


def nested(inner: Any, wrap: Any, depth: int = 10_000) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


cycle: list[Any] = [1]
cycle.append(cycle)
ring: dict[str, Any] = {}
ring["me"] = ring

VALUES: dict[str, tuple[Any, str]] = {
    "script": ("<script>window.pwned = 1</script>", "<script>window.pwned = 1</script>"),
    "onerror": ("<img src=x onerror='window.pwned = 1'>", "<img src=x onerror="),
    "link": ("javascript:window.pwned=1", "javascript:window.pwned=1"),
    "10 MB text": ("x" * 10_000_000, "10,000,000 characters"),
    "10 MB bytes": (b"x" * 10_000_000, "10.0 MB"),
    "deep list": (nested(1, lambda inner: [inner]), "1 item"),
    "deep dict": (nested(1, lambda inner: {"k": inner}), "1 item"),
    "cycle": (cycle, "2 items"),
    "ring": (ring, "1 item"),
    "surrogate": ("a\ud800b", "a\\ud800b"),
    "nul": ("a\x00b", "a\\u0000b"),
    "bidi": ("a\u202egnp.exe\u2066", "a\\u202egnp.exe\\u2066"),
    "nan": ([float("nan"), float("-inf")], "-inf"),
    "big int": (2**63 + 1, "9223372036854775809"),
    "huge int": (10**100_000, "int of 332193 bits"),
    "bytes": (b"\x00\xff", "00 ff"),
    "set": ({1, "a", (2,)}, "3 items"),
    "tuple keys": ({(1, 2): 3, None: 4}, "(1, 2)"),
    "markup in a key": ({"<b onclick=alert(1)>": 1}, "<b onclick=alert(1)>"),
    "raises": (Raises(), "its repr raised RuntimeError"),
    "exits": (Exits(), "its repr raised SystemExit"),
    "sleeps": ([Sleeps() for _ in range(50)], "s too long"),
    "alien": (Alien(), "Alien"),
    "lying list": (LyingList([1, 2]), "[1, 2]"),
    "lying dict": (LyingDict(a=1), "{'a': 1}"),
    "a million": (list(range(1_000_000)), "1,000,000 items"),
    "endless": (itertools.count(), "count(0)"),
    "lock": (threading.Lock(), "unlocked _thread.lock"),
}
"""By name: a value, and a text that the page shows for it."""


def graph_of(values: dict[str, Any]) -> Any:
    """A graph that has put the values into channels of these names, and run one step more."""
    state = TypedDict("state", {**dict.fromkeys(values, Any), "n": int})  # type: ignore[misc]
    graph = StateGraph(state)
    graph.add_node("poison", lambda _: values)
    graph.add_node("next", lambda _: {"n": 1})
    graph.add_edge(START, "poison").add_edge("poison", "next")
    graph = graph.compile(checkpointer=InMemorySaver(serde=Kept()))
    graph.invoke({"n": 0}, CONFIG)
    return graph
