"""Runs scripts on a server's connections, in both colours, and never hangs.

With a connection string sync calls use a pool of threads' connections. Async calls have a pool of
their own inside of ``async with``, which can close it before its event loop ends; elsewhere they
hop a thread, as a second loop does. A sync call on a client that belongs to the running loop
raises, because waiting for it would stop the loop that has to answer.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Protocol, TypeVar

from ckpt_viz.checkpoint.plans import Plans, Script, Transaction

T = TypeVar("T")


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
