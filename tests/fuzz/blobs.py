"""Stored bytes to begin with, and what must hold of any bytes that claim to be stored ones."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import fractions
import ipaddress
import pathlib
import re
import sys
import types
import uuid
from typing import Any

import numpy as np

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.serde import JsonPlusSerializer, Opaque
from ckpt_viz.checkpoint.serde.compress import expand, squeeze
from ckpt_viz.errors import SerializationError
from ckpt_viz.types import Command, Interrupt, Send

MARKER = "tabnanny"
"""A module of the standard library that nothing here imports; crafted blobs name it."""
TAGS = ("msgpack", "delta", "json", "msgpack+zstd", "null", "bytes", "bytearray", "pickle", "x")
serde = JsonPlusSerializer()

VALUES: list[Any] = [
    {"a": [1, 2, (3, 4)], "b": {1, 2}, 5: None, "text": "long " * 50},
    [2**80, 1j, decimal.Decimal("1.5"), fractions.Fraction(1, 3), range(3), slice(1, 2)],
    [dt.datetime(2024, 1, 2, fold=1), dt.timedelta(1), dt.UTC, uuid.UUID(int=7)],
    [collections.deque([1], maxlen=2), collections.Counter("aab"), collections.OrderedDict(a=1)],
    {frozenset({1}): collections.defaultdict(list, {1: [2]})},
    [
        np.arange(12).reshape(3, 4),
        np.array(["a", "bc"]),
        np.float32(1),
        np.datetime64("2020-01-01"),
    ],
    [pathlib.PurePosixPath("/x"), re.compile("a+"), ipaddress.ip_address("1.2.3.4")],
    [array.array("d", [1, 2]), types.SimpleNamespace(a=1), ValueError("x")],
    [Send("a", {"x": 1}), Interrupt(value=1, id="x"), Command(goto="a")],
]


def corpus() -> list[bytes]:
    """Bytes as the savers store them: the number of a tag, then what stands under it."""
    found = [bytes([0]) + serde.dumps_typed(value)[1] for value in VALUES]
    old, new = ([f"item {i}" * 5 for i in range(n)] for n in (60, 61))
    new[3] = "changed"
    change = delta.diff(serde.dumps_typed(old)[1], serde.dumps_typed(new)[1])
    assert change is not None
    found.append(bytes([1]) + delta.record("00000000000000000000000000000007.0.5", change))
    found.append(bytes([1]) + delta.part(["log", "1.0"], 3, 40))
    found.append(bytes([2]) + b'{"a": [1, "b"]}')
    tag, small = squeeze(serde.dumps_typed(old))
    assert tag == TAGS[3]
    return [*found, bytes([3]) + small]


def check(data: bytes) -> str:
    """Reads any bytes; what became of them.

    Raises:
        AssertionError: something was imported, or what was read cannot be packed again.
        Exception: anything but a `SerializationError` is a fault.
    """
    tag, raw = TAGS[data[0] % len(TAGS)] if data else "msgpack", data[1:]
    try:
        value = serde.loads_typed(expand((tag, raw)))
    except SerializationError:
        return "refused"
    finally:
        assert MARKER not in sys.modules
    if isinstance(value, Opaque):
        return "opaque"
    try:
        serde.dumps_typed(value)
    except SerializationError:  # as a set of Opaque values, which have no order
        return "read, and not packed again"
    return "read"
