"""Which SQL reads and writes the rows of the contract in `scripted`.

Lateral joins behind ``OFFSET 0`` keep the planner to the index, whatever it thinks of the sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ckpt_viz.checkpoint.batches import Batch, Statement
from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.postgres.door import set_up
from ckpt_viz.checkpoint.scripted.rows import (
    BaseGone,
    Blob,
    BlobKey,
    Edit,
    HeadMoved,
    Query,
    Row,
    Size,
    Surveyed,
    Write,
    base_of,
    escaped_base,
)

_K = "(SELECT k FROM ckpt_threads WHERE thread = %s AND ns = %s)"
_HOLD = """INSERT INTO ckpt_threads(thread, ns) VALUES(%s, %s)
    ON CONFLICT (thread, ns) DO UPDATE SET ns = excluded.ns WHERE false"""
"""Makes the row of a thread, or locks it: nobody else changes the thread before we commit."""
_PUT = f"""INSERT INTO ckpt_checkpoints
    (k, id, parent, base, source, step, tokens, tag, body, mtag, meta)
    VALUES({_K}, %s, %s, %s, %s, %s, %s, %s, %b, %s, %b)
    ON CONFLICT (k, id) DO UPDATE SET parent = excluded.parent, base = excluded.base,
    source = excluded.source, step = excluded.step, tokens = excluded.tokens,
    tag = excluded.tag, body = excluded.body, mtag = excluded.mtag, meta = excluded.meta"""
_BLOB_COLUMNS = "channel, version, base_channel, base, tag, data"
_PUT_BLOBS = f"""INSERT INTO ckpt_blobs (k, {_BLOB_COLUMNS}) SELECT {_K}, u.* FROM unnest(
    %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %b::bytea[]) AS u
    ON CONFLICT (k, channel, version) DO UPDATE SET base_channel = excluded.base_channel,
    base = excluded.base, tag = excluded.tag, data = excluded.data WHERE %s
    RETURNING channel, version"""
_WRITE_COLUMNS = "id, task, idx, path, channel, base_channel, base, tag, data, span"
_PUT_WRITES = f"""INSERT INTO ckpt_writes (k, {_WRITE_COLUMNS}) SELECT {_K}, u.* FROM unnest(
    %s::text[], %s::text[], %s::int[], %s::text[], %s::text[], %s::text[], %s::text[],
    %s::text[], %b::bytea[], %b::bytea[]) AS u
    ON CONFLICT (k, id, task, idx) DO UPDATE SET path = excluded.path,
    channel = excluded.channel, base_channel = excluded.base_channel, base = excluded.base,
    tag = excluded.tag, data = excluded.data, span = excluded.span
    WHERE excluded.idx < 0 OR %s"""
_LABEL = f"""INSERT INTO ckpt_labels VALUES({_K}, %s, %s)
    ON CONFLICT (k, id) DO UPDATE SET label = excluded.label"""
_DROP_BLOBS = f"""DELETE FROM ckpt_blobs b USING unnest(%s::text[], %s::text[])
    AS u(channel, version) WHERE b.k = {_K} AND b.channel = u.channel AND b.version = u.version"""
_ROWS = """SELECT c.k, t.thread, t.ns, c.id, c.parent, c.base, c.tag, c.body, c.mtag, c.meta,
    c.source, c.step, c.tokens FROM ckpt_checkpoints c JOIN ckpt_threads t USING (k)"""
_BASES = f"""WITH RECURSIVE line(k, id) AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[] COLLATE "C") UNION
    SELECT l.k, b.base FROM line l CROSS JOIN LATERAL (SELECT c.base FROM ckpt_checkpoints c
        WHERE c.k = l.k AND c.id = l.id AND c.base IS NOT NULL OFFSET 0) b)
    SELECT r.* FROM line l CROSS JOIN LATERAL (
        {_ROWS} WHERE c.k = l.k AND c.id = l.id OFFSET 0) r"""
_AT_BLOB = "b.k = c.k AND b.channel = c.channel AND b.version = c.version"
_VALUES = f"""WITH RECURSIVE chain(k, ns, channel, version) AS (
    SELECT t.k, t.ns, u.channel COLLATE "C", u.version COLLATE "C"
        FROM unnest(%s::text[], %s::text[], %s::text[]) AS u(ns, channel, version)
        JOIN ckpt_threads t ON t.thread = %s AND t.ns = u.ns UNION
    SELECT c.k, c.ns, b.base_channel, b.base FROM chain c CROSS JOIN LATERAL (
        SELECT * FROM ckpt_blobs b WHERE {_AT_BLOB} AND b.base IS NOT NULL OFFSET 0) b)
    SELECT c.ns, b.* FROM chain c CROSS JOIN LATERAL (
        SELECT {_BLOB_COLUMNS} FROM ckpt_blobs b WHERE {_AT_BLOB} OFFSET 0) b"""
_WRITES = f"""SELECT t.ns, w.* FROM unnest(%s::text[], %s::text[]) AS u(ns, id)
    JOIN ckpt_threads t ON t.thread = %s AND t.ns = u.ns CROSS JOIN LATERAL (
    SELECT {_WRITE_COLUMNS} FROM ckpt_writes w WHERE w.k = t.k AND w.id = u.id OFFSET 0) w"""
_THERE = f"""SELECT count(*) FROM unnest(%s::text[], %s::text[]) AS u(channel, version)
    JOIN ckpt_blobs b ON b.k = {_K} AND b.channel = u.channel AND b.version = u.version"""
_NEWER = f"""SELECT max(id) FROM ckpt_checkpoints
    WHERE k = {_K} AND id > %s AND id <> ALL(%s)"""
_THERE_ROW = f"SELECT 1 FROM ckpt_checkpoints WHERE k = {_K} AND id = %s"
_COUNT = """SELECT thread, sum(n)::bigint, (array_agg(step ORDER BY ns <> '', id DESC))[1],
    (array_agg(id ORDER BY ns <> '', id DESC))[1], sum(bytes)::bigint FROM (
    SELECT t.thread, t.ns, count(*) AS n, max(c.id) AS id,
        (array_agg(c.step ORDER BY c.id DESC))[1] AS step,
        sum(octet_length(c.body) + octet_length(c.meta))
        + (SELECT coalesce(sum(octet_length(data)), 0) FROM ckpt_blobs b WHERE b.k = t.k)
        + (SELECT coalesce(sum(octet_length(data)), 0) FROM ckpt_writes w WHERE w.k = t.k) AS bytes
    FROM ckpt_threads t JOIN ckpt_checkpoints c USING (k) GROUP BY t.k) AS s GROUP BY thread"""
_OF_THREAD = "FROM {} x JOIN ckpt_threads t USING (k) WHERE t.thread = %s"
_TABLES = ("ckpt_checkpoints", "ckpt_blobs", "ckpt_writes", "ckpt_labels")
_SIZE = """SELECT coalesce(sum(pg_total_relation_size(x::regclass)), 0)::bigint
    FROM unnest(%s::text[]) AS x"""
_DEAD = """SELECT coalesce(sum(pg_total_relation_size(relid) * n_dead_tup
    / greatest(n_live_tup + n_dead_tup, 1)), 0)::bigint
    FROM pg_stat_user_tables WHERE relid = ANY(%s::text[]::regclass[]::oid[])"""
_MOST = 2**63
_CHUNK = 500


class PostgresRows:
    """The rows of threads in PostgreSQL."""

    def set_up(self) -> Script[None]:
        """Bring the tables to this version."""
        return set_up()

    # -- reading -------------------------------------------------------------------------------

    def read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        """A page of checkpoints, newest first."""
        where, values = _conditions(query)
        clause = f" WHERE {' AND '.join(where)}" if where else ""
        sql = f"{_ROWS}{clause} ORDER BY c.id DESC, c.k DESC LIMIT %s"
        (found,) = yield Batch((sql, (*values, size)))
        return [_row(one) for one in found]

    def read_bases(self, rows: Sequence[Row]) -> Script[list[Row]]:
        """The checkpoints that these are told against, and so on."""
        told = [(row.key, escape(row.base)) for row in rows if row.base is not None]
        (found,) = yield Batch((_BASES, [list(column) for column in zip(*told, strict=True)]))
        return [_row(one) for one in found]

    def read_values(
        self, thread: str, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Blob], dict[tuple[str, str], list[Write]]]]:
        """Values with all that they are told against; and the writes of rows."""
        asked = [escape(key.ns) for key in keys], [escape(key.channel) for key in keys]
        ids = [escape(row.ns) for row in rows], [escape(row.id) for row in rows]
        name = escape(thread)
        blobs, writes = yield Batch(
            (_VALUES, (*asked, [key.version for key in keys], name)),
            (_WRITES, (*ids, name)),
        )
        kept: dict[tuple[str, str], list[Write]] = {(row.ns, row.id): [] for row in rows}
        for ns, *one in writes:
            write = _write(one)
            kept[unescape(ns), write.id].append(write)
        return dict(map(_blob, blobs)), kept

    # -- writing -------------------------------------------------------------------------------

    def edit(self, edit: Edit) -> Script[set[BlobKey]]:
        """Change a thread; returns which of the big values were there already.

        Raises:
            BaseGone: something that is needed is not there. HeadMoved: see `Edit.extends`.
        """
        thread = escape(edit.thread)
        checks = list(_checks(thread, edit))
        spaces = {row.ns for row in edit.rows} | {key.ns for key in edit.blobs}
        spaces |= {ns for ns, _ in (*edit.writes, *edit.labels, *edit.drop_rows)}
        holds = [(_HOLD, (thread, escape(ns))) for ns in sorted(spaces)]
        puts, blobs = list(_puts(thread, edit)), list(_put_blobs(thread, edit))
        if not edit.is_checked and len(puts) < _CHUNK:
            yield Batch(*holds, *blobs, *puts, answered=False)
            return set()
        newer, *answers = (
            yield Batch(*holds, _newer(thread, edit), *(sql for sql, _ in checks), *blobs)
        )[len(holds) :]
        if edit.extends is not None and newer[0][0] is not None:
            raise HeadMoved(unescape(newer[0][0]))
        for (_, wanted), found in zip(checks, answers, strict=False):
            if not found or found[0][0] < wanted:
                raise BaseGone(edit.thread)
        for at in range(0, len(puts), _CHUNK):
            yield Batch(*puts[at : at + _CHUNK], answered=False)
        spaces_of_blobs = sorted({key.ns for key in edit.blobs})
        new = {
            BlobKey(ns, unescape(channel), version)
            for ns, found in zip(spaces_of_blobs, answers[len(checks) :], strict=True)
            for channel, version in found
        }
        return set(edit.blobs) - new

    def remove_thread(self, thread: str) -> Script[None]:
        """Remove everything of a thread."""
        gone = "DELETE FROM ckpt_threads WHERE thread = %s RETURNING k"
        (found,) = yield Batch((gone, (escape(thread),)))
        keys = [k for (k,) in found]
        yield Batch(*((f"DELETE FROM {table} WHERE k = ANY(%s)", (keys,)) for table in _TABLES))

    # -- whole threads -------------------------------------------------------------------------

    def survey(self, thread: str, hold: bool = True) -> Script[Surveyed]:
        """All of a thread but its values; held, nobody else writes to it until the end."""
        name = (escape(thread),)
        sizes = "octet_length(x.data), x.base_channel, x.base, x.tag, x.channel"
        blobs = f"SELECT t.ns, x.version, {sizes} {_OF_THREAD.format('ckpt_blobs')}"
        writes = f"SELECT t.ns, x.id, x.task, x.idx, {sizes} {_OF_THREAD.format('ckpt_writes')}"
        _, rows, values, pending = yield Batch(
            (f"SELECT k FROM ckpt_threads WHERE thread = %s{' FOR UPDATE' if hold else ''}", name),
            (f"{_ROWS} WHERE t.thread = %s", name),
            (blobs, name),
            (writes, name),
        )
        made = Surveyed([_row(one) for one in rows], labels=(yield from self.labels(thread)))
        for ns, version, *size in values:
            known = _size(size)
            made.blobs[BlobKey(unescape(ns), known.channel, version)] = known
        for ns, id_, task, idx, *size in pending:
            made.writes[unescape(ns), unescape(id_), unescape(task), idx] = _size(size)
        return made

    def read_all(self, thread: str, ns: str) -> Script[tuple[dict[BlobKey, Blob], list[Write]]]:
        """All values and writes of a namespace."""
        place = (escape(thread), escape(ns))
        blobs, writes = yield Batch(
            (f"SELECT %s, {_BLOB_COLUMNS} FROM ckpt_blobs WHERE k = {_K}", (place[1], *place)),
            (f"SELECT {_WRITE_COLUMNS} FROM ckpt_writes WHERE k = {_K}", place),
        )
        return dict(map(_blob, blobs)), [_write(one) for one in writes]

    def threads(self, tokens: Sequence[int] | None) -> Script[list[str]]:
        """All threads; or those with a checkpoint that has one of the tokens."""
        sql = "SELECT DISTINCT thread FROM ckpt_threads JOIN ckpt_checkpoints c USING (k)"
        if tokens is not None:
            sql += " WHERE c.tokens && %s::bigint[]"
        (found,) = yield Batch((sql, () if tokens is None else (list(tokens),)))
        return sorted(unescape(thread) for (thread,) in found)

    def count(self) -> Script[list[tuple[str, int, Any, str, int]]]:
        """``(thread, checkpoints, last step, last id, bytes)`` of each thread."""
        (found,) = yield Batch((_COUNT, ()))
        return [(unescape(thread), n, step, unescape(id_), b) for thread, n, step, id_, b in found]

    def count_roots(self, threads: Sequence[str]) -> Script[dict[str, int]]:
        """How many checkpoints each of these threads has in its root namespace."""
        sql = """SELECT thread, count(*) FROM ckpt_threads JOIN ckpt_checkpoints USING (k)
            WHERE ns = '' AND thread = ANY(%s) GROUP BY thread"""
        (found,) = yield Batch((sql, ([escape(thread) for thread in threads],)))
        return {unescape(thread): n for thread, n in found}

    def namespaces(self, thread: str) -> Script[list[str]]:
        """The namespaces that hold checkpoints."""
        sql = """SELECT ns FROM ckpt_threads t WHERE thread = %s
            AND EXISTS (SELECT FROM ckpt_checkpoints c WHERE c.k = t.k)"""
        (found,) = yield Batch((sql, (escape(thread),)))
        return [unescape(ns) for (ns,) in found]

    def labels(self, thread: str) -> Script[dict[tuple[str, str], str]]:
        """Labels by namespace and checkpoint."""
        sql = f"SELECT t.ns, x.id, x.label {_OF_THREAD.format('ckpt_labels')}"
        (found,) = yield Batch((sql, (escape(thread),)))
        return {(unescape(ns), unescape(id_)): unescape(label) for ns, id_, label in found}

    def compact(self, dry_run: bool) -> Script[dict[str, int]]:
        """Write the tables anew without what is dead; each is locked meanwhile."""
        tables = [*_TABLES, "ckpt_threads"]
        size, dead = yield Batch((_SIZE, (tables,)), (_DEAD, (tables,)))
        before, after = size[0][0], size[0][0] - dead[0][0]
        if not dry_run:
            yield Batch(*((f"VACUUM (FULL) {table}", ()) for table in tables))
            (size,) = yield Batch((_SIZE, (tables,)))
            after = size[0][0]
        return {"before": before, "after": after}


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(clause: str, *more: Any) -> None:
        where.append(clause)
        values.extend(more)

    if query.thread is not None and query.ns is not None:
        add(f"c.k = {_K}", escape(query.thread), escape(query.ns))
    elif query.thread is not None:
        add("c.k IN (SELECT k FROM ckpt_threads WHERE thread = %s)", escape(query.thread))
    if query.id is not None:
        add("c.id = %s", escape(query.id))
    if query.before is not None:
        add("c.id < %s", escape(query.before))
    for alternatives in query.tokens:
        add("c.tokens && %s::bigint[]", alternatives)
    if query.after is not None:
        add("(c.id, c.k) < (%s, %s)", escape(query.after.id), query.after.key)
    return where, values


def _checks(thread: str, edit: Edit) -> Iterable[tuple[Statement, int]]:
    """Questions about what must be there, and how much is."""
    if edit.needs_row is not None:
        ns, id_ = edit.needs_row
        yield (_THERE_ROW, (thread, escape(ns), escape(id_))), 1
    for ns in sorted({key.ns for key in edit.needs}):
        own = [key for key in edit.needs if key.ns == ns]
        names = [escape(key.channel) for key in own], [key.version for key in own]
        yield (_THERE, (*names, thread, escape(ns))), len(own)


def _newer(thread: str, edit: Edit) -> Statement:
    """The question for a checkpoint that is newer than the one to extend."""
    if edit.extends is None:
        return "SELECT NULL", ()
    ns, parent = edit.extends
    own = [escape(row.id) for row in edit.rows]
    return _NEWER, (thread, escape(ns), escape(parent or ""), own)


def _put_blobs(thread: str, edit: Edit) -> Iterable[Statement]:
    """One statement a namespace, which returns what it stored."""
    for ns in sorted({key.ns for key in edit.blobs}):
        rows = [
            (escape(key.channel), key.version, *escaped_base(blob.base), *blob.typed)
            for key, blob in edit.blobs.items()
            if key.ns == ns
        ]
        yield _PUT_BLOBS, (thread, escape(ns), *_columns(rows), edit.replace)


def _puts(thread: str, edit: Edit) -> Iterable[Statement]:
    for row in edit.rows:
        yield _PUT, (thread, escape(row.ns), *_row_values(row))
    for ns in sorted({ns for ns, _ in edit.writes}):
        rows = [
            (
                *map(escape, (w.id, w.task)),
                w.idx,
                *map(escape, (w.path, w.channel)),
                *escaped_base(w.base),
                *w.typed,
                w.span,
            )
            for space, w in edit.writes
            if space == ns
        ]
        yield _PUT_WRITES, (thread, escape(ns), *_columns(rows), edit.replace)
    for (ns, id_), label in edit.labels.items():
        if label is None:
            sql = f"DELETE FROM ckpt_labels WHERE k = {_K} AND id = %s"
            yield sql, (thread, escape(ns), escape(id_))
        else:
            yield _LABEL, (thread, escape(ns), escape(id_), escape(label))
    for ns, (rows_of, keys) in edit.drops().items():
        ids = [escape(id_) for id_ in rows_of]
        for table in ("ckpt_checkpoints", "ckpt_writes", "ckpt_labels"):
            sql = f"DELETE FROM {table} WHERE k = {_K} AND id = ANY(%s)"
            yield sql, (thread, escape(ns), ids)
        names = [escape(key.channel) for key in keys], [key.version for key in keys]
        yield _DROP_BLOBS, (*names, thread, escape(ns))


def _columns(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _row_values(row: Row) -> tuple[Any, ...]:
    source, step = row.source, row.step
    return (
        escape(row.id),
        _escaped(row.parent),
        _escaped(row.base),
        escape(source) if isinstance(source, str) else None,
        step if isinstance(step, int) and -_MOST <= step < _MOST else None,
        list(row.tokens),
        *row.body,
        *row.meta,
    )


def _escaped(text: str | None) -> str | None:
    return None if text is None else escape(text)


def _unescaped(text: str | None) -> str | None:
    return None if text is None else unescape(text)


def _row(found: Sequence[Any]) -> Row:
    k, thread, ns, id_, parent, base, tag, body, mtag, meta, source, step, tokens = found
    return Row(
        unescape(thread),
        unescape(ns),
        unescape(id_),
        _unescaped(parent),
        _unescaped(base),
        (tag, body),
        (mtag, meta),
        _unescaped(source),
        step,
        tuple(tokens),
        k,
        len(body) + len(meta),
    )


def _blob(found: Sequence[Any]) -> tuple[BlobKey, Blob]:
    ns, channel, version, base_channel, base, tag, data = found
    key = BlobKey(unescape(ns), unescape(channel), version)
    return key, Blob((tag, data), base_of(base_channel, base))


def _write(found: Sequence[Any]) -> Write:
    id_, task, idx, path, channel, base_channel, base, tag, data, span = found
    names = unescape(id_), unescape(task), idx, unescape(path), unescape(channel)
    return Write(*names, (tag, data), base_of(base_channel, base), span)


def _size(found: Sequence[Any]) -> Size:
    length, base_channel, base, tag, channel = found
    return Size(length, base_of(base_channel, base), tag, unescape(channel))
