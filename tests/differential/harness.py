"""Run one program on two engines and compare everything they show.

A program is a function ``program(e, rec)``: ``e`` is an `Engine` (the names to build a graph
from), ``rec`` a `Recorder` that runs things and keeps what came out. Ids, times and the random
tail of versions are replaced by labels in order of appearance; tuples equal lists.
"""

from __future__ import annotations

import difflib
import importlib
import pprint
import re
from collections.abc import Callable, Iterator
from typing import Any

MODES = ["values", "updates", "tasks", "checkpoints", "debug"]
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HEX = re.compile(r"\b[0-9a-f]{32}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00)?")
VERSION = re.compile(r"^(\d{32})\.[\d.e-]+$")


FIELDS = {
    "Interrupt": ("value", "id"),
    "Send": ("node", "arg"),
    "Command": ("graph", "update", "resume", "goto"),
    "GraphOutput": ("value", "interrupts"),
    "Overwrite": ("value",),
}


class Engine:
    """The names that a program builds its graph from, of one package."""

    def __init__(self, root: str) -> None:
        """Import the modules of ``root`` that a program may use."""
        self.root = root
        for module in ("graph", "types", "errors", "channels"):
            for name, value in vars(importlib.import_module(f"{root}.{module}")).items():
                if not name.startswith("_"):
                    setattr(self, name, value)
        self.MemorySaver = importlib.import_module(f"{root}.checkpoint.memory").InMemorySaver

    def __getattr__(self, name: str) -> Any:
        """Tell which package lacks a name."""
        raise AttributeError(f"{self.__dict__.get('root')} offers no {name}")

    def build(
        self,
        schema: Any,
        nodes: dict[str, Any],
        edges: list[tuple[Any, str]],
        branches: list[tuple[Any, ...]] = (),  # type: ignore[assignment]
        saver: Any = True,
        **options: Any,
    ) -> Any:
        """A compiled graph from plain lists."""
        builder = self.StateGraph(schema)
        for name, node in nodes.items():
            if isinstance(node, tuple):
                builder.add_node(name, node[0], **node[1])
            else:
                builder.add_node(name, node)
        for source, target in edges:
            builder.add_edge(source, target)
        for branch in branches:
            builder.add_conditional_edges(*branch)
        checkpointer = self.MemorySaver() if saver is True else saver
        return builder.compile(checkpointer=checkpointer, **options)


class Recorder:
    """Runs calls and keeps their results, events and errors in order."""

    def __init__(self) -> None:
        """Start with an empty log."""
        self.log: list[Any] = []

    def call(self, title: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Log what ``function`` returns or raises, and hand it on (``None`` after an error)."""
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - every error is part of the comparison
            self.log.append((title, error))
            return None
        self.log.append((title, result))
        return result

    def run(self, graph: Any, value: Any, config: Any, **options: Any) -> None:
        """Stream in all modes; log the events and how it ended."""
        options.setdefault("durability", "sync")
        events: list[Any] = []
        error: Exception | None = None
        try:
            for event in graph.stream(value, config, stream_mode=MODES, **options):
                events.append(event)
        except Exception as caught:  # noqa: BLE001 - every error is part of the comparison
            error = caught
        self.log.append(("events", list(in_task_order(events))))
        self.log.append(("ended", error))

    def invoke(self, graph: Any, value: Any, config: Any, **options: Any) -> Any:
        """Log what ``invoke`` gives."""
        options.setdefault("durability", "sync")
        return self.call("invoke", graph.invoke, value, config, **options)

    def update(self, graph: Any, config: Any, values: Any, **options: Any) -> Any:
        """Log what ``update_state`` gives."""
        return self.call("update", graph.update_state, config, values, **options)

    def look(self, graph: Any, config: Any) -> None:
        """Log the state, the history and what the saver holds of the thread."""
        thread = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        self.call("state", graph.get_state, config)
        self.call("history", lambda: list(graph.get_state_history(thread)))
        self.call("saved", lambda: list(graph.checkpointer.list(thread)))

    def note(self, title: str, value: Any) -> None:
        """Log a value."""
        self.log.append((title, value))


def in_task_order(events: list[Any]) -> Iterator[Any]:
    """Events with those of parallel completions put into the order in which tasks started."""
    order: dict[str, int] = {}
    groups: list[tuple[int, list[Any]]] = []
    group: list[Any] = []

    def flush() -> Iterator[Any]:
        for _, members in sorted(groups, key=lambda pair: pair[0]):
            yield from members
        yield from group
        groups.clear()
        group.clear()

    for mode, payload in events:
        kind = payload.get("type") if mode == "debug" else None
        if mode == "tasks" and "input" in payload:
            order.setdefault(payload["id"], len(order))
        if kind == "task_result":
            group.append((mode, payload))
            groups.append((order.get(payload["payload"]["id"], -1), list(group)))
            group.clear()
        elif mode == "updates" and "__metadata__" in payload:
            yield from flush()
            yield mode, payload
        elif (
            mode == "updates"
            or (mode == "tasks" and "input" not in payload)
            or (mode == "values" and "__interrupt__" in payload)
        ):
            group.append((mode, payload))
        else:
            yield from flush()
            yield mode, payload
    yield from flush()


class Normaliser:
    """Turns anything into plain data with labels instead of ids and times."""

    def __init__(self) -> None:
        """No label is given yet."""
        self.labels: dict[str, str] = {}

    def text(self, value: str) -> Any:
        """Labels for ids and times, the counter of a version."""
        version = VERSION.match(value)
        if version:
            return f"v{int(version[1])}"
        value = UUID.sub(self.label, value)
        value = HEX.sub(self.label, value)
        return TIME.sub("TIME", value)

    def label(self, match: re.Match[str]) -> str:
        """The label of an id, the null task's kept."""
        if set(match[0]) <= {"0", "-"}:
            return "NULL-TASK"
        return self.labels.setdefault(match[0], f"ID{len(self.labels)}")

    def __call__(self, value: Any) -> Any:
        """Plain data of ``value``."""
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, (bool, int, float, bytes)):
            return value
        if isinstance(value, BaseException):
            first = (str(value).splitlines() or [""])[0]
            return {"ERROR": type(value).__name__, "text": self.text(first)}
        if isinstance(value, dict):
            if value.keys() == {"value", "id", "response_schema"}:  # see test_interrupt_fields
                value = {"value": value["value"], "id": value["id"]}
            return {
                self.text(k) if isinstance(k, str) else k: self(v)
                for k, v in sorted(value.items(), key=lambda item: str(item[0]))
            }
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = {name: self(getattr(value, name)) for name in value._fields}
            return {"CLASS": type(value).__name__, **fields}
        if isinstance(value, (list, tuple)):
            return [self(item) for item in value]
        if isinstance(value, (set, frozenset)):
            return {"SET": sorted((self(item) for item in value), key=str)}
        return self.object(value)

    def object(self, value: Any) -> Any:
        """Plain data of an object, by its class's name and the fields that a reader knows."""
        name = type(value).__name__
        if name in FIELDS:
            return {"CLASS": name, **{n: self(getattr(value, n)) for n in FIELDS[name]}}
        if hasattr(value, "__dict__"):
            return {"CLASS": name, **self(dict(vars(value)))}
        return {"CLASS": name, "repr": self.text(repr(value))}


def record(root: str, program: Callable[[Engine, Recorder], None]) -> list[Any]:
    """The normalised log of a program on one engine."""
    recorder = Recorder()
    program(Engine(root), recorder)
    normalise = Normaliser()
    return [normalise(entry) for entry in recorder.log]


def compare(program: Callable[[Engine, Recorder], None], limit: int = 70) -> list[Any]:
    """Assert that both engines log the same; give the log back."""
    theirs = record("langgraph", program)
    ours = record("ckpt_viz", program)
    if ours != theirs:
        diff = difflib.unified_diff(
            pprint.pformat(theirs, width=150).splitlines(),
            pprint.pformat(ours, width=150).splitlines(),
            "langgraph",
            "ckpt_viz",
            lineterm="",
            n=4,
        )
        lines = list(diff)
        raise AssertionError("\n".join(["the engines differ:", *lines[:limit]]))
    return ours
