"""Tables and statements of a store in SQLite.

The tables do not touch those of the saver: one file may hold both.
"""

from __future__ import annotations

import sqlite3
from importlib import import_module
from typing import Any

from ckpt_viz.checkpoint.sqlite.schema import begin, prepare
from ckpt_viz.store.nearest import arithmetic
from ckpt_viz.store.scripted.sql import SqlRows

VERSION = 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS ckpt_store(version INTEGER NOT NULL)",
    """CREATE TABLE IF NOT EXISTS ckpt_items(
        id INTEGER PRIMARY KEY AUTOINCREMENT, ns TEXT NOT NULL, key TEXT NOT NULL,
        body TEXT, packed BLOB, created INTEGER NOT NULL, updated INTEGER NOT NULL,
        expires INTEGER, ttl REAL, state INTEGER NOT NULL, UNIQUE(ns, key))""",
    """CREATE INDEX IF NOT EXISTS ckpt_items_end ON ckpt_items(expires)
        WHERE expires IS NOT NULL""",
    """CREATE TABLE IF NOT EXISTS ckpt_vectors(
        mark INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, state INTEGER NOT NULL,
        vec BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS ckpt_vectors_of ON ckpt_vectors(item, state)",
)


class SqliteRows(SqlRows):
    """The rows of a store in SQLite. ``ranks`` where sqlite-vec is loaded."""

    def narrow_text(self, key: str, name: str) -> str:
        entry = f"""json_extract(body, '$."{key}"')"""
        if name == "=":
            return f"{entry} = ?"
        return f"({entry} {name} ? OR typeof({entry}) <> 'text')"

    def narrow_number(self, key: str, name: str) -> str:
        entry = f"""json_extract(body, '$."{key}"')"""
        if name == "=":
            return f"{entry} BETWEEN ? AND ?"
        return f"({entry} {name} ? OR typeof({entry}) = 'text')"

    def to_vector(self, vector: Any) -> Any:
        return arithmetic.packed(vector)

    def of_vector(self, stored: Any) -> Any:
        return arithmetic.unpacked(stored)

    def ranking(self) -> str:
        return "coalesce(-vec_distance_cosine(v.vec, ?), -1)"


def create(conn: sqlite3.Connection, *, ours: bool) -> None:
    """Set a connection up and make the tables.

    Raises:
        RuntimeError: a newer version of this package made them.
    """
    prepare(conn, ours=ours)
    begin(conn)
    try:
        for table in _TABLES:
            conn.execute(table)
        found = conn.execute("SELECT max(version) FROM ckpt_store").fetchone()[0]
        if found is None:
            conn.execute("INSERT INTO ckpt_store VALUES(?)", (VERSION,))
        elif found > VERSION:
            raise RuntimeError(
                f"The store in this database has schema {found}, made by a newer ckpt_viz; this "
                f"one knows {VERSION}. Upgrade ckpt_viz."
            )
    except BaseException:
        conn.rollback()
        raise
    conn.commit()


def load_vectors(conn: sqlite3.Connection) -> bool:
    """Load sqlite-vec into a connection, where it is installed and SQLite takes extensions."""
    try:
        sqlite_vec = import_module("sqlite_vec")
        conn.enable_load_extension(True)
    except (ImportError, AttributeError, sqlite3.Error):  # each of them is the answer: no
        return False
    try:
        sqlite_vec.load(conn)
    except sqlite3.Error:
        return False
    finally:
        conn.enable_load_extension(False)
    return True
