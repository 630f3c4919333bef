"""The serializer that reads a database: by the tags of its rows, and the key that was given."""

from __future__ import annotations

import os
from typing import Any

from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.checkpoint.serde.compress import MARK
from ckpt_viz.checkpoint.serde.encrypted import LENGTHS, EncryptedSerializer
from ckpt_viz.checkpoint.serde.reading import ReadingSerializer
from ckpt_viz.errors import SourceError

_ENV = "LANGGRAPH_AES_KEY"


def cipher_of(tag: str | None) -> str:
    """The cipher that a row's tag names; empty where the row is in clear.

    >>> cipher_of("msgpack+aes"), cipher_of("msgpack+zstd+gcm.1a"), cipher_of("msgpack+zstd")
    ('aes', 'gcm.1a', '')
    """
    if not tag or "+" not in tag or tag.endswith(MARK):
        return ""
    return tag.rpartition("+")[2]


def key_tag(key: Any) -> str | None:
    """The tag of our own cipher where a key is at hand: for a store that is not asked before."""
    return "msgpack+gcm." if key is not None or os.environ.get(_ENV) else None


def serializer(tag: str | None, key: Any, *, views: bool) -> SerializerProtocol:
    """What reads rows of which one has this tag.

    Args:
        tag: of a newest row; whether it names a cipher is all that counts.
        key: bytes, text, or for our ciphers a mapping from key id to bytes; None: of ``_ENV``.
        views: whether records are shown as plain data (see `ReadingSerializer`).

    Raises:
        SourceError: the rows are encrypted, and there is no key, or one of a wrong length.
    """
    reading = ReadingSerializer(views=views)
    cipher = cipher_of(tag)
    if not cipher and key is None:
        return reading
    key = os.environ.get(_ENV) or None if key is None else key
    if key is None:
        raise SourceError(
            f"This database is encrypted ({cipher}): give its key, explore(source, key=…), or set "
            f"{_ENV}."
        )
    try:
        if cipher.startswith("gcm."):
            return EncryptedSerializer.from_key(key, reading)
        raw = key.encode() if isinstance(key, str) else key
        if len(raw) not in LENGTHS:
            raise ValueError(f"it has {len(raw)} bytes, and AES takes 16, 24 or 32")
        return EncryptedSerializer.from_pycryptodome_aes(reading, key=raw)
    except (ValueError, TypeError) as error:
        raise SourceError(f"The key does not fit this database: {error}") from error
