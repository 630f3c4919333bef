"""Where this engine differs on purpose: each test fails when the peer changes, or we do."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from .basics import C, State, adds, linear_graph, says
from .harness import Engine

UNKNOWN = {"thread_id": "1", "checkpoint_id": "1f000000-0000-6000-8000-000000000000"}


def outcome(call: Callable[[], Any]) -> str:
    """The name of the error that a call raises, or ``"fine"``."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the class of any error is what is asked
        return type(error).__name__
    return "fine"


def both(question: Callable[[Engine], Any]) -> tuple[Any, Any]:
    """The peer's answer and ours."""
    return question(Engine("langgraph")), question(Engine("ckpt_viz"))


def asking(e: Engine) -> Any:
    """One node that asks one question."""
    graph = e.build(State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")])
    graph.invoke({"foo": "x"}, C)
    return graph


def count(graph: Any) -> int:
    """How many checkpoints the thread has."""
    return len(list(graph.checkpointer.list(C)))


def test_two_answers_at_one_place() -> None:
    """There the first answer is given again; here the second makes a sibling branch."""

    def question(e: Engine) -> Any:
        graph = asking(e)
        place = graph.get_state(C).config
        first = graph.invoke(e.Command(resume="x"), place)["bar"]
        second = graph.invoke(e.Command(resume="y"), place)["bar"]
        return first, second

    assert both(question) == ((["x"], ["x"]), (["x"], ["y"]))


def test_an_answer_where_nothing_is_open() -> None:
    def question(e: Engine) -> Any:
        graph = asking(e)
        graph.invoke(e.Command(resume="x"), C)
        return outcome(lambda: graph.invoke(e.Command(resume="y"), C))

    assert both(question) == ("fine", "NothingToResumeError")


def test_an_answer_to_an_unknown_interrupt() -> None:
    def question(e: Engine) -> Any:
        graph = asking(e)
        return outcome(lambda: graph.invoke(e.Command(resume={"0" * 31 + "1": 1}), C)) == "fine"

    assert both(question) == (True, False)


def test_none_as_an_answer() -> None:
    def question(e: Engine) -> Any:
        graph = asking(e)
        return outcome(lambda: graph.invoke(e.Command(resume=None), C))

    assert both(question) == ("UnboundLocalError", "fine")


@pytest.mark.parametrize("act", ["input", "update"])
def test_an_unknown_checkpoint(act: str) -> None:
    """There a new root starts silently."""

    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        graph.invoke({"foo": "x"}, C)
        config = {"configurable": dict(UNKNOWN)}
        acts: dict[str, Callable[[], Any]] = {
            "input": lambda: graph.invoke({"foo": "y"}, config),
            "update": lambda: graph.update_state(config, {"foo": "y"}, as_node="a"),
        }
        return outcome(acts[act])

    assert both(question) == ("fine", "CheckpointNotFoundError")


def test_no_thread_id() -> None:
    """There two classes, by the call; here one that is both."""

    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        nowhere: dict[str, Any] = {"configurable": {}}
        return (
            outcome(lambda: graph.invoke({"foo": "y"}, nowhere)),
            outcome(lambda: graph.get_state(nowhere)),
        )

    ours = ("MissingThreadIdError", "MissingThreadIdError")
    assert both(question) == (("ValueError", "KeyError"), ours)


def test_an_unknown_key_in_an_update() -> None:
    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        graph.invoke({"foo": "x"}, C)
        before = count(graph)
        result = outcome(lambda: graph.update_state(C, {"fooo": "y"}, as_node="a"))
        return result, count(graph) - before

    assert both(question) == (("fine", 1), ("InvalidUpdateError", 0))


def test_input_with_no_known_key() -> None:
    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        return outcome(lambda: graph.invoke({"fooo": "y"}, C)), count(graph) > 0

    assert both(question) == (("fine", True), ("InvalidUpdateError", False))


def test_replay_of_the_finished_head() -> None:
    """There a fork checkpoint is written; here nothing."""

    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        graph.invoke({"foo": "x"}, C)
        before = count(graph)
        graph.invoke(None, graph.get_state(C).config)
        return count(graph) - before

    assert both(question) == (1, 0)


def test_metadata_of_the_base_is_inherited() -> None:
    def question(e: Engine) -> Any:
        graph = linear_graph(e)
        graph.invoke({"foo": "x"}, {**C, "metadata": {"who": "me"}})
        graph.update_state(C, {"foo": "y"}, as_node="a")
        return graph.get_state(C).metadata.get("who")

    assert both(question) == (None, "me")


def test_exact_types() -> None:
    """There a tuple comes back as a list."""

    def question(e: Engine) -> Any:
        nodes = {"a": lambda s: {"foo": (1, (2, 3))}}
        graph = e.build(State, nodes, [(e.START, "a")])
        graph.invoke({"foo": "x"}, C)
        return graph.get_state(C).values["foo"]

    theirs, ours = both(question)
    assert ours == (1, (2, 3))
    assert theirs == [1, [2, 3]]


def test_events_of_a_step_whose_writes_clash() -> None:
    """There the events of the only task that ran are lost when its writes do not fit."""

    def question(e: Engine) -> Any:
        nodes = {"a": says("a"), "b": lambda s: {"foo": e.interrupt("q")}}
        graph = e.build(State, nodes, [(e.START, "a"), (e.START, "b")])
        graph.invoke({"foo": "x"}, C)
        seen: list[str] = []

        def resume() -> None:
            for event in graph.stream(e.Command(resume="r"), C, stream_mode="updates"):
                seen.extend(event)

        return outcome(resume), seen

    clash = "InvalidUpdateError"
    handed_back = ["a", "__metadata__"]
    assert both(question) == ((clash, handed_back), (clash, [*handed_back, "b"]))


def test_a_run_without_a_saver_may_name_a_durability() -> None:
    """There an internal error follows the warning."""

    def question(e: Engine) -> Any:
        graph = linear_graph(e, saver=None)
        return outcome(lambda: graph.invoke({"foo": "x"}, {}, durability="sync"))

    with pytest.warns(UserWarning, match="`durability` has no effect") as told:
        assert both(question) == ("AttributeError", "fine")
    assert len(told) == 2


@pytest.mark.parametrize("wrong", ["other", None, "__start__", "send to the end"])
def test_a_failed_router_runs_again(wrong: Any) -> None:
    """There such a node counts as finished and its route is lost; ours runs again."""

    def again(root: str) -> tuple[int, list[str]]:
        e = Engine(root)
        ran: list[int] = []
        answer = e.Send("__end__", 1) if wrong == "send to the end" else wrong
        paths = {"b": "b"} if wrong == "other" else None

        def node(state: Any) -> dict[str, Any]:
            ran.append(1)
            return {"bar": ["a"]}

        def router(state: Any) -> Any:
            return answer if router.fails else "b"  # type: ignore[attr-defined]

        router.fails = True  # type: ignore[attr-defined]
        branches = [("a", router, paths)] if paths else [("a", router)]
        g = e.build(State, {"a": node, "b": adds("b")}, [(e.START, "a")], branches)
        with pytest.raises(Exception, match=r"other|destination|END node"):
            g.invoke({"foo": "x"}, C)
        router.fails = False  # type: ignore[attr-defined]
        return len(ran), g.invoke(None, C)["bar"]

    assert again("langgraph") == (1, ["a"])
    assert again("ckpt_viz") == (1, ["a", "b"])


def test_a_question_that_others_are_answered() -> None:
    """There a node whose question is not among the answers runs again, to ask it again."""

    def question(e: Engine) -> Any:
        ran: list[str] = []

        def asks(name: str) -> Callable[[Any], Any]:
            def node(state: Any) -> dict[str, Any]:
                ran.append(name)
                return {"bar": [e.interrupt(name)]}

            return node

        graph = e.build(State, {n: asks(n) for n in "ab"}, [(e.START, n) for n in "ab"])
        graph.invoke({"foo": "x"}, C)
        ran.clear()
        ids = {i.value: i.id for i in graph.get_state(C).interrupts}
        left = graph.invoke(e.Command(resume={ids["a"]: "A"}), C)["__interrupt__"]
        return sorted(ran), [i.value for i in left]

    assert both(question) == ((["a", "b"], ["b"]), (["a"], ["b"]))


def test_two_runs_on_one_thread() -> None:
    """There the inputs of the one that ends first are lost silently; here it is refused aloud."""

    def question(e: Engine) -> Any:
        entered, leave = threading.Event(), threading.Event()

        def slow(state: Any) -> dict[str, Any]:
            if state["foo"] == "slow":
                entered.set()
                leave.wait(10)
            return {"bar": [state["foo"]]}

        graph = e.build(State, {"a": slow}, [(e.START, "a")])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(graph.invoke, {"foo": "slow"}, C)
            entered.wait(10)
            result = outcome(lambda: graph.invoke({"foo": "quick"}, C))
            leave.set()
            running.result()
        return result, graph.get_state(C).values["bar"]

    assert both(question) == (("fine", ["slow"]), ("ThreadBusyError", ["slow"]))


def test_a_method_may_be_a_task() -> None:
    """There ``@task`` on a method loses its object; ``task(object.method)`` works in both."""

    def question(e: Engine) -> Any:
        class Counter:
            @e.task
            def add(self, x: int) -> int:
                return x + 1

        @e.entrypoint()
        def flow(x: int) -> Any:
            return Counter().add(x).result()

        return outcome(lambda: flow.invoke(1))

    assert both(question) == ("TypeError", "fine")


def test_a_question_that_nobody_waits_for() -> None:
    """There the step is not saved, though the entrypoint has returned; here it is."""

    def question(e: Engine) -> Any:
        @e.task
        def ask(x: int) -> Any:
            return e.interrupt("q")

        @e.entrypoint(checkpointer=e.MemorySaver())
        def flow(x: int) -> Any:
            ask(x)
            return "returned"

        return flow.invoke(1, C, durability="sync"), count(flow)

    assert both(question) == (("returned", 1), ("returned", 2))


def test_the_name_of_a_channel_by_hand() -> None:
    """There an error of a channel by hand does not name it."""

    def question(e: Engine) -> Any:
        node = e.NodeBuilder().subscribe_only("input").write_to("output")
        channels = {"input": e.LastValue(int), "output": e.LastValue(int)}
        io = {"input_channels": "input", "output_channels": "output"}
        graph = e.Pregel(nodes={"a": node, "b": node}, channels=channels, **io)
        with pytest.raises(e.InvalidUpdateError) as caught:
            graph.invoke(1)
        return str(caught.value).split(":")[0]

    assert both(question) == ("At key ''", "At key 'output'")


def test_a_question_without_an_answer_is_not_asked_again() -> None:
    """There a map of answers runs every waiting node again; here those that it answers."""

    def question(e: Engine) -> Any:
        ran: list[str] = []

        def asks(name: str) -> Any:
            def node(state: Any) -> Any:
                ran.append(name)
                return {"bar": [e.interrupt(name)]}

            return node

        edges = [(e.START, "p"), (e.START, "q")]
        graph = e.build(State, {"p": asks("p"), "q": asks("q")}, edges)
        graph.invoke({"foo": ""}, C)
        ids = {i.value: i.id for i in graph.get_state(C).interrupts}
        ran.clear()
        left = graph.invoke(e.Command(resume={ids["p"]: "P"}), C)["__interrupt__"]
        return sorted(ran), [i.value for i in left]

    assert both(question) == ((["p", "q"], ["q"]), (["p"], ["q"]))


def test_equal_sends_share_one_cached_result() -> None:
    """There only one of the equal tasks of a step finds the result; here all of them do."""

    def question(e: Engine) -> Any:
        runs: list[int] = []

        def node(arg: Any) -> Any:
            runs.append(arg)
            return {"bar": [arg]}

        nodes = {"a": (node, {"cache_policy": e.CachePolicy()})}
        sends = lambda s: [e.Send("a", i) for i in (1, 1, 2)]  # noqa: E731
        graph = e.build(State, nodes, [], [(e.START, sends, ["a"])], cache=e.InMemoryCache())
        for thread in ("1", "2"):
            graph.invoke({"foo": "x"}, {"configurable": {"thread_id": thread}})
        return len(runs)

    assert both(question) == (4, 3)


def test_a_cached_node_of_a_graph_inside_another() -> None:
    """There it runs again at each run of the outer graph; here its result is found."""

    def question(e: Engine) -> Any:
        runs: list[int] = []

        def node(state: Any) -> Any:
            runs.append(1)
            return {"bar": ["n"]}

        nodes = {"n": (node, {"cache_policy": e.CachePolicy()})}
        inner = e.build(State, nodes, [(e.START, "n")], saver=None)
        graph = e.build(
            State, {"inner": inner}, [(e.START, "inner")], saver=None, cache=e.InMemoryCache()
        )
        for _ in range(2):
            graph.invoke({"foo": "x"})
        return len(runs)

    assert both(question) == (2, 1)


def test_a_handler_may_send_a_command_to_the_parent() -> None:
    """There it leaves the whole run as an exception."""

    def question(e: Engine) -> Any:
        def fail(state: Any) -> Any:
            raise ValueError

        def handle(state: Any) -> Any:
            return e.Command(graph=e.Command.PARENT, goto="b", update={"bar": ["handled"]})

        sub = e.build(State, {"a": (fail, {"error_handler": handle})}, [(e.START, "a")], saver=None)
        graph = e.build(State, {"sub": sub, "b": adds("b")}, [(e.START, "sub")])
        return outcome(lambda: graph.invoke({"foo": "x"}, C))

    assert both(question) == ("ParentCommand", "fine")


def test_a_handler_that_had_finished() -> None:
    """There it runs again when its step is resumed; here its saved writes are taken."""

    def question(e: Engine) -> Any:
        runs: list[int] = []

        def fail(state: Any) -> Any:
            raise ValueError

        def handle(state: Any) -> Any:
            runs.append(1)
            return {"bar": ["handled"]}

        def ask(state: Any) -> Any:
            time.sleep(0.05)
            return {"bar": [e.interrupt("q")]}

        nodes = {"a": (fail, {"error_handler": handle}), "b": ask}
        graph = e.build(State, nodes, [(e.START, "a"), (e.START, "b")])
        graph.invoke({"foo": "x"}, C)
        return graph.invoke(e.Command(resume="r"), C)["bar"], len(runs)

    assert both(question) == ((["handled", "r"], 2), (["handled", "r"], 1))


def test_a_nested_question_is_surfaced_once() -> None:
    """There a question of a task in a nested entrypoint is surfaced for both of them."""

    def question(e: Engine) -> Any:
        @e.task
        def ask(x: int) -> Any:
            return e.interrupt("q")

        @e.entrypoint()
        def inner(x: int) -> Any:
            return ask(x).result()

        @e.entrypoint(checkpointer=e.MemorySaver())
        def outer(x: int) -> Any:
            return inner.invoke(x)

        return len(outer.invoke(1, C)["__interrupt__"])

    assert both(question) == (2, 1)


def test_an_answer_is_taken_once() -> None:
    """There, where a task failed before, two questions take the one answer; here only the first."""

    def question(e: Engine) -> Any:
        broken = [True]

        @e.task
        def fail(x: int) -> Any:
            if broken.pop():
                raise ValueError("broken")

        @e.task
        def ask(x: int) -> Any:
            return e.interrupt("second")

        @e.entrypoint(checkpointer=e.MemorySaver())
        def flow(x: int) -> Any:
            try:
                fail(x).result()
            except ValueError:
                broken.append(False)
            return [e.interrupt("first"), ask(x).result()]

        flow.invoke(1, C)
        found = flow.invoke(e.Command(resume="one"), C)
        return found if isinstance(found, list) else found["__interrupt__"][0].value

    assert both(question) == (["one", "one"], "second")


def test_an_old_answer_is_forgotten() -> None:
    """There a task of a new run takes the answer that was given to the run before it."""

    def question(e: Engine) -> Any:
        @e.task
        def ask(x: int) -> Any:
            return [e.interrupt("first"), e.interrupt("second")]

        @e.entrypoint(checkpointer=e.MemorySaver())
        def flow(x: int) -> Any:
            return ask(x).result()

        flow.invoke(1, C)
        flow.invoke(e.Command(resume="one"), C)
        return flow.invoke(2, C)["__interrupt__"][0].value

    assert both(question) == ("second", "first")


def test_a_question_in_typed_updates_beside_values() -> None:
    """There the values' chunk empties the update's, where values are no dictionary."""

    def question(e: Engine) -> Any:
        graph = e.build(State, {"a": lambda s: {"bar": [e.interrupt("q")]}}, [(e.START, "a")])
        options = {"stream_mode": ["updates", "values"], "output_keys": "foo", "version": "v2"}
        parts = list(graph.stream({"foo": "x"}, C, **options))
        return [sorted(p["data"]) for p in parts if p["type"] == "updates"]

    assert both(question) == ([[]], [["__interrupt__"]])


def test_a_stream_mode_that_does_not_exist() -> None:
    """There it shows nothing."""

    def question(e: Engine) -> str:
        return outcome(lambda: list(linear_graph(e).stream({"foo": "x"}, C, stream_mode="nope")))

    assert both(question) == ("fine", "ValueError")


def test_a_writer_taken_along_to_a_thread() -> None:
    """There it works only where the context went along too."""

    def question(e: Engine) -> Any:
        get_writer = importlib.import_module(f"{e.root}.config").get_stream_writer

        def node(state: Any) -> dict[str, Any]:
            write = get_writer()
            with ThreadPoolExecutor(1) as pool:
                return {"bar": [outcome(lambda: pool.submit(write, "chunk").result())]}

        graph = e.build(State, {"a": node}, [(e.START, "a")])
        return list(graph.stream({"foo": "x"}, C, stream_mode=["custom", "updates"]))

    there, here = both(question)
    assert there == [("updates", {"a": {"bar": ["RuntimeError"]}})]
    assert here == [("custom", "chunk"), ("updates", {"a": {"bar": ["fine"]}})]


def test_what_a_sibling_of_a_failure_did() -> None:
    """There a sibling that still runs when a node fails is not told of; here no event is lost."""

    def question(e: Engine) -> Any:
        def slow(state: Any) -> dict[str, Any]:
            time.sleep(0.3)
            return {"bar": ["slow"]}

        def bad(state: Any) -> None:
            time.sleep(0.05)
            raise ValueError("no luck")

        graph = e.build(State, {"slow": slow, "bad": bad}, [(e.START, "slow"), (e.START, "bad")])
        chunks: list[Any] = []
        assert outcome(lambda: chunks.extend(graph.stream({"foo": "x"}, C))) == "ValueError"
        return chunks

    assert both(question) == ([], [{"slow": {"bar": ["slow"]}}])
