"""What people who debug graph state were bitten by: each promise in both colours.

The number in a test's docstring is the report's. Reports on savers, serializers, subgraphs and the
widget have their tests with those.
"""

from __future__ import annotations

import asyncio
import json
import operator
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import CheckpointNotFoundError, EmptyInputError, InvalidUpdateError
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.types import Command, StateUpdate, interrupt

from .colour import COLOURS, THREAD, Calls, State, chain, graph_of, says


@pytest.fixture(params=COLOURS)
def call(request: pytest.FixtureRequest) -> Calls:
    return Calls(request.param)


def asking(call: Calls, ran: list[str] | None = None) -> Any:
    def ask(state: Any) -> Any:
        if ran is not None:
            ran.append("ask")
        return {"log": [interrupt("?")]}

    nodes = {"a": says("a"), "ask": ask, "z": says("z")}
    return graph_of(call, nodes, [(START, "a"), ("a", "ask"), ("ask", "z")])


def raw(graph: Any) -> dict[str, Any]:
    """The bytes of every checkpoint."""
    return dict(graph.checkpointer.storage["1"][""])


# time travel, replay, forks ----------------------------------------------------------------------


def test_each_replay_is_a_branch_of_its_own(call: Calls) -> None:
    """1: two sibling branches, and the old tip is byte for byte what it was."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    old = raw(graph)
    history = call.history(graph)
    base = history[2]
    for _ in range(2):
        assert call.invoke(graph, None, base.config)["log"] == ["a", "b", "c"]
    assert {k: v for k, v in raw(graph).items() if k in old} == old
    forks = [s for s in call.history(graph) if s.metadata["source"] == "fork"]
    assert [f.parent_config for f in forks] == [base.config] * 2
    assert call.state(graph, history[0].config) == history[0]


def test_a_replay_asks_again(call: Calls) -> None:
    """3: the old answer is not used for a replay from before the question."""
    graph = asking(call)
    call.invoke(graph, {"log": []})
    call.invoke(graph, Command(resume="yes"))
    before = next(s for s in call.history(graph) if s.next == ("ask",))
    again = call.invoke(graph, None, before.config)
    assert [i.value for i in again["__interrupt__"]] == ["?"]
    assert call.invoke(graph, Command(resume="no"))["log"] == ["a", "no", "z"]


def test_two_answers_at_one_checkpoint_are_two_branches(call: Calls) -> None:
    """4: the second answer is used, on a branch beside the first."""
    graph = asking(call)
    call.invoke(graph, {"log": []})
    place = call.state(graph).config
    assert call.invoke(graph, Command(resume="x"), place)["log"] == ["a", "x", "z"]
    first = call.state(graph)
    assert call.invoke(graph, Command(resume="y"), place)["log"] == ["a", "y", "z"]
    assert call.state(graph, first.config).values["log"] == ["a", "x", "z"]
    assert call.state(graph).config != first.config


def test_a_fork_of_a_node_that_goes_by_command(call: Calls) -> None:
    """9: told where it leads nowhere, and a Command as values leads on."""
    flow = StateGraph(State)
    flow.add_node("a", call.node(lambda s: Command(update={"log": ["a"]}, goto="b")))
    flow.add_node("b", call.node(says("b"))).add_edge(START, "a").add_edge("b", END)
    graph = flow.compile(checkpointer=InMemorySaver())
    call.invoke(graph, {"log": []})
    base = next(s for s in call.history(graph) if s.next == ("b",)).config
    with pytest.warns(UserWarning, match="leads nowhere: no node is next.*Command with goto"):
        call.update(graph, {"log": ["edit"]}, base, as_node="a")
    call.update(graph, Command(update={"log": ["edit"]}, goto="b"), base, as_node="a")
    assert call.invoke(graph, None)["log"] == ["a", "edit", "b"]


def test_the_head_after_a_fork_is_the_fork_and_can_be_moved_back(call: Calls) -> None:
    """12: `as_node="__copy__"` is how any checkpoint becomes the head, without running."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    tip = call.state(graph)
    call.update(graph, {"log": ["f"]}, call.history(graph)[2].config, as_node="a")
    assert call.state(graph).values != tip.values
    call.update(graph, None, tip.config, as_node="__copy__")
    head = call.state(graph)
    assert (head.values, head.next, head.parent_config) == (tip.values, tip.next, tip.parent_config)
    assert head.metadata["source"] == "fork"


def test_new_input_at_an_old_checkpoint(call: Calls) -> None:
    """13: it runs on top of what was there."""
    graph = chain(call)
    call.invoke(graph, {"log": ["1"]})
    old = call.history(graph)[2].config
    assert call.invoke(graph, {"log": ["2"]}, old)["log"] == ["1", "a", "2", "a", "b", "c"]


def test_none_goes_on_and_does_not_start_anew(call: Calls) -> None:
    """15: only None means: go on."""
    graph = chain(call, interrupt_before=["b"])
    call.invoke(graph, {"log": ["1"]})
    assert call.invoke(graph, None)["log"] == ["1", "a", "b", "c"]
    graph = chain(call, interrupt_before=["b"])
    call.invoke(graph, {"log": ["1"]})
    assert call.invoke(graph, {})["log"] == ["1", "a", "a"], "an empty input is an input"


def test_a_recorded_replay_runs_no_node(call: Calls) -> None:
    """17: the same is told as in the run, from where it is asked, and nothing is saved."""
    ran: list[str] = []

    def sends_a_mail(state: Any) -> Any:
        ran.append("mail")
        return {"log": ["mail"]}

    edges = [(START, "a"), ("a", "mail"), ("mail", "z")]
    graph = graph_of(call, {"a": says("a"), "mail": sends_a_mail, "z": says("z")}, edges)
    modes = ["values", "updates", "tasks", "checkpoints"]
    told = call.stream(graph, {"log": []}, stream_mode=modes)
    saved = raw(graph)
    again = call.stream(graph, None, stream_mode=modes, replay="recorded")
    assert [e for e in again if e[0] != "checkpoints"] == [e for e in told if e[0] != "checkpoints"]
    base = next(s for s in call.history(graph) if s.next == ("mail",))
    replay = call.stream(graph, None, base.config, stream_mode="updates", replay="recorded")
    assert replay == [{"mail": {"log": ["mail"]}}, {"z": {"log": ["z"]}}]
    assert call.invoke(graph, None, base.config, replay="recorded")["log"] == ["a", "mail", "z"]
    assert ran == ["mail"]
    assert raw(graph) == saved
    call.update(graph, {"log": ["fork"]}, base.config, as_node="mail")
    call.invoke(graph, None)
    newest = call.invoke(graph, None, base.config, replay="recorded")
    assert newest["log"] == ["a", "fork", "z"]
    with pytest.raises(EmptyInputError, match="runs nothing"):
        call.invoke(graph, {"log": []}, replay="recorded")


def test_a_recorded_replay_of_a_question(call: Calls) -> None:
    """17: where the run waited, it is told."""
    graph = asking(call)
    told = call.stream(graph, {"log": []})
    assert call.stream(graph, None, replay="recorded") == told
    assert call.invoke(graph, None, replay="recorded")["__interrupt__"]


# update_state and as_node ------------------------------------------------------------------------

SHAPES: dict[str, tuple[str, list[Any], list[str]]] = {
    "chain": ("abc", [(START, "a"), ("a", "b"), ("b", "c")], []),
    "fan": ("abc", [(START, "a"), ("a", "b"), ("a", "c")], []),
    "join": ("abcd", [(START, "a"), ("a", "b"), ("a", "c"), (["b", "c"], "d")], []),
    "loop": ("ab", [(START, "a"), ("a", "b"), ("b", "a")], ["b"]),
}
NEXT = [
    ("chain", "a", ("b",)),
    ("chain", "b", ("c",)),
    ("chain", "c", ()),
    ("chain", START, ("a",)),
    ("chain", "__input__", (START,)),
    ("chain", END, ()),
    ("chain", "__copy__", ()),
    ("fan", "a", ("b", "c")),
    ("fan", "b", ()),
    ("fan", START, ("a",)),
    ("join", "a", ("b", "c")),
    ("join", "b", ()),
    ("join", "d", ()),
    ("loop", "a", ("b",)),
    ("loop", "b", ("a",)),
    ("loop", "__copy__", ("b",)),
    ("loop", END, ()),
]


@pytest.mark.parametrize(("shape", "as_node", "following"), NEXT)
def test_what_is_next_after_an_update(
    call: Calls, shape: str, as_node: str, following: tuple[str, ...]
) -> None:
    """18, 19: one rule for both colours, by the graph's shape and the node written as."""
    names, edges, stops = SHAPES[shape]
    graph = graph_of(call, {n: says(n) for n in names}, edges, interrupt_before=stops)
    call.invoke(graph, {"log": []})
    values = None if as_node in (END, "__copy__") else {"log": ["u"]}
    config = call.update(graph, values, as_node=as_node)
    state = call.state(graph)
    assert state.config == config
    assert state.next == following
    assert call.state(graph, config).next == following


def test_an_update_that_could_be_of_several_nodes(call: Calls) -> None:
    """18: refused alike; the node that ran last alone is taken."""
    names, edges, _ = SHAPES["fan"]
    graph = graph_of(call, {n: says(n) for n in names}, edges)
    call.invoke(graph, {"log": []})
    count = len(call.history(graph))
    with pytest.raises(InvalidUpdateError, match="Ambiguous update, specify as_node"):
        call.update(graph, {"log": ["u"]})
    assert len(call.history(graph)) == count
    linear = chain(call, interrupt_before=["c"])
    call.invoke(linear, {"log": []})
    call.update(linear, {"log": ["u"]})
    assert call.state(linear).next == ("c",)


def test_an_unknown_key_is_refused_and_nothing_written(call: Calls) -> None:
    """22: the error names the key and the known ones; a bulk is refused whole where it fails."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    before = raw(graph)
    for as_node in ("a", None, "__input__", START):
        with pytest.raises(InvalidUpdateError, match=r"'lgo'.*nothing was written.*'foo', 'log'"):
            call.update(graph, {"lgo": ["u"]}, as_node=as_node)
    with pytest.raises(InvalidUpdateError, match="'lgo'"):
        call.bulk(graph, [[StateUpdate({"log": []}, "a"), StateUpdate({"lgo": 1}, "b")]])
    assert raw(graph) == before


def test_no_round_is_written_when_a_later_one_has_an_unknown_key(call: Calls) -> None:
    """22 of its family: the mistake is found before the first round or the copy is saved."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    before = raw(graph)
    for late in (StateUpdate({"lgo": 1}, "a"), StateUpdate({"lgo": 1}, "__input__")):
        with pytest.raises(InvalidUpdateError, match=r"'lgo'.*nothing was written"):
            call.bulk(graph, [[StateUpdate({"log": ["u"]}, "a")], [late]])
    with pytest.raises(InvalidUpdateError, match=r"'lgo'.*nothing was written"):
        call.update(graph, [({"lgo": 1}, "a")], as_node="__copy__")
    assert raw(graph) == before


def test_keys_that_a_graph_inside_tells_are_accepted_and_ignored(call: Calls) -> None:
    """22: an update as a node that is a graph may be what that graph gave."""

    class Inner(TypedDict):
        log: Annotated[list, operator.add]
        own: int

    inner = StateGraph(Inner).add_node("p", says("p")).add_edge(START, "p").compile()
    outer = StateGraph(State).add_node("sub", inner).add_node("end", says("end"))
    outer = outer.add_edge(START, "sub").add_edge("sub", "end")
    graph = outer.compile(checkpointer=InMemorySaver())
    call.invoke(graph, {"log": []})
    call.update(graph, {"own": 3, "log": ["u"]}, as_node="sub")
    state = call.state(graph)
    assert (state.next, state.values) == (("end",), {"log": ["p", "end", "u"]})
    for as_node, wrong in (("sub", {"owm": 3}), ("end", {"own": 3})):
        with pytest.raises(InvalidUpdateError, match="nothing was written"):
            call.update(graph, wrong, as_node=as_node)


def test_an_unknown_key_in_a_command_is_refused(call: Calls) -> None:
    """22 of its family: an update by a Command, alone or among other values."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    before = raw(graph)
    wrong = Command(update={"lgo": 1}, goto="b")
    for values in (wrong, Command(update=[("lgo", 1)]), [wrong, {"log": ["u"]}]):
        with pytest.raises(InvalidUpdateError, match=r"'lgo'.*nothing was written"):
            call.update(graph, values, as_node="a")
    assert raw(graph) == before
    call.update(graph, Command(update=[("log", ["u"])], goto="b"), as_node="a")
    assert call.state(graph).next == ("b",)


def test_an_unknown_node_is_refused(call: Calls) -> None:
    """22 of its family."""
    graph = chain(call)
    with pytest.raises(InvalidUpdateError, match="Node zz does not exist"):
        call.update(graph, {"log": ["u"]}, as_node="zz")
    assert call.history(graph) == []


def test_an_unknown_checkpoint_is_refused(call: Calls) -> None:
    """22 of its family: no new root in silence."""
    graph = chain(call)
    call.invoke(graph, {"log": []})
    before = raw(graph)
    nowhere = {"configurable": {**THREAD["configurable"], "checkpoint_id": "1" * 8}}
    for act in (
        lambda: call.invoke(graph, {"log": []}, nowhere),
        lambda: call.invoke(graph, None, nowhere),
        lambda: call.update(graph, {"log": []}, nowhere, as_node="a"),
    ):
        with pytest.raises(CheckpointNotFoundError, match="no checkpoint '11111111'"):
            act()
    assert call.state(graph, nowhere).values == {}
    assert raw(graph) == before


def test_a_break_point_is_met_after_a_fork(call: Calls) -> None:
    """24: an update runs nothing, so the stop that comes next is still there."""
    graph = chain(call, interrupt_before=["c"])
    call.invoke(graph, {"log": []})
    call.update(graph, {"log": ["u"]}, call.history(graph)[1].config, as_node="a")
    assert call.invoke(graph, None)["log"] == ["a", "u", "b"]
    assert call.state(graph).next == ("c",)


def test_a_saver_given_by_the_config_keeps_as_one_given_at_compile(call: Calls) -> None:
    """26: an update on it starts from what is there."""
    given = {"configurable": {"thread_id": "1", "__pregel_checkpointer": InMemorySaver()}}
    found = []
    for graph, config in ((chain(call, saver=None), given), (chain(call), THREAD)):
        call.invoke(graph, {"log": ["1"]}, config)
        call.update(graph, {"log": ["u"]}, config, as_node="c")
        found.append([s.values for s in call.history(graph, config)])
    assert found[0] == found[1]
    assert found[0][0] == {"log": ["1", "a", "b", "c", "u"]}


# history -----------------------------------------------------------------------------------------


def test_history_needs_no_more_than_a_thread(call: Calls) -> None:
    """38: whatever the run was configured with."""
    graph = chain(call)
    rich = {**THREAD, "recursion_limit": 9, "tags": ["t"], "metadata": {"k": 1}}
    call.invoke(graph, {"log": []}, rich)
    assert len(call.history(graph, {"configurable": {"thread_id": "1"}})) == 5
    assert len(call.history(graph.with_config({"recursion_limit": 3}))) == 5


def test_user_metadata_is_in_metadata(call: Calls) -> None:
    """35, 36: scalars of metadata and configurable, in every checkpoint; nothing else is added."""
    graph = chain(call)
    config = {"configurable": {"thread_id": "1", "user": "me"}, "metadata": {"k": 1, "big": [1]}}
    call.invoke(graph, {"log": []}, config)
    call.update(graph, {"log": ["u"]}, call.history(graph)[2].config, as_node="a")
    assert all(
        s.metadata.keys() == {"source", "step", "parents", "user", "k"} for s in call.history(graph)
    )


# interrupts, errors, durability, concurrency -----------------------------------------------------


def test_questions_of_one_step_have_ids_of_their_own(call: Calls) -> None:
    """66, 67, 69: by id only the answered node runs again; one answer for several is refused."""
    ran: list[str] = []

    def asks(name: str) -> Callable[[Any], Any]:
        def node(state: Any) -> Any:
            ran.append(name)
            return {"log": [interrupt(name)]}

        return node

    nodes = {n: asks(n) for n in "abc"}
    graph = graph_of(call, nodes, [(START, n) for n in "abc"])
    asked = call.invoke(graph, {"log": []})["__interrupt__"]
    assert len({i.id for i in asked}) == 3
    with pytest.raises(RuntimeError, match=f"specify the interrupt id.*{min(i.id for i in asked)}"):
        call.invoke(graph, Command(resume="?"))
    ran.clear()
    one = next(i for i in asked if i.value == "b")
    left = call.invoke(graph, Command(resume={one.id: "B"}))["__interrupt__"]
    assert sorted(i.value for i in left) == ["a", "c"]
    assert ran == ["b"]
    with pytest.raises(RuntimeError, match="0123456789abcdef"):
        call.invoke(graph, Command(resume={"0123456789abcdef" * 2: 1}))


def test_what_stands_before_a_question_runs_again(call: Calls) -> None:
    """68: once for each answer, and the answers given are kept."""
    before: list[int] = []

    def ask(state: Any) -> Any:
        answers = []
        for n in range(3):
            before.append(n)
            answers.append(interrupt(n))
        return {"log": answers}

    graph = graph_of(call, {"a": ask}, [(START, "a")])
    call.invoke(graph, {"log": []})
    for answer in "xyz":
        result = call.invoke(graph, Command(resume=answer))
    assert result["log"] == ["x", "y", "z"]
    assert before == [0, 0, 1, 0, 1, 2, 0, 1, 2]


def test_the_finished_sibling_of_a_failure_does_not_run_again(call: Calls) -> None:
    """73: its write is kept on the checkpoint, and shown there."""
    ran: list[str] = []

    def works(state: Any) -> Any:
        ran.append("works")
        return {"log": ["works"]}

    def fails(state: Any) -> Any:
        ran.append("fails")
        if ran.count("fails") == 1:
            time.sleep(0.05)
            raise ValueError("once")
        return {"log": ["fails"]}

    nodes = {"fails": fails, "works": works}
    graph = graph_of(call, nodes, [(START, "fails"), (START, "works")])
    with pytest.raises(ValueError, match="once"):
        call.invoke(graph, {"log": []}, {**THREAD, "max_concurrency": 2})
    state = call.state(graph)
    assert state.next == ("fails",)
    shown = {t.name: (t.result, t.error) for t in state.tasks}
    assert shown == {"works": ({"log": ["works"]}, None), "fails": (None, "ValueError('once')")}
    assert call.invoke(graph, None)["log"] == ["fails", "works"]
    assert ran.count("works") == 1


def test_exit_keeps_the_last_checkpoint_only(call: Calls) -> None:
    """76: and a later run goes on from it."""
    graph = chain(call, interrupt_before=["c"])
    call.invoke(graph, {"log": []}, durability="exit")
    assert [s.next for s in call.history(graph)] == [("c",)]
    assert call.invoke(graph, None)["log"] == ["a", "b", "c"]


KILLED = textwrap.dedent(
    """
    import asyncio, operator, os, signal, sys
    from typing import Annotated, TypedDict
    from ckpt_viz.checkpoint.sqlite import SqliteSaver
    from ckpt_viz.graph import START, StateGraph

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def dies(state):
        os.kill(os.getpid(), signal.SIGKILL)

    flow = StateGraph(State).add_node("a", dies).add_edge(START, "a")
    graph = flow.compile(checkpointer=SqliteSaver.from_conn_string(sys.argv[1]))
    config = {"configurable": {"thread_id": "1"}}
    if sys.argv[2] == "sync":
        graph.invoke({"log": ["kept"]}, config, durability="sync")
    else:
        asyncio.run(graph.ainvoke({"log": ["kept"]}, config, durability="sync"))
    """
)


def test_a_run_killed_in_its_first_node_is_not_lost(call: Calls, tmp_path: Path) -> None:
    """77: the input is saved before a node runs."""
    path = str(tmp_path / "killed.db")
    died = subprocess.run([sys.executable, "-c", KILLED, path, call.colour], check=False)
    assert died.returncode == -signal.SIGKILL
    with SqliteSaver.from_conn_string(path) as saver:
        graph = graph_of(call, {"a": says("a")}, [(START, "a")], saver=saver)
        assert call.state(graph).values == {"log": ["kept"]}
        assert call.invoke(graph, None)["log"] == ["kept", "a"]


@pytest.mark.parametrize("mode", ["debug", "tasks"])
def test_the_result_of_a_failing_task_is_streamed(call: Calls, mode: str) -> None:
    """78: also where one mode is asked for alone."""

    def fails(state: Any) -> Any:
        raise ValueError("no")

    graph = graph_of(call, {"a": fails}, [(START, "a")])
    told: list[Any] = []
    with pytest.raises(ValueError, match="no"):
        call.stream(graph, {"log": []}, stream_mode=mode, into=told)
    last = told[-1]["payload"] if mode == "debug" else told[-1]
    assert (last["name"], repr(last["error"])) == ("a", "ValueError('no')")


def test_a_task_looks_the_same_in_streams_and_snapshots(call: Calls) -> None:
    """79: one shape of checkpoint events and of snapshots: same ids, names, results, next."""
    graph = asking(call)
    events = call.stream(graph, {"log": []}, stream_mode="checkpoints")
    events += call.stream(graph, Command(resume="y"), stream_mode="checkpoints")
    for event in events:
        state = call.state(graph, event["config"])
        assert list(state.next) == event["next"]
        assert [(t.id, t.name) for t in state.tasks] == [
            (t["id"], t["name"]) for t in event["tasks"]
        ]
        assert (state.values, state.config, state.parent_config) == (
            event["values"],
            event["config"],
            event["parent_config"],
        )
    json.dumps([e["tasks"] for e in events])


def test_a_saver_answers_both_colours_in_a_running_loop(tmp_path: Path) -> None:
    """82, 83: one class, no dead-lock, whoever calls."""

    async def cell() -> list[Any]:
        with SqliteSaver.from_conn_string(tmp_path / "both.db") as saver:
            graph = graph_of(Calls("sync"), {"a": says("a")}, [(START, "a")], saver=saver)
            first = graph.invoke({"log": ["1"]}, THREAD)
            second = await graph.ainvoke({"log": ["2"]}, THREAD)
            return [first["log"], second["log"], graph.get_state(THREAD).values["log"]]

    assert asyncio.run(asyncio.wait_for(cell(), 10)) == [
        ["1", "a"],
        ["1", "a", "2", "a"],
        ["1", "a", "2", "a"],
    ]


# graphs inside of graphs -------------------------------------------------------------------------


def nested(call: Calls, ran: list[str], memory: bool | None = None, **more: Any) -> Any:
    """A graph whose node ``sub`` is a graph of three nodes, the last of which asks."""

    def notes(name: str) -> Callable[[Any], Any]:
        def node(state: Any) -> Any:
            ran.append(name)
            return {"log": [interrupt("?") if name == "review" else name]}

        return node

    inner = StateGraph(State)
    for name, before in (("one", START), ("two", "one"), ("review", "two")):
        inner.add_node(name, call.node(notes(name))).add_edge(before, name)
    flow = StateGraph(State).add_node("a", call.node(says("a")))
    flow.add_node("sub", inner.compile(checkpointer=memory, **more)).add_edge(START, "a")
    return flow.add_edge("a", "sub").compile(checkpointer=InMemorySaver())


def test_time_travel_starts_inside_at_the_chosen_node(call: Calls) -> None:
    """5: not at the first node of the graph inside, where that keeps a history of its own."""
    ran: list[str] = []
    graph = nested(call, ran, memory=True)
    call.invoke(graph, {"log": []})
    inside = call.state(graph).tasks[0].state
    inside["configurable"]["checkpoint_ns"] = "sub"
    before_two = next(s for s in call.history(graph, inside) if s.next == ("two",))
    ran.clear()
    assert call.invoke(graph, None, before_two.config)["__interrupt__"]
    assert ran == ["two", "review"]


def test_a_fork_above_gives_a_lasting_graph_inside_its_state_of_then(call: Calls) -> None:
    """6: nothing twice after a fork with new input."""
    ran: list[str] = []
    graph = nested(call, ran, memory=True)
    call.invoke(graph, {"log": ["1"]})
    call.invoke(graph, Command(resume="ok"))
    before = next(s for s in call.history(graph) if s.next == ("sub",))
    fork = call.update(graph, {"log": ["fork"]}, before.config, as_node="a")
    call.invoke(graph, None, fork)
    inside = call.state(graph, subgraphs=True).tasks[0].state.values["log"]
    assert inside.count("one") == 1


def test_an_update_above_a_waiting_graph_is_told(call: Calls) -> None:
    """25: the graph inside starts again, which is said; an update of its own state keeps it."""
    ran: list[str] = []
    graph = nested(call, ran)
    call.invoke(graph, {"log": []})
    ran.clear()
    call.update(graph, {"log": ["inside"]}, call.state(graph).tasks[0].state, as_node="two")
    call.invoke(graph, None)
    assert ran == ["review"]
    with pytest.warns(UserWarning, match="from which sub starts again at its first node"):
        call.update(graph, {"log": ["u"]}, as_node="a")
    ran.clear()
    call.invoke(graph, None)
    assert ran == ["one", "two", "review"]


def test_a_break_point_inside(call: Calls) -> None:
    """96: the graph inside stops, and goes on where it stopped."""
    ran: list[str] = []
    graph = nested(call, ran, interrupt_before=["two"])
    call.invoke(graph, {"log": []})
    assert call.state(graph, subgraphs=True).tasks[0].state.next == ("two",)
    call.invoke(graph, None)
    assert ran == ["one", "two", "review"]


def test_a_lasting_graph_inside_can_be_read_after_the_run(call: Calls) -> None:
    """86, 87: its namespace is the node's name."""
    ran: list[str] = []
    graph = nested(call, ran, memory=True)
    call.invoke(graph, {"log": []})
    call.invoke(graph, Command(resume="ok"))
    inside = {"configurable": {"thread_id": "1", "checkpoint_ns": "sub"}}
    assert call.state(graph, inside).values["log"][-3:] == ["one", "two", "ok"]


# schema change -----------------------------------------------------------------------------------


def test_graphs_with_one_saver_do_not_share_by_a_namespace_set_by_hand(call: Calls) -> None:
    """90: told, where someone tries."""
    graph = chain(call)
    mine = {"configurable": {"thread_id": "1", "checkpoint_ns": "mine"}}
    with pytest.warns(UserWarning, match="checkpoint_ns 'mine'"):
        call.invoke(graph, {"log": []}, mine)


def test_a_checkpoint_of_an_older_graph_can_be_gone_on_with(call: Calls) -> None:
    """92: a key that came is empty, one that went is kept aside, and both are there later."""

    class Newer(TypedDict, total=False):
        log: Annotated[list[str], operator.add]
        fresh: int

    saver = InMemorySaver()
    old = chain(call, saver=saver, interrupt_before=["b"])
    call.invoke(old, {"log": [], "foo": "kept"})
    flow = StateGraph(Newer)
    for name, before in (("a", START), ("b", "a")):
        flow.add_node(name, call.node(lambda s: {"log": [str(s.get("fresh"))], "fresh": 1}))
        flow.add_edge(before, name)
    new = flow.compile(checkpointer=saver)
    assert call.invoke(new, None) == {"log": ["a", "None"], "fresh": 1}
    assert call.state(old).values == {"log": ["a", "None"], "foo": "kept"}


def test_values_of_another_version_are_migrated(call: Calls) -> None:
    """92: by a function that gets the values and the version that saved them."""
    saver = InMemorySaver()
    old = chain(call, saver=saver, interrupt_before=["b"], graph_version=1)
    call.invoke(old, {"log": [], "foo": "3"})
    assert {s.metadata["graph_version"] for s in call.history(old)} == {1}

    class Newer(TypedDict, total=False):
        log: Annotated[list[str], operator.add]
        count: int

    def migrate(values: dict[str, Any], version: Any) -> dict[str, Any]:
        assert version == 1
        return {"log": values["log"], "count": int(values["foo"])} if "foo" in values else values

    flow = StateGraph(Newer)
    for name, before in (("a", START), ("b", "a")):
        flow.add_node(name, call.node(lambda s: {"log": [str(s["count"])], "count": 4}))
        flow.add_edge(before, name)
    new = flow.compile(checkpointer=saver, graph_version=2, migrate=migrate)
    assert call.state(new).values == {"log": ["a"], "count": 3}
    call.update(new, {"log": ["u"]}, as_node="a")
    assert call.state(new).values == {"log": ["a", "u"], "count": 3}
    assert call.invoke(new, None) == {"log": ["a", "u", "3"], "count": 4}
    assert [s.metadata["graph_version"] for s in call.history(new)] == [2, 2, 1, 1, 1]
    assert call.state(old, call.history(new)[2].config).values == {"log": ["a"], "foo": "3"}
