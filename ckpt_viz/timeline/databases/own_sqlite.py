"""Our SQLite schema, read without any change to the file; an older one from a copy in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ckpt_viz.checkpoint.base import CheckpointTuple, Config, Removal, address, check_filter
from ckpt_viz.checkpoint.packing import Packing
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.sqlite import SqliteSaver, schema, upkeep
from ckpt_viz.checkpoint.sqlite.reading import Query, Reader
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.databases.file import SqliteFile
from ckpt_viz.timeline.databases.reader import HistoryReader, holds

T = TypeVar("T")
_COPY_LIMIT = 512 << 20


def is_ours(columns: dict[str, list[str]]) -> bool:
    """Whether a database has tables of this package's saver."""
    return "ckpt_checkpoints" in columns


class OwnSqlite(HistoryReader):
    """Reads threads from a file that our SQLite saver wrote."""

    def __init__(
        self, file: SqliteFile, columns: dict[str, list[str]], serde: SerializerProtocol
    ) -> None:
        super().__init__(serde)
        self._file = file
        self._copy: sqlite3.Connection | None = None
        if "idx" in columns.get("ckpt_writes", ()):
            self._copy = self._brought_up()
        else:
            try:
                file.read(schema.check_version)
            except RuntimeError as error:
                raise SourceError(f"{str(file.path)!r} can't be read. {error}") from error

    def _brought_up(self) -> sqlite3.Connection:
        """A copy in memory, brought from version 1 to this one."""
        copy = self._copied()
        schema.create(copy, ours=False)
        return copy

    def _copied(self) -> sqlite3.Connection:
        size = self._file.path.stat().st_size
        if size > _COPY_LIMIT:
            raise SourceError(
                f"{str(self._file.path)!r} is too big ({size >> 20} MB) for the copy in memory "
                "that this needs, without a change to the file. With write=True none is needed."
            )
        copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._file.read(lambda conn: _backup(conn, copy))
        return copy

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._file.read(work) if self._copy is None else work(self._copy)

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        reader = Reader(Packing(self.serde), Query.one(*address(config)))
        found = self._read(reader.page)
        return found[0] if found else None

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        query = Query.many(config, check_filter(filter), before, limit)
        reader = Reader(Packing(self.serde), query)
        while not reader.done:
            yield from self._read(reader.page)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        wanted = holds(query)
        return [one for one in self._read(upkeep.thread_heads) if wanted(one[0])]

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        return self._read(lambda conn: upkeep.count_checkpoints(conn, threads))

    def namespaces(self, thread_id: str) -> list[str]:  # type: ignore[valid-type]
        return self._read(lambda conn: upkeep.namespaces(conn, thread_id))

    def labels(self, thread_id: str) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        return self._read(lambda conn: upkeep.labels(conn, thread_id))

    def storage_report(self) -> dict[str, Any]:
        packing = Packing(self.serde)
        return self._read(lambda conn: upkeep.storage_report(conn, packing=packing))

    def would_prune(self, threads: Sequence[str]) -> Removal:
        """What pruning these threads would remove, found on a copy in memory.

        Raises:
            SourceError: the file is too big to be copied.
        """
        return SqliteSaver(self._copied(), serde=self.serde).prune(threads, dry_run=True)


def _backup(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    source.execute("ROLLBACK")  # a copy takes its own look at the file
    source.backup(target)
