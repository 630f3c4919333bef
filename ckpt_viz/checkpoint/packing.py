"""How savers call a serializer: values are packed by the inner one, and sealed for their row.

A serializer with ``seal(typed, aad)`` and ``unseal(typed, aad)`` encrypts; its ``serde`` packs.
Between the two a saver may tell a value as a change, and compress it: pack, compress, encrypt.
"""

from __future__ import annotations

from typing import Any, Self

from ormsgpack import packb

from ckpt_viz.checkpoint.kept import Kept
from ckpt_viz.checkpoint.keys import version_name, version_of
from ckpt_viz.checkpoint.serde.base import SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.compress import expand, squeeze
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


class Packer:
    """How one saver packs values for its rows, and what it remembers between puts.

    ``name_of`` and ``version_of`` lead from a version to its name in a `BlobKey`, and back.
    """

    name_of: Any = staticmethod(version_name)
    version_of: Any = staticmethod(version_of)

    def __init__(self) -> None:
        self.kept = Kept()
        self.codec: Any = None
        self.noted: dict[str, tuple[float, float]] = {}

    def using(self, serde: SerializerProtocol) -> Self:
        """This, with a serializer: that of a saver may be replaced."""
        if self.codec is None or self.codec.serde is not serde:
            self.use(serde)
        return self

    def use(self, serde: SerializerProtocol) -> Packing:
        """Read and write by another serializer from now on."""
        self.codec = codec = Packing(serde)
        self.kept.drop()
        return codec

    def close(self, typed: Typed, *place: Any) -> Typed:
        """Packed bytes as a row holds them."""
        return self.codec.seal(typed, *place) if self.codec.sealed else squeeze(typed)

    def open(self, typed: Typed, *place: Any) -> Typed:
        """The packed bytes of a row."""
        return expand(self.codec.unseal(typed, *place))

    def load(self, typed: Typed, *place: Any) -> Any:
        """The value of a row that is told in full."""
        return self.codec.loads(self.open(typed, *place))

    def moved(self, typed: Typed, source: str, target: str, *place: Any) -> Typed:
        """What one thread stores at a place, as another stores it there."""
        codec = self.codec
        if not codec.sealed:
            return typed
        return codec.seal(codec.unseal(typed, source, *place), target, *place)  # type: ignore[no-any-return]

    def body_of(self, row: Any, bases: Any) -> dict[str, Any]:
        """The checkpoint of a `Row` without its values.

        Args:
            row: it.
            bases: has what it is told against.
        """
        raise NotImplementedError

    def meta_of(self, row: Any) -> dict[str, Any]:
        """The metadata of a `Row`."""
        return {**self.load(row.meta, row.thread, row.ns, row.id, "metadata")}

    def whole_body(self, body: dict[str, Any]) -> Typed:
        """A checkpoint told in full."""
        made: Typed = self.codec.dumps(body)
        return made


def aad(place: tuple[Any, ...]) -> bytes:
    """The place of a row as the bytes that its encryption is bound to."""
    return "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
