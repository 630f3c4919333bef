"""Encryption around any serializer: AES-256-GCM bound to the row, and LangGraph's AES rows.

What stays in clear: ids of threads, checkpoints and tasks, namespaces, channel names, versions,
labels, and of the metadata ``source`` and ``step``. Everything else is inside encrypted bytes.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from ckpt_viz.checkpoint.serde.base import CipherProtocol, SerializerProtocol, Typed
from ckpt_viz.checkpoint.serde.compress import MARK, expand, squeeze
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.errors import SerializationError

_ENV = "LANGGRAPH_AES_KEY"
_NONCE = 12
LENGTHS = (16, 24, 32)

Keys = bytes | Sequence[bytes] | Mapping[str, bytes]


class AesGcm:
    """AES-GCM by ``cryptography``, with a random nonce for each value.

    Args:
        keys: one key of 32 bytes (16 and 24 work too); or several, of which the first encrypts
            and all decrypt. A key's id is stored with each value, so that keys can be changed: it
            is the key in a mapping, else made from the key's hash.
    """

    binds_rows: ClassVar[bool] = True

    def __init__(self, keys: Keys) -> None:
        try:
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - optional
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
        except ImportError as error:
            raise ImportError(
                "Encryption needs the package cryptography. "
                "Type:  pip install 'ckpt-viz[encryption]'"
            ) from error
        named = _by_id(keys)
        self._ciphers = {f"gcm.{key_id}": AESGCM(key) for key_id, key in named.items()}
        self._name = next(iter(self._ciphers))
        self._bad_tag = InvalidTag
        self.index_hashes = tuple(_blind(key) for key in dict.fromkeys(named.values()))

    def encrypt(self, plaintext: bytes, aad: bytes = b"") -> tuple[str, bytes]:
        """The cipher's name with the key id, and nonce and encrypted bytes."""
        nonce = os.urandom(_NONCE)
        return self._name, nonce + self._ciphers[self._name].encrypt(nonce, plaintext, aad)

    def decrypt(self, ciphername: str, ciphertext: bytes, aad: bytes = b"") -> bytes:
        """The plain bytes.

        Raises:
            SerializationError: no such key here, or the value was changed or moved to another row.
        """
        cipher = self._ciphers.get(ciphername)
        if cipher is None:
            raise SerializationError(
                f"This value was encrypted as {ciphername!r}; the keys here are "
                f"{', '.join(self._ciphers)}. Pass the missing key, by its id."
            )
        try:
            return cipher.decrypt(ciphertext[:_NONCE], ciphertext[_NONCE:], aad)
        except (self._bad_tag, ValueError) as error:
            raise SerializationError(
                "An encrypted value cannot be read: the key is another one, or the value was "
                "changed, or moved here from another row."
            ) from error


class PycryptodomeAes:
    """The cipher of LangGraph's ``+aes`` rows: nonce, tag and text of an AES mode with a tag."""

    def __init__(self, key: bytes, mode: int | None = None, **options: Any) -> None:
        try:
            from Crypto.Cipher import AES  # noqa: PLC0415 - optional
        except ImportError as error:
            raise ImportError(
                "LangGraph's encrypted rows need pycryptodome. "
                "Type:  pip install 'ckpt-viz[encryption]'"
            ) from error
        self._new: Any = AES.new
        self._key, self._options = key, options
        self._mode = AES.MODE_EAX if mode is None else mode
        self.index_hashes = (_blind(key),)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """``aes``, and the bytes."""
        cipher: Any = self._new(self._key, self._mode, **self._options)
        text, tag = cipher.encrypt_and_digest(plaintext)
        return "aes", cipher.nonce + tag + text

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The plain bytes.

        Raises:
            SerializationError: another cipher wrote the value. ValueError: the key is wrong, or
                the bytes were changed.
        """
        if ciphername != "aes":
            raise SerializationError(
                f"This value was encrypted as {ciphername!r}; this cipher reads 'aes' only."
            )
        nonce, tag, text = ciphertext[:16], ciphertext[16:32], ciphertext[32:]
        cipher: Any = self._new(self._key, self._mode, nonce=nonce, **self._options)
        plain: bytes = cipher.decrypt_and_verify(text, tag)
        return plain


class EncryptedSerializer:
    """Encrypts what another serializer packed; reads rows in clear as well.

    Args:
        cipher: encrypts bytes.
        serde: packs the values; the default keeps exact types, secrets included.

    A saver of this package passes the row's key as ``aad``: with a cipher that takes it
    (`from_key`), a row that was moved to another key does not decrypt.
    """

    binds_rows: ClassVar[bool] = True

    def __init__(self, cipher: CipherProtocol, serde: SerializerProtocol | None = None) -> None:
        self.cipher = cipher
        inner = serde if serde is not None else JsonPlusSerializer()
        self.serde: SerializerProtocol = (
            inner.with_secrets() if isinstance(inner, JsonPlusSerializer) else inner
        )
        self._bound = bool(getattr(cipher, "binds_rows", False))

    @property
    def index_hashes(self) -> tuple[Callable[[bytes], bytes], ...]:
        """Keys for the blind index of metadata; empty if the cipher has none to give."""
        return tuple(getattr(self.cipher, "index_hashes", ()))

    @classmethod
    def from_key(
        cls,
        keys: Keys | str | None = None,
        serde: SerializerProtocol | None = None,
    ) -> EncryptedSerializer:
        """AES-256-GCM with the key given, or with the one in ``LANGGRAPH_AES_KEY``.

        Args:
            keys: 32 bytes; or several keys, of which the first encrypts (see `AesGcm`).
            serde: packs the values.

        Raises:
            ValueError: no key, or one of the wrong length.
            ImportError: ``cryptography`` is missing.
        """
        if keys is None:
            keys = _key_of_environment()
        return cls(AesGcm(keys.encode() if isinstance(keys, str) else keys), serde)

    @classmethod
    def from_pycryptodome_aes(
        cls, serde: SerializerProtocol | None = None, **kwargs: Any
    ) -> EncryptedSerializer:
        """Rows as LangGraph's serializer of this name writes and reads them.

        Args:
            serde: packs the values.
            kwargs: ``key`` (else ``LANGGRAPH_AES_KEY``), ``mode`` (else EAX), and what else
                ``Crypto.Cipher.AES.new`` takes.

        Raises:
            ValueError: no key, or one of the wrong length. ImportError: pycryptodome is missing.
        """
        key = kwargs.pop("key", None)
        return cls(PycryptodomeAes(_key_of_environment() if key is None else key, **kwargs), serde)

    def dumps_typed(self, obj: Any, aad: bytes = b"") -> Typed:
        """The value packed and encrypted; ``aad`` must be the same when it is read."""
        return self.seal(self.serde.dumps_typed(obj), aad)

    def loads_typed(self, data: Typed, aad: bytes = b"") -> Any:
        """The value that `dumps_typed` made, or one in clear."""
        return self.serde.loads_typed(self.unseal(data, aad))

    def seal(self, typed: Typed, aad: bytes = b"") -> Typed:
        """Packed bytes, encrypted; compressed first if the cipher is of this package."""
        if not self._bound:
            name, data = self.cipher.encrypt(typed[1])
            return f"{typed[0]}+{name}", data
        tag, plain = squeeze(typed)
        name, data = self.cipher.encrypt(plain, tag.encode() + b"\0" + aad)  # type: ignore[call-arg]
        return f"{tag}+{name}", data

    def unseal(self, typed: Typed, aad: bytes = b"") -> Typed:
        """The packed bytes of a sealed value; one in clear is returned as it is."""
        whole, data = typed
        tag, plus, name = whole.rpartition("+")
        if not plus or typed[0].endswith(MARK):
            return expand(typed)
        if not self._bound:
            return tag, self.cipher.decrypt(name, data)
        plain = self.cipher.decrypt(name, data, tag.encode() + b"\0" + aad)  # type: ignore[call-arg]
        return expand((tag, plain))

    def with_allowlist(self, allowed: Any) -> EncryptedSerializer:
        """The same, whose inner serializer may load these classes as well."""
        widen = getattr(self.serde, "with_allowlist", None)
        return self if widen is None else EncryptedSerializer(self.cipher, widen(allowed))


def _by_id(keys: Keys) -> dict[str, bytes]:
    """Keys by id, in the order given; each is known by the id made from its hash as well."""
    if isinstance(keys, bytes):
        keys = [keys]
    named = dict(keys) if isinstance(keys, Mapping) else {}
    for key in tuple(named.values()) if named else keys:
        named.setdefault(sha256(key).hexdigest()[:8], key)  # type: ignore[arg-type]
    if not named or any(len(key) not in LENGTHS for key in named.values()):
        raise ValueError("AES needs keys of 32 bytes (or 16, or 24), and at least one of them.")
    if any("+" in key_id for key_id in named):
        raise ValueError("A key id must not hold a '+'.")
    return named


def _key_of_environment() -> bytes:
    key = os.environ.get(_ENV, "").encode()
    if not key:
        raise ValueError(f"{_ENV} environment variable is not set. Set it, or pass the key.")
    if len(key) not in LENGTHS:
        raise ValueError(f"{_ENV} must be 16, 24, or 32 bytes long, and has {len(key)}.")
    return key


def _blind(key: bytes) -> Callable[[bytes], bytes]:
    """The hash of the blind index; from its key nothing follows about the key itself."""
    derived = hmac.digest(key, b"ckpt_viz blind index", "sha256")
    return lambda data: hmac.digest(derived, data, "sha256")
