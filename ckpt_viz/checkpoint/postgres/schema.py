"""The tables, and the steps that lead from one version of them to the next.

A thread and namespace is a small number everywhere else. Names are compared byte by byte
(``COLLATE "C"``), as Python compares text. Values are bytes that are compressed already.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

MIGRATIONS = (
    """
    CREATE TABLE IF NOT EXISTS ckpt_threads(
        k bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        thread text COLLATE "C" NOT NULL, ns text COLLATE "C" NOT NULL, UNIQUE(thread, ns));
    CREATE TABLE IF NOT EXISTS ckpt_checkpoints(
        k bigint NOT NULL, id text COLLATE "C" NOT NULL, parent text COLLATE "C",
        base text COLLATE "C", source text, step bigint, tokens bigint[] NOT NULL,
        tag text NOT NULL, body bytea NOT NULL, mtag text NOT NULL, meta bytea NOT NULL,
        PRIMARY KEY(k, id));
    CREATE INDEX IF NOT EXISTS ckpt_by_id ON ckpt_checkpoints(id, k);
    CREATE INDEX IF NOT EXISTS ckpt_by_token ON ckpt_checkpoints USING gin(tokens);
    CREATE TABLE IF NOT EXISTS ckpt_blobs(
        k bigint NOT NULL, channel text COLLATE "C" NOT NULL, version text COLLATE "C" NOT NULL,
        base_channel text COLLATE "C", base text COLLATE "C",
        tag text NOT NULL, data bytea NOT NULL, PRIMARY KEY(k, channel, version));
    CREATE TABLE IF NOT EXISTS ckpt_writes(
        k bigint NOT NULL, id text COLLATE "C" NOT NULL, task text COLLATE "C" NOT NULL,
        idx int NOT NULL, path text NOT NULL, channel text NOT NULL,
        base_channel text, base text,
        tag text NOT NULL, data bytea NOT NULL, PRIMARY KEY(k, id, task, idx));
    CREATE TABLE IF NOT EXISTS ckpt_labels(
        k bigint NOT NULL, id text COLLATE "C" NOT NULL, label text NOT NULL, PRIMARY KEY(k, id));
    ALTER TABLE ckpt_blobs ALTER COLUMN data SET STORAGE EXTERNAL;
    ALTER TABLE ckpt_writes ALTER COLUMN data SET STORAGE EXTERNAL
    """,
    "ALTER TABLE ckpt_writes ADD COLUMN IF NOT EXISTS span bytea",
)
"""Statements by version. A step that was released never changes; a new one is appended."""


class Tables(NamedTuple):
    """How tables are made: the steps, the table that counts them, and what is run after them."""

    steps: Sequence[str]
    versions: str
    after: Callable[[], Generator[Any, Any, None]] | None = None


TABLES = Tables(MIGRATIONS, "ckpt_migrations")
LOCK = 0x636B70745F76697A
"""An advisory lock: programs that set up one new database at a time wait for each other."""
