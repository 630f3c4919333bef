"""The contract of a saver, written once as scripts, for savers that keep their rows on a server.

A script is a generator: it yields requests that the saver's connection answers, blocking or
awaited. A subclass tells how rows are read and written (the methods marked "a row script"); all
that a checkpoint *means* stands here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from ckpt_viz.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointTuple,
    Config,
    Metadata,
    address,
    check_filter,
    config_of,
    get_checkpoint_id,
    matches,
    named,
    parent_of,
    time_of,
    without_values,
)
from ckpt_viz.checkpoint.codec import Codec
from ckpt_viz.checkpoint.colours import Colours, Script
from ckpt_viz.checkpoint.keys import version_name
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.jsonplus import EMPTY
from ckpt_viz.errors import SerializationError

T = TypeVar("T")
S = TypeVar("S", bound="ScriptedSaver")
_PAGE = 200


class Row(NamedTuple):
    """A stored checkpoint, packed. ``place`` is the saver's own handle of thread and namespace."""

    place: Any
    thread: str
    ns: str
    id: str
    parent: str | None
    body: Typed
    meta: Typed


class NewRow(NamedTuple):
    """A checkpoint to be stored, with the values that are new in it."""

    row: Row
    source: Any
    step: Any
    tokens: list[int]
    blobs: list[tuple[str, str, Typed]]


class Write(NamedTuple):
    """A pending write, packed."""

    task: str
    idx: int
    path: str
    channel: str
    typed: Typed


class BlobKey(NamedTuple):
    """Where a value is stored: the version is a name (see `version_name`)."""

    place: Any
    channel: str
    version: str


@dataclass(slots=True)
class Query:
    """Which checkpoints are wanted, newest first."""

    thread: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str | None = None
    tokens: list[list[int]] = field(default_factory=list)
    after: Row | None = None
    """The row after which the next page begins."""


class Listing:
    """Reads page after page; between pages no connection is held."""

    def __init__(
        self, saver: ScriptedSaver, query: Query, filter: dict[str, Any], limit: int | None
    ) -> None:
        self._saver = saver
        self._query = query
        self._filter = filter
        self._left = limit
        self._blobs: dict[BlobKey, Typed] = {}
        self.done = limit is not None and limit <= 0

    def page(self) -> Script[list[CheckpointTuple]]:
        """The next checkpoints; `done` tells whether there may be more."""
        saver, codec = self._saver, Codec(self._saver.serde)
        size = _PAGE if self._left is None or self._filter else min(_PAGE, self._left)
        rows: list[Row] = yield from saver._read_rows(self._query, size)
        self.done = len(rows) < size
        if rows:
            self._query.after = rows[-1]
        if self._filter:
            rows = [row for row in rows if matches(meta_of(codec, row), self._filter)]
        if self._left is not None:
            rows = rows[: self._left]
            self._left -= len(rows)
            self.done = self.done or self._left == 0
        found = yield from self._tuples(codec, rows)
        return found

    def _tuples(self, codec: Codec, rows: list[Row]) -> Script[list[CheckpointTuple]]:
        bodies = [codec.load(row.body, "checkpoint", row.thread, row.ns, row.id) for row in rows]
        keys = [
            [
                (channel, BlobKey(row.place, channel, version_name(version)))
                for channel, version in body["channel_versions"].items()
            ]
            for row, body in zip(rows, bodies, strict=True)
        ]
        needed = {key for pairs in keys for _, key in pairs}
        blobs = {key: typed for key, typed in self._blobs.items() if key in needed}
        more, writes = yield from self._saver._read_parts(needed - blobs.keys(), rows)
        self._blobs = blobs | more
        made = []
        for row, body, pairs, kept in zip(rows, bodies, keys, writes, strict=True):
            if kept is None:
                continue
            body["channel_values"] = {
                channel: codec.load(typed, "blob", row.thread, row.ns, channel, key.version)
                for channel, key in pairs
                if (typed := self._blobs.get(key, EMPTY)) != EMPTY
            }
            made.append(_tuple(codec, row, body, kept))
        return made


def meta_of(codec: Codec, row: Row) -> Metadata:
    """The metadata of a row."""
    return codec.load(row.meta, "metadata", row.thread, row.ns, row.id)  # type: ignore[no-any-return]


def _tuple(codec: Codec, row: Row, body: Checkpoint, writes: Sequence[Write]) -> CheckpointTuple:
    place = (row.thread, row.ns, row.id)
    return CheckpointTuple(
        config_of(*place),
        body,
        meta_of(codec, row),
        parent_of(row.thread, row.ns, row.parent),
        [
            (w.task, w.channel, codec.load(w.typed, "write", *place, w.task, str(w.idx)))
            for w in sorted(writes, key=lambda w: (w.path, w.task, w.idx))
        ],
    )


class ScriptedSaver(BaseCheckpointSaver):
    """A saver of both colours, each public pair of methods being one script."""

    partial_values = True
    _colours: Colours

    # -- row scripts, told by the subclass -----------------------------------------------------

    def _read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        """A row script: a page of checkpoints, newest first."""
        raise NotImplementedError

    def _read_parts(
        self, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Typed], Sequence[Sequence[Write] | None]]]:
        """A row script: the values of these keys, and of each row its pending writes.

        None instead of writes tells that the row was removed since it was read.
        """
        raise NotImplementedError

    def _insert(self, new: NewRow) -> Script[None]:
        """A row script: store a checkpoint and its new values, all or nothing."""
        raise NotImplementedError

    def _insert_writes(
        self, thread: str, ns: str, id_: str, writes: Sequence[Write]
    ) -> Script[None]:
        """A row script: store pending writes; of the plain ones the first wins."""
        raise NotImplementedError

    def _remove_thread(self, thread: str) -> Script[None]:
        """A row script: remove everything of a thread."""
        raise NotImplementedError

    def _count_threads(self) -> Script[list[tuple[str, int, Any, str]]]:
        """A row script: ``(thread, checkpoints, last step, last id)`` of each thread."""
        raise NotImplementedError

    def _setup(self) -> Script[None]:
        """A row script: make what the rows need."""
        raise NotImplementedError

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
        """
        new = self._pack_put(config, checkpoint, metadata, new_versions)
        self._colours.run(lambda: self._insert(new))
        return config_of(*new.row[1:4])

    async def aput(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Config:
        """As `put`; the values are packed at once."""
        new = self._pack_put(config, checkpoint, metadata, new_versions)
        await self._colours.arun(lambda: self._insert(new))
        return config_of(*new.row[1:4])

    def _pack_put(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> NewRow:
        thread, ns, parent = address(config)
        id_, codec = checkpoint["id"], Codec(self.serde)
        values = checkpoint["channel_values"]
        blobs = []
        for channel, version in new_versions.items():
            name, typed = version_name(version), EMPTY
            if channel in values:
                try:
                    typed = codec.pack(values[channel], "blob", thread, ns, channel, name)
                except SerializationError as error:
                    raise named(error, channel) from error
            blobs.append((channel, name, typed))
        body = codec.pack(without_values(checkpoint), "checkpoint", thread, ns, id_)
        meta = codec.pack(metadata, "metadata", thread, ns, id_)
        row = Row(None, thread, ns, id_, parent, body, meta)
        tokens = codec.tokens(metadata)
        return NewRow(row, metadata.get("source"), metadata.get("step"), tokens, blobs)

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote. A plain write that is there already stays as it is."""
        packed = self._pack_writes(config, writes, task_id, task_path)
        self._colours.run(lambda: self._insert_writes(*packed))

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`; the values are packed at once."""
        packed = self._pack_writes(config, writes, task_id, task_path)
        await self._colours.arun(lambda: self._insert_writes(*packed))

    def _pack_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task: str, path: str
    ) -> tuple[str, str, str, list[Write]]:
        thread, ns, id_ = address(config)
        codec, packed = Codec(self.serde), {}
        for position, (channel, value) in enumerate(writes):
            idx = WRITES_IDX_MAP.get(channel, position)
            try:
                typed = codec.pack(value, "write", thread, ns, id_ or "", task, str(idx))
            except SerializationError as error:
                raise named(error, channel) from error
            packed[idx] = Write(task, idx, path, channel, typed)
        return thread, ns, id_ or "", list(packed.values())

    # -- reading -------------------------------------------------------------------------------

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        listing = self._one(config)
        found = self._colours.run(listing.page)
        return found[0] if found else None

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        """As `get_tuple`."""
        listing = self._one(config)
        found = await self._colours.arun(listing.page)
        return found[0] if found else None

    def _one(self, config: Config) -> Listing:
        thread, ns, id_ = address(config)
        return Listing(self, Query(thread, ns, id_), {}, 1)

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
            yield from self._colours.run(listing.page)

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
            for item in await self._colours.arun(listing.page):
                yield item

    def _many(
        self,
        config: Config | None,
        filter: dict[str, Any] | None,
        before: Config | None,
        limit: int | None,
    ) -> Listing:
        wanted = check_filter(filter)
        query = Query(tokens=Codec(self.serde).wanted(wanted))
        if config is not None:
            query.thread, ns, query.id = address(config)
            if config["configurable"].get("checkpoint_ns") is not None:
                query.ns = ns
        query.before = get_checkpoint_id(before) if before else None
        return Listing(self, query, wanted, limit)

    # -- threads -------------------------------------------------------------------------------

    def threads(self) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{thread_id, checkpoints, last_step, last_time}`` a thread, last used first."""
        return _thread_rows(self._colours.run(self._count_threads))

    async def athreads(self) -> Sequence[dict[str, Any]]:
        """As `threads`."""
        return _thread_rows(await self._colours.arun(self._count_threads))

    def delete_thread(self, thread_id: str) -> None:
        """Remove everything of a thread."""
        self._colours.run(lambda: self._remove_thread(str(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await self._colours.arun(lambda: self._remove_thread(str(thread_id)))

    # -- opening and closing -------------------------------------------------------------------

    def setup(self) -> None:
        """Make what the saver needs in the database. Not needed: the first use does it."""
        self._colours.run(self._setup)

    async def asetup(self) -> None:
        """As `setup`."""
        await self._colours.arun(self._setup)

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


def _thread_rows(rows: Sequence[tuple[str, int, Any, str]]) -> list[dict[str, Any]]:
    return [
        {"thread_id": thread, "checkpoints": n, "last_step": step, "last_time": time_of(id_)}
        for thread, n, step, id_ in sorted(rows, key=lambda row: row[3], reverse=True)
    ]
