"""What changed, as bytes: the form in which a value that grew is stored, shared by all savers.

A packed list or dict is a header and its items, one after the other. The next version of it is
told by the items that are new at the end (the *tail*) and those that changed (*sets*, by their
position; a dict's item is its key and its value). Packed bytes are compared, never objects, so
an item that was changed in place is seen. A record is a msgpack list:

- ``[SAME, base]``: nothing changed but the version.
- ``[LIST or MAP, base, n, tail, sets]``: n new items; ``sets`` is left out where there are none.
- ``[PART, place, start, length]``: a piece of the packed bytes that are stored at a place.
- ``[BODY, base, rest, versions, seen]``: a checkpoint whose version maps differ in these entries.

``base`` is the version (of a `BODY` the checkpoint id) that the change is told against; it is
nil where a saver's rows tell it. A ``tail`` may be a ``[place, start, length]`` as well. A place
is ``[channel, version]``, or ``[checkpoint, task, index]`` of a pending write.

>>> old, new = ormsgpack.packb([1, 2]), ormsgpack.packb([1, 5, 3])
>>> change = diff(old, new)
>>> change
(1, 1, b'\\x03', {1: b'\\x05'})
>>> patch(old, [change]) == new
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ormsgpack
from ormsgpack import Ext, packb, unpackb

from ckpt_viz.errors import damaged

SAME, LIST, MAP, PART, BODY = range(5)

Change: TypeAlias = tuple[int, int, Any, dict[int, bytes] | None]
"""``(kind, number of new items, tail, sets)``; sets is None where nothing was changed inside."""

NOTHING: Change = (SAME, 0, b"", None)

_KEYS = ormsgpack.OPT_NON_STR_KEYS
_FIX_LIST, _FIX_MAP, _AFTER_FIX = 0x90, 0x80, 0xA0
_LIST_16, _LIST_32, _MAP_16, _MAP_32 = 0xDC, 0xDD, 0xDE, 0xDF
_SHORT, _LONG = 16, 0x10000
_TAIL_DIGITS = 19
_ID = 36
_MOST = 1 << 13


# -- comparing and applying ----------------------------------------------------------------------


def diff(old: bytes, new: bytes) -> Change | None:
    """What turns one packed value into another; None if it is no list or dict, or shrank."""
    if old == new:
        return NOTHING
    kind, skip, count = _header(old)
    now, start, total = _header(new)
    if kind != now or not kind or total < count:
        return None
    body = memoryview(old)[skip:]  # compared as bytes are, without a copy
    if new.startswith(body, start):
        return kind, total - count, new[start + len(body) :], None
    before, after = split(old), split(new)
    if before is None or after is None:
        return None
    pairs = zip(before, after, strict=False)
    sets = {at: new for at, (old, new) in enumerate(pairs) if old != new}
    return kind, total - count, b"".join(after[count:]), sets


def patch(packed: bytes, changes: Sequence[Change]) -> bytes:
    """The packed value after all changes, the oldest first."""
    kind, skip, count = _header(packed)
    total, tails = count, []
    for _, n, tail, sets in changes:
        if sets:
            return _patch_inside(packed, changes)
        if n:
            total += n
            tails.append(tail)
    return b"".join([_head(kind, total), packed[skip:], *tails]) if tails else packed


def _patch_inside(packed: bytes, changes: Sequence[Change]) -> bytes:
    """As `patch`, where items in the middle changed too."""
    kind, _, _ = _header(packed)
    items = split(packed) or []
    for _, n, tail, sets in changes:
        for at, item in (sets or {}).items():
            items[at] = item
        if n:
            items += split(_head(kind, n) + tail) or []
    return _head(kind, len(items)) + b"".join(items)


def split(packed: bytes) -> list[bytes] | None:
    """The packed items of a packed list or dict; None if they cannot be told apart exactly."""
    kind, skip, _ = _header(packed)
    whole = unpackb(packed, ext_hook=Ext, option=_KEYS)
    if kind == LIST:
        items = [packb(item, None, _KEYS) for item in whole]
    else:
        items = [packb(k, None, _KEYS) + packb(v, None, _KEYS) for k, v in whole.items()]
    return items if b"".join(items) == packed[skip:] else None


def _header(packed: bytes) -> tuple[int, int, int]:
    """Kind, length of the header and number of items; kind 0 for what is no list or dict."""
    first = packed[0] if packed else 0
    if _FIX_MAP <= first < _AFTER_FIX:
        return (LIST if first >= _FIX_LIST else MAP), 1, first & 0xF
    if first in (_LIST_16, _MAP_16):
        return (LIST if first == _LIST_16 else MAP), 3, int.from_bytes(packed[1:3])
    if first in (_LIST_32, _MAP_32):
        return (LIST if first == _LIST_32 else MAP), 5, int.from_bytes(packed[1:5])
    return 0, 0, 0


def _head(kind: int, count: int) -> bytes:
    fix, mid, big = (
        (_FIX_LIST, _LIST_16, _LIST_32) if kind == LIST else (_FIX_MAP, _MAP_16, _MAP_32)
    )
    if count < _SHORT:
        return bytes((fix | count,))
    if count < _LONG:
        return bytes((mid,)) + count.to_bytes(2)
    return bytes((big,)) + count.to_bytes(4)


# -- records -------------------------------------------------------------------------------------


def record(base: Any, change: Change) -> bytes:
    """The bytes of a change against a version."""
    kind, n, tail, sets = change
    told = base if base is None else short(base)
    if kind == SAME:
        return packb([SAME, told])
    return packb([kind, told, n, tail] if not sets else [kind, told, n, tail, sets], None, _KEYS)


def part(place: Sequence[Any], start: int, length: int) -> bytes:
    """The bytes that say: this value is a piece of what is stored at a place."""
    return packb([PART, _packed_place(place), start, length])


def tail_part(place: Sequence[Any], start: int, length: int) -> list[Any]:
    """A tail that is stored at a place already."""
    return [_packed_place(place), start, length]


def read(data: bytes) -> list[Any]:
    """A record as its list, with base and places in full.

    Raises:
        SerializationError: the bytes are no record.
    """
    try:
        found: list[Any] = unpackb(data, option=_KEYS)
        kind, base = found[0], found[1]
        if kind in (LIST, MAP):
            found[1] = LONG[base]
            tail = found[3]
            if tail.__class__ is list:
                _check_place(*tail)
                tail[0] = [LONG[x] for x in tail[0]]
            elif tail.__class__ is not bytes:
                raise TypeError("no tail")
            if found[2].__class__ is not int or found[2] < 0:
                raise TypeError("no number of items")
            if len(found) > 4:
                _check_sets(*found[4:])
        elif kind == PART:
            _check_place(*found[1:])
            found[1] = [LONG[x] for x in base]
        elif kind == BODY:
            _check_maps(*found[2:])
        elif kind == SAME:
            found[1] = LONG[base]
        else:
            raise ValueError("no such kind of change")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged("delta", error) from error
    return found


def _check_place(place: Any, start: Any, length: Any) -> None:
    if type(place) is not list or len(place) > 3:
        raise TypeError("no place")
    if not (type(start) is int is type(length) and start >= 0 and length >= 0):
        raise TypeError("no piece")


def _check_sets(sets: Any) -> None:
    if not all(type(at) is int and type(item) is bytes for at, item in sets.items()):
        raise TypeError("no items")


def _check_maps(rest: Any, versions: Any, seen: Any) -> None:
    if not type(rest) is type(versions) is type(seen) is dict:
        raise TypeError("no maps")


def change_of(found: Sequence[Any]) -> Change:
    """The change that a record of kind SAME, LIST or MAP tells."""
    if found[0] == SAME:
        return NOTHING
    return found[0], found[2], found[3], found[4] if len(found) > 4 else None


def describe(data: bytes, loads: Callable[[bytes], Any]) -> dict[str, Any]:
    """A record for people, its items unpacked by ``loads``."""
    found = read(data)
    kind, base = found[0], found[1]
    if kind == SAME:
        return {"delta": "same", "base": base}
    if kind == PART:
        return {"delta": "part", "of": base, "start": found[2], "length": found[3]}
    if kind == BODY:
        maps = {"channel_versions": found[3], "versions_seen": found[4]}
        return {"delta": "checkpoint", "base": base, **found[2], **maps}
    _, n, tail, sets = change_of(found)
    name = "list" if kind == LIST else "dict"
    shown = {"of": tail[0], "start": tail[1], "length": tail[2]} if type(tail) is list else None
    items = shown if shown is not None else loads(_head(kind, n) + tail)
    told = {"delta": name, "base": base, "append": items}
    if sets and kind == LIST:
        told["set"] = {at: loads(item) for at, item in sets.items()}
    elif sets:
        told["set"] = {k: v for item in sets.values() for k, v in loads(b"\x81" + item).items()}
    return told


def _packed_place(place: Sequence[Any]) -> list[Any]:
    return [short(x) for x in place]


# -- versions and ids in few bytes ---------------------------------------------------------------


def short(name: Any) -> Any:
    """A version or an id in 13 or 16 bytes, where its text follows a known form.

    >>> long(short("00000000000000000000000000000007.0.123")), len(short(f"{7:032}.0.123"))
    ('00000000000000000000000000000007.0.123', 13)
    """
    if type(name) is not str:
        return name
    if name[32:35] == ".0.":
        return _short_version(name)
    if len(name) == _ID and name[8] == name[13] == name[18] == name[23] == "-":
        digits = name.replace("-", "")
        try:
            raw = bytes.fromhex(digits)
        except ValueError:
            return name
        return raw if raw.hex() == digits else name
    return name


def _short_version(version: str) -> Any:
    number, tail = version[:32], version[35:]
    if not (tail.isdecimal() and tail.isascii() and number.isdecimal() and number.isascii()):
        return version
    if len(tail) > _TAIL_DIGITS or (tail[0] == "0" and len(tail) > 1) or number[:20] != "0" * 20:
        return version
    return int(number).to_bytes(5) + int(tail).to_bytes(8)


def long(name: Any) -> Any:
    """The text that `short` made short."""
    if type(name) is not bytes:
        return name
    if len(name) == 13:
        return f"{int.from_bytes(name[:5]):032}.0.{int.from_bytes(name[5:])}"
    h = name.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


class _Longs(dict[Any, Any]):
    """What short forms stand for, each made once."""

    def __missing__(self, name: Any) -> Any:
        if len(self) > _MOST:
            self.clear()
        self[name] = made = long(name)
        return made


LONG = _Longs()
