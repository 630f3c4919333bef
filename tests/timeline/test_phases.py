"""A superstep from the inside, the same for both engines."""

import operator
from typing import Annotated, TypedDict

from graphs import CONFIG, chain_graph

from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.phases import NOTHING, Barrier, phases


def at(timeline, step, source="loop"):
    row = next(r for r in timeline.rows() if r.step == step and r.source == source)
    return phases(timeline, row.id)


def update(found, channel):
    return next(u for u in found.update if u.channel == channel)


def test_plan_run_and_update_of_a_fan_out(e, graph):
    graph.invoke(e.Command(resume="yes"), CONFIG)
    timeline = open_timeline(graph, "1")
    two = at(timeline, 2)
    assert two.barriers == (Barrier("join", ("a",), ("ask",)),)
    (ask,) = two.plan
    assert (ask.node, ask.triggers[0].channel) == ("ask", "branch:to:ask")
    assert ask.triggers[0].fired
    assert ask.triggers[0].seen is None
    assert set(two.idle) == {"a", "w"}
    three = at(timeline, 3)
    assert [(p.node, p.sent) for p in three.plan] == [
        ("join", None),
        ("w", (1, 3)),
        ("w", (2, 3)),
        ("w", (3, 3)),
    ]
    xs = update(three, "xs")
    assert xs.reducer == xs.how == "add"
    assert xs.old == ["a", "yes"]
    assert xs.writes == (("join", ["j"]), ("w", ["w0"]), ("w", ["w1"]), ("w", ["w2"]))
    assert xs.new == ["a", "yes", "j", "w0", "w1", "w2"]
    barrier = update(three, "join:a+ask:join")
    assert barrier.names == ("a", "ask")
    assert (set(barrier.old), set(barrier.new)) == ({"a", "ask"}, set())
    assert update(two, "branch:to:ask").new is NOTHING


def test_the_writes_in_their_order_give_the_new_value(e):
    """For each step of a run: the reducer, over the queued writes, gives what was saved."""

    class State(TypedDict, total=False):
        log: Annotated[list, operator.add]
        n: Annotated[int, operator.add]
        last: str

    b = e.StateGraph(State)
    for name in "abcde":
        b.add_node(name, lambda s, name=name: {"log": [name], "n": 1})
    b.add_edge(e.START, "e")
    for name in "dbac":
        b.add_edge("e", name)
    graph = b.compile(checkpointer=e.Saver())
    graph.invoke({"log": ["in"], "n": 10}, CONFIG)
    timeline = open_timeline(graph, "1")
    seen = 0
    for row in timeline.rows():
        for one in phases(timeline, row.id).update:
            if one.reducer == "add":
                value = one.old if one.old is not NOTHING else type(one.new)()
                for _, written in one.writes:
                    value = value + written
                assert value == one.new
                seen += 1
    assert seen == 6


def test_input_edit_and_copy_say_what_they_are(e):
    graph = chain_graph(e, {"a": lambda s: {"foo": "x"}, "b": lambda s: {"xs": [1]}})
    graph.invoke({"xs": [0]}, CONFIG)
    timeline = open_timeline(graph, "1")
    first = at(timeline, -1, "input")
    assert first.run[0].node == "input"
    assert first.update[0].old is NOTHING
    edited = phases(timeline, timeline.update(timeline.head, {"foo": "mine"}, "b"))
    assert [r.node for r in edited.run] == ["you"]
    assert update(edited, "foo").writes == (("you", "mine"),)
    assert update(edited, "foo").how == "the last write stays"
    copied = graph.update_state(CONFIG, None, as_node="__copy__")["configurable"]["checkpoint_id"]
    assert phases(timeline, copied).notes == ("A copy: no step was run.",)


def test_what_a_step_wrote_over_a_reducer_is_shown_as_it_was_written(e):
    class State(TypedDict, total=False):
        xs: Annotated[list, lambda a, b: a + b]

    b = e.StateGraph(State)
    b.add_node("a", lambda s: {"xs": ["new"]})
    b.add_edge(e.START, "a")
    graph = b.compile(checkpointer=e.Saver())
    graph.invoke({"xs": []}, CONFIG)
    timeline = open_timeline(graph, "1")
    assert update(at(timeline, 1), "xs").how == "a lambda: its code is not kept"
    new = timeline.update(timeline.head, {"xs": ["only"]}, "a", ["xs"])
    (write,) = update(phases(timeline, new), "xs").writes
    assert type(write[1]).__name__ == "Overwrite"


def test_a_saver_alone_says_that_the_reducer_is_not_known(e, graph):
    timeline = open_timeline(graph.checkpointer, "1")
    found = at(timeline, 1)
    assert "only the saved history was given" in update(found, "xs").how
    assert update(found, "join:a+ask:join").how == "waits until all have come"
    assert found.run[0].node == "a"


def test_without_the_checkpoint_before_only_the_new_values_are_told(e, graph):
    saver = graph.checkpointer
    timeline = open_timeline(graph, "1")
    rows = timeline.rows()
    ours = hasattr(saver, "prune") and e.name == "ckpt_viz"
    if ours:
        saver.prune(["1"])
    else:
        del saver.storage["1"][""][rows[-2].id]
    found = phases(open_timeline(graph, "1"), rows[-1].id)
    assert found.notes == (
        "The checkpoint before it is gone: what was planned and run is not known.",
    )
    assert found.plan == found.run == ()
    assert update(found, "xs").old is NOTHING
