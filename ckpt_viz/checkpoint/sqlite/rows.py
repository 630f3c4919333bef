"""The bytes of rows: checkpoints in few bytes, and values side by side in one row.

A *cell* is a value in a row: nil for None, false for "no value", bytes for msgpack, a number for
the place of a big value, else ``[tag, bytes]``. A body is ``[v, ts, versions, seen, updated]``,
and with a sixth entry, the id of an older checkpoint, its two maps are only what changed since
that line's last whole one, which is that old at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import ormsgpack
from ormsgpack import packb, unpackb

from ckpt_viz.checkpoint.base import Checkpoint
from ckpt_viz.checkpoint.delta import LONG, long, short
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.jsonplus import EMPTY, NULL
from ckpt_viz.checkpoint.telling import DAMAGE
from ckpt_viz.errors import damaged

Cell: TypeAlias = Any
Write: TypeAlias = tuple[int, str, Cell]
"""``(index, channel, cell)``."""

_KEYS = ormsgpack.OPT_NON_STR_KEYS
_KNOWN = {
    "v",
    "ts",
    "id",
    "channel_values",
    "channel_versions",
    "versions_seen",
    "updated_channels",
}
_MOST = 1 << 12


class _Shorts(dict[Any, Any]):
    """Versions in few bytes, each made once."""

    def __missing__(self, version: Any) -> Any:
        if len(self) > _MOST:
            self.clear()
        self[version] = made = short(version)
        return made


SHORT = _Shorts()


def cell_of(typed: Typed) -> Cell:
    """A small value as a cell."""
    tag, data = typed
    if tag == "msgpack":
        return data
    if typed == NULL:
        return None
    return False if typed == EMPTY else [tag, data]


def typed_of(cell: Cell) -> Typed:
    """The small value of a cell."""
    if cell.__class__ is bytes:
        return "msgpack", cell
    if cell is None:
        return NULL
    return EMPTY if cell is False else tuple(cell)


def pack_cells(cells: Mapping[str, Cell]) -> bytes:
    """The cells of one version, by channel."""
    try:
        return packb(cells)
    except TypeError:  # a name with half a surrogate pair
        return packb(_safe_keys(cells), None, _KEYS)


def read_cells(data: bytes) -> dict[str, Cell]:
    """What `pack_cells` packed.

    Raises:
        SerializationError: the bytes are damaged.
    """
    try:
        found: dict[Any, Cell] = unpackb(data, option=_KEYS)
        for key in found.keys():  # noqa: SIM118 - a list has none, and is no row
            if key.__class__ is not str:
                return {_text(key): cell for key, cell in found.items()}
    except DAMAGE as error:
        raise damaged("values", error) from error
    return found


def pack_writes(writes: Iterable[Write]) -> bytes:
    """The writes of one task."""
    flat: list[Any] = [part for write in writes for part in write]
    try:
        return packb(flat)
    except TypeError:  # a name with half a surrogate pair
        flat[1::3] = map(_key, flat[1::3])
        return packb(flat)


def read_writes(data: bytes) -> list[Write]:
    """What `pack_writes` packed.

    Raises:
        SerializationError: the bytes are damaged.
    """
    try:
        flat = unpackb(data)
        if bytes in map(type, flat[1::3]):
            flat[1::3] = map(_text, flat[1::3])
        return list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
    except DAMAGE as error:
        raise damaged("writes", error) from error


def is_plain(checkpoint: Checkpoint) -> bool:
    """Whether a body tells all of a checkpoint."""
    return checkpoint.keys() == _KNOWN and all(
        type(checkpoint[key]) in (str, int) for key in ("v", "ts")
    )


def pack_body(
    checkpoint: Checkpoint,
    versions: Mapping[str, Any],
    seen: Mapping[str, Mapping[str, Any]],
    whole: str | None = None,
) -> bytes:
    """A checkpoint without id and values.

    Args:
        checkpoint: it tells all but the maps.
        versions: the channels' versions; or those that changed.
        seen: what each node has seen; or those entries that changed.
        whole: None, or from which checkpoint on the line's changes are needed to fill the maps.
    """
    told = SHORT
    body = [
        checkpoint["v"],
        checkpoint["ts"],
        {c: told[v] for c, v in versions.items()},
        {n: {c: told[v] for c, v in one.items()} for n, one in seen.items()},
        checkpoint["updated_channels"],
    ]
    if whole is not None:
        body.append(short(whole))
    try:
        return packb(body)
    except TypeError:  # a name with half a surrogate pair
        body[0] = [checkpoint["v"]]
        body[2] = _safe_keys(body[2])
        body[3] = {_key(n): _safe_keys(one) for n, one in body[3].items()}
        updated = checkpoint["updated_channels"]
        body[4] = updated and [_key(c) for c in updated]
        return packb(body, None, _KEYS)


def read_body(id_: str, data: bytes) -> tuple[Checkpoint, str | None]:
    """The checkpoint, and what `pack_body` was told as ``whole``.

    Raises:
        SerializationError: the bytes are damaged.
    """
    try:
        return _read_body(id_, data)
    except DAMAGE as error:
        raise damaged("checkpoint", error) from error


def _read_body(id_: str, data: bytes) -> tuple[Checkpoint, str | None]:
    parts = unpackb(data, option=_KEYS)
    v, ts, versions, seen, updated = parts[:5]
    told = LONG
    if v.__class__ is list:
        (v,) = v
        versions = {_text(c): x for c, x in versions.items()}
        seen = {_text(n): {_text(c): x for c, x in one.items()} for n, one in seen.items()}
        updated = updated and [_text(c) for c in updated]
    if updated is not None:
        frozenset(updated)  # an error here if it holds no names
    made = {
        "v": v,
        "ts": ts,
        "id": id_,
        "channel_versions": {c: told[x] for c, x in versions.items()},
        "versions_seen": {n: {c: told[x] for c, x in one.items()} for n, one in seen.items()},
        "updated_channels": updated,
    }
    return made, long(parts[5]) if len(parts) > 5 else None


def _key(name: str) -> Any:
    try:
        name.encode()
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")
    return name


def _text(name: Any) -> str:
    return name.decode("utf-8", "surrogatepass") if name.__class__ is bytes else name


def _safe_keys(cells: Mapping[str, Any]) -> Mapping[Any, Any]:
    if all(map(str.isascii, cells)):
        return cells
    return {_key(channel): cell for channel, cell in cells.items()}
