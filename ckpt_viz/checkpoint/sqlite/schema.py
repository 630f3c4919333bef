"""The tables, and the way from an older form of them to this one.

A thread and namespace is a small number ``k`` everywhere else.

- ``ckpt_checkpoints``: one row each. ``body`` with an empty tag is in the form of `rows`, which
  leaves out what other columns tell; ``meta`` with an empty tag is told by source and step.
- ``ckpt_values(k, version)``: the values that became new at a version, small ones inside, big
  ones as the place of a row of ``ckpt_big``. Written once.
- ``ckpt_big(at)``: big values and what changed in them, in chains (see `chains`).
- ``ckpt_chains``: whose a chain is. Its numbers are never used again.
- ``ckpt_writes(k, id, task)``: what a task wrote, in one row.
- ``ckpt_labels``: names of checkpoints.

Small keyed rows are ``WITHOUT ROWID``; big blobs are in a rowid table.
"""

from __future__ import annotations

import sqlite3
import time

from ckpt_viz.checkpoint.sqlite import older

VERSION = 2
_MARK = 0x636B7600
"""``PRAGMA user_version`` is this plus our version; a file of another program keeps its own."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS ckpt_threads(
        k INTEGER PRIMARY KEY, thread TEXT NOT NULL, ns TEXT NOT NULL, UNIQUE(thread, ns))""",
    """CREATE TABLE IF NOT EXISTS ckpt_checkpoints(
        k INTEGER NOT NULL, id TEXT NOT NULL, parent, source TEXT, step INTEGER,
        tag TEXT NOT NULL, body BLOB NOT NULL, mtag TEXT NOT NULL, meta BLOB NOT NULL,
        PRIMARY KEY(k, id)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS ckpt_values(
        k INTEGER NOT NULL, version NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY(k, version)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS ckpt_big(at INTEGER PRIMARY KEY, tag TEXT NOT NULL, data BLOB)",
    """CREATE TABLE IF NOT EXISTS ckpt_chains(
        chain INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS ckpt_chains_of ON ckpt_chains(k)",
    """CREATE TABLE IF NOT EXISTS ckpt_writes(
        k INTEGER NOT NULL, id NOT NULL, task NOT NULL, path TEXT NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY(k, id, task)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS ckpt_labels(
        k INTEGER NOT NULL, id TEXT NOT NULL, label TEXT NOT NULL,
        PRIMARY KEY(k, id)) WITHOUT ROWID""",
)


def create(conn: sqlite3.Connection, *, ours: bool) -> None:
    """Set the connection up and make the tables, once for each file.

    Args:
        conn: an open connection.
        ours: whether we opened it; then a commit waits for the log only at checkpoints.

    Raises:
        RuntimeError: the file was written by a newer version of this package.
    """
    prepare(conn, ours=ours)
    if _version(conn) == VERSION:
        return
    begin(conn)
    try:
        found = _version(conn)  # again: another process may have been first
        old = older.take_aside(conn)
        for table in _TABLES:
            conn.execute(table)
        if old:
            older.take_over(conn)
        if found is not None:
            conn.execute(f"PRAGMA user_version={_MARK + VERSION}")
    except BaseException:
        conn.rollback()
        raise
    conn.commit()


def check_version(conn: sqlite3.Connection) -> None:
    """Raises RuntimeError where a newer version of this package made the tables."""
    _version(conn)


def prepare(conn: sqlite3.Connection, *, ours: bool) -> None:
    """Set a connection up for several writers and cheap commits; see `create`."""
    conn.execute("PRAGMA busy_timeout=30000")
    conn.execute("PRAGMA page_size=2048")  # of a new file: a step writes whole pages
    if not conn.in_transaction:
        _use_wal(conn)
        conn.execute("PRAGMA wal_autocheckpoint=4000").fetchall()
        if ours:
            conn.execute("PRAGMA synchronous=NORMAL")


def _version(conn: sqlite3.Connection) -> int | None:
    """The file's version of our tables; 0 for a new file, None for one of another program."""
    found: int = conn.execute("PRAGMA user_version").fetchone()[0]
    if found == 0:
        return 0
    if not _MARK <= found <= _MARK + 0xFF:
        return None
    if found > _MARK + VERSION:
        raise RuntimeError(
            f"This database has schema {found - _MARK}, made by a newer ckpt_viz; this one knows "
            f"{VERSION}. Upgrade ckpt_viz."
        )
    return found - _MARK


def _use_wal(conn: sqlite3.Connection, patience: float = 30.0) -> None:
    """Switch to the write-ahead log; here SQLite fails at once where else it would wait its turn.

    Args:
        conn: a connection outside of a transaction.
        patience: seconds to try for.
    """
    end = time.monotonic() + patience
    while True:
        try:
            conn.execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def begin(conn: sqlite3.Connection) -> None:
    """Start a write at once, so that two writers queue instead of failing half-way."""
    if not conn.in_transaction:
        conn.execute("BEGIN IMMEDIATE")
