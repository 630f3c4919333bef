"""The SQLite saver. Values are packed in the caller, at once; only rows travel to the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Self

from ckpt_viz.checkpoint.base import Config
from ckpt_viz.checkpoint.colours import BARE, READ, Plan, Plans, Script, Transaction
from ckpt_viz.checkpoint.scripted import ScriptedSaver
from ckpt_viz.checkpoint.scripted.rows import Query
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.sqlite import schema
from ckpt_viz.checkpoint.sqlite.opening import Opening
from ckpt_viz.checkpoint.sqlite.reading import Reader
from ckpt_viz.checkpoint.sqlite.runner import SqliteColours
from ckpt_viz.checkpoint.sqlite.threads import SqliteRows, SqliteUpkeep
from ckpt_viz.checkpoint.sqlite.writing import Writer


class SqliteSaver(ScriptedSaver):
    """Keeps threads in a SQLite database. Each method has an async twin on the same object.

    Args:
        conn: a ``sqlite3`` connection, or one of ``aiosqlite``; the caller closes it.
        serde: turns values into typed bytes.

    `from_conn_string` opens a file by itself, which is the usual way.
    """

    _rows: SqliteRows
    _packed: Writer

    def __init__(self, conn: Any, serde: SerializerProtocol | None = None) -> None:
        writer = Writer()
        self._opening = Opening(type(self).__name__, conn, _prepare, writer.forget)
        runner, finish = self._opening.runner, self._opening.finish
        self._begin(SqliteColours(runner, finish, writer.forget), writer, serde)
        self.identity = self._opening.identity()

    def _begin(self, colours: Plans, writer: Writer, serde: SerializerProtocol | None) -> None:
        super().__init__(SqliteRows(writer), colours, serde)
        self._packed = writer

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
    def reading(cls, colours: Plans, serde: SerializerProtocol | None = None) -> Self:
        """The saver of a file that is only to be read, by scripts that somebody else runs."""
        saver = cls.__new__(cls)
        saver._begin(colours, Writer(), serde)
        return saver

    @property
    def conn(self) -> Any:
        """The connection; opened now if it was not yet."""
        return self._opening.conn

    @property
    def _upkeep(self) -> SqliteUpkeep:
        return SqliteUpkeep(self._rows, self._values)

    def _store(self, what: Any, writes: Any = None) -> Plan[Config]:
        writer = self._packed
        if writes is None:
            packed = writer.packed(self.serde, *what)
            yield _alone(packed.save)
            return packed.config
        work, made = writer.step(self.serde, writes, what)
        yield _alone(work)
        return made()

    def _store_writes(self, *writes: Any) -> Plan[None]:
        yield _alone(self._packed.packed_writes(self.serde, *writes).save)

    def _listing(
        self, query: Query, filter: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> Reader:
        return Reader(self._values, query, filter, limit)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, newest root checkpoint)`` where the id holds `query`, newest first."""
        wanted = query.casefold()
        found = self._colours.run(self._transact(self._rows.heads))
        return [one for one in found if wanted in one[0].casefold()]

    def _setup(self) -> Plan[None]:
        yield Transaction(lambda: _on_connection(lambda _: None), READ)


def _alone(work: Callable[[sqlite3.Connection], None]) -> Transaction:
    """Work that is a transaction by itself."""
    return Transaction(lambda: _on_connection(work), BARE)


def _on_connection(work: Callable[[sqlite3.Connection], None]) -> Script[None]:
    work((yield))


def _prepare(conn: sqlite3.Connection, ours: bool) -> None:
    schema.create(conn, ours=ours)
