"""The public face: each operation is a script, run in either colour.

A batch is at most two transactions: one that reads, and one that writes and starts times to live
anew. Vectors are read once and kept in this process; each search asks for those that are new.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from random import getrandbits
from typing import Any

from ckpt_viz.checkpoint.plans import READ, WRITE, Finished, Opened, Plan, Plans, Transaction
from ckpt_viz.store.filters import check_keys
from ckpt_viz.store.interface import BaseStore
from ckpt_viz.store.meaning import Known, Meaning, aknown, known
from ckpt_viz.store.namespaces import common_prefix, listed, namespace_of, text_of
from ckpt_viz.store.operations import checked_ops
from ckpt_viz.store.records import GetOp, ListNamespacesOp, Op, PutOp, SearchOp, TTLConfig
from ckpt_viz.store.scripted.rows import (
    Put,
    Row,
    Rows,
    Script,
    ending,
    found_of,
    item_of,
    key_of,
    packed_value,
)
from ckpt_viz.store.scripted.searching import Searcher
from ckpt_viz.store.sweeping import AsyncSweeper, Sweeper


class ScriptedStore(Opened, BaseStore):
    """A store of both colours over the rows of some database.

    Args:
        rows: the scripts for that kind of database.
        colours: its connections.
        index: settings for search by meaning, see `ckpt_viz.store.base.IndexConfig`. ``engine``
            is ``"numpy"`` to reckon in this process though the database could.
        ttl: how long items live, see `ckpt_viz.store.base.TTLConfig`.
    """

    supports_ttl = True

    def __init__(self, rows: Rows, colours: Plans, index: Any, ttl: TTLConfig | None) -> None:
        self._begin(rows, colours, index, ttl)

    def _begin(self, rows: Rows, colours: Plans, index: Any, ttl: TTLConfig | None) -> None:
        """As the constructor, for objects that a sub-class makes in another way."""
        self._rows = rows
        self._colours = colours
        self.index_config = index
        self.ttl_config = ttl
        self._meaning = Meaning(index) if index else None
        self.embeddings = self._meaning.embed if self._meaning else None
        engine = (index or {}).get("engine")
        self._searcher = Searcher(rows, is_ours=engine == "numpy")
        self._sweeper = Sweeper(ttl)
        self._entered: asyncio.AbstractEventLoop | None = None
        self._tasks = AsyncSweeper(ttl)

    # -- operations ----------------------------------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations; one result each. Reads see what was there before the writes."""
        done = self._checked(ops)
        return self._colours.run(self._batch(done, known(self._meaning, done)))

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """As `batch`."""
        done = self._checked(ops)
        return await self._colours.arun(self._batch(done, await aknown(self._meaning, done)))

    def _checked(self, ops: Iterable[Op]) -> list[Op]:
        done = checked_ops(ops)
        for op in done:
            if isinstance(op, SearchOp):
                check_keys(op.filter)
        return done

    def _batch(self, ops: list[Op], vectors: Known) -> Plan[list[Any]]:
        now = _now()
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        writes = [self._put(op, vectors, now) for op in puts.values()]
        results: list[Any] = [None] * len(ops)
        refreshed: list[Row] = []
        if len(writes) < len(ops):
            results, refreshed = yield Transaction(lambda: self._read(ops, vectors, now), READ)
        if writes or refreshed:
            yield Transaction(lambda: self._write(writes, refreshed, now), WRITE)
        return results

    def _put(self, op: PutOp, vectors: Known, now: int) -> Put:
        ns, key = text_of(op.namespace), key_of(op.key)
        if op.value is None:
            return Put(ns, key, None, now, None, None, 0, None)
        found = None if self._meaning is None else self._meaning.vectors(op, vectors)
        state = getrandbits(62) if found else 0
        expires = None if op.ttl is None else ending(now, op.ttl)
        return Put(ns, key, packed_value(op.value), now, expires, op.ttl, state, found)

    def _write(self, puts: list[Put], refreshed: list[Row], now: int) -> Script[None]:
        if refreshed:
            yield from self._rows.refresh(refreshed, now)
        for put in puts:
            for vector in put.vectors or ():
                yield from self._searcher.check(vector)
        if puts:
            yield from self._rows.write(puts)

    def _read(self, ops: list[Op], vectors: Known, now: int) -> Script[tuple[list[Any], list[Row]]]:
        shown = now if (self.ttl_config or {}).get("omit_expired", True) else 0
        refreshed: list[Row] = []
        gets = [(text_of(op.namespace), key_of(op.key)) for op in ops if isinstance(op, GetOp)]
        got = iter((yield from self._rows.get(gets, shown)) if gets else ())
        results: list[Any] = []
        for op in ops:
            read: list[Row] = []
            if isinstance(op, GetOp):
                row = next(got)
                read = [] if row is None else [row]
                results.append(None if row is None else item_of(row, self._searcher.value(row)))
            elif isinstance(op, SearchOp):
                asked = vectors.questions.get(op.query) if op.query else None
                found = yield from self._searcher.search(op, asked, shown)
                read = [row for row, _, _ in found]
                results.append([found_of(*one) for one in found])
            elif isinstance(op, ListNamespacesOp):
                texts = yield from self._rows.spaces(text_of(common_prefix(op)), shown)
                results.append(listed(map(namespace_of, texts), op))
            else:
                results.append(None)
            if read and op.refresh_ttl:  # type: ignore[union-attr]
                refreshed += [row for row in read if row.ttl is not None]
        return results, refreshed

    # -- times to live -------------------------------------------------------------------------

    def sweep_ttl(self) -> int:
        """Remove what has expired now; returns how many items."""
        return self._colours.run(self._sweep())

    async def asweep_ttl(self) -> int:
        """As `sweep_ttl`."""
        return await self._colours.arun(self._sweep())

    def _sweep(self) -> Plan[int]:
        now = _now()
        return (yield Transaction(lambda: self._rows.sweep(now), WRITE))  # type: ignore[no-any-return]

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Any:
        """Sweep again and again in a thread, until `stop_ttl_sweeper` or the end of a ``with``.

        Args:
            sweep_interval_minutes: left out, that of the store's ``ttl``, or 5.

        Returns:
            A future that is done when the sweeper has stopped; at once if the store has no ``ttl``.
        """
        return self._sweeper.start(self.sweep_ttl, sweep_interval_minutes)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the sweeper; whether it has stopped within ``timeout`` seconds."""
        return self._sweeper.stop(timeout)

    # -- opening and closing -------------------------------------------------------------------

    def setup(self) -> Finished:
        """Make what the database needs now. Not needed: the first use does it. May be awaited."""
        self._colours.run(_nothing())
        return Finished()

    async def asetup(self) -> None:
        """As `setup`."""
        await self._colours.arun(_nothing())

    def close(self) -> None:
        """Stop the sweeper and close what was opened here; it opens again when used."""
        self._sweeper.stop()
        super().close()

    async def aclose(self) -> None:
        """As `close`."""
        self._sweeper.stop()
        await super().aclose()


def _now() -> int:
    """The time by this machine's clock, which is the only one that items live by."""
    return time.time_ns() // 1000


def _nothing() -> Plan[None]:
    yield Transaction(_idle, READ)


def _idle() -> Script[None]:
    yield from ()
