"""Tables of version 1, which had a row for each value and each write, brought to this form.

Nothing is unpacked: the bytes of values go over as they are, whatever serializer made them.
"""

from __future__ import annotations

import sqlite3
from itertools import groupby

from ckpt_viz.checkpoint import chains
from ckpt_viz.checkpoint.delta import short
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.compress import squeeze
from ckpt_viz.checkpoint.sqlite.rows import Cell, cell_of, pack_cells, pack_writes

_NEW_BIG = "INSERT INTO ckpt_big VALUES(?,?,?)"


def take_aside(conn: sqlite3.Connection) -> bool:
    """Rename the tables of version 1, if there are any that this version has differently."""
    columns = [row[1] for row in conn.execute("PRAGMA table_info(ckpt_writes)")]
    if "idx" not in columns:
        return False
    conn.execute("ALTER TABLE ckpt_writes RENAME TO ckpt_old_writes")
    conn.execute("ALTER TABLE ckpt_blobs RENAME TO ckpt_old_blobs")
    return True


def take_over(conn: sqlite3.Connection) -> None:
    """Move the rows of version 1 into the tables of this one."""
    sql = "SELECT k, version, channel, tag, data FROM ckpt_old_blobs ORDER BY k, version, channel"
    for (k, version), rows in groupby(conn.execute(sql), key=lambda row: row[:2]):
        cells = {row[2]: _cell(conn, k, (row[3], row[4])) for row in rows}
        conn.execute(
            "INSERT INTO ckpt_values VALUES(?,?,?)", (k, short(version), pack_cells(cells))
        )
    sql = (
        "SELECT k, id, task, path, idx, channel, tag, data FROM ckpt_old_writes "
        "ORDER BY k, id, task, idx"
    )
    for (k, id_, task), rows in groupby(conn.execute(sql), key=lambda row: row[:3]):
        found = list(rows)
        writes = [(row[4], row[5], _cell(conn, k, (row[6], row[7]))) for row in found]
        key = (k, short(id_), short(task), found[0][3])
        conn.execute("INSERT INTO ckpt_writes VALUES(?,?,?,?,?)", (*key, pack_writes(writes)))
    conn.execute("DROP TABLE ckpt_old_writes")
    conn.execute("DROP TABLE ckpt_old_blobs")


def _cell(conn: sqlite3.Connection, k: int, typed: Typed) -> Cell:
    if len(typed[1]) < chains.BIG:
        return cell_of(typed)
    chain = conn.execute("INSERT INTO ckpt_chains(k) VALUES(?)", (k,)).lastrowid or 0
    at = chains.head_of(chain)
    conn.execute(_NEW_BIG, (at, *squeeze(typed)))
    return at
