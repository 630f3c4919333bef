"""Finds out what lies at a path or an address, and opens it: a saver that reads it, and a title."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ckpt_viz.checkpoint.sqlite import SqliteSaver


def open_place(
    place: str | Path, *, write: bool = False, key: bytes | str | None = None
) -> tuple[Any, str]:
    """The saver of an existing database, and what to call it.

    Raises FileNotFoundError rather than making a file.
    """
    where = Path(place).expanduser()
    if not where.is_file():
        raise FileNotFoundError(f"No database file at {str(where)!r}: nothing was created")
    return SqliteSaver.from_conn_string(str(where)), where.name
