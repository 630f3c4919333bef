"""Our SQLite schema, read without any change to the file; an older one from a copy in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ckpt_viz.checkpoint.base import Removal
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.sqlite import SqliteSaver, schema
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.databases.file import SqliteFile
from ckpt_viz.timeline.databases.own_server import OwnServer

T = TypeVar("T")
_COPY_LIMIT = 512 << 20


def is_ours(columns: dict[str, list[str]]) -> bool:
    """Whether a database has tables of this package's saver."""
    return "ckpt_checkpoints" in columns


class OwnSqlite(OwnServer):
    """Reads threads from a file that our SQLite saver wrote."""

    def __init__(
        self, file: SqliteFile, columns: dict[str, list[str]], serde: SerializerProtocol
    ) -> None:
        super().__init__(SqliteSaver.reading(_Reading(self._read), serde))
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

    def would_prune(self, threads: Sequence[str]) -> Removal:
        """What pruning these threads would remove, found on a copy in memory.

        Raises:
            SourceError: the file is too big to be copied.
        """
        return SqliteSaver(self._copied(), serde=self.serde).prune(threads, dry_run=True)


class _Reading:
    """The runner of a saver that only reads, in the caller's thread."""

    def __init__(self, read: Callable[[Callable[[sqlite3.Connection], Any]], Any]) -> None:
        self.run = read

    async def arun(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self.run(work)  # type: ignore[no-any-return]

    def close(self, finish: Callable[[], None]) -> None:
        """Nothing to stop: the file is closed by who opened it."""


def _backup(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    source.execute("ROLLBACK")  # a copy takes its own look at the file
    source.backup(target)
