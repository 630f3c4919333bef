"""How a saver turns values into rows: pack, compress, and bind to the row's key.

Order: the serializer packs; what is not encrypted is compressed here. A serializer that declares
``binds_rows = True`` takes the row's key as ``aad=``; it compresses by itself, before it encrypts.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

from xxhash import xxh3_64_intdigest

from ckpt_viz.checkpoint.keys import escape
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.compress import expand, squeeze

_SCALARS = (str, int, float, bool)


class Codec:
    """Packs and loads the values of one saver."""

    __slots__ = ("_binds", "_index_keys", "_serde")

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde: Any = serde
        self._binds = bool(getattr(serde, "binds_rows", False))
        self._index_keys: tuple[bytes, ...] | None = getattr(serde, "index_keys", None)

    def pack(self, obj: Any, *row: str) -> Typed:
        """The value as ``(tag, bytes)``; ``row`` is the kind of row and its key."""
        if self._binds:
            return self._serde.dumps_typed(obj, aad=_key(row))  # type: ignore[no-any-return]
        typed: Typed = self._serde.dumps_typed(obj)
        return typed if "+" in typed[0] else squeeze(typed)

    def load(self, typed: Typed, *row: str) -> Any:
        """The value of a row.

        Raises:
            SerializationError: it was encrypted for another row, or its bytes are damaged.
        """
        if self._binds:
            return self._serde.loads_typed(typed, aad=_key(row))
        return self._serde.loads_typed(expand(typed))

    def tokens(self, metadata: Mapping[str, Any]) -> list[int]:
        """A number for each plain entry of metadata, by which it can be searched for.

        Under encryption it is a keyed hash, which tells nothing without the key.
        """
        keys = self._hash_keys()[:1]
        return sorted(
            {
                _token(key, name, value)
                for name, value in metadata.items()
                if isinstance(value, _SCALARS)
                for key in keys
            }
        )

    def wanted(self, filter: Mapping[str, Any]) -> list[list[int]]:
        """For each plain entry of a filter the tokens of which a row must have one."""
        keys = self._hash_keys()
        if not keys:
            return []
        return [
            [_token(key, name, value) for key in keys]
            for name, value in filter.items()
            if isinstance(value, _SCALARS)
        ]

    def _hash_keys(self) -> Sequence[Any]:
        """None stands for "no key": the rows are in clear."""
        return (None,) if self._index_keys is None else self._index_keys


def _key(row: tuple[str, ...]) -> bytes:
    return "\0".join(map(escape, row)).encode()


def _token(key: bytes | None, name: str, value: Any) -> int:
    """63 bits that stand for an entry; numbers that are equal have equal tokens."""
    if isinstance(value, str):
        text = f"{name}\0s{escape(str.__str__(value))}"
    else:
        text = f"{name}\0n{int(value) if value == value // 1 else float(value)!r}"
    data = text.encode("utf-8", "surrogatepass")
    if key is None:
        return xxh3_64_intdigest(data) >> 1
    return int.from_bytes(hmac.digest(key, data, "sha256")[:8]) >> 1
