"""Tables and statements of a store in PostgreSQL.

Names are compared byte by byte. A value of JSON is kept as it was written (``json``, not
``jsonb``). Vectors are arrays, which pgvector reckons with where the server has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckpt_viz.checkpoint.batches import Batch, Statement
from ckpt_viz.checkpoint.postgres.schema import Tables
from ckpt_viz.store.nearest import arithmetic
from ckpt_viz.store.scripted.rows import Put, Script
from ckpt_viz.store.scripted.sql import SqlRows

_MIGRATIONS = (
    """
    CREATE TABLE IF NOT EXISTS ckpt_items(
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        ns text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
        body json, packed bytea, created bigint NOT NULL, updated bigint NOT NULL,
        expires bigint, ttl double precision, state bigint NOT NULL, UNIQUE(ns, key));
    CREATE INDEX IF NOT EXISTS ckpt_items_end ON ckpt_items(expires) WHERE expires IS NOT NULL;
    CREATE TABLE IF NOT EXISTS ckpt_vectors(
        mark bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item bigint NOT NULL,
        state bigint NOT NULL, vec real[] NOT NULL);
    CREATE INDEX IF NOT EXISTS ckpt_vectors_of ON ckpt_vectors(item, state)
    """,
)
"""Statements by version. A step that was released never changes; a new one is appended."""

_LOCK = 0x636B70745F737472
_THERE = """SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'"""


class PostgresRows(SqlRows):
    """The rows of a store in PostgreSQL. ``ranks`` where the server has pgvector.

    Args:
        is_ranked: whether pgvector is wanted.
    """

    mark = "%s"
    columns = SqlRows.columns.replace("body", "body::text")

    def __init__(self, is_ranked: bool) -> None:
        self._is_ranked = is_ranked
        self._schema = ""
        self.tables = Tables(_MIGRATIONS, "ckpt_store_migrations", self._look_for_pgvector)

    def _look_for_pgvector(self) -> Script[None]:
        """Find out whether the server has pgvector; a database that can have it is given it."""
        if not self._is_ranked:
            return
        found = yield Batch((_THERE, ()))
        if not found[0]:
            can = yield Batch(
                (
                    "SELECT 1 FROM pg_available_extensions WHERE name = 'vector' AND "
                    "has_database_privilege(current_database(), 'CREATE') AND "
                    "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)",
                    (),
                )
            )
            if not can[0]:
                return
            lock = self._ask("SELECT pg_advisory_xact_lock(?)", _LOCK)
            yield Batch(lock, ("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public", ()))
            found = yield Batch((_THERE, ()))
        self._schema = '"' + found[0][0][0].replace('"', '""') + '"'
        self.ranks = True

    def narrow_text(self, key: str, name: str) -> str:
        entry = f"body->>'{key}'"
        if name == "=":
            return f"{entry} = ?"
        kind = f"json_typeof(body->'{key}')"
        return f"""({kind} <> 'string' OR {entry} COLLATE "C" {name} ?)"""

    def narrow_number(self, key: str, name: str) -> str:
        kind, entry = f"json_typeof(body->'{key}')", f"(body->>'{key}')::float8"
        test = f"{entry} BETWEEN ? AND ?" if name == "=" else f"{entry} {name} ?"
        return f"(CASE WHEN {kind} = 'number' THEN {test} ELSE {kind} IN ('string', 'boolean') END)"

    def to_vector(self, vector: Any) -> Any:
        return list(map(float, vector))

    def of_vector(self, stored: Any) -> Any:
        return arithmetic.single(stored)

    def ranking(self) -> str:
        vector, sign = f"{self._schema}.vector", f"OPERATOR({self._schema}.<=>)"
        near = f"-(v.vec::{vector} {sign} (?::real[])::{vector})"
        return f"coalesce(nullif({near}, 'NaN'), -1)"

    def before_write(self, puts: Sequence[Put]) -> Iterator[Statement]:
        """Writers of several items, and of vectors, whose marks others count on, queue."""
        if len(puts) > 1 or any(put.vectors is not None for put in puts):
            yield self._ask("SELECT pg_advisory_xact_lock(?)", _LOCK)
