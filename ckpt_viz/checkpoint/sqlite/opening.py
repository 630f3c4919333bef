"""A database to work on: a connection that was given, or a file that is opened at first use."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from os.path import realpath
from typing import Any

from ckpt_viz.checkpoint.sqlite.runner import AioRunner, LockedRunner, Runner


class Opening:
    """Where the SQL of a saver or a store goes.

    Args:
        owner: the class that works on it, by name.
        conn: a connection of ``sqlite3`` or ``aiosqlite``, which the caller closes; else None.
        prepare: sets a connection up and makes the tables; it is told whether we opened it.
        forget: is called when the connection is closed here.

    ``path`` is what to open; set it before the first use.
    """

    def __init__(
        self,
        owner: str,
        conn: Any,
        prepare: Callable[[sqlite3.Connection, bool], None],
        forget: Callable[[], None] | None = None,
    ) -> None:
        self.path: str | None = None
        self._given = conn
        self._open: sqlite3.Connection | None = None
        self._prepare = prepare
        self._forget = forget
        self._is_setup = False
        self.runner: Runner = LockedRunner(self.ready)
        if conn is not None and not isinstance(conn, sqlite3.Connection):
            if not hasattr(conn, "_execute"):
                raise TypeError(
                    f"{owner} needs a sqlite3 or aiosqlite connection, not {conn!r}. "
                    f"For a path use {owner}.from_conn_string(path)."
                )
            self.runner = AioRunner(conn, lambda raw: prepare(raw, False))

    @property
    def conn(self) -> Any:
        """The connection; opened now if it was not yet."""
        return self._given if self._given is not None else self.ready()

    def ready(self) -> sqlite3.Connection:
        """The open connection with its tables; called under the runner's lock."""
        conn: sqlite3.Connection | None = self._open if self._given is None else self._given
        if conn is None:
            conn = self._open = connect(self.path or ":memory:")
        if not self._is_setup:
            try:
                self._prepare(conn, self._given is None)
            except sqlite3.DatabaseError as error:
                error.add_note(f"While preparing the database {self.path or 'of the connection'}.")
                self.finish()
                raise
            self._is_setup = True
        return conn

    def finish(self) -> None:
        """Close the connection, if it was opened here; it is opened again when used."""
        if self._open is not None:
            self._open.close()
            self._open, self._is_setup = None, False
            if self._forget is not None:
                self._forget()

    def identity(self) -> str | None:
        """The same for all that work on one file; None for a database that only this one has."""
        path = self.path
        if isinstance(self._given, sqlite3.Connection):
            sql = "SELECT file FROM pragma_database_list WHERE name='main'"
            try:
                row = self._given.execute(sql).fetchone()
            except sqlite3.Error:  # closed, or another thread's: the object tells it well enough
                return None
            path = row[0] if row else None
        if not path or path == ":memory:" or path.startswith("file:"):
            return None
        return realpath(path)


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
