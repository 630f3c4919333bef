"""Compression of stored bytes: zstandard level 3 from 512 bytes on, kept only where it shrinks.

The tag tells: ``msgpack+zstd`` is msgpack that was compressed. Order is pack, compress, encrypt.
"""

from __future__ import annotations

import threading

import zstandard

from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.errors import SerializationError, damaged

MARK = "+zstd"
_LEAST = 512
_MOST = 1 << 31
"""Bytes that one value may unpack to: a hand-made row must not fill the memory."""


class _Tools(threading.local):
    """A compressor and a decompressor a thread: they must not be shared."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=3).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


_tools = _Tools()


def squeeze(typed: Typed) -> Typed:
    """The value compressed, if that makes it smaller."""
    tag, data = typed
    if len(data) < _LEAST:
        return typed
    small = _tools.compress(data)
    return (tag + MARK, small) if len(small) < len(data) else typed


def expand(typed: Typed) -> Typed:
    """The value as it was before `squeeze`.

    Raises:
        SerializationError: the bytes are damaged, or claim to unpack to 2 GB or more.
    """
    tag, data = typed
    if tag.__class__ is not str or data.__class__ is not bytes:
        raise damaged(str(tag), f"{type(data).__name__} instead of bytes")
    if not tag.endswith(MARK):
        return typed
    try:
        if zstandard.frame_content_size(data) >= _MOST:
            raise SerializationError("A compressed value claims 2 GB or more; it is not read.")
        return tag.removesuffix(MARK), _tools.decompress(data)
    except zstandard.ZstdError as error:
        raise SerializationError(f"A compressed value is damaged: {error}.") from error
