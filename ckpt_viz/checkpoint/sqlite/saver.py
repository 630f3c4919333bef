"""The SQLite saver. Values are packed in the caller, at once; only rows travel to the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Self

from ckpt_viz.checkpoint.base import Checkpoint, CheckpointTuple, Config, Metadata, address
from ckpt_viz.checkpoint.plans import READ, Plan, Script, Transaction
from ckpt_viz.checkpoint.scripted.rows import Query
from ckpt_viz.checkpoint.scripted.saver import ScriptedSaver
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.sqlite import schema
from ckpt_viz.checkpoint.sqlite.opening import Opening
from ckpt_viz.checkpoint.sqlite.reading import Reader
from ckpt_viz.checkpoint.sqlite.runner import Runner, SqliteColours, Work, quick
from ckpt_viz.checkpoint.sqlite.threads import SqliteRows, SqliteUpkeep
from ckpt_viz.checkpoint.sqlite.writing import Writer


class SqliteSaver(ScriptedSaver):
    """Keeps threads in a SQLite database. Each method has an async twin on the same object.

    Args:
        conn: a ``sqlite3`` connection, or one of ``aiosqlite``; the caller closes it.
        serde: turns values into typed bytes.

    `from_conn_string` opens a file by itself, which is the usual way.
    """

    partial_values = True
    joins_writes = True

    _rows: SqliteRows
    _packed: Writer
    _runner: Runner

    def __init__(self, conn: Any, serde: SerializerProtocol | None = None) -> None:
        writer = Writer()
        self._opening = Opening(type(self).__name__, conn, _prepare, writer.forget)
        self._begin(self._opening.runner, writer, serde, self._opening.finish)
        self.identity = self._opening.identity()

    def _begin(
        self,
        runner: Runner,
        writer: Writer,
        serde: SerializerProtocol | None,
        finish: Callable[[], None],
    ) -> None:
        super().__init__(SqliteRows(writer), SqliteColours(runner, finish, writer.forget), serde)
        self._runner, self._packed = runner, writer
        self.noted = writer.noted

    @classmethod
    def from_conn_string(
        cls, conn_string: str | PathLike[str], *, serde: SerializerProtocol | None = None
    ) -> Self:
        """The saver of a file (or ``:memory:``), opened at first use.

        Use it directly, or with ``with`` / ``async with``, which close the file.
        """
        saver = cls(None, serde)
        saver._opening.path = fspath(conn_string)
        saver.identity = saver._opening.identity()
        return saver

    @classmethod
    def reading(cls, runner: Runner, serde: SerializerProtocol | None = None) -> Self:
        """The saver of a file that is only to be read, by way of a runner."""
        saver = cls.__new__(cls)
        saver._begin(runner, Writer(), serde, lambda: None)
        return saver

    @property
    def conn(self) -> Any:
        """The connection; opened now if it was not yet."""
        return self._opening.conn

    @property
    def _upkeep(self) -> SqliteUpkeep:
        return SqliteUpkeep(self._rows, self._values)

    # What every step of a graph calls goes its short way.

    def _ready_put(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: Metadata,
        new_versions: Mapping[str, Any],
    ) -> Work[Config]:
        """Keep a checkpoint whose parent is ``config``; returns its own config.

        The values are packed at once, in either colour.

        Raises:
            SerializationError: a value cannot be saved; nothing was kept.
            ThreadBusyError: an `Extending` config is no longer the head; nothing was kept.
        """
        return self._packed.packed(self.serde, config, checkpoint, metadata, new_versions).save

    def _ready_step(self, writes: Any, *put: Any) -> Work[Config]:
        """`put_writes` and `put` in one transaction, for a step that had one task.

        Args:
            writes: the arguments of `put_writes`.
            put: those of `put`.
        """
        return self._packed.step(self.serde, writes, put)

    def _ready_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> Work[None]:
        """Keep what a task wrote. A plain write that is there already stays as it is."""
        packed = self._packed.packed_writes(self.serde, config, writes, task_id, task_path)
        return packed.save

    def _ready_tuple(self, config: Config) -> Work[CheckpointTuple | None]:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        return Reader(self._values, Query(*address(config)), limit=1).one

    put, aput = quick("put", _ready_put)
    put_step, aput_step = quick("put_step", _ready_step)
    put_writes, aput_writes = quick("put_writes", _ready_writes)
    get_tuple, aget_tuple = quick("get_tuple", _ready_tuple)

    def _listing(
        self, query: Query, filter: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> Reader:
        return Reader(self._values, query, filter, limit)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, newest root checkpoint)`` where the id holds `query`, newest first."""
        wanted = query.casefold()
        found = self._colours.run(self._transact(self._rows.heads))
        return [one for one in found if wanted in str(one[0]).casefold()]

    def _setup(self) -> Plan[None]:
        yield Transaction(_nothing, READ)


def _nothing() -> Script[None]:
    """Opening the connection is all that was wanted."""
    yield


def _prepare(conn: sqlite3.Connection, ours: bool) -> None:
    schema.create(conn, ours=ours)
