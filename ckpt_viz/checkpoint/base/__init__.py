"""What every saver offers: the documented interface, and the helpers that savers share."""

from __future__ import annotations

import re
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import wraps
from random import getrandbits
from types import GenericAlias
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, TypeVar

from ckpt_viz.checkpoint.making import (
    EXCLUDED_METADATA_KEYS,
    LATEST_VERSION,
    ChannelVersions,
    CheckpointMetadata,
    copy_checkpoint,
    create_checkpoint,
    empty_checkpoint,
    get_checkpoint_metadata,
    get_serializable_checkpoint_metadata,
)
from ckpt_viz.checkpoint.serde.base import (
    SerializerProtocol,
    Typed,
    maybe_add_typed_methods,
)
from ckpt_viz.checkpoint.serde.jsonplus import EMPTY, JsonPlusSerializer
from ckpt_viz.constants import ERROR, INTERRUPT, RESUME, SCHEDULED
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    MissingThreadIdError,
    SerializationError,
    ThreadBusyError,
)
from ckpt_viz.ids import tick_of

Config = dict[str, Any]
Checkpoint = dict[str, Any]
Metadata = dict[str, Any]
PendingWrite = tuple[str, str, Any]
Self = TypeVar("Self", bound="BaseCheckpointSaver")
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

WRITES_IDX_MAP = {ERROR: -1, SCHEDULED: -2, INTERRUPT: -3, RESUME: -4}
"""Writes that steer have a fixed place each, where the last one counts."""

_EPOCH_TICKS = 0x01B21DD213814000
_FILTER_KEY = re.compile(r"[\w.\-]+", re.ASCII)
_CHECKPOINT_KEYS = 7


__all__ = [
    "EXCLUDED_METADATA_KEYS",
    "LATEST_VERSION",
    "WRITES_IDX_MAP",
    "BaseCheckpointSaver",
    "ChannelVersions",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "Config",
    "Metadata",
    "PendingWrite",
    "SerializerProtocol",
    "copy_checkpoint",
    "create_checkpoint",
    "empty_checkpoint",
    "get_checkpoint_id",
    "get_checkpoint_metadata",
    "get_serializable_checkpoint_metadata",
]


class CheckpointTuple(NamedTuple):
    """A checkpoint with all that belongs to it."""

    config: Config
    checkpoint: Checkpoint
    metadata: Metadata
    parent_config: Config | None = None
    pending_writes: list[PendingWrite] | None = None


class Extending(dict[str, Any]):
    """A config for `put` whose checkpoint must still be the newest of its thread and namespace.

    The engine passes it to savers that declare ``compares_heads``; to all else it is a config.
    """

    __slots__ = ()


def check_head(config: Config, newest: str | None) -> None:
    """Refuse to extend what is no longer the head.

    Raises:
        ThreadBusyError: there is a newer checkpoint than the config's. Nothing was kept.
    """
    thread, ns, expected = address(config)
    if newest is not None and newest > (expected or ""):
        raise ThreadBusyError(
            f"Thread {thread!r} (namespace {ns!r}) has a newer checkpoint, {newest}, than "
            f"{expected or 'none'}, which this run goes on from: another process has run the "
            "thread meanwhile. Nothing was saved by this put. Run again from the new head, or "
            "give the config a checkpoint_id to go on with a branch of its own."
        )


class Removal(NamedTuple):
    """What was removed, or would be: configs of checkpoints, and how many writes and values."""

    checkpoints: list[Config]
    writes: int
    values: int


def _twin(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The async form of a method: calls the one of that name, which a subclass may have made."""
    name = method.__name__

    async def twin(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(self, name)(*args, **options)

    made: Any = wraps(method)(twin)
    made.__name__, made.__qualname__ = f"a{name}", f"BaseCheckpointSaver.a{name}"
    return made  # type: ignore[no-any-return]


_SAVES = frozenset({"put", "aput", "put_writes", "aput_writes"})


def is_replaced(saver: Any) -> bool:
    """Whether one saver, not its class, got a `put` or `put_writes` of its own, as tests do."""
    return not _SAVES.isdisjoint(getattr(saver, "__dict__", ()))


class BaseCheckpointSaver:
    """Keeps the checkpoints of threads. Sub-classes implement the sync methods at least.

    Args:
        serde: turns values into typed bytes; the default keeps exact types and loads safely.
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone
    partial_values: ClassVar[bool] = False
    """Whether `put` needs only the values of ``new_versions``, and copies the maps it is given."""
    joins_writes: ClassVar[bool] = False
    """Whether there are ``put_step`` and ``aput_step``, which store a step's only task with it."""
    never_blocks: ClassVar[bool] = False
    """Whether the sync methods are quick enough to be called from an event loop as they are."""
    compares_heads: ClassVar[bool] = False
    """Whether `put` refuses to extend what is no longer the head, when given an `Extending`."""
    noted: dict[str, tuple[float, float]] | None = None
    """Where the engine notes when a task ran, by its id, before it hands over what the task wrote;
    None: the saver keeps no times (see `checkpoint.times`)."""
    identity: Any = None
    """What tells that two savers keep the same threads, such as a file's path; None: the object."""

    def __init_subclass__(cls, **options: Any) -> None:
        """A class with a `put` or `put_writes` of its own gets whole checkpoints and each call by
        itself, unless it says otherwise."""
        super().__init_subclass__(**options)
        own = vars(cls)
        if "get_tuple" in own and "newest_id" not in own:
            cls.newest_id = BaseCheckpointSaver.newest_id  # type: ignore[method-assign]
        if "aget_tuple" in own and "anewest_id" not in own:
            cls.anewest_id = BaseCheckpointSaver.anewest_id  # type: ignore[method-assign]
        if own.keys() & _SAVES:
            for name in {"partial_values", "joins_writes"} - own.keys():
                setattr(cls, name, False)

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        self.serde: SerializerProtocol = (
            JsonPlusSerializer() if serde is None else maybe_add_typed_methods(serde)
        )

    @property
    def config_specs(self) -> list[Any]:
        """Configurable fields that a saver adds to a graph: none."""
        return []

    def get(self, config: Config) -> Checkpoint | None:
        """The checkpoint that a config addresses, or None."""
        found = self.get_tuple(config)
        return found.checkpoint if found else None

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        raise NotImplementedError

    def newest_id(self, config: Config) -> str | None:
        """The id of the newest checkpoint of a thread and namespace, or None; config names no id.

        A saver that can tell it without reading the checkpoint says so here.
        """
        return newest_of(self.get_tuple(config))

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; no config means all threads, no namespace means all."""
        raise NotImplementedError

    def put(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Config:
        """Keep a checkpoint whose parent is ``config``; returns its own config."""
        raise NotImplementedError

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote, under the checkpoint it started from."""
        raise NotImplementedError

    def delete_thread(self, thread_id: str) -> None:
        """Remove everything of a thread."""
        raise NotImplementedError

    def threads(self) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{thread_id, checkpoints, last_step, last_time, bytes}`` a thread, last used first.

        ``last_time`` is in seconds since the epoch.
        """
        raise NotImplementedError

    def lineage(self, config: Config) -> Iterator[CheckpointTuple]:
        """The addressed checkpoint and its ancestors, the nearest first."""
        at: Config | None = config
        while at is not None and (found := self.get_tuple(at)) is not None:
            yield found
            at = found.parent_config

    def namespaces(self, thread_id: str) -> list[str]:  # type: ignore[valid-type]
        """The namespaces in which a thread has checkpoints, sorted; the graph's own is ``""``."""
        raise NotImplementedError

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread all checkpoints, writes and labels of a thread, ids unchanged."""
        raise NotImplementedError

    def delete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        """Remove the checkpoints whose metadata names one of these runs, and their writes."""
        raise NotImplementedError

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        """Remove old checkpoints; every one that remains keeps its state.

        Args:
            thread_ids: the threads to prune.
            strategy: ``keep_latest`` keeps the newest checkpoint of each namespace; ``delete``
                keeps none.
            dry_run: only tell what would go.
            keep_labelled: whether ``keep_latest`` keeps checkpoints that have a label as well.

        Raises:
            ValueError: the strategy is unknown.
        """
        raise NotImplementedError

    def compact(self, *, dry_run: bool = False) -> dict[str, int]:
        """Give back the room of what was removed; ``{before, after}`` in bytes.

        With ``dry_run`` nothing is done, and ``after`` is what it comes to at most.
        """
        raise NotImplementedError

    def storage_report(self) -> dict[str, Any]:
        """What takes how many bytes.

        ``{bytes, threads: [{thread_id, bytes, checkpoints, writes, shared, unique, values}]}``;
        ``values`` has one ``{checkpoint_ns, channel, version, bytes, used_by}`` a stored value.
        A value that several checkpoints use is *shared*, one of a single checkpoint *unique*.
        """
        raise NotImplementedError

    def set_label(self, config: Config, label: str | None) -> None:
        """Name a checkpoint; None takes the name away."""
        raise NotImplementedError

    def labels(self, thread_id: str) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{checkpoint_ns, checkpoint_id, label}`` a named checkpoint, newest first."""
        raise NotImplementedError

    async def aget(self, config: Config) -> Checkpoint | None:
        """As `get`."""
        found = await self.aget_tuple(config)
        return found.checkpoint if found else None

    aget_tuple = _twin(get_tuple)

    async def anewest_id(self, config: Config) -> str | None:
        """As `newest_id`."""
        return newest_of(await self.aget_tuple(config))

    async def alist(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        for item in self.list(config, filter=filter, before=before, limit=limit):
            yield item

    async def alineage(self, config: Config) -> AsyncIterator[CheckpointTuple]:
        """As `lineage`."""
        at: Config | None = config
        while at is not None and (found := await self.aget_tuple(at)) is not None:
            yield found
            at = found.parent_config

    aput = _twin(put)
    aput_writes = _twin(put_writes)
    adelete_thread = _twin(delete_thread)
    athreads = _twin(threads)
    anamespaces = _twin(namespaces)
    acopy_thread = _twin(copy_thread)
    adelete_for_runs = _twin(delete_for_runs)
    aprune = _twin(prune)
    acompact = _twin(compact)
    astorage_report = _twin(storage_report)
    aset_label = _twin(set_label)
    alabels = _twin(labels)

    def get_next_version(self, current: Any, channel: Any = None) -> Any:
        """A version greater than ``current``: here a number, counted up from 1.

        Raises:
            NotImplementedError: the current version is text; a saver that makes such overrides it.
        """
        if isinstance(current, str):
            raise NotImplementedError(
                f"{type(self).__name__} counts versions as numbers, and {current!r} is text: "
                "override get_next_version."
            )
        return 1 if current is None else current + 1

    def with_allowlist(self: Self, allowed: Iterable[Any]) -> Self:
        """The same saver, whose serializer may load these classes as well."""
        widen = getattr(self.serde, "with_allowlist", None)
        if widen is not None:
            self.serde = widen(allowed)
        return self


def newest_of(found: Any) -> str | None:
    """The id in what was read as the newest checkpoint; None if there is none."""
    return None if found is None else found.checkpoint["id"]


def text_version(current: Any, channel: Any = None) -> str:
    """The version after ``current``: a counter with a random tail, as text.

    The tail keeps apart the values that two branches wrote in the same step.
    """
    if current.__class__ is str:
        number = int(current.partition(".")[0])
    else:
        number = 0 if current is None else int(current)
    return f"{str(number + 1).zfill(32)}.0.{getrandbits(53)}"


def address(config: Config) -> tuple[str, str, str | None]:
    """Thread, namespace and checkpoint id of a config.

    Raises:
        MissingThreadIdError: there is no thread id.
    """
    try:
        conf = config["configurable"]
        thread = conf["thread_id"]
    except (KeyError, TypeError):
        conf, thread = {}, None
    if thread is None:
        raise MissingThreadIdError(
            "The config names no thread. Pass {'configurable': {'thread_id': '...'}}."
        )
    return str(thread), conf.get("checkpoint_ns") or "", conf.get("checkpoint_id") or None


def config_of(thread: str, ns: str, id_: str) -> Config:
    """The config that addresses one checkpoint."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id_}}


def parent_of(thread: str, ns: str, parent: str | None) -> Config | None:
    """The config of a parent, or None for a first checkpoint."""
    return config_of(thread, ns, parent) if parent else None


def no_checkpoint(config: Config) -> CheckpointNotFoundError:
    """The error for a config that must address a checkpoint and does not."""
    thread, ns, id_ = address(config)
    return CheckpointNotFoundError(
        f"Thread {thread!r} (namespace {ns!r}) has no checkpoint {id_!r}. Take the config of one "
        "that `list` gives."
    )


def without_values(checkpoint: Checkpoint) -> Checkpoint:
    """The part of a checkpoint that is stored as one: all but the channels' values.

    It is to be packed at once: the caller's maps inside of it go on changing.
    """
    if len(checkpoint) != _CHECKPOINT_KEYS or "updated_channels" not in checkpoint:
        return {key: value for key, value in checkpoint.items() if key != "channel_values"}
    return {
        "v": checkpoint["v"],
        "ts": checkpoint["ts"],
        "id": checkpoint["id"],
        "channel_versions": checkpoint["channel_versions"],
        "versions_seen": checkpoint["versions_seen"],
        "updated_channels": checkpoint["updated_channels"],
    }


def pack_values(
    dumps: Callable[[Any], Typed], values: Mapping[str, Any], new_versions: Mapping[str, Any]
) -> list[tuple[str, Any, Typed]]:
    """``(channel, version, typed)`` of each new version; a channel without value is empty."""
    found: list[tuple[str, Any, Typed]] = []
    for channel, version in new_versions.items():
        try:
            typed = dumps(values[channel]) if channel in values else EMPTY
        except SerializationError as error:
            raise named(error, channel) from error
        found.append((channel, version, typed))
    return found


def pack_pending(
    dumps: Callable[[Any], Typed], writes: Sequence[tuple[str, Any]]
) -> list[tuple[int, str, Typed]]:
    """``(index, channel, typed)`` of each thing that a task wrote."""
    found = []
    for position, (channel, value) in enumerate(writes):
        try:
            found.append((WRITES_IDX_MAP.get(channel, position), channel, dumps(value)))
        except SerializationError as error:
            raise named(error, channel) from error
    return found


def named(error: SerializationError, channel: str) -> SerializationError:
    """The error of a value that cannot be saved, now naming its channel."""
    return SerializationError(
        f"Channel {channel!r}: {error}",
        path=error.path,
        type_name=error.type_name,
        channel=channel,
    )


def check_filter(filter: Mapping[str, Any] | None) -> dict[str, Any]:
    """The filter on metadata, once its keys are known to be plain names.

    Raises:
        ValueError: a key holds anything but letters, digits, ``_``, ``-`` and ``.``.
    """
    for key in filter or ():
        if not isinstance(key, str) or not _FILTER_KEY.fullmatch(key):
            raise ValueError(
                f"Invalid filter key {key!r}: use letters, digits, '_', '-' and '.' only."
            )
    return dict(filter or {})


def matches(metadata: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    """Whether all entries of a filter equal those of the metadata; an absent one is None."""
    return all(metadata.get(key) == value for key, value in filter.items())


def time_of(id_: str) -> float:
    """When a checkpoint was made, in seconds since the epoch, read from its id."""
    tick = tick_of(id_)
    return (tick - _EPOCH_TICKS) / 1e7 if tick else 0.0


def get_checkpoint_id(config: Config) -> str | None:
    """The checkpoint id that a config names, or None."""
    return (config.get("configurable") or {}).get("checkpoint_id")
