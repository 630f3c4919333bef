"""The traps of the superstep algorithm, each in both colours."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from ckpt_viz import ids
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.constants import NO_WRITES
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Command, Overwrite, Send, interrupt

from .colour import COLOURS, THREAD, Calls, State, chain, graph_of, says


@pytest.fixture(params=COLOURS)
def call(request: pytest.FixtureRequest) -> Calls:
    return Calls(request.param)


def test_ids_made_at_one_time_are_in_order(call: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still, then goes back: children still sort after their parents."""
    times = iter([10**18] * 3 + [10**18 - 10**12] * 1000)
    monkeypatch.setattr(ids.time, "time_ns", lambda: next(times))
    graph = chain(call)
    call.invoke(graph, {"log": []})
    history = call.history(graph)
    found = [s.config["configurable"]["checkpoint_id"] for s in history]
    assert found == sorted(set(found), reverse=True)
    assert [s.metadata["step"] for s in history] == [3, 2, 1, 0, -1]


def test_the_latest_is_the_newest_of_any_branch(call: Calls) -> None:
    graph = chain(call)
    call.invoke(graph, {"log": ["1"]})
    first = call.history(graph)
    call.update(graph, {"log": ["fork"]}, first[3].config, as_node="a")
    assert call.state(graph).values["log"] == ["1", "fork"]
    assert call.state(graph, first[0].config).values["log"] == ["1", "a", "b", "c"]
    assert call.invoke(graph, None)["log"] == ["1", "fork", "b", "c"]
    assert call.history(graph, limit=len(first) + 9)[-len(first) :] == first


def test_two_forks_of_one_step_keep_their_own_values(call: Calls) -> None:
    """Their versions have the same number; only the tail tells the blobs apart."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    base = call.history(graph)[3].config
    forks = [call.update(graph, {"log": [n]}, base, as_node="a") for n in "xyz"]
    found = [call.state(graph, fork).values["log"] for fork in forks]
    assert found == [["x"], ["y"], ["z"]]
    versions = [graph.checkpointer.get(f)["channel_versions"]["log"] for f in forks]
    assert len({v.split(".")[0] for v in versions}) == 1
    assert len(set(versions)) == 3


def test_a_pending_write_of_a_task_that_is_gone_is_left_alone(call: Calls) -> None:
    saver = InMemorySaver()
    graph = chain(call, saver=saver, interrupt_before=["b"])
    call.invoke(graph, {"log": []})
    saver.put_writes(call.state(graph).config, [("log", ["ghost"])], "no-such-task")
    assert call.state(graph).next == ("b",)
    assert call.invoke(graph, None)["log"] == ["a", "b", "c"]


def test_a_task_that_wrote_nothing_is_finished(call: Calls) -> None:
    ran: list[str] = []

    def silent(state: Any) -> None:
        ran.append("silent")

    def fails(state: Any) -> Any:
        ran.append("fails")
        if ran.count("fails") == 1:
            raise ValueError("once")
        return {"log": ["fails"]}

    nodes = {"a_silent": silent, "fails": fails}
    graph = graph_of(call, nodes, [(START, "a_silent"), (START, "fails")])
    with pytest.raises(ValueError, match="once"):
        call.invoke(graph, {"log": []}, {**THREAD, "max_concurrency": 1})
    saved = graph.checkpointer.get_tuple(THREAD).pending_writes
    assert [c for _, c, _ in saved if c == NO_WRITES] == [NO_WRITES]
    assert call.state(graph).next == ("fails",)
    call.invoke(graph, None)
    assert ran.count("silent") == 1


def test_two_questions_in_one_node(call: Calls) -> None:
    def asks(state: Any) -> Any:
        return {"log": [interrupt("first"), interrupt("second")]}

    graph = graph_of(call, {"a": asks}, [(START, "a")])
    first = call.invoke(graph, {"log": []})["__interrupt__"]
    second = call.invoke(graph, Command(resume="1"))["__interrupt__"]
    assert [i.value for i in (*first, *second)] == ["first", "second"]
    assert call.invoke(graph, Command(resume="2"))["log"] == ["1", "2"]


def test_two_nodes_ask_and_are_answered_by_a_map(call: Calls) -> None:
    def asks(name: str) -> Callable[[Any], Any]:
        return lambda state: {"log": [name + interrupt(name)]}

    nodes = {"a": asks("a"), "b": asks("b")}
    graph = graph_of(call, nodes, [(START, "a"), (START, "b")])
    asked = call.invoke(graph, {"log": []})["__interrupt__"]
    assert len({i.id for i in asked}) == 2
    with pytest.raises(RuntimeError, match="multiple pending interrupts"):
        call.invoke(graph, Command(resume="?"))
    answers = {i.id: f"={i.value}" for i in asked}
    assert call.invoke(graph, Command(resume=answers))["log"] == ["a=a", "b=b"]


def test_sends_come_in_the_order_they_were_asked_for(call: Calls) -> None:
    flow = StateGraph(State).add_node("work", call.node(lambda arg: {"log": [arg]}))
    order = list("zyxabc")
    flow.add_conditional_edges(START, lambda s: [Send("work", x) for x in order], ["work"])
    graph = flow.compile(checkpointer=InMemorySaver())
    assert call.invoke(graph, {"log": []})["log"] == order
    tasks = call.history(graph)[1].tasks
    assert [t.path[1] for t in tasks] == list(range(6))


def test_a_join_fires_again_in_a_loop(call: Calls) -> None:
    flow = StateGraph(State)
    for name in "abcd":
        flow.add_node(name, call.node(says(name)))
    flow.add_edge(START, "a").add_edge("a", "b").add_edge("a", "c").add_edge(["b", "c"], "d")
    flow.add_conditional_edges("d", lambda s: "a" if s["log"].count("d") < 2 else END)
    graph = flow.compile(checkpointer=InMemorySaver())
    assert call.invoke(graph, {"log": []})["log"] == list("abcdabcd")


def test_a_deferred_node_runs_last_and_once(call: Calls) -> None:
    flow = StateGraph(State)
    for name in "abc":
        flow.add_node(name, call.node(says(name)))
    flow.add_node("last", call.node(says("last")), defer=True)
    flow.add_edge(START, "a").add_edge("a", "b").add_edge("b", "c")
    flow.add_edge("a", "last").add_edge("c", "last")
    graph = flow.compile(checkpointer=InMemorySaver())
    assert call.invoke(graph, {"log": []})["log"] == ["a", "b", "c", "last"]


def test_new_input_drops_the_tasks_that_wait(call: Calls) -> None:
    graph = chain(call, interrupt_before=["b"])
    call.invoke(graph, {"log": ["1"]})
    assert call.state(graph).next == ("b",)
    assert call.invoke(graph, {"log": ["2"]})["log"] == ["1", "a", "2", "a"]
    assert call.state(graph).next == ("b",)
    assert call.invoke(graph, None)["log"] == ["1", "a", "2", "a", "b", "c"]


def test_a_run_with_the_run_id_of_the_last_one_goes_on(call: Calls) -> None:
    graph = chain(call, interrupt_before=["b"])
    same = {**THREAD, "metadata": {"run_id": "r1"}}
    call.invoke(graph, {"log": ["1"]}, same)
    assert call.invoke(graph, {"log": ["ignored"]}, same)["log"] == ["1", "a", "b", "c"]
    other = {**THREAD, "metadata": {"run_id": "r2"}}
    assert call.invoke(graph, {"log": ["2"]}, other)["log"][-2:] == ["2", "a"]


def test_a_replay_of_the_finished_head_writes_nothing(call: Calls) -> None:
    graph = chain(call)
    call.invoke(graph, {"log": []})
    before = graph.checkpointer.storage["1"][""].copy()
    head = call.state(graph)
    assert call.invoke(graph, None, head.config) == head.values
    assert call.invoke(graph, None) == head.values
    assert graph.checkpointer.storage["1"][""] == before


def test_an_update_drops_a_waiting_send(call: Calls) -> None:
    flow = StateGraph(State).add_node("a", call.node(says("a")))
    flow.add_node("work", call.node(lambda arg: {"log": [arg]})).add_edge(START, "a")
    flow.add_conditional_edges("a", lambda s: [Send("work", "x"), Send("work", "y")], ["work"])
    graph = flow.compile(checkpointer=InMemorySaver(), interrupt_before=["work"])
    call.invoke(graph, {"log": []})
    assert call.state(graph).next == ("work", "work")
    call.update(graph, {"log": ["instead"]}, as_node="work")
    assert call.state(graph).next == ()
    assert call.invoke(graph, None)["log"] == ["a", "instead"]


def test_none_is_a_value_and_empty_is_not(call: Calls) -> None:
    seen: list[Any] = []

    def looks(state: Any) -> Any:
        seen.append(dict(state))
        return {"foo": None} if len(seen) == 1 else {}

    graph = graph_of(call, {"a": looks, "b": looks}, [(START, "a"), ("a", "b")])
    call.invoke(graph, {"log": ["x"]})
    assert seen == [{"log": ["x"]}, {"foo": None, "log": ["x"]}]
    assert call.state(graph).values == {"foo": None, "log": ["x"]}
    assert "foo" not in call.history(graph)[-2].values


def test_overwrite_wins_over_plain_values_of_its_step(call: Calls) -> None:
    nodes = {
        "a": says("a"),
        "b": lambda s: {"log": Overwrite(["new"])},
        "c": says("c"),
    }
    graph = graph_of(call, nodes, [(START, n) for n in "abc"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call.invoke(graph, {"log": ["old"]})["log"] == ["new"]
    assert call.update(graph, {"log": ["more"]}, as_node="a")
    assert call.state(graph).values["log"] == ["new", "more"]


@pytest.mark.parametrize("kind", [InMemorySaver, lambda: SqliteSaver.from_conn_string(":memory:")])
@pytest.mark.parametrize("colour", COLOURS)
def test_a_method_that_replaces_a_savers_own_hears_every_save(colour: str, kind: Any) -> None:
    """As tests and lessons do: ``saver.put = watched``, on one object."""
    saver, heard = kind(), []
    for name in ("put", "put_writes"):
        plain = getattr(saver, name)

        def watched(*given: Any, plain: Any = plain, name: str = name) -> Any:
            heard.append(name)
            return plain(*given)

        setattr(saver, name, watched)
    flow = StateGraph(State).add_node("a", says("a")).add_edge(START, "a")
    graph = flow.compile(checkpointer=saver)
    assert Calls(colour).invoke(graph, {"log": []})["log"] == ["a"]
    if colour == "sync" or kind is InMemorySaver:
        assert heard.count("put") == 3
        assert "put_writes" in heard
