"""Random graphs whose nodes have policies: retries, error handlers and the node cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import test_hypothesis as graphs
from .harness import Engine, Recorder, compare

POLICIES = ["retry", "handler", "goto", "asks", "fails", "retry, handler"]


@dataclass(frozen=True)
class Guarded:
    """A random graph, and the policy of each of its nodes."""

    plan: graphs.Plan
    policies: dict[str, str]


@st.composite
def guarded(draw: st.DrawFn) -> Guarded:
    plan = draw(graphs.plans())
    names = list(plan.nodes)
    sent = {target for target, _ in plan.sends.values()}
    either = st.sampled_from(["none", "cache"])
    # equal tasks of one step: see `test_equal_sends_share_one_cached_result`
    policies = {name: "none" if name in sent else draw(either) for name in names}
    entries = [end for start, end in plan.edges if start == "__start__" and end not in sent]
    nodes = {name: replace(what, fails=0) for name, what in plan.nodes.items()}
    if entries:
        name = draw(st.sampled_from(entries))
        nodes[name] = replace(nodes[name], fails=draw(st.sampled_from([1, 2, 3, 4])))
        policies[name] = draw(st.sampled_from(POLICIES))
        if policies[name] != "retry":  # see `test_a_handler_that_had_finished`
            nodes = {n: replace(what, asks=0) for n, what in nodes.items()}
    return Guarded(replace(plan, nodes=nodes), policies)


def handler_of(e: Engine, name: str, policy: str, targets: list[str]) -> Callable[..., Any]:
    """What takes over when the node has failed."""
    failed: list[int] = []

    def handle(state: Any, error: Any) -> Any:
        time.sleep(graphs.WAIT)  # the siblings first: see `graphs.WAIT`
        text = f"{error.node} handled: {error.error!r}"
        if policy == "fails" and not failed:
            failed.append(1)
            raise KeyError(f"the handler of {name}")
        if policy == "asks":
            text += e.interrupt(f"{name} failed")
        update = {"log": [text]}
        return e.Command(update=update, goto=targets[-1]) if policy == "goto" else update

    handle.__annotations__["error"] = e.NodeError
    return handle


def build(e: Engine, case: Guarded) -> Any:
    """The graph of a case: `graphs.build`, with policies."""
    quick = e.RetryPolicy(0.001, jitter=False, max_attempts=3, retry_on=ValueError)
    names = list(case.plan.nodes)
    plain = e.StateGraph.add_node

    def add_node(self: Any, name: str, action: Any, **options: Any) -> Any:
        policy = case.policies[name]
        if policy == "cache":
            options["cache_policy"] = e.CachePolicy(key_func=lambda s: repr(sorted(s.items())))
        if "retry" in policy:
            options["retry_policy"] = quick
        if policy in POLICIES[1:]:
            options["error_handler"] = handler_of(e, name, policy, names)
        return plain(self, name, action, **options)

    class Builder(e.StateGraph):  # type: ignore[name-defined,misc]
        pass

    Builder.add_node = add_node  # type: ignore[method-assign]
    own = Engine(e.root)
    own.StateGraph = Builder
    graph = graphs.build(own, case.plan)
    graph.cache = e.InMemoryCache()
    return graph


def check(case: Guarded, colour: str) -> set[str]:
    """Compare the engines on a case; what happened in it."""

    def run(e: Engine, rec: Recorder) -> None:
        graph = build(e, case)
        rec.run(graph, {"log": ["start"], "last": "x"}, {**graphs.C, "recursion_limit": 9})
        for number, what in enumerate(case.plan.acts):
            graphs.act(e, rec, graph, what, number)
        rec.look(graph, graphs.C)

    log = compare(run, colour=colour)
    text = repr(log)
    happened = {"failed" for title, entry in log if title == "ended" and isinstance(entry, dict)}
    happened |= {"handled"} if "__error_handler__" in text else set()
    happened |= {"cached"} if "'cached': True" in text else set()
    return happened


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.soak)])
def test_random_policies(count: int, colour: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same ones each time; in a soak many more."""
    seen: list[set[str]] = []
    profile = settings.get_profile("differential")
    settings(profile, max_examples=count)(
        given(guarded())(lambda c: seen.append(check(c, colour)))
    )()
    parts = {k: sum(k in one for one in seen) for k in ("failed", "handled", "cached")}
    with capsys.disabled():
        print(f"\n{len(seen)} random graphs with policies: {parts}")
    assert parts["handled"] * 4 >= len(seen)
    assert parts["cached"] * 8 >= len(seen)
