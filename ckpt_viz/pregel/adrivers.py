"""The async driver: it answers a script's requests by awaits. Imported only when it is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from ckpt_viz.checkpoint.base import BaseCheckpointSaver, is_replaced
from ckpt_viz.pregel import lease
from ckpt_viz.pregel.aexecute import TaskRun
from ckpt_viz.pregel.away import Away, advance
from ckpt_viz.pregel.calls import MANY, called_steps, outcome_of
from ckpt_viz.pregel.drivers import Chunk, counts, is_suspended, time_left
from ckpt_viz.pregel.execute import run_task
from ckpt_viz.pregel.inbox import Inbox
from ckpt_viz.pregel.requests import (
    Ask,
    CacheGet,
    CacheSet,
    Emit,
    History,
    Load,
    Newest,
    Next,
    RunOne,
    Save,
    SaveWrites,
    Start,
    Together,
    Told,
)
from ckpt_viz.pregel.run import Run, Script, stops
from ckpt_viz.pregel.streams import SILENT
from ckpt_viz.pregel.task import Task
from ckpt_viz.pregel.turn import Turn
from ckpt_viz.pregel.whole_config import saver_of
from ckpt_viz.pregel.workers import PATIENCE, Workers


class _Async:
    """Answers requests on the running loop. Sync nodes run on the run's threads (see `away`)."""

    awaits = True

    def __init__(self, run: Run) -> None:
        self.run = run
        self.saver = saver = saver_of(run)
        self.loop = asyncio.get_running_loop()
        run.owner = asyncio.current_task()
        self.turn = Turn(self.loop, run.owner)
        self.workers: Workers | None = None
        self.patience: asyncio.TimerHandle | None = None
        self.done = Inbox(self.loop)
        self.tasks: dict[asyncio.Task[None], Task] = {}
        self.left = 0
        self.sole: Task | None = None
        self.called: set[asyncio.Task[Any]] = set()
        self.pool: ThreadPoolExecutor | None = None
        self.places: asyncio.Semaphore | None = None
        run.driver = self
        run.post = self.post
        quick = _is_quick(run.saver)
        self.plain = (Save, SaveWrites) if quick else ()
        put: Any = getattr(saver, "put" if quick else "aput", None)
        put_writes: Any = getattr(saver, "put_writes" if quick else "aput_writes", None)
        put_step: Any = getattr(saver, "put_step" if quick else "aput_step", None)
        self.table: dict[type, Any] = {
            Load: lambda r: saver.aget_tuple(r.config),
            Newest: lambda r: saver.anewest_id(r.config),
            Save: lambda r: (
                put(*r.arguments)
                if r.writes is None
                else put_step(r.writes.arguments, *r.arguments)
            ),
            SaveWrites: lambda r: put_writes(*r.arguments),
            Start: self.start,
            Together: self.together,
            CacheGet: lambda r: run.cache.aget(r.keys),
            CacheSet: lambda r: run.cache.aset(r.pairs),
            Ask: lambda r: r.call(True),
            History: self.history,
            lease.Turn: lambda r: asyncio.sleep(0),
            lease.Wait: self.wait,
        }
        self.away = Away(self, run, saver)

    def post(self, chunk: Any) -> None:
        """Take a custom chunk, from the loop or from a thread."""
        self.done.put(Chunk(chunk))

    def staff(self) -> Workers:
        """The run's threads."""
        if self.workers is None:
            self.workers = Workers(self.run.settings.config.get("max_concurrency"))
        return self.workers

    def _in_threads(self, jobs: list[Any]) -> None:
        self.staff().start(jobs)
        if len(jobs) > 1:
            self.patience = self.loop.call_later(PATIENCE, self._spread)

    def _spread(self) -> None:
        self.patience = None
        if self.workers is not None:
            self.workers.spread()
        self.done.wake()

    def _work(self, task: Task, context: Context) -> None:
        run_task(self.run, task, context)
        workers = self.workers
        self.done.put(task, self.patience is None or workers is None or not workers.waiting)

    async def history(self, request: History) -> list[Any]:
        r = request
        found = self.saver.alist(r.config, filter=r.filter, before=r.before, limit=r.limit)
        return [item async for item in found]

    async def together(self, request: Together) -> Task | None:
        """Tasks side by side, stored from the loop as they end; the one that failed first."""
        await self.start(Start(request.tasks))
        failed: Task | None = None
        while (item := await self.next(Next(stops(failed)))) is not None:
            if item.__class__ is Told:
                continue
            if (writes := self.run.ended(item)) is not None:
                answer = self.table[SaveWrites](writes)
                if SaveWrites not in self.plain:
                    await answer
            if failed is None and item.outcome == "error":
                failed = item
        return failed

    async def start(self, request: Start) -> None:
        limit = self.run.settings.config.get("max_concurrency")
        gate = asyncio.Semaphore(limit) if limit else None
        self.left += len(request.tasks)
        here = [t for t in request.tasks if t.node.awaited]
        self.tasks |= {asyncio.create_task(self._await(t, gate)): t for t in here}
        jobs = [partial(self._work, t, copy_context()) for t in request.tasks if not t.node.awaited]
        if jobs:
            self._in_threads(jobs)
            await self.turn  # nodes on threads may all have ended before the loop had to sleep

    async def _await(self, task: Task, gate: asyncio.Semaphore | None) -> None:
        try:
            if gate is None:
                await TaskRun(self.run, task)
            else:
                async with gate:
                    await TaskRun(self.run, task)
        finally:
            self.done.put(task)

    async def next(self, request: Next) -> Any:
        """As the other driver's."""
        if request.cancel:
            await self.cancel()
        if not self.left and self.done.empty():
            return None
        if (left := time_left(self.run)) is None:
            item = await self.done.get(self.workers is not None and self.workers.working)
        else:
            try:
                item = await asyncio.wait_for(self.done.get(False), left)
            except TimeoutError:
                raise TimeoutError("Timed out") from None
        self.left += counts(item)
        if not self.left and self.patience is not None:
            self.patience.cancel()  # else each step's timer would wake the loop once more
            self.patience = None
        return item

    def begin(self, task: Task, crew: Any) -> Any:
        """Run a task that a node called, beside it: a future of the loop, or, from a thread, one
        that can be waited for there."""
        self.done.put(Told(task, False))  # before the caller can end
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            return self._begin(task)
        return asyncio.run_coroutine_threadsafe(self._hop(task), self.loop)

    async def _hop(self, task: Task) -> Any:
        return await self._begin(task)

    def _begin(self, task: Task) -> asyncio.Task[Any]:
        quiet = bool(task.outcome)
        made = self.loop.create_task(self._called(task))
        self.called.add(made)

        def ended(one: asyncio.Task[Any]) -> None:
            self.called.discard(one)
            if not one.cancelled():
                one.exception()  # looked at: a task that nobody awaits is no accident here
            self.done.put(Told(task, True, quiet))

        made.add_done_callback(ended)
        return made

    def _place(self, task: Task) -> asyncio.Semaphore | None:
        """What a called task waits for to begin. Those below it do not: it holds a place itself."""
        caller = task.caller
        limit = self.run.settings.config.get("max_concurrency")
        if not limit or (caller is not None and caller.caller is not None):
            return None
        if self.places is None:
            self.places = asyncio.Semaphore(limit)
        return self.places

    async def _run_called(self, task: Task) -> None:
        script, answer = called_steps(self.run, task), None
        while True:
            try:
                request = script.send(answer)
            except StopIteration:
                return
            kind, answer = request.__class__, None
            if kind is RunOne:
                await self._run_one(task)
                continue
            answer = self.table[kind](request)
            if kind not in self.plain:
                answer = await answer

    async def _run_one(self, task: Task) -> None:
        if task.node.awaited:
            await TaskRun(self.run, task)
            return
        if self.pool is None:
            self.pool = ThreadPoolExecutor(MANY)
        context = copy_context()
        await self.loop.run_in_executor(self.pool, run_task, self.run, task, context)

    async def _called(self, task: Task) -> Any:
        if not task.outcome:
            gate = self._place(task)
            if gate is None:
                await self._run_called(task)
            else:
                async with gate:
                    await self._run_called(task)
        return outcome_of(task)

    async def cancel(self) -> None:
        """Cancel what still runs, and wait until it has ended."""
        if self.workers is not None:
            self.left -= self.workers.drop()
        begun = list(self.tasks.values())
        await self._cancel_tasks()
        told = self.done.take_all()
        lost = [t for t in begun if not t.outcome and t not in told]
        for item in told:
            if isinstance(item, Task) and _is_lost(item):
                lost.append(item)
            else:
                self.done.put(item)
        self.left -= len(lost)

    async def _cancel_tasks(self) -> None:
        running = [*self.tasks, *self.called]
        self.tasks = {}
        for one in running:
            one.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)

    async def wait(self, request: lease.Wait) -> None:
        """Until the thread's lease is handed over."""
        handed: asyncio.Future[None] = self.loop.create_future()
        wake: Any = partial(self.loop.call_soon_threadsafe, _end, handed)
        request.wake = wake
        if not request.ready:
            await handed

    async def leave(self, script: Script) -> None:
        """After an error that is not the script's: the caller leaves, is cancelled, or waits no
        longer. What is finished is stored, the rest is cancelled."""
        self.away.leave()
        if not is_suspended(script):
            return
        script.close()
        lease.leave(self.run)
        await self.close()
        ended = [i for i in self.done.take_all() if isinstance(i, Task) and not _is_lost(i)]
        items = [*ended, *(t for t in (self.sole, self.away.task) if t is not None)]
        for request in self.run.left_over(items):
            answer = self.table[request.__class__](request)
            if request.__class__ not in self.plain:
                await answer

    def end(self) -> None:
        """As the other driver's."""
        self.table.clear()
        self.run.driver = self.run.post = None

    async def close(self) -> None:
        if self.tasks or self.called:
            await self._cancel_tasks()
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)
        if self.workers is not None:
            self.workers.drop()
            self.workers.close(wait=False)


def _is_lost(task: Task) -> bool:
    """Whether a task never began; one that was cancelled learns that it was."""
    if isinstance(task.error, asyncio.CancelledError):
        task.outcome = "cancelled"
    return not task.outcome


def _is_quick(saver: Any) -> bool:
    """Whether the saver is saved to from the loop as it is, because it never blocks."""
    base, kind = BaseCheckpointSaver, type(saver)
    if not isinstance(saver, base) or not saver.never_blocks or is_replaced(saver):
        return False
    return kind.aput is base.aput and kind.aput_writes is base.aput_writes


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def adrive(run: Run, script: Script) -> AsyncIterator[Any]:
    """Like `drive`, awaiting. Pull-driven: no superstep runs that nobody asked for."""
    own = _Async(run)
    answer: Any = None
    error: BaseException | None = None
    lay_down, takes = run.baton.append, own.away.takes
    try:
        request = advance(script, None, None)
        while request is not None:
            if takes(request):
                request = await own.away.go(script, request)
                continue
            answer, error = None, None
            kind = request.__class__
            if kind is RunOne:
                own.sole = request.task
                await TaskRun(run, request.task)
                own.sole = None
                await own.turn
            elif kind is Emit:
                if request.chunk is not SILENT:
                    lay_down(None)
                    yield request.chunk
                    lease.pick_up(run)
            elif kind is Next:
                while (answer := await own.next(request)).__class__ is Chunk:
                    lay_down(None)
                    yield answer.value
                    lease.pick_up(run)
            else:
                try:
                    answer = own.table[kind](request)
                    if kind not in own.plain:
                        answer = await answer
                except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                    error = failure
            request = advance(script, answer, error)
    except BaseException:
        await own.leave(script)
        raise
    finally:
        del error, answer
        script.close()
        await own.close()
        own.end()


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
                answer = own.table[request.__class__](request)
                if request.__class__ not in own.plain:
                    answer = await answer
            except Exception as failure:  # noqa: BLE001 - thrown into the script, which decides
                error = failure
    finally:
        del error, answer
        await own.close()
        own.end()


async def gather(calls: Sequence[Coroutine[Any, Any, Any]], keep: bool) -> list[Any]:
    """The results of calls made side by side, in their order; ``keep`` puts failures among them."""
    return list(await asyncio.gather(*calls, return_exceptions=keep))
