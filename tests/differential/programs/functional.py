"""Entrypoints and tasks: futures, previous, interrupts, failures, and tasks in graphs."""

from __future__ import annotations

from typing import Any

from ..basics import C, program
from ..harness import Engine, Recorder


def flow(e: Engine, **options: Any) -> Any:
    """The decorator of an entrypoint with a saver."""
    return e.entrypoint(checkpointer=e.MemorySaver(), **options)


def doubling(e: Engine) -> Any:
    @e.task
    def double(x: Any) -> Any:
        return x * 2

    return double


@program
def falsy_results(e: Engine, rec: Recorder) -> None:
    calls: list[Any] = []

    @e.task
    def give(x: Any) -> Any:
        calls.append(x)
        return x

    @flow(e)
    def wf(x: Any) -> Any:
        found = [give(v).result() for v in (None, 0, "", [], {}, False)]
        return [found, e.interrupt("go?")]

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="yes"), C)
    rec.look(wf, C)
    rec.note("calls", calls)


@program
def previous_and_final(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def total(x: int, *, previous: Any) -> Any:
        return (previous or 0) + x

    @flow(e)
    def kept(x: int, *, previous: Any = None) -> Any:
        return e.entrypoint.final(value=previous, save={"last": x})

    for wf in (total, kept):
        for x in (1, 2, 3):
            rec.run(wf, x, C)
        rec.look(wf, C)


@program
def previous_of_another_thread(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return [x, previous]

    other = {"configurable": {"thread_id": "2"}}
    for config in (C, other, C, other):
        rec.invoke(wf, 1, config)
    rec.look(wf, other)


@program
def final_with_none(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return e.entrypoint.final(value=None, save=[x, previous])

    rec.run(wf, 1, C)
    rec.run(wf, 2, C)
    rec.look(wf, C)


@program
def workflow_without_a_saver(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @e.entrypoint()
    def wf(x: int, *, previous: Any) -> Any:
        return [double(x).result(), previous]

    for _ in range(2):
        rec.call("invoke", wf.invoke, 2)
        rec.call("stream", lambda: list(wf.stream(2)))
        rec.call("values", lambda: list(wf.stream(2, stream_mode="values")))
        rec.call("updates", wf.invoke, 2, stream_mode="updates")


@program
def question_in_an_entrypoint(e: Engine, rec: Recorder) -> None:
    double = doubling(e)
    ran: list[Any] = []

    @e.task
    def noted(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(x: int, *, previous: Any = None) -> Any:
        first = noted(x).result()
        answer = e.interrupt({"q": first})
        more = e.interrupt("more?")
        return [first, answer, more, double(x).result(), noted(9).result(), previous]

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="a"), C)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="b"), C)
    rec.look(wf, C)
    rec.run(wf, 2, C)
    rec.invoke(wf, e.Command(resume="c"), C)
    rec.invoke(wf, e.Command(resume="d"), C)
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def questions_in_a_loop(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    def step(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(n: int) -> Any:
        found = []
        for i in range(n):
            step(i).result()
            found.append(e.interrupt(i))
        return found

    rec.run(wf, 3, C)
    for answer in "abc":
        rec.run(wf, e.Command(resume=answer), C)
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def entrypoint_fails(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        double(x).result()
        raise KeyError("no")

    rec.run(wf, 1, C)
    rec.look(wf, C)
    rec.run(wf, 2, C)
    rec.look(wf, C)


@program
def wrong_functions(e: Engine, rec: Recorder) -> None:
    def generator(x: Any) -> Any:
        yield x

    async def agenerator(x: Any) -> Any:
        yield x

    for function in (generator, agenerator, lambda: 1):
        rec.call("entrypoint", e.entrypoint(), function)
    rec.call("outside", doubling(e), 1)

    @e.entrypoint()
    def two(a: Any, b: Any) -> Any:
        return a

    rec.call("two", two.invoke, 1)
    rec.call("none", two.invoke, None)


@program
def what_a_function_gets(e: Engine, rec: Recorder) -> None:
    seen: list[Any] = []

    def keys(config: Any) -> Any:
        meta = dict(config["metadata"])
        return {**meta, "tags": config.get("tags"), "ns": config["configurable"]["checkpoint_ns"]}

    @e.task
    def look(x: Any, config, *, store, writer, runtime, previous) -> Any:
        writer({"in": "task"})
        seen.append(["task", keys(config), store, previous, runtime.context, runtime.previous])
        return x

    @flow(e, context_schema=dict)
    def wf(x: Any, config, *, writer, runtime, previous, store) -> Any:
        writer("in entrypoint")
        seen.append(["entry", keys(config), store, previous, runtime.context, runtime.previous])
        return look(x).result()

    config = {**C, "metadata": {"user": "u"}, "tags": ["t"]}
    for x in (1, 2):
        rec.call(
            "custom", lambda x=x: list(wf.stream(x, config, stream_mode=["custom", "updates"]))
        )
    rec.invoke(wf, 3, config, context={"a": 1})
    rec.note("seen", seen)
    rec.look(wf, config)


@program
def an_argument_given_by_hand(e: Engine, rec: Recorder) -> None:
    @e.task
    def look(x: Any, store: Any = None, previous: Any = "p") -> Any:
        return [x, store, previous]

    @flow(e)
    def wf(x: Any) -> Any:
        return [look(x).result(), look(x, store="mine").result()]

    rec.invoke(wf, 1, C)
    rec.invoke(wf, 2, C)


@program
def commands_as_results(e: Engine, rec: Recorder) -> None:
    @e.task
    def make(x: Any) -> Any:
        return e.Command(update={"a": x}, goto="zz")

    @flow(e)
    def wf(x: Any) -> Any:
        return make(x).result()

    rec.run(wf, 1, C)
    rec.look(wf, C)


@program
def edits_of_an_entrypoint(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return e.entrypoint.final(value=[x, previous], save=(previous or 0) + x)

    rec.run(wf, 1, C)
    rec.update(wf, C, 50)
    rec.look(wf, C)
    rec.run(wf, 2, C)
    rec.update(wf, C, e.entrypoint.final(value="v", save=100), as_node="wf")
    rec.run(wf, 3, C)
    rec.update(wf, C, 5, as_node="nope")
    rec.look(wf, C)


@program
def time_travel_of_an_entrypoint(e: Engine, rec: Recorder) -> None:
    ran: list[Any] = []

    @e.task
    def step(x: Any) -> Any:
        ran.append(x)
        return x

    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return [step(x).result(), e.interrupt("?"), previous]

    rec.run(wf, 1, C)
    asked = wf.get_state(C).config
    rec.run(wf, e.Command(resume="a"), C)
    rec.run(wf, None, asked)
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="b"), C)
    rec.look(wf, C)
    rec.note("ran", ran)


@program
def workflow_saved_at_the_exit(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return [double(x).result(), e.interrupt("?")]

    rec.run(wf, 1, C, durability="exit")
    rec.look(wf, C)
    rec.run(wf, e.Command(resume="a"), C, durability="exit")
    rec.look(wf, C)


@program
def stopped_before_an_entrypoint(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return double(x).result()

    rec.run(wf, 1, C, interrupt_before=["wf"])
    rec.look(wf, C)
    rec.run(wf, None, C, interrupt_after="*")
    rec.look(wf, C)


@program
def default_streams(e: Engine, rec: Recorder) -> None:
    double = doubling(e)

    @flow(e)
    def wf(x: int) -> Any:
        return double(x).result()

    rec.call("default", lambda: list(wf.stream(1, C)))
    for mode in (
        "values",
        "updates",
        "tasks",
        "custom",
        "debug",
        ["values"],
        ["updates", "custom"],
    ):
        rec.call(str(mode), lambda mode=mode: list(wf.stream(1, C, stream_mode=mode)))
    rec.call("subgraphs", lambda: list(wf.stream(1, C, subgraphs=True)))
    rec.call("batch", wf.batch, [1, 2], C)


@program
def unserialisable_results(e: Engine, rec: Recorder) -> None:
    @flow(e)
    def wf(x: int, *, previous: Any) -> Any:
        return {"x": x, "previous": previous, "nested": {"a": [1, {"b": (1, 2)}], 5: b"x"}}

    rec.invoke(wf, 1, C)
    rec.invoke(wf, 2, C)
    rec.look(wf, C)
