"""Run one program on two engines and compare everything they show.

A program is a function ``program(e, rec)``: ``e`` is an `Engine` (the names to build a graph
from), ``rec`` a `Recorder` that runs things and keeps what came out. Ids, times and the random
tail of versions are replaced by labels in order of appearance; tuples equal lists.
"""

from __future__ import annotations

import asyncio
import difflib
import importlib
import itertools
import pprint
import re
from collections.abc import Callable, Iterator
from typing import Any

MODES = ["values", "updates", "tasks", "checkpoints", "debug"]
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HEX = re.compile(r"\b[0-9a-f]{32}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00)?")
ELAPSED = re.compile(r"elapsed: \d+\.\d+s")
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
        for module in (
            "graph",
            "types",
            "errors",
            "channels",
            "runtime",
            "managed",
            "pregel",
            "config",
            "func",
        ):
            for name, value in vars(importlib.import_module(f"{root}.{module}")).items():
                if not name.startswith("_"):
                    setattr(self, name, value)
        self.InMemoryStore = importlib.import_module(f"{root}.store.memory").InMemoryStore
        self.InMemoryCache = importlib.import_module(f"{root}.cache.memory").InMemoryCache
        self.MemorySaver = importlib.import_module(f"{root}.checkpoint.memory").InMemorySaver

    def module(self, path: str) -> Any:
        """Another module of the package."""
        return importlib.import_module(f"{self.root}.{path}")

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

    def __init__(self, colour: str = "sync") -> None:
        """Start with an empty log. ``colour``: call what is sync, or what is awaited."""
        self.log: list[Any] = []
        self.colour = colour

    def stream(self, graph: Any, value: Any, config: Any, **options: Any) -> Iterator[Any]:
        """The events of a run, in either colour."""
        options = {"stream_mode": MODES, "durability": "sync", **options}
        if self.colour == "sync":
            yield from graph.stream(value, config, **options)
            return
        loop = asyncio.new_event_loop()
        chunks = graph.astream(value, config, **options)
        try:
            while True:
                try:
                    yield loop.run_until_complete(anext(chunks))
                except StopAsyncIteration:
                    return
        finally:
            loop.run_until_complete(chunks.aclose())
            loop.close()

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
        events, error = self._events(graph, value, config, options)
        self.log.append(("events", list(in_task_order(events))))
        self.log.append(("ended", error))

    def nested(
        self, graph: Any, value: Any, config: Any, *, grouped: bool = False, **options: Any
    ) -> None:
        """Like `run`, with the events of nested graphs; ``grouped`` where they run side by side."""
        events, error = self._events(graph, value, config, {"subgraphs": True, **options})
        self.log.append(("events", by_namespace(events) if grouped else events))
        self.log.append(("ended", error))

    def _events(self, graph: Any, value: Any, config: Any, options: Any) -> tuple[list[Any], Any]:
        events: list[Any] = []
        try:
            for event in self.stream(graph, value, config, **options):
                events.append(event)
        except Exception as caught:  # noqa: BLE001 - every error is part of the comparison
            return events, caught
        return events, None

    def invoke(self, graph: Any, value: Any, config: Any, **options: Any) -> Any:
        """Log what ``invoke`` gives."""
        options.setdefault("durability", "sync")
        if self.colour == "sync":
            return self.call("invoke", graph.invoke, value, config, **options)
        return self.call("invoke", lambda: asyncio.run(graph.ainvoke(value, config, **options)))

    def update(self, graph: Any, config: Any, values: Any, **options: Any) -> Any:
        """Log what ``update_state`` gives."""
        return self.call("update", graph.update_state, config, values, **options)

    def look(self, graph: Any, config: Any) -> None:
        """Log the state, the history and what the saver holds of the thread."""
        thread = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        self.call("state", graph.get_state, config)
        self.call("history", lambda: list(graph.get_state_history(thread)))
        self.call("saved", lambda: in_namespaces(graph.checkpointer.list(thread)))

    def look_inside(self, graph: Any, config: Any) -> None:
        """Log the state with those of nested graphs, and the histories of all namespaces."""
        self.call("deep", graph.get_state, config, subgraphs=True)
        self.look(graph, config)
        thread = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        histories = Spaces()
        for ns in filter(None, in_namespaces(graph.checkpointer.list(thread))):
            place = {"configurable": {**thread["configurable"], "checkpoint_ns": ns}}
            histories[ns] = list(graph.get_state_history(place))
        self.note("histories", histories)

    def note(self, title: str, value: Any) -> None:
        """Log a value."""
        self.log.append((title, value))


class Spaces(dict[str, Any]):
    """Something of each namespace. Shown in the order in which the tasks were first heard of."""


def in_namespaces(saved: Any) -> Spaces:
    """Checkpoints of all namespaces, those of each together: the peer's savers differ in this."""
    groups = Spaces()
    for one in saved:
        groups.setdefault(one.config["configurable"]["checkpoint_ns"], []).append(one)
    first = {ns: min(one.checkpoint["id"] for one in ones) for ns, ones in groups.items()}
    return Spaces({ns: groups[ns] for ns in sorted(groups, key=first.__getitem__)})


def by_namespace(events: list[Any]) -> list[Any]:
    """Events of nested graphs, those of each together, in the order in which tasks were started."""
    order: dict[str, int] = {}
    groups: dict[Any, list[Any]] = {}
    for ns, mode, payload in events:
        groups.setdefault(ns, []).append((mode, payload))
        if mode == "tasks" and "input" in payload:
            order.setdefault(payload["id"], len(order))

    def place(ns: tuple[str, ...]) -> list[int]:
        return [int(p) if p.isdigit() else order.get(p.rpartition(":")[2], -1) for p in ns]

    return [(ns, list(in_task_order(groups[ns]))) for ns in sorted(groups, key=place)]


def is_completion(mode: str, payload: Any) -> bool:
    """Whether an event tells that a task of this step ended."""
    if mode == "updates":
        return "__metadata__" not in payload
    if mode == "values":
        return isinstance(payload, dict) and "__interrupt__" in payload
    if mode == "debug":
        return bool(payload["type"] == "task_result")
    return mode == "tasks" and "input" not in payload


def belongs(mode: str, payload: Any, result: Any) -> bool:
    """Whether an event of a completion is of the task with this result."""
    if mode == "debug":
        return bool(payload["payload"]["id"] == result["id"])
    if mode == "tasks":
        return bool(payload["id"] == result["id"])
    if "__interrupt__" in payload:
        return [i.id for i in payload["__interrupt__"]] == [i["id"] for i in result["interrupts"]]
    written = payload.get(result["name"], payload)
    told = result["result"] or {}
    if told.keys() & {"__return__", "__end__"}:
        return written is not payload and written == next(iter(told.values()))
    return written is not payload and (written or {}) == told


def in_task_order(events: list[Any]) -> Iterator[Any]:
    """Events with those of parallel completions grouped by task, in the order of their start."""
    order: dict[str, int] = {}
    ended: list[Any] = []

    def flush() -> Iterator[Any]:
        results = [payload for mode, payload in ended if mode == "tasks"]
        if len(results) > 1:
            for result in sorted(results, key=lambda r: order.get(r["id"], -1)):
                for kind in ("updates", "values", "tasks", "debug"):
                    found = (e for e in ended if e[0] == kind and belongs(*e, result))
                    event = next(found, None)
                    if event is not None:
                        ended.remove(event)
                        yield event
        yield from ended
        ended.clear()

    for mode, payload in events:
        if mode == "tasks" and "input" in payload:
            order.setdefault(payload["id"], len(order))
        if is_completion(mode, payload):
            ended.append((mode, payload))
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
        return TIME.sub("TIME", ELAPSED.sub("elapsed", value))

    def place(self, ns: str) -> tuple[list[int], list[str]]:
        """The order of a namespace: by the labels of its tasks, the unknown ones last."""
        parts = [part.rpartition(":") for part in ns.split("|") if part]
        ids = [i for name, _, i in parts if name or i.isdigit()]
        labels = [int(i) if i.isdigit() else int(self.labels.get(i, "ID999")[2:]) for i in ids]
        return labels, [name or own for name, _, own in parts]

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
        if isinstance(value, Spaces):
            return [[self.text(ns), self(value[ns])] for ns in sorted(value, key=self.place)]
        if isinstance(value, dict):
            if value.keys() == {"value", "id", "response_schema"}:  # see test_interrupt_fields
                value = {"value": value["value"], "id": value["id"]}
            return {
                self.text(k) if isinstance(k, str) else k: self(v)
                for k, v in sorted(value.items(), key=lambda item: str(item[0]))
                if not str(k).startswith("__pregel_") or k == "__pregel_tasks"
            }
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = {name: self(getattr(value, name)) for name in value._fields}
            return {"CLASS": type(value).__name__, **fields}
        if isinstance(value, (list, tuple)):
            return edges_in_order(asked_once([self(item) for item in value]))
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


def asked_once(items: list[Any]) -> list[Any]:
    """Interrupts without those that repeat an id; see test_a_nested_question_is_surfaced_once."""
    if not any(isinstance(i, dict) and i.get("CLASS") == "Interrupt" for i in items):
        return items
    return [one for at, one in enumerate(items) if one not in items[:at]]


def edges_in_order(items: list[Any]) -> list[Any]:
    """Pending writes with each run of edge writes sorted: the peer keeps its edges in a set."""

    def edge(item: Any) -> bool:
        return (
            isinstance(item, list)
            and len(item) == 3
            and isinstance(item[1], str)
            and item[1].startswith(("branch:to:", "join:"))
        )

    out: list[Any] = []
    for is_edge, group in itertools.groupby(items, edge):
        out += sorted(group, key=str) if is_edge else group
    return out


ERROR_CORE = re.compile(r"\\n|\n| Docs: ")


def same_error(theirs: str, ours: str) -> bool:
    """Our text of an error begins as theirs (without its link) and may then say more."""
    core = ERROR_CORE.split(theirs)[0].rstrip(".'\" )")
    return len(core) >= len("Expected dict, got") and ours.startswith(core)


def reconcile(theirs: Any, ours: Any) -> Any:
    """``ours`` with the texts of errors that say more than theirs cut down to theirs."""
    if isinstance(theirs, str) and isinstance(ours, str):
        return theirs if same_error(theirs, ours) else ours
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [reconcile(a, b) for a, b in zip(theirs, ours, strict=True)]
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        return {key: reconcile(theirs[key], value) for key, value in ours.items()}
    return ours


def record(
    root: str, program: Callable[[Engine, Recorder], None], colour: str = "sync"
) -> list[Any]:
    """The normalised log of a program on one engine."""
    recorder = Recorder(colour)
    program(Engine(root), recorder)
    normalise = Normaliser()
    return [normalise(entry) for entry in recorder.log]


def compare(
    program: Callable[[Engine, Recorder], None], limit: int = 70, colour: str = "sync"
) -> list[Any]:
    """Assert that both engines log the same; give the log back."""
    theirs = record("langgraph", program, colour)
    ours = reconcile(theirs, record("ckpt_viz", program, colour))
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
