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
