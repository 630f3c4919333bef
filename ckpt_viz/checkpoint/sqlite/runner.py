"""Where SQL runs: in the caller's thread under a lock, or in one worker for async callers.

Scripts run there whole. They yield a `Batch` of statements and receive the rows of each; or
nothing, and receive the connection.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ckpt_viz.checkpoint.batches import Batch
from ckpt_viz.checkpoint.plans import WRITE, Plans, Transaction, answer, named
from ckpt_viz.checkpoint.sqlite.schema import begin
from ckpt_viz.debug import switch, tell_of_a_running_loop

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")
Work = Callable[[sqlite3.Connection], T]
_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Runner(Protocol):
    """Runs a function on a connection, for callers of either colour."""

    def run(self, work: Work[T]) -> T:
        """Run it and wait."""
        ...

    async def arun(self, work: Work[T]) -> T:
        """Run it off the event loop."""
        ...

    def close(self, finish: Callable[[], None]) -> None:
        """Stop the worker, if there is one, and finish while nobody else works."""
        ...


class LockedRunner:
    """One lock around one connection; async work goes through one worker thread."""

    def __init__(self, conn: Callable[[], sqlite3.Connection]) -> None:
        self._conn = conn
        self._lock = threading.RLock()
        self._jobs: SimpleQueue[_Job | None] | None = None
        self._bound = False

    def run(self, work: Work[T]) -> T:
        """Run it in this thread."""
        if switch.active:
            tell_of_a_running_loop()
        with self._lock:
            return work(self._conn())

    async def arun(self, work: Work[T]) -> T:
        """Run it in the worker; in this thread if the connection is bound to it."""
        if self._bound:
            return self.run(work)
        try:
            return await self._submit(lambda: self.run(work))
        except sqlite3.ProgrammingError as error:
            if "created in a thread" not in str(error):
                raise
            self._bound = True
            return self.run(work)

    async def _submit(self, job: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue().put((job, loop, future))
        return await future

    def _queue(self) -> SimpleQueue[_Job | None]:
        with self._lock:
            if self._jobs is None:
                jobs: SimpleQueue[_Job | None] = SimpleQueue()
                threading.Thread(
                    target=_serve, args=(jobs,), name="ckpt-sqlite", daemon=True
                ).start()
                weakref.finalize(self, jobs.put, None)
                self._jobs = jobs
            return self._jobs

    def close(self, finish: Callable[[], None]) -> None:
        """Stop the worker and finish under the lock."""
        with self._lock:
            if self._jobs is not None:
                self._jobs.put(None)
                self._jobs = None
            finish()


def _serve(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        work, loop, future = job
        result, error = None, None
        try:
            result = work()
        except BaseException as caught:  # noqa: BLE001 - handed to the caller, whatever it is
            error = caught
        try:
            loop.call_soon_threadsafe(_deliver, future, result, error)
        except RuntimeError:
            continue  # the caller's loop is closed: nobody waits any more
        finally:
            del job, work, loop, future, result, error


def _deliver(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


class AioRunner:
    """Runs work in the thread of an aiosqlite connection, which owns its sqlite3 connection."""

    def __init__(self, conn: Any, prepare: Work[None]) -> None:
        self._conn = conn
        self._prepare: Work[None] | None = prepare

    async def arun(self, work: Work[T]) -> T:
        """Run it in aiosqlite's own thread; opens the connection if nobody did."""
        if self._conn._connection is None:
            await self._conn
        return await self._conn._execute(self._call, work)  # type: ignore[no-any-return]

    def _call(self, work: Work[T]) -> T:
        raw: sqlite3.Connection = self._conn._conn
        if self._prepare is not None:
            self._prepare(raw)
            self._prepare = None
        return work(raw)

    def run(self, work: Work[T]) -> T:
        """Run it there and wait, from any thread, also inside a running loop."""
        box: list[T] = []
        errors: list[BaseException] = []

        def go() -> None:
            try:
                box.append(asyncio.run(self.arun(work)))
            except BaseException as caught:  # noqa: BLE001 - raised again in the caller
                errors.append(caught)

        thread = threading.Thread(target=go, name="ckpt-aiosqlite")
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return box[0]

    def close(self, finish: Callable[[], None]) -> None:
        """Nothing to stop: the connection is the user's."""
        finish()


class SqliteColours(Plans):
    """Both colours of one connection, whose scripts run where a runner says.

    Args:
        runner: it.
        finish: closes the connection, if it was opened here.
        forget: is called after a script that writes, however it ended.
    """

    def __init__(
        self, runner: Runner, finish: Callable[[], None], forget: Callable[[], None] | None = None
    ) -> None:
        self.runner = runner
        self._finish = finish
        self._forget = forget or _nothing

    def _one(self, wanted: Transaction) -> Any:
        return self.runner.run(lambda conn: self._transact(conn, wanted))

    async def _aone(self, wanted: Transaction) -> Any:
        return await self.runner.arun(lambda conn: self._transact(conn, wanted))

    def _transact(self, conn: sqlite3.Connection, wanted: Transaction) -> Any:
        """Run a script; one that writes is one transaction."""
        if wanted.mode != WRITE:
            return answer(conn, wanted.script(), _rows)
        begin(conn)
        try:
            result = answer(conn, wanted.script(), _rows)
        except BaseException:
            conn.rollback()
            raise
        finally:
            self._forget()
        conn.commit()
        return result

    async def enter(self) -> None:
        """Open the connection."""
        await self.runner.arun(_nothing)

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        self.runner.close(self._finish)


def _rows(conn: sqlite3.Connection, batch: Batch) -> list[Any]:
    cursor = conn.cursor()
    cursor.row_factory = None
    if batch.answered:
        return [cursor.execute(sql, values).fetchall() for sql, values in batch.statements]
    for sql, values in batch.statements:
        cursor.execute(sql, values)
    return []


def quick(
    name: str, ready: Callable[Concatenate[S, P], Work[T]]
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """A pair of methods whose work needs no script, for what every step of a graph calls.

    Args:
        name: that of the method.
        ready: prepares the work in the caller, at once.
    """

    def run(self: Any, *args: Any, **options: Any) -> Any:
        return self._runner.run(ready(self, *args, **options))

    async def arun(self: Any, *args: Any, **options: Any) -> Any:
        return await self._runner.arun(ready(self, *args, **options))

    pair: Any = run, arun
    return named(pair, name, ready)  # type: ignore[no-any-return]


def _nothing(_: sqlite3.Connection | None = None) -> None:
    """Opening the connection is all that was wanted."""
