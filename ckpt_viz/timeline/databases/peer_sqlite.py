"""LangGraph's SQLite schema, of its first saver (0.1) to today's, read without LangGraph.

Until 0.2 a row was (thread, time stamp id, parent, JSON); then came namespaces and tags, and with
version 3.1 of its saver the path of a task beside each write. Columns are asked for by name, so
that a newer schema with more of them is read too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import CheckpointTuple
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.errors import SourceError, UnreadableError
from ckpt_viz.timeline.databases.file import SqliteFile
from ckpt_viz.timeline.databases.peer import PeerRow, PeerWrite, at_row, made, place, typed
from ckpt_viz.timeline.databases.reader import HistoryReader, Wanted, holds

_NEEDED = ("thread_id", "checkpoint", "metadata")
_THREADS = """WITH RECURSIVE t(id) AS (
    SELECT min(thread_id) FROM checkpoints UNION ALL
    SELECT (SELECT min(thread_id) FROM checkpoints WHERE thread_id > t.id) FROM t
        WHERE t.id IS NOT NULL)
    SELECT id, (SELECT max({id}) FROM checkpoints c WHERE c.thread_id = t.id{root}) AS head
    FROM t WHERE id IS NOT NULL ORDER BY head DESC"""
"""Jumps from thread to thread along the primary key, and there to the newest checkpoint."""
_CHUNK = 400


def is_peer(columns: dict[str, list[str]]) -> bool:
    """Whether a database's tables are those of LangGraph's SQLite saver."""
    own = columns.get("checkpoints", [])
    return "thread_id" in own and ("checkpoint_id" in own or "thread_ts" in own)


class PeerSqlite(HistoryReader):
    """Reads threads from a file that LangGraph's SQLite saver wrote."""

    def __init__(
        self, file: SqliteFile, columns: dict[str, list[str]], serde: SerializerProtocol
    ) -> None:
        super().__init__(serde)
        self._file = file
        own, writes = columns["checkpoints"], columns.get("writes", [])
        missing = [name for name in _NEEDED if name not in own]
        if missing:
            raise SourceError(
                f"The table checkpoints in {str(file.path)!r} lacks {', '.join(missing)}: it is "
                "no schema of LangGraph's that this version knows. Upgrade ckpt_viz."
            )
        self._id = "checkpoint_id" if "checkpoint_id" in own else "thread_ts"
        parent = "parent_checkpoint_id" if "parent_checkpoint_id" in own else "parent_ts"
        self._has_ns = "checkpoint_ns" in own
        self._columns = ", ".join(
            name if name in own else f"NULL AS {name}"
            for name in ("thread_id", "checkpoint_ns", self._id, parent, "type", "checkpoint")
        )
        self._writes = ", ".join(
            name if name in writes else f"NULL AS {name}"
            for name in ("task_id", "task_path", "idx", "channel", "type", "value")
        )
        self._has_writes = bool(writes)

    # -- threads -------------------------------------------------------------------------------

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        wanted = holds(query)
        root = " AND c.checkpoint_ns = ''" if self._has_ns else ""
        sql = _THREADS.format(id=self._id, root=root)
        found = self._file.read(lambda conn: conn.execute(sql).fetchall())
        return [(thread, id_) for thread, id_ in found if id_ is not None and wanted(thread)]

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        root = " AND checkpoint_ns = ''" if self._has_ns else ""
        sql = f"SELECT count(*) FROM checkpoints WHERE thread_id = ?{root}"
        return self._file.read(
            lambda conn: {one: conn.execute(sql, (one,)).fetchone()[0] for one in threads}
        )

    def namespaces(self, thread_id: str) -> list[str]:
        if not self._has_ns:
            return [""]
        sql = "SELECT min(checkpoint_ns) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns {}?"

        def find(conn: sqlite3.Connection) -> list[str]:
            found: list[str] = []
            (at,) = conn.execute(sql.format(">="), (thread_id, "")).fetchone()
            while at is not None:
                found.append(at)
                (at,) = conn.execute(sql.format(">"), (thread_id, at)).fetchone()
            return found

        return self._file.read(find)

    def task_paths(self, thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> dict[str, str]:
        """Task id -> path, of the tasks that wrote from a checkpoint; empty where none is kept."""
        rows = self._file.read(
            lambda conn: self._all_writes(conn, thread_id, checkpoint_ns, [checkpoint_id])
        )
        return {one.task: one.path for found in rows.values() for one in found if one.path}

    # -- checkpoints ---------------------------------------------------------------------------

    def _page(self, wanted: Wanted) -> list[CheckpointTuple]:
        return self._file.read(lambda conn: self._tuples(conn, self._rows(conn, wanted)))

    def _rows(self, conn: sqlite3.Connection, wanted: Wanted) -> list[PeerRow]:
        where, values = ["1"], []
        asked = [("thread_id", "=", wanted.thread), (self._id, "=", wanted.id)]
        if self._has_ns:
            asked.append(("checkpoint_ns", "=", wanted.ns))
        elif wanted.ns:
            return []
        asked.append((self._id, "<", wanted.before))
        for column, sign, value in asked:
            if value is not None:
                where.append(f"{column} {sign} ?")
                values.append(value)
        order = [self._id, "thread_id", *(["checkpoint_ns"] if self._has_ns else [])]
        if wanted.after is not None:
            marks = ", ".join("?" * len(order))
            where += [f"{self._id} <= ?", f"({', '.join(order)}) < ({marks})"]
            values += [wanted.after[0], *wanted.after[: len(order)]]
        down = ", ".join(f"{column} DESC" for column in order)
        sql = (
            f"SELECT {self._columns}, metadata FROM checkpoints WHERE {' AND '.join(where)} "
            f"ORDER BY {down} LIMIT ?"
        )
        return [self._row(one) for one in conn.execute(sql, (*values, wanted.size))]

    def _row(self, row: tuple[Any, ...]) -> PeerRow:
        with at_row(str(row[2]), row[3] or None):
            return self._read_row(row)

    def _read_row(self, row: tuple[Any, ...]) -> PeerRow:
        thread, ns, id_, parent, tag, data, meta = row
        where = place(thread, ns or "", id_)
        checkpoint = typed(self.serde, tag, data, where)
        metadata = typed(self.serde, "json", meta, f"The metadata of {where}") if meta else {}
        if not isinstance(checkpoint, dict):
            raise UnreadableError(f"{where} is no checkpoint but {type(checkpoint).__name__}")
        if not isinstance(metadata, dict):
            metadata = {}
        return PeerRow(str(thread), ns or "", str(id_), parent or None, checkpoint, metadata)

    def _tuples(self, conn: sqlite3.Connection, rows: Sequence[PeerRow]) -> list[CheckpointTuple]:
        spaces: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            spaces.setdefault((row.thread, row.ns), []).append(row.id)
        writes: dict[tuple[str, str, str], list[PeerWrite]] = {}
        for (thread, ns), ids in spaces.items():
            found = self._all_writes(conn, thread, ns, ids)
            writes |= {(thread, ns, id_): own for id_, own in found.items()}
        return [made(self.serde, row, writes.get((row.thread, row.ns, row.id), ())) for row in rows]

    def _all_writes(
        self, conn: sqlite3.Connection, thread: str, ns: str, ids: Sequence[str]
    ) -> dict[str, list[PeerWrite]]:
        found: dict[str, list[PeerWrite]] = {}
        if not self._has_writes:
            return found
        space, values = (" AND checkpoint_ns = ?", [ns]) if self._has_ns else ("", [])
        for chunk in _chunks(ids):
            sql = (
                f"SELECT {self._id}, {self._writes} FROM writes WHERE thread_id = ?{space} "
                f"AND {self._id} IN ({','.join('?' * len(chunk))})"
            )
            for id_, task, path, *rest in conn.execute(sql, (thread, *values, *chunk)):
                found.setdefault(str(id_), []).append(PeerWrite(str(task), path or "", *rest))
        return found


def _chunks(items: Sequence[str]) -> Iterable[Sequence[str]]:
    return (items[at : at + _CHUNK] for at in range(0, len(items), _CHUNK))
