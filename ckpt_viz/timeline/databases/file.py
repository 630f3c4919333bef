"""A SQLite file that is looked at and never changed, also while another process writes it.

Rules: opened ``mode=ro``. A file in write-ahead mode whose log is not there is in nobody's use, and
is opened as immutable, because a plain reader would leave a log beside it; after each read it is
looked at again, and read anew if somebody came. Waiting for a lock ends after `PATIENCE` seconds.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from zstandard import ZstdError

from ckpt_viz.errors import CkptVizError, SourceError

T = TypeVar("T")
MAGIC = b"SQLite format 3\0"
PATIENCE = 2.0
_HEADER = 100
_TRIES = 5
_MOVING = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA)
_DAMAGE = (ArithmeticError, LookupError, TypeError, ValueError, ZstdError)
"""What unpacking raises where bytes are not what was written."""
Sign = tuple[Any, ...]


class SqliteFile:
    """One file. Connections are opened when needed, and again when the file is another one."""

    def __init__(self, path: str | Path) -> None:
        """Raises `SourceError` (an OSError) where this is no whole SQLite database."""
        self.path = Path(path)
        _check(self.path)
        self._lock = threading.RLock()
        self._conn: sqlite3.Connection | None = None
        self._sign: Sign | None = None

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` finds, all of it in one moment of the file.

        Raises:
            SourceError: the file cannot be read: locked, cut short, or not there any more.
        """
        with self._lock:
            for left in reversed(range(_TRIES)):
                before = self._look()
                try:
                    found = _whole(self._connection(before), work)
                except sqlite3.Error as error:
                    self.close()
                    moved = self._look() != before or _code(error) in _MOVING
                    if not (moved and left and self._look() != before):
                        raise self._told(error) from error
                    continue
                except _DAMAGE as error:
                    if isinstance(error, CkptVizError):
                        raise
                    raise SourceError(f"{self._name} is damaged: {error!r}") from error
                if before[-1] or self._look() == before:
                    return found
                self.close()
            raise SourceError(f"{self._name} is written to all the time: it can't be read now")

    def close(self) -> None:
        """Closes the connection; the next read opens one."""
        with self._lock:
            if self._conn is not None:
                self._conn.close()
                self._conn = None

    @property
    def _name(self) -> str:
        return f"The database {str(self.path)!r}"

    def _look(self) -> Sign:
        """What tells that the file is as it was; last, whether readers and writers share a log."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise SourceError(f"{self._name} is not there any more: {error}") from error
        log = Path(f"{self.path}-wal")
        shared = log.exists() or not _in_wal_mode(self.path)
        return found.st_ino, found.st_size, found.st_mtime_ns, shared

    def _connection(self, sign: Sign) -> sqlite3.Connection:
        told = sign if not sign[-1] else (sign[0], True)  # SQLite itself sees what changes
        if self._conn is None or told != self._sign:
            self.close()
            how = "mode=ro" if sign[-1] else "mode=ro&immutable=1"
            address = f"file:{quote(os.path.abspath(self.path))}?{how}"
            self._conn = sqlite3.connect(
                address, uri=True, timeout=PATIENCE, check_same_thread=False, isolation_level=None
            )
            self._conn.execute("PRAGMA query_only=1")
            self._sign = told
        return self._conn

    def _told(self, error: sqlite3.Error) -> SourceError:
        code = _code(error)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return SourceError(
                f"{self._name} is locked by another process. Try again when it is done; nothing "
                "was changed."
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return SourceError(
                f"{self._name} is damaged or cut short ({error}). Copy it again, with the file "
                "that ends in -wal if there is one; or save what is left with `sqlite3 FILE "
                ".recover`."
            )
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return SourceError(
                f"{self._name} can't be opened without writing beside it ({error}): a process was "
                "stopped in the middle of a write. Copy it with its -wal file to a folder of yours."
            )
        return SourceError(f"{self._name} can't be read: {error}")


def tables_of(conn: sqlite3.Connection) -> dict[str, list[str]]:
    """Table -> its columns."""
    sql = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    names = [name for (name,) in conn.execute(sql)]
    ask = "SELECT name FROM pragma_table_info(?)"
    return {name: [column for (column,) in conn.execute(ask, (name,))] for name in names}


def _whole(conn: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    conn.execute("BEGIN")
    try:
        return work(conn)
    finally:
        if conn.in_transaction:
            conn.execute("ROLLBACK")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_HEADER)[18:20] == b"\2\2"


def _check(path: Path) -> None:
    """Whether this is a whole SQLite database, by its header alone."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER)
        size = path.stat().st_size
    except OSError as error:
        raise SourceError(f"Can't open {str(path)!r}: {error}") from error
    if not head:
        raise SourceError(f"{str(path)!r} is an empty file: no database, and no checkpoints yet")
    if not head.startswith(MAGIC):
        raise SourceError(
            f"{str(path)!r} is not a SQLite database: it begins with {head[:16]!r}. "
            "Give the file that a saver wrote."
        )
    if len(head) < _HEADER:
        raise SourceError(f"The database {str(path)!r} is cut short: it has {size} bytes in all")
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    is_told = head[24:28] == head[92:96]
    if is_told and pages * page > size and not Path(f"{path}-wal").exists():
        raise SourceError(
            f"The database {str(path)!r} is cut short: it has {size} of {pages * page} bytes. "
            "Copy it again, whole."
        )
