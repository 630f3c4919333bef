"""A store for an event loop: what is awaited there has no ``a`` before its name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Self

from ckpt_viz.store.base.batch import refuse_own_loop
from ckpt_viz.store.records import Op
from ckpt_viz.store.scripted.store import ScriptedStore


class AwaitedStore(ScriptedStore):
    """A store under the names of async programs.

    In the loop in which it was entered its sync methods raise `asyncio.InvalidStateError`, which
    tells what to await; in other threads they work.
    """

    def _one(self, op: Op) -> Any:
        refuse_own_loop(self, self._entered, op)
        return super()._one(op)

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        refuse_own_loop(self, self._entered, "batch")
        return super().batch(ops)

    async def setup(self) -> None:  # type: ignore[override]
        """Make what the database needs now. Not needed: the first use does it."""
        await self.asetup()

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        """Remove what has expired now; returns how many items."""
        return await self.asweep_ttl()

    async def start_ttl_sweeper(
        self, sweep_interval_minutes: float | None = None
    ) -> asyncio.Task[None]:
        """Sweep again and again in a task, which is returned."""
        return self._tasks.start(self.asweep_ttl, sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # type: ignore[override]
        """Stop the sweeper; whether it has stopped within ``timeout`` seconds."""
        return await self._tasks.stop(timeout)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._entered = asyncio.get_running_loop()
        return self

    async def aclose(self) -> None:
        await self._tasks.stop()
        self._entered = None
        await super().aclose()


__all__ = ["AwaitedStore"]
