"""A base for stores whose async calls travel together: those of one turn of the loop are a batch.

A sub-class implements `batch` and `abatch`. Equal reads are asked once, and of several writes to
one place only the last is done. The sync methods serve other threads; in the loop's own thread
they raise, because waiting there would stop the loop that has to answer.
"""

from __future__ import annotations

import asyncio
from abc import ABC
from typing import Any

from ckpt_viz.store.interface import BaseStore
from ckpt_viz.store.records import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

_NAMES = {GetOp: "get", PutOp: "put", SearchOp: "search", ListNamespacesOp: "list_namespaces"}
_Waiting = list[tuple[Op, "asyncio.Future[Any]"]]


class AsyncBatchedBaseStore(BaseStore, ABC):
    """Gathers what is asked for in one turn of the running loop into one `abatch`.

    Raises:
        RuntimeError: made where no event loop runs.
    """

    __slots__ = ("_loop", "_task", "_waiting")

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._waiting: _Waiting = []
        self._task: asyncio.Task[None] | None = None

    def _one(self, op: Op) -> Any:
        refuse_own_loop(self, self._loop, op)
        return asyncio.run_coroutine_threadsafe(self._aone(op), self._loop).result()

    async def _aone(self, op: Op) -> Any:
        if asyncio.get_running_loop() is not self._loop:
            going = asyncio.run_coroutine_threadsafe(self._aone(op), self._loop)
            return await asyncio.wrap_future(going)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((op, future))
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """One batch after the other, so that what is asked for later sees what was written."""
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            await self._serve(waiting)

    async def _serve(self, waiting: _Waiting) -> None:
        """Ask for what is still waited for; an error reaches everybody who waits."""
        there = [(op, future) for op, future in waiting if not future.done()]
        if not there:
            return
        ops, places = _together([op for op, _ in there])
        try:
            results = await self.abatch(ops)
            answers = [results[at] for at in places]
        except Exception as error:  # noqa: BLE001 - handed to those who wait
            for _, future in there:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(there, answers, strict=True):
            if not future.done():
                future.set_result(answer)


def refuse_own_loop(store: BaseStore, loop: asyncio.AbstractEventLoop | None, op: Op | str) -> None:
    """Refuse a sync call in the thread of the loop that has to answer it.

    Raises:
        asyncio.InvalidStateError: this is that thread.
    """
    if loop is None:
        return
    try:
        if asyncio.get_running_loop() is not loop:
            return
    except RuntimeError:
        return
    name = op if isinstance(op, str) else _NAMES[type(op)]
    if isinstance(op, PutOp) and op.value is None:
        name = "delete"
    raise asyncio.InvalidStateError(
        f"Synchronous calls to {type(store).__name__} detected in the main event loop. They would "
        f"stop it. Replace `store.{name}(...)` with `await store.a{name}(...)`, or call it from "
        "another thread."
    )


def _together(ops: list[Op]) -> tuple[list[Op], list[int]]:
    """Operations without repeats, and which of them answers each of the given ones."""
    found: list[Op] = []
    places: list[int] = []
    seen: dict[Any, int] = {}
    for op in ops:
        key = (op.namespace, op.key) if isinstance(op, PutOp) else repr(op)
        at = seen.setdefault(key, len(found))
        if at == len(found):
            found.append(op)
        elif isinstance(op, PutOp):
            found[at] = op
        places.append(at)
    return found, places
