"""Finds out what lies at a path or an address, and opens it: a saver, and what to call it.

Read-only unless it is to be written; then the saver is the one that wrote it, ours or LangGraph's.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ckpt_viz.checkpoint.serde.reading import ReadingSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import SerializationError, SourceError
from ckpt_viz.timeline.databases.file import SqliteFile, tables_of
from ckpt_viz.timeline.databases.keys import key_tag, serializer
from ckpt_viz.timeline.databases.own_server import OwnServer
from ckpt_viz.timeline.databases.own_sqlite import OwnSqlite, is_ours
from ckpt_viz.timeline.databases.peer_sqlite import PeerSqlite, is_peer
from ckpt_viz.timeline.langgraph import peer_saver

POSTGRES = ("postgres", "postgresql")
REDIS = ("redis", "rediss", "unix")


@dataclass(frozen=True, slots=True)
class Wish:
    """How something is to be opened.

    `write`: by a saver that can write. `views`: records as plain data, where no graph is there.
    """

    write: bool = False
    key: Any = None
    views: bool = True


def open_place(place: str | Path, wish: Wish) -> tuple[Any, str]:
    """The saver of an existing database, and what to call it.

    Raises:
        FileNotFoundError: there is no such file; none is made.
        SourceError: it can't be read, or is none of ours nor of LangGraph's.
    """
    if not str(place).strip():
        raise SourceError("An empty text is no source: give a path, an address or debug events")
    scheme = urlsplit(place).scheme if isinstance(place, str) and "://" in place else ""
    if scheme in POSTGRES:
        return _open_postgres(str(place), wish), _title(str(place))
    if scheme in REDIS:
        return _open_redis(str(place), wish), _title(str(place))
    if scheme and scheme != "sqlite":
        known = ", ".join(f"{name}://" for name in ("sqlite", *POSTGRES[:1], *REDIS[:2]))
        raise SourceError(f"Can't open {scheme}://…: a path, or an address with {known}")
    where = Path(urlsplit(str(place)).path.removeprefix("/") if scheme else place).expanduser()
    if not where.is_file():
        raise FileNotFoundError(f"No database file at {str(where)!r}: nothing was created")
    return _open_sqlite(where, wish), where.name


def _title(address: str) -> str:
    """The server and the database, without user and password."""
    parts = urlsplit(address)
    return f"{parts.hostname or parts.scheme}{parts.path.rstrip('/')}"


# -- SQLite ------------------------------------------------------------------------------------


def _open_sqlite(path: Path, wish: Wish) -> Any:
    file = SqliteFile(path)
    columns = file.read(tables_of)
    ours, peer = is_ours(columns), is_peer(columns)
    if ours and peer:
        ours = file.read(lambda conn: _newest(conn, "ckpt_checkpoints", "tag") is not None)
    if not ours and not peer:
        named = ", ".join(sorted(columns)) or "none"
        raise SourceError(
            f"There are no checkpoints in {str(path)!r}: its tables are {named}. Expected "
            "ckpt_checkpoints (of ckpt_viz) or checkpoints (of LangGraph)."
        )
    if ours:
        tag = _sealed(OwnSqlite(file, columns, ReadingSerializer(views=wish.views)))
    else:
        has_tags = "type" in columns["checkpoints"]
        tag = file.read(lambda conn: _newest(conn, "checkpoints", "type")) if has_tags else None
    serde = serializer(tag, wish.key, views=wish.views)
    if not wish.write:
        return OwnSqlite(file, columns, serde) if ours else PeerSqlite(file, columns, serde)
    file.close()
    if ours:
        return SqliteSaver.from_conn_string(path, serde=serde)
    return peer_saver("sqlite", str(path), wish.key)


def _sealed(reader: Any) -> str | None:
    """The tag of a value that can't be read without a key; None where there is none."""
    for thread, _ in reader.thread_heads()[:1]:
        try:
            reader.get_tuple({"configurable": {"thread_id": thread}})
        except SerializationError as error:
            return error.type_name
    return None


def _newest(conn: sqlite3.Connection, table: str, column: str) -> Any:
    """A tag of a row; None where there is no row (or its tag is empty)."""
    row = conn.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
    return row[0] if row is not None and isinstance(row[0], str) else None


# -- servers -----------------------------------------------------------------------------------


def _open_postgres(url: str, wish: Wish) -> Any:
    try:
        from ckpt_viz.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - optional
        from ckpt_viz.timeline.databases import peer_postgres as peer  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError(
            "PostgreSQL needs psycopg. Type:  pip install 'ckpt-viz[postgres]'"
        ) from error
    there = peer.PostgresPlace(url)
    ours = bool(there.columns("ckpt_checkpoints"))
    if not ours and "checkpoint_id" not in there.columns("checkpoints"):
        raise SourceError(
            f"There are no checkpoints in {_title(url)}: neither the table ckpt_checkpoints (of "
            "ckpt_viz) nor checkpoints (of LangGraph) is on the search path."
        )
    ask = (
        "SELECT tag FROM ckpt_checkpoints LIMIT 1"
        if ours
        else ("SELECT type FROM checkpoint_blobs WHERE type LIKE '%+%' LIMIT 1")
    )
    (found,) = there.read((ask, ()))
    serde = serializer(found[0][0] if found else None, wish.key, views=wish.views)
    if wish.write and not ours:
        return peer_saver("postgres", url, wish.key)
    if wish.write:
        return PostgresSaver.from_conn_string(url, serde=serde)
    if not ours:
        return peer.PeerPostgres(there, serde)
    _check_version(there, _title(url))
    address = peer.read_only_address(url)
    return OwnServer(
        PostgresSaver.from_conn_string(address, serde=serde, pool_size=2, timeout=peer.PATIENCE)
    )


def _check_version(there: Any, title: str) -> None:
    """A reader can't bring our tables to this version, nor guess what a newer one means."""
    from ckpt_viz.checkpoint.postgres.schema import MIGRATIONS  # noqa: PLC0415 - optional

    ((version,),) = there.read(("SELECT max(v) FROM ckpt_migrations", ()))[0]
    if version > len(MIGRATIONS):
        raise SourceError(f"{title} has schema {version}, of a newer ckpt_viz: upgrade ckpt_viz.")
    if version < len(MIGRATIONS):
        raise SourceError(f"{title} has schema {version}: open it once with write=True.")


def _open_redis(url: str, wish: Wish) -> Any:
    try:
        import redis  # noqa: PLC0415 - optional

        from ckpt_viz.checkpoint.redis import RedisSaver  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError("Redis needs redis-py. Type:  pip install 'ckpt-viz[redis]'") from error
    serde = serializer(key_tag(wish.key), wish.key, views=wish.views)
    saver = RedisSaver.from_conn_string(url, serde=serde, pool_size=2, timeout=4)
    try:
        for thread, _ in saver.thread_heads()[:1]:
            saver.get_tuple({"configurable": {"thread_id": thread}})
    except (redis.RedisError, SerializationError) as error:
        raise SourceError(f"The Redis at {_title(url)} can't be read: {error}") from error
    return saver if wish.write else OwnServer(saver)
