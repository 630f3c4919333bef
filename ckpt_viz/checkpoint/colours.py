"""Runs scripts on a server's connections, in both colours, and never hangs.

A script is a generator that yields requests and receives the answers; one script is one
transaction. A *plan* is a generator above it, which yields transactions and receives what their
scripts return, or what they raise. With a connection string
sync calls use a pool of threads' connections. Async calls have a pool of their own inside of
``async with``, which can close it before its event loop ends; elsewhere they hop a thread, as a
second loop does. A sync call on a client that belongs to the running loop raises, because waiting
for it would stop the loop that has to answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")
Script = Generator[Any, Any, T]


class Transaction(NamedTuple):
    """A script to run: it may only read, write, or must stand outside of any transaction."""

    script: Callable[[], Script[Any]]
    mode: str = "write"


READ, WRITE, BARE = "read", "write", "bare"
Plan = Generator[Transaction, Any, T]


class Finished:
    """What a sync call that was awaited all the same, as programs of one colour do, gives back."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class Door(Protocol):
    """What a kind of server must tell: how to open, use and close its clients."""

    def open(self) -> Any:
        """A sync client, for the address this door knows."""
        ...

    async def aopen(self) -> Any:
        """An async client; it belongs to the running loop."""
        ...

    def run(self, client: Any, script: Script[T], mode: str) -> T:
        """Run a script on one connection of a sync client."""
        ...

    async def arun(self, client: Any, script: Script[T], mode: str) -> T:
        """Run a script on one connection of an async client."""
        ...

    def close(self, client: Any) -> None:
        """Close a sync client."""
        ...

    async def aclose(self, client: Any) -> None:
        """Close an async client."""
        ...


class Plans:
    """Runs plans in either colour; how a transaction is run, a kind of database tells."""

    def run(self, plan: Plan[T]) -> T:
        """Run a plan and wait."""
        step = plan.__next__
        while True:
            try:
                wanted = step()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            try:
                step = partial(plan.send, self._one(wanted))
            except BaseException as error:  # noqa: BLE001 - the plan decides what follows
                step = partial(plan.throw, error)

    async def arun(self, plan: Plan[T]) -> T:
        """Run a plan without stopping the loop."""
        step = plan.__next__
        while True:
            try:
                wanted = step()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            try:
                step = partial(plan.send, await self._aone(wanted))
            except BaseException as error:  # noqa: BLE001 - the plan decides what follows
                step = partial(plan.throw, error)

    def _one(self, wanted: Transaction) -> Any:
        raise NotImplementedError

    async def _aone(self, wanted: Transaction) -> Any:
        raise NotImplementedError

    def is_awaited(self) -> bool:
        """Whether the running loop is one that waiting would stop for ever."""
        return False

    async def enter(self) -> None:
        """Open what async calls of the running loop use; `aclose` must follow in that loop."""

    def close(self) -> None:
        """Close what was opened here for sync calls; it opens again when used."""

    async def aclose(self) -> None:
        """Close what was opened here, in either colour."""
        self.close()


def both(
    plan: Callable[Concatenate[S, P], Plan[T]],
) -> tuple[
    Callable[Concatenate[S, P], T],
    Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
]:
    """The pair of methods of a plan, which are named as it is but for the underscore.

    Of a saver that never blocks the async one calls the other, which a subclass may have replaced.
    """
    name = plan.__name__.lstrip("_")

    def run(self: Any, *args: Any, **options: Any) -> Any:
        return self._colours.run(plan(self, *args, **options))

    async def arun(self: Any, *args: Any, **options: Any) -> Any:
        if self.never_blocks:
            return getattr(self, name)(*args, **options)
        return await self._colours.arun(plan(self, *args, **options))

    return named((run, arun), name, plan)  # type: ignore[no-any-return]


def named(pair: Any, name: str, like: Callable[..., Any]) -> Any:
    """A pair of methods with a name and what is told of another one."""
    for made, its_name in zip(pair, (name, f"a{name}"), strict=True):
        wraps(like)(made)
        made.__name__ = its_name
        made.__qualname__ = like.__qualname__.replace(like.__name__, its_name)
    return pair


def on_connection(
    work: Callable[Concatenate[S, Any, P], T],
) -> Callable[Concatenate[S, P], Script[T]]:
    """A method that works on a connection, made a script, which asks for it and for no more."""

    @wraps(work)
    def script(self: S, *args: P.args, **options: P.kwargs) -> Script[T]:
        return work(self, (yield), *args, **options)

    return script  # type: ignore[return-value]


def answer(
    conn: Any,
    script: Script[T],
    ask: Callable[[Any, Any], Any] = lambda conn, request: request(conn),
) -> T:
    """Run a script on a connection; ``ask`` answers what is more than a request for it."""
    asked = script.__next__
    while True:
        try:
            request = asked()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        asked = partial(script.send, conn if ask is None or request is None else ask(conn, request))


class AtOnce(Plans):
    """Runs plans whose connection is an object of this process."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def _one(self, wanted: Transaction) -> Any:
        return answer(self._conn, wanted.script())


class Opened:
    """What is opened at first use and closed in either colour, or by a ``with``."""

    _colours: Plans

    def close(self) -> None:
        """Close what was opened here; it opens again when used."""
        self._colours.close()

    async def aclose(self) -> None:
        """As `close`."""
        await self._colours.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self._colours.enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class Colours(Plans):
    """Both colours of one server. A sync call raises RuntimeError where the client belongs to the
    loop that runs in this very thread.

    Args:
        door: the kind of server.
        given: a client of the user's, which is never closed here; None to open our own.
        is_async: whether the given client is an async one.
    """

    def __init__(self, door: Door, given: Any = None, *, is_async: bool = False) -> None:
        self._door = door
        self._ours = given is None
        self._sync: Any = None if is_async else given
        self._async: Any = given if is_async else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        if is_async:
            self._loop = _running()

    def _one(self, wanted: Transaction) -> Any:
        script, mode = wanted
        if self._ours or self._async is None:
            return self._door.run(self._sync_client(), script(), mode)
        loop = self._loop
        if loop is None or loop is _running():
            raise RuntimeError(
                "This saver was made with an async connection, which belongs to the running event "
                "loop: waiting for it here would stop that loop. Await the a… method, or make the "
                "saver with from_conn_string(...), which serves both."
            )
        going = self._door.arun(self._async, script(), mode)
        return asyncio.run_coroutine_threadsafe(going, loop).result()

    async def _aone(self, wanted: Transaction) -> Any:
        script, mode = wanted
        loop = asyncio.get_running_loop()
        client = self._async_client(loop)
        if client is not None:
            return await self._door.arun(client, script(), mode)
        if self._ours or self._async is None:
            return await asyncio.to_thread(self._one, wanted)
        assert self._loop is not None  # an async client of another loop, given by the user
        going = self._door.arun(self._async, script(), mode)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(going, self._loop))

    def _sync_client(self) -> Any:
        with self._lock:
            if self._sync is None:
                self._sync = self._door.open()
            return self._sync

    def _async_client(self, loop: asyncio.AbstractEventLoop) -> Any:
        """The async client if it belongs to this loop; None where a thread is to be hopped."""
        if self._loop is None and not self._ours:
            self._loop = loop
        return self._async if self._loop is loop else None

    def is_awaited(self) -> bool:
        """Whether the running loop is the one to which an async client belongs."""
        loop = _running()
        return loop is not None and self._async_client(loop) is not None

    async def enter(self) -> None:
        """Open an async client for the running loop; `aclose` must follow in the same loop."""
        if self._ours and self._async is None:
            self._async, self._loop = await self._door.aopen(), asyncio.get_running_loop()

    def close(self) -> None:
        """Close the sync client, if it was opened here; it opens again when used."""
        if self._ours and self._sync is not None:
            client, self._sync = self._sync, None
            self._door.close(client)

    async def aclose(self) -> None:
        """Close what was opened here, in either colour."""
        if self._ours and self._async is not None and self._loop is _running():
            client, self._async, self._loop = self._async, None, None
            await self._door.aclose(client)
        await asyncio.to_thread(self.close)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
