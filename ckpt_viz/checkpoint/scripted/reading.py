"""Reading checkpoints page by page; between pages no connection is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_viz.checkpoint import times
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    Metadata,
    PendingWrite,
    config_of,
    matches,
    parent_of,
)
from ckpt_viz.checkpoint.keys import version_name
from ckpt_viz.checkpoint.packing import Packer
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.scripted.rows import Blob, BlobKey, Query, Row, Rows, Write
from ckpt_viz.checkpoint.scripted.values import Values
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.telling import telling


class Listing:
    """The checkpoints that a query finds, cut by a filter and a limit."""

    _most = 50
    """Checkpoints of a page."""

    def __init__(
        self,
        rows: Any,
        values: Any,
        query: Query,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> None:
        self._rows = rows
        self._values = values
        self._query = query
        self._filter = filter
        self._left = limit
        self.done = limit is not None and limit <= 0

    def page(self) -> Script[list[CheckpointTuple]]:
        """The next checkpoints; `done` tells whether there may be more."""
        size = self._most if self._left is None or self._filter else min(self._most, self._left)
        rows = yield from self._find(size)
        self.done = len(rows) < size or (self._query.id is not None and self._query.ns is not None)
        if rows:
            self._query.after = rows[-1]
        if self._filter:
            rows = [row for row in rows if matches(meta_of(self._values, row), self._filter)]
        if self._left is not None:
            rows = rows[: self._left]
            self._left -= len(rows)
            self.done = self.done or self._left == 0
        return (yield from self._read(rows)) if rows else []

    def _find(self, size: int) -> Script[list[Row]]:
        return (yield from self._rows.read_rows(self._query, size))  # type: ignore[no-any-return]

    def _read(self, rows: Sequence[Row]) -> Script[list[CheckpointTuple]]:
        """The tuples of rows; one that is gone meanwhile has none."""
        by_thread: dict[str, list[Row]] = {}
        for row in rows:
            by_thread.setdefault(row.thread, []).append(row)
        made: dict[Row, CheckpointTuple] = {}
        for own in by_thread.values():
            made.update((yield from self._tuples(own)))
        return [made[row] for row in rows if row in made]

    def _tuples(self, rows: Sequence[Row]) -> Script[dict[Row, CheckpointTuple]]:
        """The tuples of rows of one thread; a row that is gone meanwhile has none."""
        bodies = yield from bodies_of(self._rows, self._values, rows)
        keys = {
            BlobKey(row.ns, channel, version_name(version))
            for row, body in zip(rows, bodies, strict=True)
            for channel, version in body["channel_versions"].items()
        }
        thread = rows[0].thread
        blobs, writes = yield from self._rows.read_values(thread, keys, rows)
        pieces = {
            BlobKey(ns, *write.base)
            for (ns, _), own in writes.items()
            for write in own
            if write.base is not None
        }
        if pieces - blobs.keys():
            more, _ = yield from self._rows.read_values(thread, pieces - blobs.keys(), ())
            blobs |= more
        page = _Page(self._values, blobs)
        return {
            row: page.tuple(row, body, writes[row.ns, row.id])
            for row, body in zip(reversed(rows), reversed(bodies), strict=True)
            if (row.ns, row.id) in writes
        }


class _Page:
    """What was read for a page; the oldest checkpoint comes first, so that each adds to it."""

    def __init__(self, values: Values, blobs: Mapping[BlobKey, Blob]) -> None:
        self._values = values
        self._blobs = blobs
        self._memo: dict[BlobKey, Typed] = {}

    def tuple(self, row: Row, body: Checkpoint, writes: Sequence[Write]) -> CheckpointTuple:
        """A row with all that belongs to it."""
        body["channel_values"] = self._state(row, body["channel_versions"])
        return CheckpointTuple(
            config_of(row.thread, row.ns, row.id),
            body,
            meta_of(self._values, row),
            parent_of(row.thread, row.ns, row.parent),
            self._pending(row, sorted(writes, key=lambda w: (w.path, w.task, w.idx))),
        )

    def _pending(self, row: Row, writes: Sequence[Write]) -> list[PendingWrite]:
        found = [self._write(row, w) for w in writes]
        spans = {w.task: times.unpack(w.span) for w in writes if w.span is not None}
        return times.timed(found, spans)

    def _state(self, row: Row, versions: Mapping[str, Any]) -> dict[str, Any]:
        values, loads = self._values, self._values.codec.loads
        state = {}
        for channel, version in versions.items():
            key = BlobKey(row.ns, channel, version_name(version))
            if key not in self._blobs:
                continue
            with telling(row.thread, row.ns, row.id, "channel", channel):
                typed, _ = values.whole(row.thread, key, self._blobs, self._memo)
                if typed[0] != "empty":
                    state[channel] = loads(typed)
        return state

    def _write(self, row: Row, write: Write) -> PendingWrite:
        place = (row.thread, row.ns, row.id, write.task, write.idx)
        with telling(row.thread, row.ns, row.id, "a write to", write.channel):
            typed = self._values.write(write.typed, write.base, place, self._blobs, self._memo)
            return write.task, write.channel, self._values.codec.loads(typed)


def bodies_of(rows: Rows, values: Values, of: Sequence[Row]) -> Script[list[Checkpoint]]:
    """The checkpoints of rows, without their values."""
    known = {(row.thread, row.ns, row.id): row for row in of}
    if any(row.base is not None and (row.thread, row.ns, row.base) not in known for row in of):
        bases = yield from rows.read_bases(of)
        known |= {(row.thread, row.ns, row.id): row for row in bases}
    return [_body(values, row, known) for row in of]


def _body(values: Values, row: Row, known: Mapping[tuple[str, str, str], Row]) -> Checkpoint:
    with telling(row.thread, row.ns, row.id, "its body"):
        body = values.body_of(row, known)
        body["channel_versions"].items()
        return body


def meta_of(values: Packer, row: Row) -> Metadata:
    """The metadata of a row."""
    with telling(row.thread, row.ns, row.id, "its metadata"):
        return values.meta_of(row)
