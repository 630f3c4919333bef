"""The two drivers: they answer a script's requests by blocking calls or by awaits.

A failure of a request is thrown into the script, so ``try`` in the core means what it says.
A single ready task runs in the caller's thread; several run on the run's own pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from ckpt_viz.pregel.execute import arun_task, is_coroutine_task, run_task
from ckpt_viz.pregel.requests import Emit, History, Load, Next, RunOne, Save, SaveWrites, Start
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.task import Task

MAX_WORKERS = 32


class _Chunk:
    """A custom chunk on its way from a node to the caller."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Sync:
    """Answers requests in the calling thread."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.saver = run.saver
        self.pool: ThreadPoolExecutor | None = None
        self.done: SimpleQueue[Any] = SimpleQueue()
        self.futures: list[Any] = []
        self.left = 0
        run.post = lambda chunk: self.done.put(_Chunk(chunk))
        self.table: dict[type, Any] = {
            Load: lambda r: self.saver.get_tuple(r.config),
            Save: lambda r: self.saver.put(r.config, r.checkpoint, r.metadata, r.versions),
            SaveWrites: lambda r: self.saver.put_writes(r.config, r.writes, r.task_id, r.path),
            RunOne: lambda r: run_task(run, r.task),
            Start: self.start,
            History: lambda r: self.saver.list(
                r.config, filter=r.filter, before=r.before, limit=r.limit
            ),
        }

    def start(self, request: Start) -> None:
        tasks = request.tasks
        if self.pool is None:
            limit = self.run.settings.config.get("max_concurrency") or MAX_WORKERS
            self.pool = ThreadPoolExecutor(limit, thread_name_prefix="ckpt_viz")
        self.left = len(tasks)
        self.futures = [
            (self.pool.submit(copy_context().run, self._work, task), task) for task in tasks
        ]

    def _work(self, task: Task) -> None:
        run_task(self.run, task)
        self.done.put(task)

    def cancel(self) -> None:
        for future, _ in self.futures:
            if future.cancel():
                self.left -= 1
        self.futures = []

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)


def drive(run: Run, script: Script) -> Iterator[Any]:
    """Run a script to its end, yielding its chunks. Closing the iterator closes the script."""
    own = _Sync(run)
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration:
                break
            answer, error = None, None
            kind = request.__class__
            if kind is Emit:
                yield request.chunk
            elif kind is Next:
                if request.cancel and own.futures:
                    own.cancel()
                while own.left:
                    item = own.done.get()
                    if item.__class__ is _Chunk:
                        yield item.value
                        continue
                    own.left -= 1
                    answer = item
                    break
                else:
                    while not own.done.empty():
                        yield own.done.get().value
            else:
                try:
                    answer = own.table[kind](request)
                except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                    error = failure
    finally:
        del error, answer
        script.close()
        own.close()


class _Async:
    """Answers requests on the running loop."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.saver = run.saver
        self.loop = asyncio.get_running_loop()
        self.pool: ThreadPoolExecutor | None = None
        self.done: asyncio.Queue[Any] = asyncio.Queue()
        self.tasks: list[asyncio.Task[None]] = []
        self.left = 0
        run.post = self.post
        self.table: dict[type, Any] = {
            Load: lambda r: self.saver.aget_tuple(r.config),
            Save: lambda r: self.saver.aput(r.config, r.checkpoint, r.metadata, r.versions),
            SaveWrites: lambda r: self.saver.aput_writes(r.config, r.writes, r.task_id, r.path),
            RunOne: self.one,
            Start: self.start,
            History: self.history,
        }

    def post(self, chunk: Any) -> None:
        """Take a custom chunk, from the loop or from a thread."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            self.done.put_nowait(_Chunk(chunk))
        else:
            self.loop.call_soon_threadsafe(self.done.put_nowait, _Chunk(chunk))

    async def in_thread(self, call: Any, *args: Any) -> Any:
        """Run a sync node on the run's pool, in a copy of this context."""
        if self.pool is None:
            limit = self.run.settings.config.get("max_concurrency") or MAX_WORKERS
            self.pool = ThreadPoolExecutor(limit, thread_name_prefix="ckpt_viz")
        return await self.loop.run_in_executor(self.pool, copy_context().run, call, *args)

    async def history(self, request: History) -> list[Any]:
        r = request
        found = self.saver.alist(r.config, filter=r.filter, before=r.before, limit=r.limit)
        return [item async for item in found]

    async def one(self, request: RunOne) -> None:
        await arun_task(self.run, request.task, self.in_thread)
        if is_coroutine_task(request.task):
            await asyncio.sleep(0)

    async def start(self, request: Start) -> None:
        limit = self.run.settings.config.get("max_concurrency")
        gate = asyncio.Semaphore(limit) if limit else None
        self.left = len(request.tasks)
        self.tasks = [asyncio.create_task(self._work(t, gate)) for t in request.tasks]

    async def _work(self, task: Task, gate: asyncio.Semaphore | None) -> None:
        if gate is None:
            await arun_task(self.run, task, self.in_thread)
        else:
            async with gate:
                await arun_task(self.run, task, self.in_thread)
        self.done.put_nowait(task)

    async def cancel(self) -> None:
        """Cancel what still runs; a cancelled sibling leaves no trace of its own."""
        for one in self.tasks:
            one.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks = []
        kept = []
        while not self.done.empty():
            item = self.done.get_nowait()
            cancelled = isinstance(item, Task) and isinstance(item.error, asyncio.CancelledError)
            if not cancelled:
                kept.append(item)
        self.left = sum(isinstance(item, Task) for item in kept)
        for item in kept:
            self.done.put_nowait(item)

    async def close(self) -> None:
        for one in self.tasks:
            one.cancel()
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)


async def adrive(run: Run, script: Script) -> AsyncIterator[Any]:
    """Like `drive`, awaiting. Pull-driven: no superstep runs that nobody asked for."""
    own = _Async(run)
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration:
                break
            answer, error = None, None
            kind = request.__class__
            if kind is Emit:
                yield request.chunk
            elif kind is Next:
                if request.cancel and own.tasks:
                    await own.cancel()
                while own.left:
                    item = await own.done.get()
                    if item.__class__ is _Chunk:
                        yield item.value
                        continue
                    own.left -= 1
                    answer = item
                    break
                else:
                    while not own.done.empty():
                        yield own.done.get_nowait().value
            else:
                try:
                    answer = await own.table[kind](request)
                except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                    error = failure
    finally:
        del error, answer
        script.close()
        await own.close()


def finish(run: Run, script: Script) -> Any:
    """Run a script that shows nothing, and return its result."""
    own = _Sync(run)
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration as stop:
                return stop.value
            answer, error = None, None
            try:
                answer = own.table[request.__class__](request)
            except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                error = failure
    finally:
        del error, answer
        own.close()


async def afinish(run: Run, script: Script) -> Any:
    """Like `finish`, awaiting."""
    own = _Async(run)
    answer: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                request = script.send(answer) if error is None else script.throw(error)
            except StopIteration as stop:
                return stop.value
            answer, error = None, None
            try:
                answer = await own.table[request.__class__](request)
            except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                error = failure
    finally:
        del error, answer
        await own.close()
