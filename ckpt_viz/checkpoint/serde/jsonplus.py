"""The default serializer: exact types both ways, and safe to read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Any

from ormsgpack import OPT_NON_STR_KEYS, packb, unpackb

from ckpt_viz.checkpoint.delta import describe
from ckpt_viz.checkpoint.serde import registry
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.decode import unpack, unpacker
from ckpt_viz.checkpoint.serde.encode import pack
from ckpt_viz.checkpoint.serde.looking import DECODED, LARGE
from ckpt_viz.checkpoint.serde.models import secrets_welcome
from ckpt_viz.errors import CkptVizError, SerializationError, damaged

NULL: Typed = ("null", b"")
EMPTY: Typed = ("empty", b"")


class InvalidModuleError(CkptVizError, ValueError):
    """A name on an allow-list does not lead to a class."""


def _resolve(entry: Any) -> tuple[registry.Name, Any]:
    if isinstance(entry, type):
        return registry.name_of(entry), entry
    module, name = (entry[0], entry[-1]) if len(entry) == 2 else (".".join(entry[:-1]), entry[-1])
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise InvalidModuleError(
            f"The allow-list names {module}.{name}, which cannot be found ({error}). "
            "Pass the class itself, or its (module, name)."
        ) from error
    return (module, name), found


def _loaded(name: registry.Name) -> Any:
    """Any class of a module that is loaded already; for ``allowed_msgpack_modules=True``."""
    found: Any = sys.modules.get(name[0])
    for part in name[1].split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _none(_: registry.Name) -> Any:
    return None


class JsonPlusSerializer:
    """Writes msgpack with LangGraph's ext forms; reads what it wrote with the same types.

    Reading imports nothing: classes are restored only if they are of the built-in list, were
    saved by this process, or were registered; others come back as `Opaque`.

    Args:
        pickle_fallback: write what msgpack cannot with pickle, and read such rows. Unsafe for
            data that others may have written.
        allowed_msgpack_modules: classes, or ``(module, name)`` pairs, that may be loaded as
            well; True allows every class whose module is loaded already.
        allowed_json_modules: nothing; old ``json`` rows are read as plain data in any case.
        secrets: write ``SecretStr`` and the like too, because the bytes will be encrypted.
    """

    def __init__(
        self,
        *,
        pickle_fallback: bool = False,
        allowed_msgpack_modules: Iterable[Any] | bool | None = None,
        allowed_json_modules: Iterable[Any] | bool | None = None,
        secrets: bool = False,
    ) -> None:
        self.pickle_fallback = pickle_fallback
        self._secrets = secrets
        self._any_loaded = allowed_msgpack_modules is True
        listed = () if isinstance(allowed_msgpack_modules, bool) else allowed_msgpack_modules
        self._allowed: dict[registry.Name, Any] = dict(_resolve(entry) for entry in listed or ())
        self._hook = unpacker(self._allowed, _loaded if self._any_loaded else _none)

    def with_allowlist(self, allowed: Iterable[Any]) -> JsonPlusSerializer:
        """A serializer like this one that may load these classes as well.

        Raises:
            InvalidModuleError: a ``(module, name)`` does not lead to a class.
        """
        return self._like(allowed, secrets=self._secrets)

    with_msgpack_allowlist = with_allowlist

    def with_secrets(self) -> JsonPlusSerializer:
        """A serializer like this one that writes secrets; for bytes that will be encrypted."""
        return self._like((), secrets=True)

    def _like(self, allowed: Iterable[Any], *, secrets: bool) -> JsonPlusSerializer:
        made = JsonPlusSerializer(
            pickle_fallback=self.pickle_fallback,
            allowed_msgpack_modules=self._any_loaded or allowed,
            secrets=secrets,
        )
        made._allowed.update(self._allowed)
        return made

    def dumps_typed(self, obj: Any) -> Typed:
        """The value as ``(tag, bytes)``.

        Raises:
            SerializationError: something in the value cannot be saved.
        """
        if obj is None:
            return NULL
        cls = type(obj)
        if cls is int or cls is str or cls is bool:
            try:
                return "msgpack", packb(obj)
            except TypeError:  # beyond 64 bits, or half a surrogate pair
                return "msgpack", pack(obj)
        if cls is bytes:
            return "bytes", obj
        if cls is bytearray:
            return "bytearray", bytes(obj)
        if self._secrets:
            welcome = secrets_welcome.set(True)
            try:
                return self._pack(obj)
            finally:
                secrets_welcome.reset(welcome)
        return self._pack(obj)

    def _pack(self, obj: Any) -> Typed:
        try:
            return "msgpack", pack(obj)
        except SerializationError:
            if not self.pickle_fallback:
                raise
            return "pickle", _pickle(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of ``(tag, bytes)``, as a fresh object.

        Raises:
            SerializationError: the tag is unknown, or needs ``pickle_fallback=True``; or the bytes
                are damaged.
        """
        tag, raw = data
        if tag == "msgpack":
            if len(raw) > LARGE and (known := DECODED.get()) is not None:
                return known.get(raw, partial(unpack, raw, self._hook))
            try:
                return unpackb(raw, ext_hook=self._hook, option=OPT_NON_STR_KEYS)
            except (ValueError, TypeError) as error:
                raise damaged("msgpack", error) from error
        if tag in ("null", "empty"):
            return None
        if tag == "bytes":
            return raw
        if tag == "bytearray":
            return bytearray(raw)
        if tag == "json":
            try:
                return json.loads(raw)
            except ValueError as error:
                raise damaged("json", error) from error
        if tag == "delta":
            return describe(raw, partial(unpack, hook=self._hook))
        if tag == "pickle" and self.pickle_fallback:
            return _unpickle(raw)
        hint = " Pass pickle_fallback=True if you trust the data." if tag == "pickle" else ""
        raise SerializationError(f"Cannot read a value stored as {tag!r}.{hint}", type_name=tag)


def _pickle(obj: Any) -> bytes:
    import pickle  # noqa: PLC0415 - only who asked for it loads it

    try:
        return pickle.dumps(obj)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise SerializationError(
            f"Cannot save this {type(obj).__name__}, not even by pickle: {error}.",
            type_name=type(obj).__name__,
        ) from error


def _unpickle(raw: bytes) -> Any:
    import pickle  # noqa: PLC0415 - only who asked for it loads it

    return pickle.loads(raw)
