"""The public face: each pair of methods is one plan, run in either colour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    Config,
    Metadata,
    address,
    check_filter,
    check_head,
    config_of,
    get_checkpoint_id,
    text_version,
)
from ckpt_viz.checkpoint.packing import Packer
from ckpt_viz.checkpoint.plans import READ, Finished, Opened, Plan, Plans, Transaction, both
from ckpt_viz.checkpoint.scripted.reading import Listing
from ckpt_viz.checkpoint.scripted.rows import BaseGone, HeadMoved, Query
from ckpt_viz.checkpoint.scripted.threads import WholeThreads
from ckpt_viz.checkpoint.scripted.upkeep import Upkeep
from ckpt_viz.checkpoint.scripted.values import Values
from ckpt_viz.checkpoint.scripted.writing import pack_put, pack_writes, put
from ckpt_viz.checkpoint.searching import wanted
from ckpt_viz.checkpoint.serde.base import SerializerProtocol


class ScriptedSaver(Opened, WholeThreads):
    """A saver of both colours over the rows of some server.

    Args:
        rows: the scripts for that kind of server.
        colours: its connections.
        serde: turns values into typed bytes.
    """

    partial_values = True
    joins_writes = True
    compares_heads = True

    def __init__(self, rows: Any, colours: Plans, serde: SerializerProtocol | None) -> None:
        super().__init__(serde=serde)
        self._rows: Any = rows
        self._colours = colours
        self._packed: Packer = Values()
        self.noted = self._packed.noted

    @property
    def _values(self) -> Any:
        return self._packed.using(self.serde)

    get_next_version = staticmethod(text_version)

    # -- writing -------------------------------------------------------------------------------

    def _put(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Plan[Config]:
        """Keep a checkpoint whose parent is ``config``; returns its own config.

        The values are packed at once, in either colour.

        Raises:
            SerializationError: a value cannot be saved; nothing was kept.
            ThreadBusyError: an `Extending` config is no longer the head; nothing was kept.
        """
        return self._store((config, checkpoint, metadata, new_versions))

    put, aput = both(_put)

    def _put_step(self, writes: Any, *put: Any) -> Plan[Config]:
        """`put_writes` and `put` in one transaction, for a step that had one task.

        Args:
            writes: the arguments of `put_writes`.
            put: those of `put`.
        """
        return self._store(put, writes)

    put_step, aput_step = both(_put_step)

    def _store(self, what: Any, writes: Any = None) -> Plan[Config]:
        config = what[0]
        thread, ns, _ = address(config)
        values, rows = self._values, self._rows
        for tried in range(2):
            try:
                wrote = None if writes is None else pack_writes(values, *writes)
                new = pack_put(values, *what)
                yield Transaction(lambda n=new, w=wrote: put(rows, values, n, w))  # type: ignore[misc]
                if writes is not None:
                    values.noted.pop(writes[2], None)
                return config_of(thread, ns, new.row.id)
            except BaseGone:
                values.kept.drop(thread)
                if tried:
                    raise
            except HeadMoved as moved:
                values.kept.drop(thread)
                check_head(config, moved.args[0])
                raise
            except BaseException:
                values.kept.drop(thread)  # what was not stored is no base for the next
                raise
        raise AssertionError

    def _put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> Plan[None]:
        """Keep what a task wrote. A plain write that is there already stays as it is.

        The values are packed at once, in either colour.
        """
        for tried in range(2):
            edit = pack_writes(self._values, config, writes, task_id, task_path)
            try:
                if edit.writes:
                    yield Transaction(lambda e=edit: self._rows.edit(e))  # type: ignore[misc]
                self._values.noted.pop(task_id, None)
                return
            except BaseGone:
                self._values.kept.drop(edit.thread)
                if tried:
                    raise

    put_writes, aput_writes = both(_put_writes)

    # -- reading -------------------------------------------------------------------------------

    def _get_tuple(self, config: Config) -> Plan[CheckpointTuple | None]:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        page = yield Transaction(self._listing(Query(*address(config)), limit=1).page, READ)
        return page[0] if page else None

    get_tuple, aget_tuple = both(_get_tuple)

    def _page(self, listing: Listing) -> Plan[list[CheckpointTuple]]:
        return (yield Transaction(listing.page, READ))  # type: ignore[no-any-return]

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; no config means all threads, no namespace means all.

        Raises:
            ValueError: a filter key is not a plain name.
        """
        return self._pages(self._many(config, filter, before, limit))

    def _pages(self, listing: Listing) -> Iterator[CheckpointTuple]:
        while not listing.done:
            yield from self._colours.run(self._page(listing))

    async def alist(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        listing = self._many(config, filter, before, limit)
        while not listing.done:
            for item in await self._colours.arun(self._page(listing)):
                yield item

    def _many(
        self,
        config: Config | None,
        filter: dict[str, Any] | None,
        before: Config | None,
        limit: int | None,
    ) -> Listing:
        asked = check_filter(filter)
        query = Query(tokens=wanted(self.serde, asked))
        if config is not None:
            query.thread, ns, query.id = address(config)
            if config["configurable"].get("checkpoint_ns") is not None:
                query.ns = ns
        query.before = get_checkpoint_id(before) if before else None
        return self._listing(query, asked, limit)

    def _listing(
        self, query: Query, filter: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> Listing:
        return Listing(self._rows, self._values, query, filter, limit)

    @property
    def _upkeep(self) -> Upkeep:
        return Upkeep(self._rows, self._values)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, its newest checkpoint)`` where the id holds `query`, newest first."""
        counted = self._colours.run(self._transact(self._rows.count))
        wanted = query.casefold()
        found = [(row[0], row[3]) for row in counted if wanted in str(row[0]).casefold()]
        return sorted(found, key=lambda one: one[1], reverse=True)

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        """How many root checkpoints each of these threads has."""
        found = self._colours.run(self._transact(lambda: self._rows.count_roots(threads)))
        return dict(found)

    def _transact(self, script: Any) -> Plan[Any]:
        return (yield Transaction(script, READ))

    # -- opening and closing -------------------------------------------------------------------

    def setup(self) -> Awaitable[None]:
        """Make what the saver needs in the database. Not needed: the first use does it.

        It is done when this returns. With an async client, in its loop, it must be awaited; it may
        be always.
        """
        if self._colours.is_awaited():
            return self.asetup()
        self._colours.run(self._setup())
        return Finished()

    async def asetup(self) -> None:
        """As `setup`."""
        await self._colours.arun(self._setup())

    def _setup(self) -> Plan[None]:
        yield Transaction(self._rows.set_up)
