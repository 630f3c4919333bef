"""The public face: each pair of methods is one plan, run in either colour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from ckpt_viz.checkpoint.base import (
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointTuple,
    Config,
    Metadata,
    Removal,
    address,
    check_filter,
    check_head,
    config_of,
    get_checkpoint_id,
    no_checkpoint,
    text_version,
    time_of,
)
from ckpt_viz.checkpoint.colours import BARE, READ, Colours, Finished, Plan, Transaction
from ckpt_viz.checkpoint.scripted.reading import Listing
from ckpt_viz.checkpoint.scripted.rows import BaseGone, Conflict, Edit, HeadMoved, Query, Rows
from ckpt_viz.checkpoint.scripted.upkeep import (
    NOTHING,
    Choose,
    Upkeep,
    all_but_latest,
    everything,
)
from ckpt_viz.checkpoint.scripted.values import Values
from ckpt_viz.checkpoint.scripted.writing import pack_put, pack_writes, put
from ckpt_viz.checkpoint.searching import wanted
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.upkeep import check_strategy

S = TypeVar("S", bound="ScriptedSaver")
_TRIES = 20


class ScriptedSaver(BaseCheckpointSaver):
    """A saver of both colours over the rows of some server.

    Args:
        rows: the scripts for that kind of server.
        colours: its connections.
        serde: turns values into typed bytes.
    """

    partial_values = True
    joins_writes = True
    compares_heads = True

    def __init__(self, rows: Rows, colours: Colours, serde: SerializerProtocol | None) -> None:
        super().__init__(serde=serde)
        self._rows = rows
        self._colours = colours
        self._packed = Values()

    @property
    def _values(self) -> Values:
        return self._packed.using(self.serde)

    get_next_version = staticmethod(text_version)

    # -- writing -------------------------------------------------------------------------------

    def put(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Config:
        """Keep a checkpoint whose parent is ``config``; returns its own config.

        Raises:
            SerializationError: a value cannot be saved; nothing was kept.
            ThreadBusyError: an `Extending` config is no longer the head; nothing was kept.
        """
        return self._colours.run(self._put(config, checkpoint, metadata, new_versions))

    async def aput(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Config:
        """As `put`; the values are packed at once."""
        return await self._colours.arun(self._put(config, checkpoint, metadata, new_versions))

    def put_step(self, writes: Any, *put: Any) -> Config:
        """`put_writes` and `put` in one transaction, for a step that had one task.

        Args:
            writes: the arguments of `put_writes`.
            put: those of `put`.
        """
        return self._colours.run(self._put(*put, writes=writes))

    async def aput_step(self, writes: Any, *put: Any) -> Config:
        """As `put_step`; the values are packed at once."""
        return await self._colours.arun(self._put(*put, writes=writes))

    def _put(self, config: Config, *what: Any, writes: Any = None) -> Plan[Config]:
        thread, ns, _ = address(config)
        values, rows = self._values, self._rows
        for tried in range(2):
            try:
                wrote = None if writes is None else pack_writes(values, *writes)
                new = pack_put(values, config, *what)
                yield Transaction(lambda n=new, w=wrote: put(rows, values, n, w))  # type: ignore[misc]
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

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote. A plain write that is there already stays as it is."""
        self._colours.run(self._put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`; the values are packed at once."""
        await self._colours.arun(self._put_writes(config, writes, task_id, task_path))

    def _put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task: str, path: str
    ) -> Plan[None]:
        for tried in range(2):
            edit = pack_writes(self._values, config, writes, task, path)
            try:
                if edit.writes:
                    yield Transaction(lambda e=edit: self._rows.edit(e))  # type: ignore[misc]
                return
            except BaseGone:
                self._values.kept.drop(edit.thread)
                if tried:
                    raise

    # -- reading -------------------------------------------------------------------------------

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        found = self._colours.run(self._page(self._one(config)))
        return found[0] if found else None

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        """As `get_tuple`."""
        found = await self._colours.arun(self._page(self._one(config)))
        return found[0] if found else None

    def _one(self, config: Config) -> Listing:
        return Listing(self._rows, self._values, Query(*address(config)), limit=1)

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
        return Listing(self._rows, self._values, query, asked, limit)

    # -- threads -------------------------------------------------------------------------------

    def threads(self) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{thread_id, checkpoints, last_step, last_time, bytes}`` a thread."""
        return self._colours.run(self._threads())

    async def athreads(self) -> Sequence[dict[str, Any]]:
        """As `threads`."""
        return await self._colours.arun(self._threads())

    def _threads(self) -> Plan[list[dict[str, Any]]]:  # type: ignore[valid-type]
        rows = yield Transaction(self._rows.count, READ)
        return [
            {
                "thread_id": thread,
                "checkpoints": count,
                "last_step": step,
                "last_time": time_of(id_),
                "bytes": size,
            }
            for thread, count, step, id_, size in sorted(rows, key=lambda r: r[3], reverse=True)
        ]

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, its newest checkpoint)`` where the id holds `query`, newest first."""
        counted = self._colours.run(self._transact(self._rows.count))
        wanted = query.casefold()
        found = [(row[0], row[3]) for row in counted if wanted in row[0].casefold()]
        return sorted(found, key=lambda one: one[1], reverse=True)

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        """How many root checkpoints each of these threads has."""
        found = self._colours.run(self._transact(lambda: self._rows.count_roots(threads)))
        return dict(found)

    def _transact(self, script: Any) -> Plan[Any]:
        return (yield Transaction(script, READ))

    def namespaces(self, thread_id: str) -> list[str]:  # type: ignore[valid-type]
        """The namespaces in which a thread has checkpoints, sorted."""
        return self._colours.run(self._namespaces(thread_id))

    async def anamespaces(self, thread_id: str) -> Sequence[str]:
        """As `namespaces`."""
        return await self._colours.arun(self._namespaces(thread_id))

    def _namespaces(self, thread: str) -> Plan[list[str]]:  # type: ignore[valid-type]
        return sorted((yield Transaction(lambda: self._rows.namespaces(str(thread)), READ)))

    def delete_thread(self, thread_id: str) -> None:
        """Remove everything of a thread."""
        self._colours.run(self._delete(str(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await self._colours.arun(self._delete(str(thread_id)))

    def _delete(self, thread: str) -> Plan[None]:
        yield Transaction(lambda: self._rows.remove_thread(thread))
        self._values.kept.drop(thread)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread all checkpoints, writes and labels of a thread, ids unchanged."""
        self._colours.run(self._copy(str(source_thread_id), str(target_thread_id)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As `copy_thread`."""
        await self._colours.arun(self._copy(str(source_thread_id), str(target_thread_id)))

    def _copy(self, source: str, target: str) -> Plan[None]:
        if source != target:
            yield Transaction(lambda: self._upkeep.copy(source, target))

    @property
    def _upkeep(self) -> Upkeep:
        return Upkeep(self._rows, self._values)

    def delete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        """Remove the checkpoints whose metadata names one of these runs, and their writes."""
        return self._colours.run(self._delete_for_runs(run_ids, dry_run))

    async def adelete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        """As `delete_for_runs`."""
        return await self._colours.arun(self._delete_for_runs(run_ids, dry_run))

    def _delete_for_runs(self, run_ids: Sequence[str], dry_run: bool) -> Plan[Removal]:
        runs = {str(run) for run in run_ids}
        marks = [
            mark for run in runs for one in wanted(self.serde, {"run_id": run}) for mark in one
        ]
        threads = yield Transaction(lambda: self._rows.threads(marks or None), READ)
        return (yield from self._remove(threads, self._upkeep.of_runs(runs), dry_run))

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        """Remove old checkpoints; every one that remains keeps its state.

        Raises:
            ValueError: the strategy is unknown.
        """
        return self._colours.run(self._prune(thread_ids, strategy, dry_run, keep_labelled))

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        """As `prune`."""
        return await self._colours.arun(self._prune(thread_ids, strategy, dry_run, keep_labelled))

    def _prune(
        self, threads: Sequence[str], strategy: str, dry_run: bool, keep_labelled: bool
    ) -> Plan[Removal]:
        check_strategy(strategy)
        if strategy == "keep_latest":
            return (yield from self._remove(threads, all_but_latest(keep_labelled), dry_run))
        gone = yield from self._remove(threads, everything, True)
        for thread in () if dry_run else threads:
            yield from self._delete(str(thread))
        return gone

    def _remove(self, threads: Sequence[str], choose: Choose, dry_run: bool) -> Plan[Removal]:
        upkeep, gone = self._upkeep, NOTHING
        for thread in threads:
            for left in reversed(range(_TRIES)):
                try:
                    one = yield Transaction(lambda t=str(thread): upkeep.remove(t, choose, dry_run))  # type: ignore[misc]
                    gone = Removal(
                        gone.checkpoints + one.checkpoints,
                        gone.writes + one.writes,
                        gone.values + one.values,
                    )
                    break
                except Conflict:
                    if not left:
                        raise
        return gone

    def compact(self, *, dry_run: bool = False) -> dict[str, int]:
        """Give back the room of what was removed; ``{before, after}`` in bytes."""
        return self._colours.run(self._compact(dry_run))

    async def acompact(self, *, dry_run: bool = False) -> dict[str, int]:
        """As `compact`."""
        return await self._colours.arun(self._compact(dry_run))

    def _compact(self, dry_run: bool) -> Plan[dict[str, int]]:
        return (yield Transaction(lambda: self._rows.compact(dry_run), BARE))  # type: ignore[no-any-return]

    def storage_report(self) -> dict[str, Any]:
        """What takes how many bytes; see the base class."""
        return self._colours.run(self._report())

    async def astorage_report(self) -> dict[str, Any]:
        """As `storage_report`."""
        return await self._colours.arun(self._report())

    def _report(self) -> Plan[dict[str, Any]]:
        threads = yield Transaction(lambda: self._rows.threads(None), READ)
        made = []
        for thread in threads:
            made.append((yield Transaction(lambda t=thread: self._upkeep.report(t))))  # type: ignore[misc]
        return {"bytes": sum(one["bytes"] for one in made), "threads": made}

    def set_label(self, config: Config, label: str | None) -> None:
        """Name a checkpoint; None takes the name away.

        Raises:
            CheckpointNotFoundError: there is no such checkpoint.
        """
        self._colours.run(self._set_label(config, label))

    async def aset_label(self, config: Config, label: str | None) -> None:
        """As `set_label`."""
        await self._colours.arun(self._set_label(config, label))

    def _set_label(self, config: Config, label: str | None) -> Plan[None]:
        thread, ns, id_ = address(config)
        edit = Edit(thread, labels={(ns, id_ or ""): label}, needs_row=(ns, id_ or ""))
        try:
            yield Transaction(lambda: self._rows.edit(edit))
        except BaseGone:
            raise no_checkpoint(config) from None

    def labels(self, thread_id: str) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{checkpoint_ns, checkpoint_id, label}`` a named checkpoint, newest first."""
        return self._colours.run(self._labels(str(thread_id)))

    async def alabels(self, thread_id: str) -> Sequence[dict[str, Any]]:
        """As `labels`."""
        return await self._colours.arun(self._labels(str(thread_id)))

    def _labels(self, thread: str) -> Plan[list[dict[str, Any]]]:  # type: ignore[valid-type]
        found = yield Transaction(lambda: self._rows.labels(thread), READ)
        return [
            {"checkpoint_ns": ns, "checkpoint_id": id_, "label": found[ns, id_]}
            for ns, id_ in sorted(found, key=lambda key: (key[1], key[0]), reverse=True)
        ]

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

    def close(self) -> None:
        """Close what this saver opened; it opens again when used."""
        self._colours.close()

    async def aclose(self) -> None:
        """As `close`."""
        await self._colours.aclose()

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self: S) -> S:
        await self._colours.enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
