"""How the items of a store become keys of Redis; see `lua` for their form.

Redis is asked for all items below a namespace; they are put in order and compared with a filter in
this process. What has expired is hidden by its time at once, and removed by a sweep.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from ckpt_viz.checkpoint.redis.door import Request
from ckpt_viz.store.filters import matcher
from ckpt_viz.store.nearest import arithmetic
from ckpt_viz.store.redis import lua
from ckpt_viz.store.scripted.rows import Page, Put, Row, Script, VectorRow, ending, value_of

_CHUNK = 500
_HEAD = 80
_COUNT = struct.Struct("<I")


class RedisRows:
    """The rows of a store in Redis.

    Args:
        prefix: how the names of all keys begin.
    """

    ranks = False

    def __init__(self, prefix: str) -> None:
        stem = f"{prefix}:{{store}}"  # the braces keep them together in a cluster
        names = ("names", "ends", "numbers", "vectors", "marks", "last", "item:")
        self._keys = [f"{stem}:{name}" for name in names]

    def _call(self, script: str, *args: Any) -> Request:
        return lambda client: client.register_script(script)(self._keys, args, client)

    # -- reading -------------------------------------------------------------------------------

    def get(self, places: Sequence[tuple[str, str]], now: int) -> Script[list[Row | None]]:
        names = [_name(ns, key) for ns, key in places]
        found = yield from self._read(names, now)
        return [found.get(name) for name in names]

    def _read(self, names: Sequence[bytes], now: int) -> Script[dict[bytes, Row]]:
        """Items by name, without those that have expired."""
        gone = yield from self._expired(now)
        wanted = [name for name in dict.fromkeys(names) if name not in gone]
        stem = self._keys[6].encode()
        found: dict[bytes, Row] = {}
        for at in range(0, len(wanted), _CHUNK):
            some = wanted[at : at + _CHUNK]
            keys = [stem + name for name in some]
            texts = yield lambda client, keys=keys: client.mget(keys)
            for name, text in zip(some, texts, strict=True):
                if text is not None:
                    found[name] = _row(name, text)
        return found

    def _expired(self, now: int) -> Script[set[bytes]]:
        if not now:
            return set()
        names = yield lambda client: client.zrangebyscore(self._keys[1], "-inf", now)
        return set(names)

    def _below(self, ns: str) -> Script[list[bytes]]:
        """Names of items of a namespace and of those below it."""
        key, text = self._keys[0], ns.encode()
        ranges = [(b"-", b"+")]
        if ns:
            ranges = [
                (b"[%b\0" % text, b"(%b\1" % text),
                (b"[%b." % text, b"(%b/" % text),
            ]
        found: list[bytes] = []
        for low, high in ranges:
            found += yield lambda client, a=low, b=high: client.zrangebylex(key, a, b)
        return found

    def page(self, page: Page) -> Script[list[Row]]:
        names = yield from self._below(page.ns)
        found = yield from self._read(names, page.now)
        means = matcher(page.filter)
        rows = sorted(
            row
            for row in found.values()
            if row.number > page.after and (not page.filter or means(value_of(row.body)))
        )
        return rows[page.skip : page.skip + page.size]

    def fetch(self, numbers: Sequence[int], now: int) -> Script[list[Row]]:
        if not numbers:
            return []
        wanted = [_padded(number) for number in numbers]
        names = yield lambda client: client.hmget(self._keys[2], wanted)
        found = yield from self._read([name for name in names if name is not None], now)
        return list(found.values())

    def spaces(self, below: str, now: int) -> Script[list[str]]:
        names = yield from self._below(below)
        gone = yield from self._expired(now)
        there = {name.partition(b"\0")[0] for name in names if name not in gone}
        return [ns.decode() for ns in there]

    def vectors(self, after: int) -> Script[list[VectorRow]]:
        found: list[VectorRow] = []
        while True:
            flat = yield self._call(lua.VECTORS, after, _CHUNK)
            for name, mark, data in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
                after = int(mark)
                found += _vectors(name, after, data)
            if len(flat) < 3 * _CHUNK:
                return found

    def length(self) -> Script[int | None]:
        flat = yield self._call(lua.VECTORS, 0, 1)
        return len(_vectors(flat[0], 0, flat[2])[0].vector) if flat else None

    def rank(self, question: Any, below: str, count: int) -> Script[list[VectorRow]]:
        raise NotImplementedError  # Redis itself has no vectors: they are ranked in this process
        yield

    # -- writing -------------------------------------------------------------------------------

    def write(self, puts: Sequence[Put]) -> Script[None]:
        for at in range(0, len(puts), _CHUNK):
            some = puts[at : at + _CHUNK]
            args = [part for put in some for part in _written(put)]
            yield self._call(lua.WRITE, _padded(some[0].now), *args)

    def refresh(self, rows: Sequence[Row], now: int) -> Script[None]:
        ends = (
            (_name(row.ns, row.key), ending(now, row.ttl)) for row in rows if row.ttl is not None
        )
        yield self._call(lua.REFRESH, *(part for one in ends for part in one))

    def sweep(self, now: int) -> Script[int]:
        total = 0
        while True:
            count: int = yield self._call(lua.SWEEP, now, _CHUNK)
            total += count
            if count < _CHUNK:
                return total


def _name(ns: str, key: str) -> bytes:
    return f"{ns}\0{key}".encode()


def _padded(number: int) -> str:
    return f"{number:020d}"


def _written(put: Put) -> Iterable[Any]:
    name = _name(put.ns, put.key)
    if put.body is None:
        return name, "", "", "", ""
    is_text = isinstance(put.body, str)
    body = put.body.encode() if isinstance(put.body, str) else put.body
    minutes = "" if put.ttl is None else repr(float(put.ttl))
    text = b"%b%b\0%b" % (b"j" if is_text else b"p", minutes.encode(), body)
    ends = "" if put.expires is None else put.expires
    parts = [arithmetic.packed(vector) for vector in put.vectors or ()]
    vectors = b"".join((_COUNT.pack(len(parts)), *parts)) if parts else b""
    return name, text, _padded(put.state), ends, vectors


def _row(name: bytes, text: bytes) -> Row:
    number, created, updated, state = (int(text[at : at + 20]) for at in range(0, _HEAD, 20))
    kind_and_minutes, _, data = text[_HEAD:].partition(b"\0")
    kind, minutes = kind_and_minutes[:1], kind_and_minutes[1:]
    ns, _, key = name.decode().partition("\0")
    body = data.decode() if kind == b"j" else data
    return Row(number, ns, key, body, created, updated, float(minutes) if minutes else None, state)


def _vectors(name: bytes, mark: int, data: bytes) -> list[VectorRow]:
    """The vectors of an item: its state, its number, how many there are, and their bytes."""
    state, number, rest = int(data[:20]), int(data[20:40]), data[40:]
    (count,) = _COUNT.unpack_from(rest)
    rest = rest[_COUNT.size :]
    size, ns = len(rest) // count, name.partition(b"\0")[0].decode()
    return [
        VectorRow(mark, number, state, ns, arithmetic.unpacked(rest[at : at + size]))
        for at in range(0, len(rest), size)
    ]
