"""The SQLite saver. Values are packed in the caller, at once; only rows travel to the file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from os import PathLike, fspath
from os.path import realpath
from types import TracebackType
from typing import Any

from ckpt_viz.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    Config,
    Metadata,
    address,
    check_filter,
    text_version,
)
from ckpt_viz.checkpoint.colours import Finished
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.sqlite import schema
from ckpt_viz.checkpoint.sqlite.methods import Upkeep
from ckpt_viz.checkpoint.sqlite.reading import Query, Reader
from ckpt_viz.checkpoint.sqlite.runner import AioRunner, LockedRunner, Runner
from ckpt_viz.checkpoint.sqlite.writing import Writer


class SqliteSaver(Upkeep):
    """Keeps threads in a SQLite database. Each method has an async twin on the same object.

    Args:
        conn: a ``sqlite3`` connection, or one of ``aiosqlite``; the caller closes it.
        serde: turns values into typed bytes.

    `from_conn_string` opens a file by itself, which is the usual way.
    """

    partial_values = True
    compares_heads = True
    joins_writes = True

    def __init__(self, conn: Any, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._path: str | None = None
        self._given: Any = conn
        self._open: sqlite3.Connection | None = None
        self._is_setup = False
        self._writer = Writer()
        self._runner: Runner = LockedRunner(self._ready)
        if isinstance(conn, sqlite3.Connection):
            self.identity = _identity(_file_of(conn))
        if conn is not None and not isinstance(conn, sqlite3.Connection):
            if not hasattr(conn, "_execute"):
                raise TypeError(
                    f"SqliteSaver needs a sqlite3 or aiosqlite connection, not {type(conn)!r}. "
                    "For a path use SqliteSaver.from_conn_string(path)."
                )
            self._runner = AioRunner(conn, lambda raw: schema.create(raw, ours=False))

    @classmethod
    def from_conn_string(
        cls, conn_string: str | PathLike[str], *, serde: SerializerProtocol | None = None
    ) -> SqliteSaver:
        """The saver of a file (or ``:memory:``), opened at first use.

        Use it directly, or with ``with`` / ``async with``, which close the file.
        """
        saver = cls(None, serde)
        saver._path = fspath(conn_string)
        saver.identity = _identity(saver._path)
        return saver

    @property
    def conn(self) -> Any:
        """The connection; opened now if it was not yet."""
        return self._given if self._given is not None else self._ready()

    def _ready(self) -> sqlite3.Connection:
        """The open connection with its tables; called under the runner's lock."""
        conn = self._given if self._given is not None else self._open
        if conn is None:
            path = self._path or ":memory:"
            conn = self._open = connect(path)
        if not self._is_setup:
            try:
                schema.create(conn, ours=self._given is None)
            except sqlite3.DatabaseError as error:
                error.add_note(f"While preparing the database {self._path or 'of the connection'}.")
                self._finish()
                raise
            self._is_setup = True
        return conn

    def setup(self) -> Finished:
        """Make the tables now. Not needed: the first use does it. The result may be awaited."""
        self._runner.run(_nothing)
        return Finished()

    async def asetup(self) -> None:
        """As `setup`."""
        await self._runner.arun(_nothing)

    def close(self) -> None:
        """Close the file, if this saver opened it. The saver opens it again when used."""
        self._runner.close(self._finish)

    def _finish(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open, self._is_setup = None, False
            self._writer.forget()

    def __enter__(self) -> SqliteSaver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> SqliteSaver:
        await self.asetup()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    get_next_version = staticmethod(text_version)

    # -- writing -------------------------------------------------------------------------------

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
        packed = self._writer.packed(self.serde, config, checkpoint, metadata, new_versions)
        self._runner.run(packed.save)
        return packed.config

    async def aput(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Config:
        """As `put`; packed at once, written in the worker."""
        packed = self._writer.packed(self.serde, config, checkpoint, metadata, new_versions)
        await self._runner.arun(packed.save)
        return packed.config

    def put_step(self, writes: Any, *put: Any) -> Config:
        """`put_writes` and `put` in one transaction, for a step that had one task.

        Args:
            writes: the arguments of `put_writes`.
            put: those of `put`.
        """
        work, made = self._writer.step(self.serde, writes, put)
        self._runner.run(work)
        return made()

    async def aput_step(self, writes: Any, *put: Any) -> Config:
        """As `put_step`; packed at once, written in the worker."""
        work, made = self._writer.step(self.serde, writes, put)
        await self._runner.arun(work)
        return made()

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote. A plain write that is there already stays as it is."""
        packed = self._writer.packed_writes(self.serde, config, writes, task_id, task_path)
        self._runner.run(packed.save)

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`; packed at once, written in the worker."""
        packed = self._writer.packed_writes(self.serde, config, writes, task_id, task_path)
        await self._runner.arun(packed.save)

    # -- reading -------------------------------------------------------------------------------

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        query = Query.one(*address(config))
        found = self._runner.run(Reader(self._writer.using(self.serde), query).page)
        return found[0] if found else None

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        """As `get_tuple`."""
        query = Query.one(*address(config))
        found = await self._runner.arun(Reader(self._writer.using(self.serde), query).page)
        return found[0] if found else None

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; no config means all threads, no namespace means all.

        Raises:
            ValueError: a filter key is not a plain name.
        """
        reader = Reader(
            self._writer.using(self.serde), Query.many(config, check_filter(filter), before, limit)
        )
        return self._pages(reader)

    def _pages(self, reader: Reader) -> Iterator[CheckpointTuple]:
        while not reader.done:
            yield from self._runner.run(reader.page)

    async def alist(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        reader = Reader(
            self._writer.using(self.serde), Query.many(config, check_filter(filter), before, limit)
        )
        while not reader.done:
            for item in await self._runner.arun(reader.page):
                yield item


def connect(path: str) -> sqlite3.Connection:
    """A connection to a file, which any thread may use and no transaction begins by itself.

    Raises:
        sqlite3.OperationalError: the file cannot be opened.
    """
    try:
        return sqlite3.connect(
            path,
            timeout=30,
            check_same_thread=False,
            isolation_level=None,
            cached_statements=256,
            uri=path.startswith("file:"),
        )
    except sqlite3.OperationalError as error:
        raise sqlite3.OperationalError(
            f"Cannot open the database {path!r}: {error}. Pass the path of a file in a folder that "
            "exists, a 'file:' URI, or ':memory:'."
        ) from error


def _file_of(conn: sqlite3.Connection) -> str | None:
    try:
        row = conn.execute("SELECT file FROM pragma_database_list WHERE name='main'").fetchone()
    except sqlite3.Error:  # closed, or another thread's: the object tells it apart well enough
        return None
    return row[0] if row else None


def _identity(path: str | None) -> str | None:
    """The same for all savers of one file; None for a database that only this one has."""
    if not path or path == ":memory:" or path.startswith("file:"):
        return None
    return realpath(path)


def _nothing(_: sqlite3.Connection) -> None:
    """Opening the connection is all that was wanted."""
