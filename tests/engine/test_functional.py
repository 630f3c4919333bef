"""Entrypoints and tasks: what a comparison of histories does not show."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from concurrent.futures import Future
from typing import Any

import pytest

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.func import entrypoint, task
from ckpt_viz.types import Command, RetryPolicy, interrupt

C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


def run(graph: Any, value: Any, awaits: bool, config: Any = C, **options: Any) -> Any:
    if awaits:
        return asyncio.run(graph.ainvoke(value, config, **options))
    return graph.invoke(value, config, **options)


colours = pytest.mark.parametrize("awaits", [False, True], ids=["sync", "async"])


@colours
def test_a_finished_task_is_saved_before_its_caller_goes_on(awaits: bool) -> None:
    saver = InMemorySaver()
    seen: list[Any] = []

    @task
    def work(x: int) -> int:
        return x

    @entrypoint(checkpointer=saver)
    def flow(n: int) -> int:
        for i in range(n):
            work(i).result()
            found = saver.get_tuple(C)
            assert found is not None
            seen.append(sorted(v for _, c, v in found.pending_writes or () if c == "__return__"))
        return n

    run(flow, 3, awaits, durability="sync")
    assert seen == [[0], [0, 1], [0, 1, 2]]


@colours
def test_max_concurrency_bounds_tasks_and_nested_ones_do_not_lock(awaits: bool) -> None:
    lock, running, most = threading.Lock(), [0], [0]

    @task
    def leaf(x: int) -> int:
        return x

    @task
    def work(x: int) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        found = leaf(x).result()
        with lock:
            running[0] -= 1
        return found

    @entrypoint()
    def flow(n: int) -> Any:
        return sum(f.result() for f in [work(i) for i in range(n)])

    assert run(flow, 9, awaits, {"max_concurrency": 2}) == 36
    assert most[0] <= 2


@colours
def test_tasks_may_call_themselves(awaits: bool) -> None:
    @task
    def fib(n: int) -> Any:
        return n if n < 2 else fib(n - 1).result() + fib(n - 2).result()

    @entrypoint()
    def flow(n: int) -> Any:
        return fib(n).result()

    assert run(flow, 6, awaits) == 8


@colours
def test_only_what_failed_runs_again(awaits: bool, tmp_path: Any) -> None:
    ran: list[Any] = []
    broken = [True]

    @task
    def work(x: int) -> int:
        ran.append(x)
        if x == 2 and broken[0]:
            raise ValueError("broken")
        return x * 10

    with SqliteSaver.from_conn_string(str(tmp_path / "a.db")) as saver:

        @entrypoint(checkpointer=saver)
        def flow(n: int) -> Any:
            return [f.result() for f in [work(i) for i in range(n)]]

        with pytest.raises(ValueError, match="broken"):
            run(flow, 4, awaits)
        broken[0] = False
        again = len(ran)
        assert run(flow, None, awaits) == [0, 10, 20, 30]
    assert 2 in ran[again:]
    assert set(ran[again:]).isdisjoint({0, 1})


def test_futures_of_both_colours() -> None:
    @task
    def work(x: int) -> int:
        return x + 1

    kinds: list[bool] = []

    @entrypoint()
    def plain(x: int) -> Any:
        future = work(x)
        kinds.append(isinstance(future, Future))
        return future.result(timeout=5), future.done(), future.exception()

    @entrypoint()
    async def awaited(x: int) -> Any:
        future = work(x)
        kinds.append(isinstance(future, asyncio.Future))
        return await future

    assert plain.invoke(1) == (2, True, None)
    assert asyncio.run(awaited.ainvoke(1)) == 2
    assert kinds == [True, True]


async def test_a_node_may_cancel_what_it_called() -> None:
    ended: list[str] = []

    @task
    async def slow(x: int) -> None:
        try:
            await asyncio.sleep(5)
        finally:
            ended.append("ended")

    @entrypoint()
    async def flow(wait: float) -> str:
        future = slow(1)
        await asyncio.sleep(wait)
        future.cancel()
        try:
            await future
        except asyncio.CancelledError:
            return "cancelled"
        return "ran"

    assert await flow.ainvoke(0.01) == "cancelled"
    assert ended == ["ended"]
    assert await flow.ainvoke(0.0) == "cancelled"


async def test_cancelling_a_run_cancels_its_tasks() -> None:
    ended: list[str] = []

    @task
    async def slow(x: int) -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    @entrypoint()
    async def flow(x: int) -> None:
        await slow(x)

    running = asyncio.create_task(flow.ainvoke(1))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0.01)
    assert ended == ["cancelled"]


def test_a_stream_tells_tasks_as_they_end() -> None:
    times: list[float] = []

    @task
    def work(x: float) -> float:
        time.sleep(x)
        return x

    @entrypoint()
    def flow(x: float) -> str:
        work(0.0).result()
        work(x).result()
        return "ended"

    for _ in flow.stream(0.3):
        times.append(time.perf_counter())
    assert len(times) == 3
    assert times[1] - times[0] > 0.2


def test_leaving_a_stream_early_keeps_what_was_done() -> None:
    ran: list[int] = []

    @task
    def work(x: int) -> int:
        ran.append(x)
        time.sleep(0.02)
        return x

    @entrypoint(checkpointer=InMemorySaver())
    def flow(n: int) -> Any:
        return [work(i).result() for i in range(n)] + [interrupt("go on?")]

    for _ in flow.stream(3, C):
        break
    flow.invoke(None, C)
    assert flow.invoke(Command(resume="yes"), C) == [0, 1, 2, "yes"]
    assert sorted(ran) == [0, 1, 2]


def test_methods_and_partials_are_tasks() -> None:
    class Counter:
        def __init__(self) -> None:
            self.base = 10

        def plain(self, x: int) -> int:
            return self.base + x

        @task
        def decorated(self, x: int) -> int:
            return self.base * x

    counter = Counter()
    bound, part = task(counter.plain), task(functools.partial(max, 5))

    @entrypoint()
    def flow(x: int) -> Any:
        return bound(x).result(), counter.decorated(x).result(), part(x).result()

    assert flow.invoke(2) == (12, 20, 5)
    assert (bound.__name__, part.__name__) == ("plain", "max")


def test_a_task_keeps_its_names_and_words() -> None:
    @task(name="other")
    def work(x: int) -> int:
        """What it does."""
        return x

    assert (work.__name__, work.__doc__) == ("other", "What it does.")
    assert isinstance(work.func, type(lambda: 0))


def test_final_says_what_it_holds() -> None:
    final = entrypoint.final(value=1, save=2)
    assert repr(final) == "entrypoint.final(value=1, save=2)"
    assert final == entrypoint.final(value=1, save=2)
    with pytest.raises(TypeError):
        entrypoint.final(1, 2)  # type: ignore[misc]


def test_sync_code_cannot_call_async_tasks() -> None:
    @task
    async def work(x: int) -> int:
        return x

    @entrypoint()
    def flow(x: int) -> Any:
        return work(x).result()

    with pytest.raises(RuntimeError, match="async tasks cannot be called"):
        flow.invoke(1)
    assert asyncio.run(flow.ainvoke(1)) == 1


def test_what_an_entrypoint_tells_of_itself() -> None:
    @entrypoint()
    def flow(x: int) -> entrypoint.final[str, int]:
        return entrypoint.final(value=str(x), save=x)

    assert (flow.InputType, flow.OutputType) == (int, str)
    assert flow.get_input_jsonschema() == {"title": "LangGraphInput", "type": "integer"}
    assert flow.get_output_jsonschema() == {"title": "LangGraphOutput", "type": "string"}
    drawn = flow.get_graph()
    assert sorted(drawn.nodes) == ["__end__", "__start__", "flow"]
    assert [(e.source, e.target) for e in drawn.edges] == [
        ("__start__", "flow"),
        ("flow", "__end__"),
    ]


def test_older_words_are_taken_and_told() -> None:
    policy = RetryPolicy(max_attempts=5)
    with pytest.warns(DeprecationWarning, match="`retry` is deprecated"):
        work = task(lambda x: x, retry=policy)
    assert work.retry_policy == (policy,)
    with pytest.warns(DeprecationWarning, match="`config_schema` is deprecated"):
        assert entrypoint(config_schema=dict).context_schema is dict
