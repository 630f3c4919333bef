"""The statements that SQLite and PostgreSQL share. Where they differ a sub-class says how.

What a filter means is decided in Python, the same for all databases. A statement only leaves out
what cannot be meant (`narrow`), so that few rows travel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckpt_viz.checkpoint.batches import Batch, Statement
from ckpt_viz.store.scripted.rows import Page, Put, Row, Script, VectorRow, ending

_ALIVE = "(expires IS NULL OR expires > ?)"
_UPSERT = """INSERT INTO ckpt_items(ns, key, body, packed, created, updated, expires, ttl, state)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(ns, key) DO UPDATE SET body = excluded.body,
    packed = excluded.packed, updated = excluded.updated, expires = excluded.expires,
    ttl = excluded.ttl, state = excluded.state"""
_HIS = "SELECT id FROM ckpt_items WHERE ns = ? AND key = ?"
_DROP_VECTORS = f"DELETE FROM ckpt_vectors WHERE item IN ({_HIS})"
_ADD_VECTOR = f"""INSERT INTO ckpt_vectors(item, state, vec)
    SELECT i.id, ?, ? FROM ({_HIS}) AS i"""
_ORPHANS = """DELETE FROM ckpt_vectors WHERE NOT EXISTS (
    SELECT 1 FROM ckpt_items i WHERE i.id = item AND i.state = ckpt_vectors.state)"""
_VECTORS = """SELECT v.mark, v.item, v.state, i.ns, v.vec FROM ckpt_vectors v
    JOIN ckpt_items i ON i.id = v.item AND i.state = v.state"""
_CHUNK = 500
_SLACK = 1e-9
"""Of a number, for databases that do not read numbers to the last digit."""


class SqlRows:
    """The rows of a store in an SQL database; see `ckpt_viz.store.scripted.rows.Rows`."""

    ranks = False
    mark = "?"
    columns = "id, ns, key, body, packed, created, updated, ttl, state"

    def _ask(self, sql: str, *values: Any) -> Statement:
        return (sql if self.mark == "?" else sql.replace("?", self.mark)), values

    # -- what a sub-class says -----------------------------------------------------------------

    def narrow_text(self, key: str, name: str) -> str:
        """A condition that holds for all values whose entry is a text that compares so."""
        raise NotImplementedError

    def narrow_number(self, key: str, name: str) -> str:
        """As `narrow_text`, for entries that are numbers; others it lets pass."""
        raise NotImplementedError

    def to_vector(self, vector: Any) -> Any:
        """A vector as the database keeps it."""
        raise NotImplementedError

    def of_vector(self, stored: Any) -> Any:
        """The vector that `to_vector` was given."""
        raise NotImplementedError

    def before_write(self, puts: Sequence[Put]) -> Iterator[Statement]:
        """What must be done before items are written."""
        return iter(())

    def ranking(self) -> str:
        """An expression for how near the column ``v.vec`` is to a vector, greater is nearer."""
        raise NotImplementedError

    def to_question(self, vector: Any) -> Any:
        """A vector as `ranking` takes it."""
        return self.to_vector(vector)

    # -- reading -------------------------------------------------------------------------------

    def get(self, places: Sequence[tuple[str, str]], now: int) -> Script[list[Row | None]]:
        sql = f"SELECT {self.columns} FROM ckpt_items WHERE ns = ? AND key = ? AND {_ALIVE}"
        found: list[Row | None] = []
        for at in range(0, len(places), _CHUNK):
            asks = (self._ask(sql, ns, key, now) for ns, key in places[at : at + _CHUNK])
            answers = yield Batch(*asks)
            found += [_row(rows[0]) if rows else None for rows in answers]
        return found

    def page(self, page: Page) -> Script[list[Row]]:
        where, values = [_ALIVE], [page.now]
        if page.after:
            where.append("id > ?")
            values.append(page.after)
        for condition, more in (_below(page.ns), *self._narrowed(page.filter)):
            where.append(condition)
            values += more
        sql = f"""SELECT {self.columns} FROM ckpt_items WHERE {" AND ".join(where)}
            ORDER BY id LIMIT ? OFFSET ?"""
        answers = yield Batch(self._ask(sql, *values, page.size, page.skip))
        return [_row(row) for row in answers[0]]

    def fetch(self, numbers: Sequence[int], now: int) -> Script[list[Row]]:
        found: list[Row] = []
        for at in range(0, len(numbers), _CHUNK):
            some = numbers[at : at + _CHUNK]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT {self.columns} FROM ckpt_items WHERE id IN ({marks}) AND {_ALIVE}"
            answers = yield Batch(self._ask(sql, *some, now))
            found += map(_row, answers[0])
        return found

    def spaces(self, below: str, now: int) -> Script[list[str]]:
        condition, values = _below(below)
        sql = f"SELECT DISTINCT ns FROM ckpt_items WHERE {_ALIVE} AND {condition}"
        answers = yield Batch(self._ask(sql, now, *values))
        return [ns for (ns,) in answers[0]]

    def vectors(self, after: int) -> Script[list[VectorRow]]:
        answers = yield Batch(self._ask(f"{_VECTORS} WHERE v.mark > ? ORDER BY v.mark", after))
        return [self._vector(row) for row in answers[0]]

    def length(self) -> Script[int | None]:
        answers = yield Batch(self._ask("SELECT vec FROM ckpt_vectors LIMIT 1"))
        return len(self.of_vector(answers[0][0][0])) if answers[0] else None

    def rank(self, question: Any, below: str, count: int) -> Script[list[VectorRow]]:
        condition, values = _below(below)
        sql = f"{_VECTORS} WHERE {condition} ORDER BY {self.ranking()} DESC LIMIT ?"
        answers = yield Batch(self._ask(sql, *values, self.to_question(question), count))
        return [self._vector(row) for row in answers[0]]

    def _vector(self, row: tuple[Any, ...]) -> VectorRow:
        mark, number, state, ns, stored = row
        return VectorRow(mark, number, state, ns, self.of_vector(stored))

    # -- writing -------------------------------------------------------------------------------

    def write(self, puts: Sequence[Put]) -> Script[None]:
        for at in range(0, len(puts), _CHUNK):
            some = puts[at : at + _CHUNK]
            before = self.before_write(some) if at == 0 else ()
            asks = (ask for put in some for ask in self._written(put))
            yield Batch(*before, *asks, answered=False)

    def _written(self, put: Put) -> Iterator[Statement]:
        place = put.ns, put.key
        if put.body is None:
            yield self._ask(_DROP_VECTORS, *place)
            yield self._ask("DELETE FROM ckpt_items WHERE ns = ? AND key = ?", *place)
            return
        if put.vectors is not None:
            yield self._ask(_DROP_VECTORS, *place)
        # What has expired is gone: the new item is a new one, not a change of the old.
        gone = "DELETE FROM ckpt_items WHERE ns = ? AND key = ? AND expires <= ?"
        yield self._ask(gone, *place, put.now)
        is_text = isinstance(put.body, str)
        body, packed = (put.body, None) if is_text else (None, put.body)
        rest = put.now, put.now, put.expires, put.ttl, put.state
        yield self._ask(_UPSERT, *place, body, packed, *rest)
        for vector in put.vectors or ():
            yield self._ask(_ADD_VECTOR, put.state, self.to_vector(vector), *place)

    def refresh(self, rows: Sequence[Row], now: int) -> Script[None]:
        sql = "UPDATE ckpt_items SET expires = ? WHERE id = ? AND ttl IS NOT NULL"
        ends = {row.number: ending(now, row.ttl) for row in rows if row.ttl is not None}
        asks = (self._ask(sql, end, number) for number, end in sorted(ends.items()))
        yield Batch(*asks, answered=False)

    def sweep(self, now: int) -> Script[int]:
        answers = yield Batch(self._ask("SELECT count(*) FROM ckpt_items WHERE expires <= ?", now))
        count: int = answers[0][0][0]
        if count:
            gone = self._ask("DELETE FROM ckpt_items WHERE expires <= ?", now)
            yield Batch(gone, self._ask(_ORPHANS), answered=False)
        return count

    # -- filters -------------------------------------------------------------------------------

    def _narrowed(self, wanted: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
        """Conditions that hold for every value that is meant, and for few others."""
        for key, want in wanted.items():
            if "." in key:
                continue  # a name or a path: told apart in Python
            asked = want if isinstance(want, dict) else {"$eq": want}
            for name, limit in asked.items():
                found = self._condition(key, name, limit)
                if found is not None:
                    yield f"(packed IS NOT NULL OR {found[0]})", found[1]

    def _condition(self, key: str, name: str, limit: Any) -> tuple[str, list[Any]] | None:
        sign = {"$eq": "=", "$gt": ">=", "$gte": ">=", "$lt": "<=", "$lte": "<="}.get(name)
        if sign is None or isinstance(limit, bool):
            return None
        if isinstance(limit, str):
            if "\0" in limit or not _is_utf8(limit):
                return None
            return self.narrow_text(key, sign), [limit]
        if isinstance(limit, int | float) and abs(limit) < 2**53:
            slack = abs(limit) * _SLACK
            ends = {"=": [limit - slack, limit + slack], ">=": [limit - slack]}
            found = ends.get(sign, [limit + slack])
            return self.narrow_number(key, sign), [float(end) for end in found]
        return None


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _below(ns: str) -> tuple[str, list[Any]]:
    """A condition for a namespace and those below it. ``/`` is the character after ``.``."""
    if not ns:
        return "1 = 1", []
    sql = "ns >= ? AND ns < ? AND (ns = ? OR ns >= ?)"
    return sql, [ns, f"{ns}/", ns, f"{ns}."]


def _row(row: tuple[Any, ...]) -> Row:
    number, ns, key, body, packed, *rest = row
    return Row(number, ns, key, body if packed is None else bytes(packed), *rest)
