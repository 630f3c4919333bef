"""What a serializer and a cipher must offer to a saver."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

Typed = tuple[str, bytes]
"""A tag that tells the form (``msgpack``, ``null``, ``bytes``, ...), and the bytes."""


@runtime_checkable
class SerializerProtocol(Protocol):
    """Turns a value into a tag and bytes, and back."""

    def dumps_typed(self, obj: Any) -> Typed:
        """The value as ``(tag, bytes)``."""
        ...

    def loads_typed(self, data: Typed) -> Any:
        """The value that `dumps_typed` turned into ``data``, as a fresh object."""
        ...


class CipherProtocol(Protocol):
    """Encrypts bytes; the name it returns is stored, so that several ciphers may be in use."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The cipher's name and the encrypted bytes."""
        ...

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The plain bytes; raises if the key is wrong or the bytes were changed."""
        ...


class UntypedSerializerProtocol(Protocol):
    """The older form of a serializer: without a tag."""

    def dumps(self, obj: Any) -> bytes:
        """The value as bytes."""
        ...

    def loads(self, data: bytes) -> Any:
        """The value that `dumps` turned into ``data``."""
        ...


class SerializerCompat:
    """A serializer of the older form in the newer one; the tag is the name of the value's type."""

    def __init__(self, serde: UntypedSerializerProtocol) -> None:
        self.serde = serde

    def dumps(self, obj: Any) -> bytes:
        """The value as bytes."""
        return self.serde.dumps(obj)

    def loads(self, data: bytes) -> Any:
        """The value that `dumps` turned into ``data``."""
        return self.serde.loads(data)

    def dumps_typed(self, obj: Any) -> Typed:
        """The value as ``(name of its type, bytes)``."""
        return type(obj).__name__, self.serde.dumps(obj)

    def loads_typed(self, data: Typed) -> Any:
        """The value that `dumps_typed` turned into ``data``."""
        return self.serde.loads(data[1])


def maybe_add_typed_methods(
    serde: SerializerProtocol | UntypedSerializerProtocol,
) -> SerializerProtocol:
    """The serializer itself, or one of the older form in the newer."""
    return serde if isinstance(serde, SerializerProtocol) else SerializerCompat(serde)
