"""Which checkpoints a memory saver has, and how its dictionaries are opened and closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from types import TracebackType
from typing import Any, TypeVar

from ckpt_viz.checkpoint.base import (
    CheckpointTuple,
    Config,
    Metadata,
    address,
    check_filter,
    matches,
)
from ckpt_viz.checkpoint.memory_upkeep import ThreadsInMemory
from ckpt_viz.checkpoint.plans import AtOnce

F = TypeVar("F", bound="Finding")
Row = Any


class Finding(ThreadsInMemory):
    """The part of the memory saver that finds checkpoints."""

    stack: ExitStack
    _heads: dict[tuple[str, str], tuple[int, str]]

    @property
    def _colours(self) -> AtOnce:  # type: ignore[override]
        return AtOnce(self)

    def __enter__(self: F) -> F:
        self.stack.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self.stack.__exit__(kind, error, trace)

    async def __aenter__(self: F) -> F:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self.__exit__(kind, error, trace)

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; no config means all threads, no namespace means all."""
        wanted = check_filter(filter)
        end = (before or {}).get("configurable", {}).get("checkpoint_id")
        keys = sorted(self._keys(config, end), reverse=True)
        return self._walk(keys, wanted, limit)

    def _walk(
        self,
        keys: Sequence[tuple[str, str, str]],
        wanted: Mapping[str, Any],
        limit: int | None,
    ) -> Iterator[CheckpointTuple]:
        left = len(keys) if limit is None else limit
        for id_, thread, ns in keys:
            if left <= 0:
                return
            row = self._rows(thread, ns).get(id_)
            if row is None:
                continue
            metadata = None
            if wanted:
                metadata = self._metadata(thread, ns, id_, row)
                if not matches(metadata, wanted):
                    continue
            left -= 1
            yield self._tuple((id_, thread, ns), row, metadata)

    def _metadata(self, thread: str, ns: str, id_: str, row: Row) -> Metadata:
        codec = self._packed.using(self.serde).codec
        typed = codec.unseal(row[1], thread, ns, id_, "metadata") if codec.sealed else row[1]
        return codec.loads(typed)  # type: ignore[no-any-return]

    def _tuple(
        self, key: tuple[str, str, str], row: Row, metadata: Metadata | None = None
    ) -> CheckpointTuple:
        raise NotImplementedError

    def _newest(self, thread: str, ns: str, rows: dict[str, Row]) -> str:
        """The greatest id; only rows that came since the last question are looked at."""
        while True:
            count, newest = self._heads.get((thread, ns), (0, ""))
            size = len(rows)
            if newest not in rows or size < count:
                count, newest = 0, ""
            try:
                newest = max(newest, *islice(reversed(rows), size - count), "")
            except RuntimeError:  # a run in another thread put a row meanwhile: look again
                continue
            self._heads[thread, ns] = size, newest
            return newest

    def _keys(self, config: Config | None, end: str | None) -> Iterator[tuple[str, str, str]]:
        """``(id, thread, ns)`` of all checkpoints that a call to `list` is about."""
        wanted_ns = wanted_id = None
        threads = list(self.storage)
        if config is not None:
            thread, _, wanted_id = address(config)
            threads = [thread]
            wanted_ns = config["configurable"].get("checkpoint_ns")
        for thread in threads:
            for ns in list(self.storage.get(thread, ())):
                if wanted_ns is not None and ns != wanted_ns:
                    continue
                for id_ in list(self._rows(thread, ns)):
                    if (not end or id_ < end) and (not wanted_id or id_ == wanted_id):
                        yield id_, thread, ns

    def _rows(self, thread: str, ns: str) -> dict[str, Row]:
        spaces = self.storage.get(thread)
        return spaces.get(ns, {}) if spaces else {}
