"""Putting checkpoints and writes: packed at once, told as changes when the parent is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ckpt_viz.checkpoint import times
from ckpt_viz.checkpoint.base import (
    Checkpoint,
    Config,
    Extending,
    Metadata,
    address,
    pack_pending,
    pack_values,
)
from ckpt_viz.checkpoint.kept import FLOOR, Grown, Spot
from ckpt_viz.checkpoint.keys import version_name
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.scripted.reading import bodies_of
from ckpt_viz.checkpoint.scripted.rows import Blob, BlobKey, Edit, Query, Row, Rows, Write
from ckpt_viz.checkpoint.scripted.values import Values
from ckpt_viz.checkpoint.searching import tokens
from ckpt_viz.checkpoint.serde.base import Typed


class Pending(NamedTuple):
    """A checkpoint that was packed, and is not yet stored."""

    row: Row
    new: list[tuple[str, str, Typed]]
    spot: Spot
    unread: list[str]
    """Big channels of whose version at the parent nothing is remembered."""
    extending: bool
    """Whether the parent must still be the newest."""


def pack_put(
    values: Values,
    config: Config,
    checkpoint: Checkpoint,
    metadata: Metadata,
    new_versions: Mapping[str, Any],
) -> Pending:
    """Pack a checkpoint with its new values; nothing of the caller's is needed after it.

    Raises:
        SerializationError: a value cannot be saved.
    """
    thread, ns, parent = address(config)
    id_, codec = checkpoint["id"], values.codec
    packed = pack_values(codec.dumps, checkpoint["channel_values"], new_versions)
    meta = values.close(codec.dumps(metadata), thread, ns, id_, "metadata")
    spot = values.kept.spot(thread, ns)
    known = spot.move(parent, id_)
    body, base = values.body(spot, parent, checkpoint, new_versions)
    row = Row(
        thread,
        ns,
        id_,
        parent,
        base,
        values.close(body, thread, ns, id_),
        meta,
        metadata.get("source"),
        metadata.get("step"),
        tuple(tokens(codec.serde, metadata)),
    )
    new = [(channel, version_name(version), typed) for channel, version, typed in packed]
    unread = [] if known or parent is None else [c for c, _, t in new if len(t[1]) > FLOOR]
    return Pending(row, new, spot, unread if codec.deltas else [], config.__class__ is Extending)


def put(rows: Rows, values: Values, pending: Pending, wrote: Edit | None = None) -> Script[None]:
    """Store a packed checkpoint, its big values as changes of the parent's.

    ``wrote`` has writes that are stored with it.

    Raises:
        BaseGone: the parent's values were removed by somebody else. HeadMoved: somebody else
            has extended the parent.
    """
    row, spot = pending.row, pending.spot
    if pending.unread:
        yield from _recall(rows, values, pending)
    edit = Edit(row.thread, rows=[row])
    for channel, version, typed in pending.new:
        key = BlobKey(row.ns, channel, version)
        blob = values.smaller(spot, channel, version, typed)
        edit.blobs[key] = Blob(values.close(blob.typed, row.thread, *key), blob.base)
    bases = {BlobKey(row.ns, *blob.base) for blob in edit.blobs.values() if blob.base is not None}
    edit.needs = bases - edit.blobs.keys()
    if wrote is not None:
        edit.writes = wrote.writes
        edit.needs |= wrote.needs
    edit.extends = (row.ns, row.parent) if pending.extending else None
    edit.needs_row = None if row.base is None else (row.ns, row.base)
    there = yield from rows.edit(edit)
    for key in there:  # an older value of this version counts, and may be another one
        spot.grown.pop(key.channel, None)


def _recall(rows: Rows, values: Values, pending: Pending) -> Script[None]:
    """Read the parent's versions of big channels."""
    row = pending.row
    found = yield from rows.read_rows(Query(row.thread, row.ns, row.parent), 1)
    bodies = yield from bodies_of(rows, values, found)
    for body in bodies:
        versions = body["channel_versions"]
        keys = {
            BlobKey(row.ns, channel, version_name(versions[channel]))
            for channel in pending.unread
            if channel in versions
        }
        blobs, _ = yield from rows.read_values(row.thread, keys, ())
        memo: dict[BlobKey, Typed] = {}
        for key in keys & blobs.keys():
            typed, cost = values.whole(row.thread, key, blobs, memo)
            if len(typed[1]) > FLOOR:
                values.kept.note(pending.spot, key.channel, Grown(key.version, typed, cost))


def pack_writes(
    values: Values, config: Config, writes: Sequence[tuple[str, Any]], task: str, path: str
) -> Edit:
    """Pack what a task wrote.

    Raises:
        SerializationError: a value cannot be saved.
    """
    thread, ns, id_ = address(config)
    spot, packed = values.kept.spot(thread, ns), {}
    ran = values.noted.get(task)
    span = None if ran is None else times.pack(*ran)
    for idx, channel, typed in pack_pending(values.codec.dumps, writes):
        told = values.piece(spot, typed)
        closed = values.close(told.typed, thread, ns, id_ or "", task, idx)
        packed[idx] = Write(id_ or "", task, idx, path, channel, closed, told.base, span)
        span = None
    needs = {BlobKey(ns, *write.base) for write in packed.values() if write.base is not None}
    return Edit(thread, writes=[(ns, write) for write in packed.values()], needs=needs)
