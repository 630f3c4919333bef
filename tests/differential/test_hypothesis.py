"""Random graphs with reducers, routers, failures and interrupts, run alike on both engines."""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from .harness import Engine, Recorder, compare

NAMES = "abcdefgh"
C = {"configurable": {"thread_id": "1"}}
ACTS = ["on", "on", "answer", "map", "input", "update", "fork", "replay", "fork and run", "copy"]
WAIT = (
    0.02  # a failing node lets its siblings finish first: who finishes is no part of the contract
)

settings.register_profile(
    "differential",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def longest(one: str, other: str) -> str:
    """A reducer of the user's own, for which the order of writes matters."""
    return other if len(other) >= len(one) else one


class State(TypedDict, total=False):
    last: str
    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    long: Annotated[str, longest]


@dataclass(frozen=True)
class Node:
    """What one node of a random graph does."""

    writes: str = "log"
    asks: int = 0
    fails: int = 0
    goto: str | None = None
    nest: str = ""
    wait: float = WAIT


@dataclass(frozen=True)
class Plan:
    """A random graph and what is done with it.

    Two values for a one-value key end a step. If that step had one task to run and others handed
    back, the peer loses the task's events; so such keys are written only where nothing waits.
    """

    nodes: dict[str, Node]
    edges: tuple[tuple[str, str], ...]
    joins: tuple[tuple[tuple[str, ...], str], ...]
    routes: dict[str, tuple[str, ...]]
    sends: dict[str, tuple[str, int]]
    deferred: frozenset[str]
    before: tuple[str, ...]
    after: tuple[str, ...]
    acts: tuple[str, ...]
    colour: str = "sync"


@st.composite
def node(draw: st.DrawFn, names: list[str], calm: bool, fails: bool) -> Node:
    """What a node does; one of a calm plan asks nothing and may write a one-value key."""
    writes = ["log", "total", "both", "none", "long", "last" if calm else "log"]
    return Node(
        writes=draw(st.sampled_from(writes)),
        asks=0 if calm else draw(st.sampled_from([0, 0, 1, 2])),
        fails=int(fails),
        goto=draw(st.sampled_from([None, None, None, None, *names])),
    )


@st.composite
def nested_plans(draw: st.DrawFn) -> Plan:
    """Graphs of which some nodes are graphs, or call one; with a memory where nothing races."""
    plan = draw(plans())
    targets = {target for target, _ in plan.sends.values()}

    def inside(name: str, what: Node) -> Node:
        kinds = ["", "node", "call", "node" if name in targets else "memory"]
        if what.fails:
            return replace(what, wait=0.3)  # a nested graph takes its time
        return replace(what, nest=draw(st.sampled_from(kinds)))

    return replace(plan, nodes={n: inside(n, what) for n, what in plan.nodes.items()})


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Graphs of up to eight nodes, each with an edge from the start to at least one."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    name = st.sampled_from(names)
    some = st.lists(name, max_size=2, unique=True).map(tuple)
    calm = draw(st.sampled_from([True, False, False, False, False]))  # see `Plan`
    entries = draw(st.lists(name, min_size=1, max_size=2, unique=True))
    # of two failures in a step, which is told first is a race on both engines
    failing = None if calm else draw(st.sampled_from([None, *entries, *entries, *names]))
    nodes = {n: draw(node(names, calm, n == failing)) for n in names}
    edge = st.tuples(name, name).filter(lambda pair: pair[0] < pair[1])
    inner = draw(st.lists(edge, max_size=9, unique=True)) if len(names) > 1 else []
    joins = []
    if len(names) > 2 and draw(st.booleans()):
        target = draw(name)
        sources = draw(st.lists(name, min_size=2, max_size=3, unique=True))
        joins.append((tuple(sources), target))
    routes = draw(st.dictionaries(name, some, max_size=2))
    spread = st.tuples(name.filter(lambda n: n != failing), st.integers(0, 3))
    sends = draw(st.dictionaries(name, spread, max_size=1)) if {*names} != {failing} else {}
    return Plan(
        nodes=nodes,
        edges=tuple(("__start__", n) for n in entries) + tuple(inner),
        joins=tuple(joins),
        routes=routes,
        sends=sends,
        deferred=frozenset(draw(st.lists(name, max_size=1))),
        before=draw(st.sampled_from([(), (), (), (names[-1],)])),
        after=draw(st.sampled_from([(), (), (), (names[0],)])),
        acts=tuple(draw(st.lists(st.sampled_from(ACTS), min_size=2, max_size=6))),
        colour=draw(st.sampled_from(["sync", "async"])),
    )


def make_node(e: Engine, name: str, what: Node) -> Callable[[Any], Any]:
    """The function of a random node. Failures come once, then the node works."""
    failed: list[int] = []

    def node(state: Any) -> Any:
        if len(failed) < what.fails:
            time.sleep(what.wait)
            failed.append(1)
            raise ValueError(f"{name} fails")
        answers = [e.interrupt(f"{name}{i}") for i in range(what.asks)]
        text = name + "".join(map(str, answers))
        values: dict[str, Any] = {
            "log": {"log": [text]},
            "total": {"total": 1},
            "both": {"log": [text], "total": 2},
            "long": {"long": text, "log": [text]},
            "last": {"last": text},
            "none": {},
        }[what.writes]
        if what.goto is not None:
            graph = e.Command.PARENT if what.nest else None
            return e.Command(graph=graph, update=values, goto=what.goto)
        return values

    return nest(e, name, what.nest, node) if what.nest else node


class Outward(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]


class Inward(TypedDict, total=False):
    last: str


def nest(e: Engine, name: str, how: str, node: Callable[[Any], Any]) -> Any:
    """A graph of two nodes around ``node``, or a function that calls it."""
    builder = e.StateGraph(State, input_schema=Inward, output_schema=Outward)
    builder.add_node("x", lambda s: {"log": [f"{name}x"]}).add_node("y", node)
    builder.add_edge(e.START, "x").add_edge("x", "y")
    graph = builder.compile(checkpointer=True if how == "memory" else None)
    if how != "call":
        return graph

    def call(state: Any) -> Any:
        return {"log": graph.invoke({"last": "called"}).get("log", [])}

    return call


def build(e: Engine, plan: Plan) -> Any:
    """The graph of a plan."""
    builder = e.StateGraph(State)
    for name, what in plan.nodes.items():
        builder.add_node(name, make_node(e, name, what), defer=name in plan.deferred)
    for source, target in plan.edges:
        builder.add_edge(source, target)
    for sources, target in plan.joins:
        builder.add_edge(list(sources), target)
    for source, targets in plan.routes.items():
        builder.add_conditional_edges(
            source, lambda s, t=targets: list(t) if len(s.get("log", [])) < 6 else e.END
        )
    for source, (target, wanted) in plan.sends.items():
        count = min(wanted, 1) if source == target else wanted  # else the tasks multiply

        def spread(s: Any, target: str = target, count: int = count) -> list[Any]:
            if len(s.get("log", [])) > 6:
                return []
            return [e.Send(target, {"log": [str(i)], "last": "sent"}) for i in range(count)]

        builder.add_conditional_edges(source, spread)
    return builder.compile(
        checkpointer=e.MemorySaver(),
        interrupt_before=list(plan.before),
        interrupt_after=list(plan.after),
    )


def act(e: Engine, rec: Recorder, graph: Any, what: str, number: int) -> None:
    """One thing that a user does between runs."""
    config = {**C, "recursion_limit": 9}
    head = rec.call("head", graph.get_state, C)
    if head is None:  # writes that clash make even the live view an error
        return
    open_interrupts = head.interrupts
    if what == "on":
        rec.run(graph, None, config)
    elif what == "answer" and len(open_interrupts) == 1:
        rec.run(graph, e.Command(resume=f"!{number}"), config)
    elif what == "map" and open_interrupts:
        answers = {i.id: f"?{i.value}" for i in open_interrupts[: 1 + number % 2]}
        rec.run(graph, e.Command(resume=answers), config)
    elif what == "input":
        rec.run(graph, {"log": [f"in{number}"], "last": "in"}, config)
    elif what == "update":
        rec.update(
            graph, C, {"log": [f"up{number}"]}, as_node=list(graph.builder.nodes)[number % 2 - 1]
        )
    elif what == "copy":
        rec.update(graph, C, None, as_node="__copy__")
    else:
        history = rec.call("history", lambda: list(graph.get_state_history(C)))
        if not history:
            return
        old = history[len(history) // 2]
        if what.startswith("fork"):
            name = list(graph.builder.nodes)[number % 2] if len(graph.builder.nodes) > 1 else "a"
            rec.update(graph, old.config, {"total": 10}, as_node=name)
            if what == "fork and run":
                rec.run(graph, None, config)
        elif old.next and old.config != head.config:
            addressed = {"configurable": old.config["configurable"], "recursion_limit": 9}
            rec.run(graph, None, addressed)


def check(plan: Plan) -> set[str]:
    """Compare the engines on a plan; what happened in it: failed, interrupted, forked."""

    def run(e: Engine, rec: Recorder) -> None:
        graph = build(e, plan)
        rec.run(graph, {"log": ["start"], "last": "x"}, {**C, "recursion_limit": 9})
        for number, what in enumerate(plan.acts):
            act(e, rec, graph, what, number)
        if any(what.nest for what in plan.nodes.values()):
            rec.look_inside(graph, C)
        else:
            rec.look(graph, C)

    try:
        log = compare(run, colour=plan.colour)
    except AssertionError:  # the peer's writer thread may lose a write: once in thousands of runs
        log = compare(run, colour=plan.colour)
    return {kind for title, entry in log for kind in kinds(title, entry)}


def kinds(title: str, entry: Any) -> Iterator[str]:
    """What an entry of a log tells of."""
    if title == "ended" and isinstance(entry, dict):
        yield "failed"
    if title == "events" and any(
        mode == "updates" and "__interrupt__" in payload for mode, payload in entry
    ):
        yield "interrupted"
    if title == "history" and has_branches(entry):
        yield "forked"


def has_branches(history: Any) -> bool:
    """Whether two checkpoints of a history have one parent."""
    if not isinstance(history, list):
        return False
    parents = [str(s["parent_config"]) for s in history if s["parent_config"]]
    return len(set(parents)) < len(parents)


class Tally:
    """How many examples failed, were interrupted and were forked."""

    def __init__(self) -> None:
        """Nothing has run yet."""
        self.examples = 0
        self.of = Counter[str]()

    def count(self, plan: Plan) -> None:
        """Check a plan and count what happened in it."""
        happened = check(plan)
        self.examples += 1
        self.of.update(happened)

    def report(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Say how many there were; under a third of a kind is a failure of this test."""
        parts = [f"{self.of[k]} {k}" for k in ("failed", "interrupted", "forked")]
        with capsys.disabled():
            print(f"\n{self.examples} random graphs: {', '.join(parts)}")
        assert min(self.of[k] for k in ("failed", "interrupted", "forked")) * 3 >= self.examples


def test_random_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    """A moderate number of random graphs, the same ones each time."""
    tally = Tally()
    settings(settings.get_profile("differential"), max_examples=120)(given(plans())(tally.count))()
    tally.report(capsys)


def test_random_nested_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    """Random graphs with graphs inside, the same ones each time."""
    tally = Tally()
    counted = settings(settings.get_profile("differential"), max_examples=50)
    counted(given(nested_plans())(tally.count))()
    tally.report(capsys)


@pytest.mark.soak
def test_many_random_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    """Many more."""
    tally = Tally()
    settings(settings.get_profile("differential"), max_examples=3000)(given(plans())(tally.count))()
    tally.report(capsys)
