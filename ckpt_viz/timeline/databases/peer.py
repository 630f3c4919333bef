"""From the rows that LangGraph's savers wrote, in any version, to checkpoint tuples.

Two old habits are brought to today's form: sends that wait were kept beside the channels until
version 4 of a checkpoint, and SQLite rows had no tag at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.checkpoint.base import CheckpointTuple, config_of, parent_of
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.constants import TASKS
from ckpt_viz.errors import CkptVizError, UnreadableError

SENDS_INSIDE = 4
"""The version of a checkpoint from which on the sends that wait are a channel."""


@dataclass(frozen=True, slots=True)
class PeerWrite:
    """A row of pending writes. `path` is empty where the schema did not have it yet."""

    task: str
    path: str
    idx: int
    channel: str
    tag: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PeerRow:
    """A row of checkpoints, unpacked but for values that are kept elsewhere (`blobs`)."""

    thread: str
    ns: str
    id: str
    parent: str | None
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    blobs: Mapping[str, tuple[str, bytes | None]] = field(default_factory=dict)


def typed(serde: SerializerProtocol, tag: str | None, data: Any, where: str) -> Any:
    """The value of a tag and bytes; rows of the first version had no tag, and were JSON."""
    raw = data.encode() if isinstance(data, str) else bytes(data or b"")
    if tag is None:
        if raw[:1] == b"\x80":
            raise UnreadableError(
                f"{where} was pickled by an early version of LangGraph; pickles are never read. "
                "Open the database once with that version and let it save anew."
            )
        tag = "json"
    try:
        return serde.loads_typed((tag, raw))
    except CkptVizError as error:
        raise UnreadableError(f"{where} can't be read. {error}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UnreadableError(f"{where} is damaged, or the key is another one: {error}") from error


@contextmanager
def at_row(id_: str, parent: str | None) -> Iterator[None]:
    """Names the checkpoint that is read in the body, where it can't be."""
    try:
        yield
    except UnreadableError as error:
        error.checkpoint_id, error.parent_id = id_, parent
        raise


def place(thread: str, ns: str, id_: str) -> str:
    """A checkpoint in words."""
    return f"Checkpoint {id_} of thread {thread!r}" + (f", namespace {ns!r}" if ns else "")


def made(
    serde: SerializerProtocol,
    row: PeerRow,
    writes: Iterable[PeerWrite],
    sends: Iterable[PeerWrite] = (),
) -> CheckpointTuple:
    """The tuple of a row, its pending writes, and (before version 4) its parent's sends."""
    with at_row(row.id, row.parent):
        return _made(serde, row, writes, sends)


def _made(
    serde: SerializerProtocol,
    row: PeerRow,
    writes: Iterable[PeerWrite],
    sends: Iterable[PeerWrite],
) -> CheckpointTuple:
    where = place(row.thread, row.ns, row.id)
    checkpoint = dict(row.checkpoint)
    values = dict(checkpoint.get("channel_values") or {})
    for channel, (tag, data) in row.blobs.items():
        if tag != "empty":
            values[channel] = typed(serde, tag, data, f"Channel {channel!r} of {where}")
    if int(checkpoint.get("v") or 1) < SENDS_INSIDE and TASKS not in values:
        waiting = checkpoint.get("pending_sends") or [
            typed(serde, one.tag, one.data, f"A send of {where}") for one in _ordered(sends)
        ]
        if waiting:
            values[TASKS] = list(waiting)
    checkpoint["channel_values"] = values
    checkpoint.setdefault("channel_versions", {})
    checkpoint.setdefault("versions_seen", {})
    checkpoint.setdefault("updated_channels", None)
    checkpoint["id"] = row.id
    pending = [
        (one.task, one.channel, typed(serde, one.tag, one.data, f"A write to {where}"))
        for one in _ordered(writes)
    ]
    return CheckpointTuple(
        config_of(row.thread, row.ns, row.id),
        checkpoint,
        row.metadata,
        parent_of(row.thread, row.ns, row.parent),
        pending,
    )


def _ordered(writes: Iterable[PeerWrite]) -> list[PeerWrite]:
    return sorted(writes, key=lambda one: (one.path, one.task, one.idx))
