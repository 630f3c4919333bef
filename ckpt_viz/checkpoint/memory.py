"""The saver that keeps everything in dictionaries, which one may look into to learn.

How big values and long maps are told as changes is in `memory_values`; copying, pruning and
counting in `memory_upkeep`, the search for checkpoints in `memory_finding`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

from ckpt_viz.checkpoint.base import (
    WRITES_IDX_MAP,
    Checkpoint,
    CheckpointTuple,
    Config,
    Extending,
    Metadata,
    PendingWrite,
    address,
    check_head,
    config_of,
    named,
    text_version,
    without_values,
)
from ckpt_viz.checkpoint.kept import FLOOR
from ckpt_viz.checkpoint.memory_finding import Finding
from ckpt_viz.checkpoint.memory_values import Place, Values
from ckpt_viz.checkpoint.persistent import PersistentDict
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.jsonplus import EMPTY, NULL
from ckpt_viz.checkpoint.telling import DAMAGE, unreadable
from ckpt_viz.checkpoint.times import TimedPending
from ckpt_viz.errors import SerializationError

__all__ = ["InMemorySaver", "MemorySaver", "PersistentDict"]

Row: TypeAlias = tuple[Typed, Typed, str | None]
_OWN_METADATA = 3
"""Entries of metadata that hold nothing of the user's: source, step and parents."""
SaveWrites: TypeAlias = tuple[Config, Sequence[tuple[str, Any]], str, str]
"""The arguments of `InMemorySaver.put_writes`."""


class InMemorySaver(Finding):
    """Keeps checkpoints in this process; for trying out, tests and short-lived threads.

    ``storage[thread][ns][checkpoint_id] = (checkpoint, metadata, parent_id)``,
    ``writes[thread, ns, checkpoint_id][task_id, index] = (task_id, channel, value, path)`` and
    ``blobs[thread, ns, channel, version] = value``; values are ``(tag, bytes)``.
    What is over 1 kB may be told as a change: its tag is ``delta`` then, and
    ``saver.serde.loads_typed`` shows it as a dictionary.
    """

    partial_values = True
    never_blocks = True
    joins_writes = True
    compares_heads = True

    # Not in __dict__, which shows what is documented and no more.
    __slots__ = ("_heads", "_names", "_packed", "noted")

    def __init__(
        self, serde: SerializerProtocol | None = None, *, factory: Any = defaultdict
    ) -> None:
        super().__init__(serde=serde)
        self._heads: dict[tuple[str, str], tuple[int, str]] = {}
        self._names: dict[tuple[str, str, str], str] = {}
        self.noted: dict[str, tuple[float, float]] = {}
        self.storage: defaultdict[str, dict[str, dict[str, Row]]] = factory(
            lambda: defaultdict(dict)
        )
        self.writes: defaultdict[tuple[str, str, str], dict[tuple[str, int], Any]] = factory(dict)
        self.blobs: dict[tuple[str, str, str, Any], Typed] = factory()
        self._packed = Values(self.storage, self.writes, self.blobs)
        self.stack = ExitStack()
        if factory is not defaultdict:
            for kept in (self.storage, self.writes, self.blobs):
                self.stack.enter_context(kept)

    get_next_version = staticmethod(text_version)

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
        place = address(config)
        self._packed.using(self.serde)
        if config.__class__ is Extending:
            self._check_head(config, place)
        body, values = without_values(checkpoint), checkpoint["channel_values"]
        self._put(place, body, values, metadata, new_versions)
        return config_of(*place[:2], checkpoint["id"])

    def put_step(
        self,
        writes: SaveWrites,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> None:
        """`put_writes` and `put` in one call, for a step that had one task.

        The checkpoint is the saver's from now on, without its values.
        """
        place, (_, made, task_id, path) = address(config), writes
        self._packed.using(self.serde)
        self._put_writes(place, made, task_id, path)
        if config.__class__ is Extending:
            self._check_head(config, place)
        values = checkpoint.pop("channel_values")
        self._put(place, checkpoint, values, metadata, new_versions)

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote. A plain write that is there already stays as it is.

        Raises:
            SerializationError: a value cannot be saved; nothing was kept.
        """
        self._packed.using(self.serde)
        self._put_writes(address(config), writes, task_id, task_path)

    def _check_head(self, config: Config, place: Place) -> None:
        thread, ns, parent = place
        rows = self._rows(thread, ns)
        if rows and next(reversed(rows), None) != parent:
            # Seldom: what was put last is no longer what is newest.
            check_head(config, self._newest(thread, ns, rows))

    def _put(
        self,
        place: Place,
        checkpoint: Checkpoint,
        values: Mapping[str, Any],
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> None:
        """Keep a checkpoint that has no values in it, and its values."""
        (thread, ns, parent), id_ = place, checkpoint["id"]
        packed, codec = self._packed, self._packed.codec
        dumps = codec.dumps
        new: dict[tuple[str, str, str, Any], Typed] = {}
        for channel, version in new_versions.items():
            try:
                typed = dumps(values[channel]) if channel in values else EMPTY
            except SerializationError as error:
                raise named(error, channel) from error
            if len(typed[1]) > FLOOR:
                typed = packed.smaller(place, id_, (channel, version), typed)
            new[thread, ns, channel, version] = typed
        meta = (codec.plain if len(metadata) == _OWN_METADATA else codec.dumps)(metadata)
        body = packed.body(place, checkpoint, new_versions)
        if codec.sealed:
            new = {key: codec.seal(typed, *key) for key, typed in new.items()}
            body = codec.seal(body, thread, ns, id_)
            meta = codec.seal(meta, thread, ns, id_, "metadata")
        blobs = self.blobs
        if not blobs.keys().isdisjoint(new):  # what is there already stays as it is
            new = {key: typed for key, typed in new.items() if key not in blobs}
        blobs.update(new)
        self.storage[thread][ns][id_] = body, meta, parent

    def _put_writes(
        self, place: Place, writes: Sequence[tuple[str, Any]], task_id: str, path: str
    ) -> None:
        (thread, ns, id_), codec = place, self._packed.codec
        rows: dict[tuple[str, int], Any] = {}
        dumps, sealed = codec.dumps, codec.sealed
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            try:
                typed = dumps(value)
            except SerializationError as error:
                raise named(error, channel) from error
            if len(typed[1]) > FLOOR:
                typed = self._packed.piece(thread, ns, typed)
            if sealed:
                typed = codec.seal(typed, thread, ns, id_ or "", task_id, index)
            rows[task_id, index] = task_id, channel, typed, path
        kept = self.writes.setdefault((thread, ns, id_ or ""), rows)
        if kept is not rows:
            for key, row in rows.items():
                if key[1] < 0 or key not in kept:
                    kept[key] = row

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        thread, ns, id_ = address(config)
        rows = self._rows(thread, ns)
        if not rows:
            return None
        if id_ is None:
            id_ = self._newest(thread, ns, rows)
        row = rows.get(id_)
        return None if row is None else self._tuple((id_, thread, ns), row)

    def newest_id(self, config: Config) -> str | None:
        """The id of the newest checkpoint of a thread and namespace, or None."""
        thread, ns, _ = address(config)
        rows = self._rows(thread, ns)
        return self._newest(thread, ns, rows) if rows else None

    async def anewest_id(self, config: Config) -> str | None:
        """As `newest_id`."""
        return self.newest_id(config)

    def _tuple(
        self,
        key: tuple[str, str, str],
        row: Row,
        metadata: Metadata | None = None,
    ) -> CheckpointTuple:
        id_, thread, ns = key
        packed, stored = self._packed, self.blobs.get
        codec = packed.codec
        if codec is None or codec.serde is not self.serde:
            codec = packed.use(self.serde)
        loads, sealed = codec.loads, codec.sealed
        values: dict[str, Any] = {}
        what, channel = "its body", None
        try:
            checkpoint = packed.checkpoint(thread, ns, id_, row)
            for channel, version in checkpoint["channel_versions"].items():
                typed = stored((thread, ns, channel, version))
                if typed is None or typed is EMPTY:
                    continue
                if typed is NULL:
                    values[channel] = None
                    continue
                if sealed or typed[0] == "delta":
                    typed = packed.whole(thread, ns, (channel, version))
                if typed[0] != "empty":
                    values[channel] = loads(typed)
            checkpoint["channel_values"] = values
            what, channel = "its metadata", None
            if metadata is None and not sealed:
                metadata = loads(row[1])
            elif metadata is None:
                metadata = self._metadata(thread, ns, id_, row)
            what = "its writes"
            writes = self._writes(thread, ns, id_)
        except DAMAGE as error:
            what = what if channel is None else f"channel {channel!r}"
            told = unreadable(error, thread, ns, id_, what)
            told.parent_id = row[2]
            raise told from error
        config = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id_}
        parent = config_of(thread, ns, row[2]) if row[2] else None
        found = {"configurable": config}, checkpoint, metadata, parent, writes
        return tuple.__new__(CheckpointTuple, found)

    def _writes(self, thread: str, ns: str, id_: str) -> list[PendingWrite]:
        kept = self.writes.get((thread, ns, id_))
        if not kept:
            return []
        packed = self._packed
        loads, sealed = packed.codec.loads, packed.codec.sealed
        rows = [(row[3], *key, row[1], row[2]) for key, row in kept.items()]
        rows.sort()  # by the path of the task, the task, and the place
        found: list[PendingWrite] = []
        if self.noted:
            found = timed = TimedPending()
            timed.spans = self.noted
        for _, task, index, channel, stored in rows:
            told = sealed or stored[0] == "delta"
            typed = packed.whole(thread, ns, (id_, task, index)) if told else stored
            found.append((task, channel, None if typed is NULL else loads(typed)))
        return found


MemorySaver = InMemorySaver
