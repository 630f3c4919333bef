"""Our savers for databases, with everything but reading taken away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import CheckpointTuple, Config, Removal
from ckpt_viz.checkpoint.scripted.saver import ScriptedSaver
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.timeline.databases.reader import HistoryReader


class OwnServer(HistoryReader):
    """Reads threads by a saver of this package; writes nothing.

    Args:
        saver: for PostgreSQL or Redis; or for SQLite, see `own_sqlite`.
    """

    spoken = "A database that is only read"

    def __init__(self, saver: ScriptedSaver) -> None:
        self._saver = saver
        super().__init__(saver.serde)

    @property
    def serde(self) -> SerializerProtocol:
        """The saver's serializer, which may be replaced."""
        return self._saver.serde

    @serde.setter
    def serde(self, serde: SerializerProtocol) -> None:
        self._saver.serde = serde

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        return self._saver.get_tuple(config)

    def list(self, config: Config | None, **options: Any) -> Iterator[CheckpointTuple]:
        return self._saver.list(config, **options)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        return self._saver.thread_heads(query)

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        return self._saver.count_checkpoints(threads)

    def namespaces(self, thread_id: str) -> list[str]:  # type: ignore[valid-type]
        return self._saver.namespaces(thread_id)

    def labels(self, thread_id: str) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        return self._saver.labels(thread_id)

    def storage_report(self) -> dict[str, Any]:
        return self._saver.storage_report()

    def would_prune(self, threads: Sequence[str]) -> Removal:
        """What pruning these threads would remove."""
        return self._saver.prune(threads, dry_run=True)

    def close(self) -> None:
        """Closes the connections."""
        self._saver.close()
