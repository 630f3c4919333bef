"""How savers call a serializer: values are packed by the inner one, and sealed for their row.

A serializer with ``seal(typed, aad)`` and ``unseal(typed, aad)`` encrypts; its ``serde`` packs.
Between the two a saver may tell a value as a change, and compress it: pack, compress, encrypt.
"""

from __future__ import annotations

from typing import Any

from ormsgpack import packb

from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.encode import OPTIONS
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer


class Packing:
    """A serializer as savers use it.

    ``deltas`` tells whether values may be stored as changes: only the packing of our own
    serializer is known well enough to compare.
    """

    __slots__ = ("_seal", "_unseal", "deltas", "dumps", "loads", "sealed", "serde")

    def __init__(self, serde: SerializerProtocol) -> None:
        self.serde = serde
        self._seal: Any = getattr(serde, "seal", None)
        self._unseal: Any = getattr(serde, "unseal", None)
        self.sealed = self._seal is not None and self._unseal is not None
        inner: SerializerProtocol = getattr(serde, "serde", serde) if self.sealed else serde
        self.dumps = inner.dumps_typed
        self.loads = inner.loads_typed
        self.deltas = isinstance(inner, JsonPlusSerializer)

    def plain(self, obj: Any) -> Typed:
        """As ``dumps``, quicker, for what is made of text and numbers."""
        if self.deltas:
            try:
                return "msgpack", packb(obj, None, OPTIONS)
            except TypeError:
                pass
        return self.dumps(obj)

    def seal(self, typed: Typed, *place: Any) -> Typed:
        """Packed bytes as they are stored at a place: thread, namespace, and what tells the row."""
        return self._seal(typed, aad(place)) if self.sealed else typed

    def unseal(self, typed: Typed, *place: Any) -> Typed:
        """The packed bytes of what is stored at a place.

        Raises:
            SerializationError: the bytes were changed, or moved here from another place.
        """
        return self._unseal(typed, aad(place)) if self.sealed else typed


def aad(place: tuple[Any, ...]) -> bytes:
    """The place of a row as the bytes that its encryption is bound to."""
    return "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
