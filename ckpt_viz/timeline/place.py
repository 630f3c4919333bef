"""Says in words where a saver keeps what it is given."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

KINDS = {"sqlite": "SQLite", "postgres": "PostgreSQL", "redis": "Redis", "mongo": "MongoDB"}


def place_of(saver: Any) -> str:
    """Where the saver writes: never with a password.

    >>> from ckpt_viz.checkpoint.memory import InMemorySaver
    >>> place_of(InMemorySaver())
    "this kernel's memory"
    """
    name = type(saver).__name__
    if "memory" in name.lower():
        return "this kernel's memory"
    kind = next((word for key, word in KINDS.items() if key in name.lower()), "")
    detail = _file(saver) if kind == "SQLite" else _server(saver)
    if not kind:
        return f"the saver {name}"
    return f"{kind} {detail}".rstrip()


def _file(saver: Any) -> str:
    connection = getattr(saver, "conn", None)
    if not isinstance(connection, sqlite3.Connection):
        return ""
    try:
        found = connection.execute("PRAGMA database_list").fetchall()[0][2]
    except sqlite3.Error:  # closed, or of another thread: only the name is lost
        return ""
    return f"file {Path(found).name}" if found else "in memory"


def _server(saver: Any) -> str:
    for name in ("url", "conn_string", "conninfo", "dsn"):
        found = getattr(saver, name, None)
        if isinstance(found, str) and "://" in found:
            parts = urlsplit(found)
            return f"at {parts.hostname or 'localhost'}{parts.path}"
    info = getattr(getattr(saver, "conn", None), "info", None)
    database = getattr(info, "dbname", None)
    return f"database {database}" if isinstance(database, str) else ""
