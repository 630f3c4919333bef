"""The tables. A thread and namespace is a small number everywhere else; values are blobs."""

from __future__ import annotations

import sqlite3
import time

VERSION = 1
_MARK = 0x636B7600
"""``PRAGMA user_version`` is this plus our version; a file of another program keeps its own."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS ckpt_threads(
        k INTEGER PRIMARY KEY, thread TEXT NOT NULL, ns TEXT NOT NULL, UNIQUE(thread, ns))""",
    """CREATE TABLE IF NOT EXISTS ckpt_checkpoints(
        k INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, source TEXT, step INTEGER,
        tag TEXT NOT NULL, body BLOB NOT NULL, mtag TEXT NOT NULL, meta BLOB NOT NULL,
        PRIMARY KEY(k, id)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS ckpt_blobs(
        k INTEGER NOT NULL, version NOT NULL, channel TEXT NOT NULL,
        tag TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(k, version, channel)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS ckpt_writes(
        k INTEGER NOT NULL, id TEXT NOT NULL, task TEXT NOT NULL, idx INTEGER NOT NULL,
        path TEXT NOT NULL, channel TEXT NOT NULL, tag TEXT NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY(k, id, task, idx)) WITHOUT ROWID""",
)


def create(conn: sqlite3.Connection, *, ours: bool) -> None:
    """Set the connection up and make the tables, once for each file.

    Args:
        conn: an open connection.
        ours: whether we opened it; then a commit waits for the log only at checkpoints.

    Raises:
        RuntimeError: the file was written by a newer version of this package.
    """
    conn.execute("PRAGMA busy_timeout=30000")
    if not conn.in_transaction:
        _use_wal(conn)
        conn.execute("PRAGMA wal_autocheckpoint=4000").fetchall()
        if ours:
            conn.execute("PRAGMA synchronous=NORMAL")
    found = conn.execute("PRAGMA user_version").fetchone()[0]
    if found == _MARK + VERSION:
        return
    if _MARK + VERSION < found <= _MARK + 0xFF:
        raise RuntimeError(
            f"This database has schema {found - _MARK}, made by a newer ckpt_viz; this one knows "
            f"{VERSION}. Upgrade ckpt_viz."
        )
    begin(conn)
    try:
        for table in _TABLES:
            conn.execute(table)
        if found == 0:
            conn.execute(f"PRAGMA user_version={_MARK + VERSION}")
    except BaseException:
        conn.rollback()
        raise
    conn.commit()


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
