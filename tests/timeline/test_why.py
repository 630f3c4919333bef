import importlib

import pytest
from graphs import CONFIG, State, chain_graph, plan_graph

from ckpt_viz.explorer.messages import answer
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline import open_timeline


def test_what_follows_an_old_checkpoint_s_edit_is_explained_by_the_edit(e):
    graph = chain_graph(e, {name: lambda s: {} for name in "abc"})
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    old = next(row for row in timeline.rows() if row.nodes == ("a",))
    fork = timeline.update(old.id, {"xs": ["mine"]}, as_node="a")
    why = [task.why for task in timeline.writes(fork).next]
    assert why == ["ran because your edit stands for a, whose edge leads here"]


def at_step(graph, step):
    timeline = open_timeline(graph, "1")
    row = next(r for r in timeline.rows() if r.step == step)
    found = timeline.writes(row.id)
    return [t.why for t in found.next], {w.node: w.why for w in found.why_not}, found


def test_a_sent_task_tells_its_argument_and_a_resumed_one_its_answer(e):
    graph = plan_graph(e)
    graph.invoke({"foo": "", "xs": []}, CONFIG)
    waiting, _, _ = at_step(graph, 1)
    assert waiting == ["ran because router `route` of a said so"]
    graph.invoke(e.Command(resume={"deep": ["yes"]}), CONFIG)
    answered, _, _ = at_step(graph, 1)
    assert answered == ["ran because router `route` of a said so; resumed with {deep: ['yes']}"]
    sent, _, found = at_step(graph, 2)
    assert "sent by ask's router `fan`, 3 of 3, with {i: 2}" in sent
    assert found.why_not[0].versions.startswith("`branch:to:a` is at ")


@pytest.fixture
def routed(e):
    """START -> a -(pick: b or END)-> b -> c; late is deferred."""
    b = e.StateGraph(State)
    for name in "abc":
        b.add_node(name, lambda s: {})
    b.add_node("late", lambda s: {}, defer=True)
    b.add_edge(e.START, "a")
    b.add_conditional_edges("a", lambda s: s["foo"], {"go": "b", "skip": "c", "stop": e.END})
    b.add_edge("b", "c")
    b.add_edge("a", "late")
    return b.compile(checkpointer=e.Saver())


def test_why_not_names_what_the_router_chose_and_what_comes_first(routed):
    routed.invoke({"foo": "go"}, CONFIG)
    _, before, _ = at_step(routed, 0)
    assert before["b"] == "comes after a, which runs first"
    _, one, _ = at_step(routed, 1)
    assert one["a"] == "runs on a new input: only START leads here"
    assert one["late"] == "deferred: runs when everything else is done"
    assert one["c"].startswith("router ")
    assert one["c"].endswith(" of a chose b instead")
    late, _, _ = at_step(routed, 3)
    assert late == ["ran because a's edge leads here; deferred until the rest was done"]
    _, done, _ = at_step(routed, 4)
    assert done["late"] == "waits for a, which did not run in the step that made this"


def test_a_router_that_chose_the_end(routed):
    routed.invoke({"foo": "stop"}, CONFIG)
    _, one, _ = at_step(routed, 1)
    assert one["b"].endswith(" of a chose the end instead")


def test_who_comes_after_a_failed_or_waiting_task(e):
    def fail(state):
        raise ValueError("no")

    for body, word in ((fail, "failed"), (lambda s: e.interrupt("?"), "waits for an answer")):
        graph = chain_graph(e, {"a": body, "b": lambda s: {}})
        try:
            graph.invoke({"xs": []}, CONFIG)
        except ValueError as error:
            assert str(error) == "no"  # noqa: PT017 - one of the two graphs raises
        _, zero, _ = at_step(graph, 0)
        assert zero["b"] == f"comes after a, which {word}"


def test_nodes_over_bare_channels_tell_who_wrote_them(e):
    pregel = importlib.import_module(f"{e.name}.pregel")
    channels = importlib.import_module(f"{e.name}.channels")
    one = pregel.NodeBuilder().subscribe_only("a").do(lambda x: x + 1).write_to("b")
    two = pregel.NodeBuilder().subscribe_only("b").do(lambda x: x * 2).write_to("c")
    graph = pregel.Pregel(
        nodes={"one": one, "two": two},
        channels={
            "a": channels.EphemeralValue(int),
            "b": channels.LastValue(int),
            "c": channels.LastValue(int),
        },
        input_channels=["a"],
        output_channels=["c"],
        checkpointer=e.Saver(),
    )
    graph.invoke({"a": 1}, CONFIG)
    why, why_not, _ = at_step(graph, 0)
    assert why == ["ran because one wrote channel b"]
    assert why_not == {"one": "nothing new in channel a"}


SECRET = "sk-very-secret"


def test_the_values_in_a_sentence_are_redacted_in_the_page(e):
    b = e.StateGraph(State)
    b.add_node("ask", lambda s: {"xs": [str(len(e.interrupt("key?")))]})
    b.add_node("w", lambda s: {"xs": ["w"]})
    b.add_edge(e.START, "ask")
    b.add_conditional_edges("ask", lambda s: [e.Send("w", {"api_key": SECRET})], ["w"])
    graph = b.compile(checkpointer=e.Saver())
    graph.invoke({"xs": []}, CONFIG)
    graph.invoke(e.Command(resume={"api_key": SECRET}), CONFIG)
    timeline = open_timeline(graph, "1")
    session = Session(timeline, lambda message: None, redact=["api_key"], follow=False)
    told = [
        answer(session, {"id": 1, "kind": "checkpoint", "checkpoint": row.id})["result"]["writes"]
        for row in timeline.rows()
    ]
    session.close()
    whys = [task["why"] for one in told for task in (*one["made"], *one["next"])]
    assert any(w.endswith(", 1 of 1, with {api_key: [redacted]}") for w in whys)
    assert any(w.endswith("; resumed with {api_key: [redacted]}") for w in whys)
    assert SECRET not in str(whys)
