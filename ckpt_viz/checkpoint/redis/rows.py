"""How the rows of the contract in `scripted` become records of a thread in Redis.

Names of records, their parts escaped and set apart by NUL, begin with what they are:
``c namespace id`` a checkpoint, ``i id namespace`` its place among all (in the order only),
``b namespace channel version`` a value, ``w namespace id task index`` a pending write,
``l namespace id`` a label.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Sequence
from typing import Any

from ormsgpack import packb, unpackb

from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.redis import lua
from ckpt_viz.checkpoint.redis.door import Request
from ckpt_viz.checkpoint.scripted.rows import (
    BaseGone,
    Blob,
    BlobKey,
    Conflict,
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
from ckpt_viz.checkpoint.telling import DAMAGE, unreadable

_CHUNK = 500


class RedisRows:
    """The rows of threads in Redis.

    Args:
        prefix: how the names of all keys begin.
        ttl: milliseconds that a thread lives after its last write; 0 for ever.
    """

    def __init__(self, prefix: str, ttl: int) -> None:
        self._prefix = prefix
        self._ttl = ttl

    def _keys(self, thread: str) -> list[str]:
        """The two keys of a thread; the braces keep them together in a cluster."""
        stem = f"{self._prefix}:{{{escape(thread)}}}"
        return [f"{stem}:rows", f"{stem}:order"]

    def _call(self, script: str, thread: str, *args: Any) -> Request:
        keys = self._keys(thread)
        return lambda client: client.register_script(script)(keys, args, client)

    def set_up(self) -> Script[None]:
        """Nothing to make; a wrong address is told at once."""
        yield lambda client: client.ping()

    # -- reading -------------------------------------------------------------------------------

    def _read(self, thread: str, names: Iterable[str]) -> Script[dict[str, bytes]]:
        """Records by name, with those that they are told against."""
        wanted, found = list(names), dict[str, bytes]()
        for at in range(0, len(wanted), _CHUNK):
            flat = yield self._call(lua.READ, thread, *wanted[at : at + _CHUNK])
            found.update(zip(map(bytes.decode, flat[::2]), flat[1::2], strict=True))
        return found

    def read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        """A page of checkpoints, newest first."""
        if query.thread is not None:
            names = yield from self._names(query.thread, query, size)
            found = [(name, query.thread) for name in names]
        else:
            found = yield from self._names_of_all(query, size)
        by_thread: dict[str, list[str]] = {}
        for name, thread in found:
            by_thread.setdefault(thread, []).append(_checkpoint_name(name))
        rows: dict[tuple[str, str], Row] = {}
        for thread, names in by_thread.items():
            records = yield from self._read(thread, names)
            rows.update(
                ((name, thread), _row(thread, name, data)) for name, data in records.items()
            )
        wanted = ((_checkpoint_name(name), thread) for name, thread in found)
        return [rows[key] for key in wanted if key in rows]

    def _names(self, thread: str, query: Query, size: int) -> Script[list[str]]:
        high, low = _bounds(thread, query)
        names = yield self._call(lua.NAMES, thread, high, low, size)
        return [name.decode() for name in names]

    def _names_of_all(self, query: Query, size: int) -> Script[list[tuple[str, str]]]:
        best: list[tuple[str, str]] = []
        threads = yield from self.threads(None)
        for thread in threads:
            names = yield from self._names(thread, query, size)
            best = heapq.nlargest(size, [*best, *((name, thread) for name in names)])
        return best

    def read_bases(self, rows: Sequence[Row]) -> Script[list[Row]]:
        """The checkpoints that these are told against, and so on."""
        thread = rows[0].thread
        names = [_name("c", row.ns, row.id) for row in rows if row.base is not None]
        records = yield from self._read(thread, names)
        return [_row(thread, name, data) for name, data in records.items()]

    def read_values(
        self, thread: str, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Blob], dict[tuple[str, str], list[Write]]]]:
        """Values with all that they are told against; and the writes of rows."""
        names = [_blob_name(key) for key in keys]
        names += [_name("c", row.ns, row.id) for row in rows]
        names += [_name("w", row.ns, row.id, "") for row in rows]
        records = yield from self._read(thread, names)
        blobs = {_key(name): _blob(data) for name, data in records.items() if name[0] == "b"}
        places = ((row.ns, row.id) for row in rows if _name("c", row.ns, row.id) in records)
        kept: dict[tuple[str, str], list[Write]] = {place: [] for place in places}
        for name, data in records.items():
            if name[0] == "w":
                ns, write = _write(name, data)
                kept.get((ns, write.id), []).append(write)
        return blobs, kept

    # -- writing -------------------------------------------------------------------------------

    def edit(self, edit: Edit) -> Script[set[BlobKey]]:
        """Change a thread; returns which of the values were there already.

        Raises:
            BaseGone: something that is needed is not there. HeadMoved: see `Edit.extends`.
            Conflict: the mark is an old one.
        """
        needs = [_blob_name(key) for key in edit.needs]
        if edit.needs_row is not None:
            needs.append(_name("c", *edit.needs_row))
        above = ("", "", "")
        if edit.extends is not None:
            ns, parent = edit.extends
            own = _name("c", ns, edit.rows[0].id)
            above = f"(c{escape(ns)}\1", f"({_name('c', ns, parent or '')}", own
        head = [self._ttl, edit.mark or "", *above, len(needs), *needs, os.urandom(8)]
        what = [part for one in _changes(edit) for part in one]
        there = yield self._call(lua.WRITE, edit.thread, *head, *what)
        if there == b"gone":
            raise BaseGone(edit.thread)
        if there == b"conflict":
            raise Conflict(
                f"Thread {edit.thread!r} was written to all the while; nothing was removed. "
                "Try again when no run is going on it."
            )
        if there[:1] == [b"moved"]:
            raise HeadMoved(_parts(there[1].decode())[1])
        return {_key(name.decode()) for name in there if name[:1] == b"b"}

    def remove_thread(self, thread: str) -> Script[None]:
        """Remove everything of a thread."""
        keys = self._keys(thread)
        yield lambda client: client.delete(*keys)

    # -- whole threads -------------------------------------------------------------------------

    def survey(self, thread: str, hold: bool = True) -> Script[Surveyed]:
        """All of a thread but its values; whether it changed since is told by the mark."""
        rows = self._keys(thread)[0]
        mark = yield lambda client: client.hget(rows, "r")
        made = Surveyed(mark=mark or b"none")
        for start in (b"c", b"b", b"w"):
            records = yield from self._scan(thread, start)
            for name, data in records:
                if start == b"c":
                    made.rows.append(_row(thread, name, data))
                elif start == b"b":
                    key, blob = _key(name), _blob(data)
                    made.blobs[key] = Size(len(data), blob.base, blob.typed[0], key.channel)
                else:
                    ns, w = _write(name, data)
                    size = Size(len(data), w.base, w.typed[0], w.channel)
                    made.writes[ns, w.id, w.task, w.idx] = size
        made.labels = yield from self.labels(thread)
        return made

    def _scan(self, thread: str, start: bytes) -> Script[list[tuple[str, bytes]]]:
        """Names and records that begin so."""
        key, pattern, cursor = self._keys(thread)[0], _literal(start) + b"*", 0
        found: dict[bytes, bytes] = {}
        while True:
            at = cursor
            cursor, more = yield lambda client, at=at: client.hscan(key, at, pattern, _CHUNK)
            found.update(more)
            if not int(cursor):
                return [(name.decode(), data) for name, data in found.items()]

    def read_all(self, thread: str, ns: str) -> Script[tuple[dict[BlobKey, Blob], list[Write]]]:
        """All values and writes of a namespace."""
        space = escape(ns).encode() + b"\0"
        blobs = yield from self._scan(thread, b"b" + space)
        writes = yield from self._scan(thread, b"w" + space)
        return (
            {_key(name): _blob(data) for name, data in blobs},
            [_write(name, data)[1] for name, data in writes],
        )

    def threads(self, tokens: Sequence[int] | None) -> Script[list[str]]:
        """All threads that are alive; the tokens make no difference."""
        start, end = f"{self._prefix}:{{".encode(), b"}:order"
        pattern, cursor, found = _literal(start) + b"*" + end, 0, set[bytes]()
        while True:
            at = cursor
            cursor, keys = yield lambda client, at=at: client.scan(at, pattern, _CHUNK)
            found.update(keys)
            if not int(cursor):
                return sorted(unescape(k[len(start) : -len(end)].decode()) for k in found)

    def count(self) -> Script[list[tuple[str, int, Any, str, int]]]:
        """``(thread, checkpoints, last step, last id, bytes)`` of each thread."""
        made = []
        threads = yield from self.threads(None)
        for thread in threads:
            found = yield self._call(lua.COUNT, thread)
            if found and found[2]:  # a server short of memory may have evicted the records
                row = _row(thread, found[1].decode(), found[2])
                made.append((thread, found[0], row.step, row.id, int(found[3])))
        return made

    def count_roots(self, threads: Sequence[str]) -> Script[dict[str, int]]:
        """How many checkpoints each of these threads has in its root namespace."""
        counted = {}
        for thread in threads:
            counted[thread] = len((yield from self._scan(thread, _name("c", "", "").encode())))
        return counted

    def namespaces(self, thread: str) -> Script[list[str]]:
        """The namespaces that hold checkpoints."""
        found = yield self._call(lua.SPACES, thread)
        return [unescape(ns.decode()) for ns in found]

    def labels(self, thread: str) -> Script[dict[tuple[str, str], str]]:
        """Labels by namespace and checkpoint."""
        found = yield from self._read(thread, ["l"])
        return {
            (parts[0], parts[1]): unescape(data.decode())
            for name, data in found.items()
            if (parts := _parts(name))
        }

    def compact(self, dry_run: bool) -> Script[dict[str, int]]:
        """Nothing to give back: what was removed is gone already."""
        counted = yield from self.count()
        size = sum(one[4] for one in counted)
        return {"before": size, "after": size}


# -- names and records ---------------------------------------------------------------------------


def _changes(edit: Edit) -> Iterable[tuple[str, str, Any, str]]:
    """What the script for writing is to do."""
    keep = "set" if edit.replace else "new"
    for key, blob in edit.blobs.items():
        base = "" if blob.base is None else _blob_name(BlobKey(key.ns, *blob.base))
        yield keep, _blob_name(key), packb([*(blob.base or (None, None)), *blob.typed]), base
    for row in edit.rows:
        name = _name("c", row.ns, row.id)
        yield "set", name, _packed(row), "" if row.base is None else _name("c", row.ns, row.base)
        yield "find", name, "", ""
        yield "find", _name("i", row.id, row.ns), "", ""
    for ns, w in edit.writes:
        name = _name("w", ns, w.id, w.task, str(w.idx))
        told = [escape(w.path), escape(w.channel), *escaped_base(w.base), *w.typed]
        data = packb(told if w.span is None else [*told, w.span])
        yield "set" if w.idx < 0 else keep, name, data, ""
        yield "find", name, "", ""
    for (ns, id_), label in edit.labels.items():
        name = _name("l", ns, id_)
        yield ("drop", name, "", "") if label is None else ("set", name, escape(label), "")
        if label is not None:
            yield "find", name, "", ""
    for ns, id_ in edit.drop_rows:
        for kind, *parts in (("c", ns, id_), ("i", id_, ns), ("l", ns, id_)):
            yield "drop", _name(kind, *parts), "", ""
        yield "drop all", _name("w", ns, id_, ""), "", ""
    for key in edit.drop_blobs:
        yield "drop", _blob_name(key), "", ""


def _name(kind: str, *parts: str) -> str:
    return kind + "\0".join(map(escape, parts))


def _blob_name(key: BlobKey) -> str:
    return f"b{escape(key.ns)}\0{escape(key.channel)}\0{key.version}"


def _parts(name: str) -> list[str]:
    return [unescape(part) for part in name[1:].split("\0")]


def _key(name: str) -> BlobKey:
    ns, channel, version = name[1:].split("\0")
    return BlobKey(unescape(ns), unescape(channel), version)


def _checkpoint_name(name: str) -> str:
    """The name of the record to which a name of the order leads."""
    if name[0] == "c":
        return name
    id_, ns = _parts(name)
    return _name("c", ns, id_)


def _packed(row: Row) -> bytes:
    names = [row.parent, row.base, row.source if isinstance(row.source, str) else None]
    step = row.step if isinstance(row.step, int) and abs(row.step) < 2**63 else None
    told = [None if name is None else escape(name) for name in names]
    return packb([*told, step, *row.body, *row.meta])


def _row(thread: str, name: str, data: bytes) -> Row:
    ns, id_ = _parts(name)
    try:
        *told, step, tag, body, mtag, meta = unpackb(data)
        parent, base, source = (None if text is None else unescape(text) for text in told)
    except DAMAGE as error:
        raise unreadable(error, thread, ns, id_, "its row") from error
    row = Row(thread, ns, id_, parent, base, (tag, body), (mtag, meta), source, step)
    return row._replace(size=len(data))


def _blob(data: bytes) -> Blob:
    channel, version, tag, typed = unpackb(data)
    return Blob((tag, typed), base_of(channel, version))


def _write(name: str, data: bytes) -> tuple[str, Write]:
    ns, id_, task, idx = _parts(name)
    path, channel, base_channel, base, tag, typed, *span = unpackb(data)
    names = id_, task, int(idx), unescape(path), unescape(channel)
    return ns, Write(*names, (tag, typed), base_of(base_channel, base), *span)


def _bounds(thread: str, query: Query) -> tuple[str, str]:
    """Between which names of a thread's order the wanted ones lie, the greater bound first."""
    after, before = query.after, query.before
    if query.ns is not None:
        stem = f"c{escape(query.ns)}\0"
        if query.id is not None:
            exact = f"{stem}{escape(query.id)}"
            mark = "[" if before is None or query.id < before else "("  # "(" twice: none
            return f"{mark}{exact}", f"{mark}{exact}"
        end = after.id if after is not None else before
        return (f"({stem[:-1]}\1" if end is None else f"({stem}{escape(end)}"), f"[{stem}"
    if after is not None:
        mark = "[" if thread < after.thread else "("
        high = f"{mark}i{escape(after.id)}\0{escape(after.ns)}"
    else:
        high = "(j" if before is None else f"(i{escape(before)}\0"
    if query.id is None:
        return high, "[i"
    stem = f"i{escape(query.id)}"
    return min(high, f"({stem}\1", key=lambda bound: bound[1:]), f"[{stem}\0"


def _literal(name: bytes) -> bytes:
    """A name that a pattern takes as it is."""
    for special in b"\\*?[]^":
        name = name.replace(bytes((special,)), b"\\" + bytes((special,)))
    return name
