"""Our savers under LangGraph: a saver of this package as a real `BaseCheckpointSaver` of it.

The second of the two modules that import `langgraph`, and only when `as_langgraph` is called.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ckpt_viz.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_id

Config = Mapping[str, Any]


def as_langgraph(saver: BaseCheckpointSaver) -> Any:
    """A LangGraph checkpointer that keeps everything in a saver of this package.

    ``StateGraph(...).compile(checkpointer=as_langgraph(SqliteSaver.from_conn_string("a.db")))``

    Both colours work on the one object. ``adapter.saver`` is the saver, for what LangGraph has no
    method for (`compact`, `storage_report`, `labels`, …); from now on it reads records such as
    ``Send`` as LangGraph's.

    Raises:
        ImportError: LangGraph is not installed.
    """
    return _adapter_class()(saver)


@cache
def _adapter_class() -> Any:
    try:
        from langgraph import types  # noqa: PLC0415 - optional
        from langgraph.checkpoint import base as peer  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(
            "as_langgraph needs LangGraph. Type:  pip install 'ckpt-viz[langgraph]'"
        ) from error

    own = (types.Send, types.Command, types.Interrupt, types.Overwrite)
    bases = (_Adapter, peer.BaseCheckpointSaver)
    return type("LangGraphSaver", bases, {"_peer": peer, "_types": own})


class _Adapter:
    """LangGraph's methods, each handed on to the saver."""

    _peer: Any
    _types: Sequence[type]
    saver: BaseCheckpointSaver

    def __init__(self, saver: BaseCheckpointSaver) -> None:
        self.saver = saver.with_allowlist(self._types)  # a Send comes back as LangGraph's
        super().__init__(serde=saver.serde)  # type: ignore[call-arg]

    def with_allowlist(self, extra_allowlist: Any) -> Any:
        """The same: our serializer restores what this process knows, whoever names it."""
        return self

    def get_next_version(self, current: Any, channel: Any = None) -> Any:
        return self.saver.get_next_version(current, channel)

    def _made(self, found: CheckpointTuple) -> Any:
        return self._peer.CheckpointTuple(*found)

    def _metadata(self, config: Config, metadata: Any) -> dict[str, Any]:
        """The metadata with what the config adds to it, as LangGraph's own savers have it."""
        return dict(self._peer.get_checkpoint_metadata(config, metadata))

    # -- one checkpoint ------------------------------------------------------------------------

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return self.saver.put(config, checkpoint, self._metadata(config, metadata), new_versions)

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        told = self._metadata(config, metadata)
        return await self.saver.aput(config, checkpoint, told, new_versions)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.saver.put_writes(config, writes, task_id, task_path)

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        await self.saver.aput_writes(config, writes, task_id, task_path)

    def get_tuple(self, config: Any) -> Any:
        found = self.saver.get_tuple(config)
        return None if found is None else self._made(found)

    async def aget_tuple(self, config: Any) -> Any:
        found = await self.saver.aget_tuple(config)
        return None if found is None else self._made(found)

    def list(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> Iterator[Any]:
        found = self.saver.list(config, filter=filter, before=before, limit=limit)
        return map(self._made, found)

    async def alist(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> AsyncIterator[Any]:
        found = self.saver.alist(config, filter=filter, before=before, limit=limit)
        async for item in found:
            yield self._made(item)

    # -- whole threads -------------------------------------------------------------------------

    def delete_thread(self, thread_id: str) -> None:
        self.saver.delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        await self.saver.adelete_thread(thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self.saver.delete_for_runs(run_ids)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self.saver.adelete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.saver.copy_thread(source_thread_id, target_thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.saver.acopy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self.saver.prune(thread_ids, strategy=strategy)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self.saver.aprune(thread_ids, strategy=strategy)

    # -- DeltaChannel --------------------------------------------------------------------------

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        """What the ancestors wrote to channels that store no value; see LangGraph."""
        walk = _Walk(channels)
        target = self.saver.get_tuple(config) if channels else None
        if target is None:
            return walk.made()
        walk.at = _parent(target)
        for item in self.saver.list(_space(target), before=target.config):
            if walk.is_done or not walk.take(item):
                break
        while not walk.is_done and (found := self.saver.get_tuple(walk.config(target))):
            walk.take(found)
        return walk.made()

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        """As `get_delta_channel_history`."""
        walk = _Walk(channels)
        target = await self.saver.aget_tuple(config) if channels else None
        if target is None:
            return walk.made()
        walk.at = _parent(target)
        async for item in self.saver.alist(_space(target), before=target.config):
            if walk.is_done or not walk.take(item):
                break
        while not walk.is_done and (found := await self.saver.aget_tuple(walk.config(target))):
            walk.take(found)
        return walk.made()


class _Walk:
    """Up the parents of a checkpoint, through pages that hold other branches as well."""

    def __init__(self, channels: Sequence[str]) -> None:
        self.at: str | None = None
        self._wanted = set(channels)
        self._writes: dict[str, Any] = {channel: [] for channel in channels}
        self._seeds: dict[str, Any] = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be found."""
        return self.at is None or not self._wanted

    def take(self, item: CheckpointTuple) -> bool:
        """Take an item if it is next on the way; False if the way went on before it."""
        id_ = item.checkpoint["id"]
        if id_ != self.at:
            return bool(id_ > (self.at or ""))
        self.at = _parent(item)
        for write in reversed(item.pending_writes or ()):
            if write[1] in self._wanted:
                self._writes[write[1]].append(write)
        values = item.checkpoint["channel_values"]
        for channel in self._wanted & values.keys():
            self._seeds[channel] = values[channel]
        self._wanted -= values.keys()
        return True

    def config(self, target: CheckpointTuple) -> dict[str, Any]:
        """What addresses the next on the way."""
        return {"configurable": {**target.config["configurable"], "checkpoint_id": self.at}}

    def made(self) -> dict[str, Any]:
        """By channel the writes, oldest first, and the value that they begin from."""
        return {
            channel: {
                "writes": writes[::-1],
                **({"seed": self._seeds[channel]} if channel in self._seeds else {}),
            }
            for channel, writes in self._writes.items()
        }


def _parent(item: CheckpointTuple) -> str | None:
    return get_checkpoint_id(item.parent_config) if item.parent_config else None


def _space(item: CheckpointTuple) -> dict[str, Any]:
    own = item.config["configurable"]
    return {"configurable": {"thread_id": own["thread_id"], "checkpoint_ns": own["checkpoint_ns"]}}
