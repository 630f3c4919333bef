"""The Redis saver: how the rows of the contract in `scripted` become records of a thread.

Names of records, their parts escaped and set apart by NUL, begin with what they are:
``c namespace id`` a checkpoint, ``i id namespace`` its place among all (in the order only),
``b namespace channel version`` a value, ``w namespace id task index`` a pending write.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import redis
from ormsgpack import packb, unpackb
from redis import asyncio as aredis

from ckpt_viz.checkpoint.colours import Colours, Script
from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.redis import lua
from ckpt_viz.checkpoint.redis.door import RedisDoor, Request
from ckpt_viz.checkpoint.scripted import BlobKey, NewRow, Query, Row, ScriptedSaver, Write
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed

_CHUNK = 500


class Place(NamedTuple):
    """A thread and namespace."""

    thread: str
    ns: str


class RedisSaver(ScriptedSaver):
    """Keeps threads in Redis. Each method has an async twin on the same object.

    Args:
        client: a client of redis-py, sync or async, without ``decode_responses``; the caller
            closes it.
        ttl: seconds that a thread lives after its last write, all of it together; None for ever.
            A mapping ``{"default_ttl": minutes}`` is understood too.
        prefix: how the names of all keys begin.
        serde: turns values into typed bytes.

    `from_conn_string` opens a pool by itself, which is the usual way.
    """

    def __init__(
        self,
        client: Any,
        *,
        ttl: float | Mapping[str, Any] | None = None,
        prefix: str = "ckpt",
        serde: SerializerProtocol | None = None,
    ) -> None:
        if not isinstance(client, redis.Redis | aredis.Redis):
            raise TypeError(
                f"RedisSaver needs a client of redis-py, not {type(client)!r}. "
                "For an address use RedisSaver.from_conn_string(address)."
            )
        if client.connection_pool.connection_kwargs.get("decode_responses"):
            raise ValueError(
                "This Redis client turns all answers into text (decode_responses=True), but "
                "checkpoints are bytes. Pass a client without that option."
            )
        self._set_up(ttl, prefix, serde)
        is_async = isinstance(client, aredis.Redis)
        self._colours = Colours(RedisDoor("", 1), client, is_async=is_async)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        ttl: float | Mapping[str, Any] | None = None,
        prefix: str = "ckpt",
        serde: SerializerProtocol | None = None,
        pool_size: int = 10,
    ) -> RedisSaver:
        """The saver of a database, connected at first use.

        Use it directly, or with ``with`` / ``async with``, which close its connections.

        Args:
            conn_string: ``redis://host:port/number``.
            ttl: see the class.
            prefix: how the names of all keys begin.
            serde: turns values into typed bytes.
            pool_size: connections open at the same time, at most.
        """
        saver = cls.__new__(cls)
        saver._set_up(ttl, prefix, serde)
        saver._colours = Colours(RedisDoor(conn_string, pool_size))
        return saver

    def _set_up(self, ttl: Any, prefix: str, serde: SerializerProtocol | None) -> None:
        ScriptedSaver.__init__(self, serde=serde)
        if isinstance(ttl, Mapping):
            minutes = ttl.get("default_ttl")
            ttl = None if minutes is None else minutes * 60
        if ttl is not None and ttl <= 0:
            raise ValueError(f"A thread cannot live {ttl} seconds. Pass None for no end.")
        self._ttl = 0 if ttl is None else max(1, round(ttl * 1000))
        self._prefix = prefix

    def _setup(self) -> Script[None]:
        yield lambda client: client.ping()

    def _keys(self, thread: str) -> list[str]:
        """The two keys of a thread; the braces keep them together in a cluster."""
        stem = f"{self._prefix}:{{{escape(thread)}}}"
        return [f"{stem}:rows", f"{stem}:order"]

    def _call(self, script: str, thread: str, *args: Any) -> Request:
        keys = self._keys(thread)
        return lambda client: client.register_script(script)(keys, args, client)

    # -- writing -------------------------------------------------------------------------------

    def _insert(self, new: NewRow) -> Script[None]:
        row = new.row
        name = _name("c", row.ns, row.id)
        step = new.step if isinstance(new.step, int) and abs(new.step) < 2**63 else None
        args: list[Any] = [self._ttl]
        for channel, version, typed in new.blobs:
            args += ("new", _blob_name(row.ns, channel, version), packb(typed))
        args += ("set", name, packb([_escaped(row.parent), *row.body, *row.meta, step]))
        args += ("find", name, "", "find", _name("i", row.id, row.ns), "")
        yield self._call(lua.WRITE, row.thread, *args)

    def _insert_writes(
        self, thread: str, ns: str, id_: str, writes: Sequence[Write]
    ) -> Script[None]:
        args: list[Any] = [self._ttl]
        for w in writes:
            name = _name("w", ns, id_, w.task, str(w.idx))
            data = packb([escape(w.path), escape(w.channel), *w.typed])
            args += ("set" if w.idx < 0 else "new", name, data, "find", name, "")
        if writes:
            yield self._call(lua.WRITE, thread, *args)

    # -- reading -------------------------------------------------------------------------------

    def _read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        if query.thread is not None:
            names = yield from self._names(query.thread, query, size)
            found = [(name, query.thread) for name in names]
        else:
            found = yield from self._names_of_all(query, size)
        by_thread: dict[str, list[bytes]] = {}
        for name, thread in found:
            by_thread.setdefault(thread, []).append(name)
        rows: dict[tuple[bytes, str], Row] = {}
        for thread, names in by_thread.items():
            records = yield self._call(lua.READ, thread, *map(_checkpoint_name, names))
            for name, record in zip(names, records, strict=True):
                if record is not None:
                    rows[name, thread] = _row(thread, name, record)
        return [rows[key] for key in found if key in rows]

    def _names(self, thread: str, query: Query, size: int) -> Script[list[bytes]]:
        high, low = _bounds(thread, query)
        names = yield self._call(lua.NAMES, thread, high, low, size)
        return names  # type: ignore[no-any-return]

    def _names_of_all(self, query: Query, size: int) -> Script[list[tuple[bytes, str]]]:
        best: list[tuple[bytes, str]] = []
        threads = yield from self._threads()
        for thread in threads:
            names = yield from self._names(thread, query, size)
            best = heapq.nlargest(size, [*best, *((name, thread) for name in names)])
        return best

    def _read_parts(
        self, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Typed], list[list[Write] | None]]]:
        wanted: dict[str, list[BlobKey]] = {row.thread: [] for row in rows}
        for key in keys:
            wanted[key.place.thread].append(key)
        blobs: dict[BlobKey, Typed] = {}
        kept: dict[Row, list[Write] | None] = {}
        for thread, blob_keys in wanted.items():
            own = [row for row in rows if row.thread == thread]
            names = [_blob_name(k.place.ns, k.channel, k.version) for k in blob_keys]
            names += [_name("c", row.ns, row.id) for row in own]
            names += [_name("w", row.ns, row.id, "") for row in own]
            found = yield self._call(lua.READ, thread, *names)
            n, m = len(blob_keys), len(own)
            for key, record in zip(blob_keys, found[:n], strict=True):
                if record is not None:
                    blobs[key] = tuple(unpackb(record))
            for row, still, writes in zip(own, found[n : n + m], found[n + m :], strict=True):
                kept[row] = None if still is None else _writes(writes)
        return blobs, [kept[row] for row in rows]

    # -- threads -------------------------------------------------------------------------------

    def _threads(self) -> Script[list[str]]:
        """All threads that are alive."""
        pattern = f"{_literal(self._prefix)}:{{*}}:order"
        cut = len(self._prefix) + 2, -len("}:order")
        cursor, found = 0, set[str]()
        while True:
            at = cursor
            cursor, keys = yield lambda client, at=at: client.scan(at, pattern, count=_CHUNK)
            found.update(unescape(key.decode()[cut[0] : cut[1]]) for key in keys)
            if not int(cursor):
                return sorted(found)

    def _count_threads(self) -> Script[list[tuple[str, int, Any, str]]]:
        threads = yield from self._threads()
        made = []
        for thread in threads:
            found = yield self._call(lua.COUNT, thread)
            if found:
                row = unpackb(found[2])
                made.append((thread, found[0], row[5], _parts(found[1])[1]))
        return made

    def _remove_thread(self, thread: str) -> Script[None]:
        keys = self._keys(thread)
        yield lambda client: client.delete(*keys)


def _name(kind: str, *parts: str) -> str:
    return kind + "\0".join(map(escape, parts))


def _escaped(text: str | None) -> str | None:
    return None if text is None else escape(text)


def _blob_name(ns: str, channel: str, version: str) -> str:
    return f"b{escape(ns)}\0{escape(channel)}\0{version}"


def _parts(name: bytes) -> list[str]:
    return [unescape(part) for part in name[1:].decode().split("\0")]


def _checkpoint_name(name: bytes) -> str:
    """The name of the record to which a name of the order leads."""
    if name[:1] == b"c":
        return name.decode()
    id_, ns = _parts(name)
    return _name("c", ns, id_)


def _row(thread: str, name: bytes, record: bytes) -> Row:
    ns, id_ = _parts(name) if name[:1] == b"c" else reversed(_parts(name))
    parent, tag, body, mtag, meta, _ = unpackb(record)
    parent = None if parent is None else unescape(parent)
    return Row(Place(thread, ns), thread, ns, id_, parent, (tag, body), (mtag, meta))


def _writes(found: list[bytes]) -> list[Write]:
    made = []
    for name, record in zip(found[::2], found[1::2], strict=True):
        *_, task, idx = _parts(name)
        path, channel, tag, data = unpackb(record)
        made.append(Write(task, int(idx), unescape(path), unescape(channel), (tag, data)))
    return made


def _bounds(thread: str, query: Query) -> tuple[str, str]:
    """Between which names of a thread's order the wanted ones lie, the greater bound first."""
    after, before = query.after, query.before
    if query.ns is not None:
        stem = f"c{escape(query.ns)}\0"
        if query.id is not None:
            return f"[{stem}{escape(query.id)}", f"[{stem}{escape(query.id)}"
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


def _literal(text: str) -> str:
    """Text that a SCAN pattern takes as it is."""
    return "".join(f"\\{c}" if c in "\\*?[]^" else c for c in text)
