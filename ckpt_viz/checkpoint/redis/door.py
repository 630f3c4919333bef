"""How scripts reach Redis: a blocking pool of either colour. A request is a call on the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import redis
from redis import asyncio as aredis

from ckpt_viz.checkpoint.plans import Script

T = TypeVar("T")
Request = Callable[[Any], Any]
"""Called with the client; an async client's answer is awaited."""


class RedisDoor:
    """Opens and uses clients for an address; uses a client that was given.

    Args:
        url: where the database is, ``redis://host:port/number``.
        pool_size: connections open at the same time, at most.
        timeout: seconds that who comes later waits for one.
    """

    def __init__(self, url: str, pool_size: int = 1, timeout: float = 10.0) -> None:
        self._url = url
        self._options: dict[str, Any] = {
            "max_connections": pool_size,
            "timeout": timeout,
            "health_check_interval": 30,
        }

    def open(self) -> Any:
        """A client on a pool of its own."""
        pool = redis.BlockingConnectionPool.from_url(self._url, **self._options)
        return redis.Redis.from_pool(pool)

    async def aopen(self) -> Any:
        """As `open`."""
        pool = aredis.BlockingConnectionPool.from_url(self._url, **self._options)
        return aredis.Redis.from_pool(pool)

    def run(self, client: Any, script: Script[T], mode: str) -> T:
        """Answer each request by calling it; the mode makes no difference."""
        answer = None
        try:
            while True:
                answer = script.send(answer)(client)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    async def arun(self, client: Any, script: Script[T], mode: str) -> T:
        """As `run`."""
        answer = None
        try:
            while True:
                answer = await script.send(answer)(client)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def close(self, client: Any) -> None:
        """Close a client and its connections."""
        client.close()

    async def aclose(self, client: Any) -> None:
        """As `close`."""
        await client.aclose()
