"""Random workflows of tasks, nested tasks, entrypoints, questions and failures, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .basics import C
from .harness import Engine, Recorder, compare
from .test_hypothesis import Tally

Steps = tuple[Any, ...]
ACTS = ["on", "on", "answer", "input", "update", "replay", "replay", "fork", "fork", "copy"]
ACTS += ["fork and run"]

PLAIN = st.tuples(st.sampled_from(["task", "pair"]), st.integers(0, 3))
ASKS = st.tuples(st.sampled_from(["ask", "ask in a task"]), st.integers(0, 3))
FAILS = st.tuples(st.sampled_from(["fail", "fail", "catch"]), st.integers(1, 2))


def steps(leaf: Any) -> Any:
    """Several steps, some of which have steps inside."""
    step = st.recursive(
        leaf,
        lambda inner: st.tuples(
            st.sampled_from(["nest", "workflow"]),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
        ),
        max_leaves=6,
    )
    return st.lists(step, min_size=1, max_size=5).map(tuple)


# Not both in one: see test_an_answer_is_taken_once.
plans = st.tuples(
    st.one_of(
        steps(st.one_of(PLAIN, ASKS, ASKS)).filter(lambda found: "ask" in str(found)),
        steps(st.one_of(PLAIN, FAILS)).filter(lambda found: "fail" in str(found)),
    ),
    st.lists(st.sampled_from(ACTS), min_size=3, max_size=8).map(tuple),
    st.sampled_from(["sync", "async"]),
)


def workflow(e: Engine, steps: Steps, ran: list[Any]) -> Any:
    """An entrypoint that does the steps; ``ran`` notes the tasks that ran."""
    left: dict[Any, int] = {}

    @e.task
    def work(x: Any) -> Any:
        ran.append(x)
        return x

    @e.task
    def ask(x: Any) -> Any:
        ran.append("ask")
        return e.interrupt(x)

    @e.task
    def fail(place: Any, times: int) -> Any:
        left[place] = left.get(place, times) - 1
        if left[place] >= 0:
            raise ValueError(f"failed at {place}")
        return "mended"

    @e.task
    def nest(inner: Steps, place: str) -> Any:
        return follow(inner, place)

    @e.entrypoint()
    def nested(given: Any) -> Any:
        return follow(*given)

    def catch(place: str, times: int) -> Any:
        try:
            return fail(place, times).result()
        except ValueError:
            return "caught"

    def pair(place: str, x: int) -> Any:
        return [f.result() for f in (work(x), work([place, x]))]

    acts: dict[str, Callable[[str, Any], Any]] = {
        "task": lambda place, x: work(x).result(),
        "pair": pair,
        "ask": lambda place, x: e.interrupt([place, x]),
        "ask in a task": lambda place, x: ask([place, x]).result(),
        "fail": lambda place, times: fail(place, times).result(),
        "catch": catch,
        "nest": lambda place, inner: nest(inner, place).result(),
        "workflow": lambda place, inner: nested.invoke((inner, place)),
    }

    def follow(inner: Steps, place: str) -> list[Any]:
        return [acts[kind](f"{place}.{i}", arg) for i, (kind, arg) in enumerate(inner)]

    @e.entrypoint(checkpointer=e.MemorySaver())
    def flow(x: Any, *, previous: Any = None) -> Any:
        found = follow(steps, "top")
        return e.entrypoint.final(value=[x, found, previous], save=x)

    return flow


def check(plan: tuple[Steps, tuple[str, ...], str]) -> set[str]:
    """Run a plan on both engines and compare; what happened in it."""
    steps, acts, colour = plan
    happened: set[str] = set()

    def program(e: Engine, rec: Recorder) -> None:
        ran: list[Any] = []
        flow = workflow(e, steps, ran)
        places: list[Any] = []

        def invoke(value: Any, config: Any) -> None:
            found = rec.invoke(flow, value, config)
            if found is None:
                happened.add("failed")
            if isinstance(found, dict) and "__interrupt__" in found:
                happened.add("interrupted")

        invoke(0, C)
        for number, act in enumerate(acts, 1):
            state = flow.get_state(C)
            places.append(state.config)
            place = places[min(number, len(places)) % 2 - 1]
            if "ask" in str(steps) and act in ("input", "fork and run"):
                act = "answer" if state.interrupts else "on"  # see test_an_old_answer_is_forgotten
            if act == "answer" or (act == "on" and state.interrupts):
                if state.interrupts:
                    invoke(e.Command(resume=f"answer {number}"), C)
            elif act == "on":
                if state.next:
                    invoke(None, C)
            elif act == "input":
                invoke(number, C)
            elif act == "update":
                rec.update(flow, C, number, as_node="flow")
            elif act == "fork":
                rec.update(flow, place, number, as_node="flow")
            elif act == "copy":
                rec.call("copy", flow.update_state, place, None, "__copy__")
            elif act == "replay":
                if flow.get_state(place).next:
                    invoke(None, place)
            else:
                invoke(number, place)
            rec.look(flow, C)
        rec.note("ran", sorted(map(str, ran)))
        parents = [str(s.parent_config) for s in flow.get_state_history(C)]
        if len(set(parents)) < len(parents):
            happened.add("forked")

    compare(program, colour=colour)
    return happened


class Workflows(Tally):
    """Counts what happened in random workflows."""

    def count(self, plan: Any) -> None:
        self.examples += 1
        self.of.update(check(plan))

    def report(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Say how many there were; a plan either asks or fails, so a sixth of a kind is enough."""
        parts = [f"{self.of[k]} {k}" for k in ("failed", "interrupted", "forked")]
        with capsys.disabled():
            print(f"\n{self.examples} random workflows: {', '.join(parts)}")
        assert min(self.of[k] for k in ("failed", "interrupted", "forked")) * 6 >= self.examples


def run(examples: int, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Workflows()
    profile = settings(settings.get_profile("differential"), max_examples=examples)
    profile(given(plans)(tally.count))()
    tally.report(capsys)


def test_random_workflows(capsys: pytest.CaptureFixture[str]) -> None:
    """A moderate number, the same ones each time."""
    run(60, capsys)


@pytest.mark.soak
def test_many_random_workflows(capsys: pytest.CaptureFixture[str]) -> None:
    """Many more."""
    run(1500, capsys)
