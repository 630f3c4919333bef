"""A reader beside a saver: LangGraph's SQLite saver lists threads by reading all that it has."""

from __future__ import annotations

import sqlite3
from typing import Any

from ckpt_viz.checkpoint.serde.reading import ReadingSerializer
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.databases.file import SqliteFile, tables_of
from ckpt_viz.timeline.databases.peer_sqlite import PeerSqlite, is_peer


def beside(saver: Any) -> PeerSqlite | None:
    """A reader of the file that LangGraph's SQLite saver has open; None for any other saver."""
    conn = getattr(saver, "conn", None)
    conn = getattr(conn, "_conn", conn)  # of aiosqlite
    if not isinstance(conn, sqlite3.Connection):
        return None
    try:
        path = conn.execute("PRAGMA database_list").fetchone()[2]
        if not path:  # in memory
            return None
        file = SqliteFile(path)
        tables = file.read(tables_of)
    except (sqlite3.Error, SourceError):  # closed, another thread's, or not written yet
        return None
    return PeerSqlite(file, tables, ReadingSerializer()) if is_peer(tables) else None
