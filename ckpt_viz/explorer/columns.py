"""Rows as they cross to the page: short lists when they are few, columns when they are many.

A column form takes some 50 bytes a checkpoint: ids as 16 bytes, the parent as a position in the
same message, and all that many rows share (nodes, channels, state) named once. Binary columns are
little-endian and written in base64, so that a message stays JSON in every host and in exports.
"""

from __future__ import annotations

import array
import base64
import binascii
import sys
from collections.abc import Sequence
from typing import Any

from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import Row

Json = dict[str, Any]
FEW = 400


def row_json(row: Row) -> list[Any]:
    """A row as the short list that crosses."""
    return [
        row.id,
        row.parent_id,
        row.step,
        row.source,
        round(row.time * 1000),
        list(row.nodes),
        list(row.changed),
        row.status,
        list(row.next),
        row.copy_of,
        row.version and clean(row.version),
        row.turn,
        row.event and clean(row.event),
        int(row.apart),
        None if row.took is None else round(row.took * 1000, 3),
    ]


def pack_rows(rows: Sequence[Row]) -> Json:
    """Rows under the name `rows` (few) or `columns` (many)."""
    if len(rows) <= FEW:
        return {"rows": [row_json(row) for row in rows]}
    return {"rows": [], "columns": columns(rows)}


def columns(rows: Sequence[Row]) -> Json:
    """The column form.

    A parent is a position (-1: none, -2: named in `far`). A shape is source, nodes, changed
    channels, status, next nodes, version, turn, event and whether it stands apart in time.
    """
    took = [-1.0 if row.took is None else row.took * 1000 for row in rows]
    place = {row.id: at for at, row in enumerate(rows)}
    shapes: dict[tuple[Any, ...], int] = {}
    parents, shape = array.array("i"), array.array("i")
    far: dict[str, str] = {}
    copies: dict[str, str] = {}
    for at, row in enumerate(rows):
        parent = -1 if row.parent_id is None else place.get(row.parent_id, -2)
        if parent == -2:
            far[str(at)] = str(row.parent_id)
        parents.append(parent)
        version, event = row.version and clean(row.version), row.event and clean(row.event)
        shown = (row.source, row.nodes, row.changed, row.status, row.next)
        kind = (*shown, version, row.turn, event, int(row.apart))
        shape.append(shapes.setdefault(kind, len(shapes)))
        if row.copy_of is not None:
            copies[str(at)] = row.copy_of
    return {
        "n": len(rows),
        "ids": _ids([row.id for row in rows]),
        "parents": _text(parents),
        "far": far,
        "steps": _text(array.array("i", [row.step for row in rows])),
        "times": _text(array.array("d", [row.time * 1000 for row in rows])),
        "shape": _text(shape),
        "shapes": [list(kind) for kind in shapes],
        "copies": copies,
        "took": _text(array.array("f", took)) if any(ms >= 0 for ms in took) else None,
    }


def _ids(ids: list[str]) -> str | list[str]:
    """Ids of the common form as 16 bytes each; any others as they are."""
    try:
        packed = [binascii.unhexlify(i.replace("-", "")) for i in ids]
    except (ValueError, binascii.Error):
        return ids
    plain = all(
        len(p) == 16 and len(i) == 36 and i == _spelt(p) for p, i in zip(packed, ids, strict=True)
    )
    return base64.b64encode(b"".join(packed)).decode() if plain else ids


def _spelt(data: bytes) -> str:
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _text(numbers: array.array[Any]) -> str:
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode()
