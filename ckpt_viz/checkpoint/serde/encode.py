"""Packing a value to msgpack: one fast call, and a careful walk where that is not enough.

The fast call packs everything in C and asks `_default` for what msgpack has no type for. It
cannot tell a bytearray from bytes, refuses keys that are not text, and knows no path for its
errors; then the value is walked in Python.
"""

from __future__ import annotations

import operator
from typing import Any

import ormsgpack
from ormsgpack import Ext, packb

from ckpt_viz.checkpoint.serde.reduce import reducer_for
from ckpt_viz.checkpoint.serde.registry import ONE, TEXT
from ckpt_viz.errors import SerializationError

OPTIONS = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_ANY_KEYS = OPTIONS | ormsgpack.OPT_NON_STR_KEYS
_PLAIN = frozenset({str, int, float, bool, type(None), bytes})
_MAX_DEPTH = 250

Path = tuple[Any, ...]
"""Where in the value we are, linked: ``(path of the parent, key or index, is it an index)``."""


def pack(obj: Any) -> bytes:
    """The value as msgpack.

    Raises:
        SerializationError: something in it cannot be saved; the message names its place.
    """
    try:
        out = packb(obj, _default, OPTIONS)
    except (TypeError, ValueError, AttributeError, RecursionError):
        out = b""
    if not out:
        return _pack_slowly(obj)
    # Numbers, not bytes: the latter cost ten times as much to look for.
    if (0xC4 in out or 0xC5 in out or 0xC6 in out) and _holds_bytearray(obj, 0):
        return _pack_slowly(obj)
    return out


def _default(obj: Any) -> Ext:
    reducer = reducer_for(type(obj))
    if reducer is None:
        raise TypeError(type(obj))
    reduced = reducer(obj)
    if type(reduced) is tuple:
        return Ext(reduced[0], packb(reduced[1], _default, OPTIONS))
    return reduced  # type: ignore[return-value]


def _holds_bytearray(obj: Any, depth: int) -> bool:
    cls = type(obj)
    if cls in _PLAIN or depth > _MAX_DEPTH:
        return False
    if cls is bytearray or cls is memoryview:
        return True
    if cls is list or cls is dict:
        for one in obj if cls is list else obj.values():
            if type(one) not in _PLAIN and _holds_bytearray(one, depth + 1):
                return True
        return False
    reducer = reducer_for(cls)
    reduced = reducer(obj) if reducer is not None else None
    return type(reduced) is tuple and _holds_bytearray(reduced[1], depth + 1)


def _pack_slowly(obj: Any) -> bytes:
    try:
        return packb(_prepare(obj, (), 0), None, _ANY_KEYS)
    except RecursionError as error:
        raise _too_deep(obj) from error
    except SerializationError:
        raise
    except TypeError as error:
        if "ecursion" in str(error):
            raise _too_deep(obj) from error
        raise SerializationError(
            f"Cannot save this {type(obj).__name__}: {error}.", type_name=type(obj).__name__
        ) from error


def _too_deep(obj: Any) -> SerializationError:
    return SerializationError(
        f"Cannot save this {type(obj).__name__}: it is nested more than {_MAX_DEPTH} levels deep, "
        "or it contains itself. Store a flatter value.",
        type_name=type(obj).__name__,
    )


def _prepare(obj: Any, path: Path, depth: int) -> Any:
    """The value made of what msgpack can tell exactly, and of finished Ext."""
    cls = type(obj)
    if cls is str:
        return obj if obj.isascii() else _text(obj)
    if cls is int:
        return obj if -(2**63) <= obj < 2**64 else _extend(obj, path, depth)
    if cls in _PLAIN:
        return obj
    if depth > _MAX_DEPTH:
        raise RecursionError
    if cls is list:
        return [_prepare(v, (path, i, True), depth + 1) for i, v in enumerate(obj)]
    if cls is dict:
        return _map(obj, path, depth)
    return _extend(obj, path, depth)


def _text(obj: str) -> Any:
    try:
        obj.encode()
    except UnicodeEncodeError:
        return Ext(TEXT, obj.encode("utf-8", "surrogatepass"))
    return obj


def _map(obj: dict[Any, Any], path: Path, depth: int) -> Any:
    values = [_prepare(v, (path, k, False), depth + 1) for k, v in obj.items()]
    if all(_exact_key(key) for key in obj):
        return dict(zip(obj, values, strict=True))
    pairs = [
        [_prepare(k, (path, k, False), depth + 1), v] for k, v in zip(obj, values, strict=True)
    ]
    return Ext(ONE, packb(["builtins", "dict", pairs], None, _ANY_KEYS))


def _exact_key(key: Any) -> bool:
    """Whether msgpack keeps this key's type and text."""
    cls = type(key)
    if cls is str:
        return bool(_text(key) is key)
    if cls is int:
        return bool(-(2**63) <= key < 2**64)
    return cls in _PLAIN or (cls is tuple and all(_exact_key(part) for part in key))


def _extend(obj: Any, path: Path, depth: int) -> Ext:
    cls = type(obj)
    if cls is memoryview:
        obj, cls = bytearray(obj), bytearray
    reducer = reducer_for(cls)
    if reducer is None:
        raise refusal(obj, path, "no form is known for this class; a dataclass has one")
    if issubclass(cls, BaseException):
        obj = _tame(obj)
    try:
        reduced = reducer(obj)
    except (TypeError, ValueError, AttributeError) as error:
        raise refusal(obj, path, str(error)) from error
    if not isinstance(reduced, tuple):
        return reduced
    code, parts = reduced
    head = 0 if code in (6, 45) else 2
    body = [_part(part, path, depth + 1) for part in parts[head:]]
    return Ext(code, packb([*parts[:head], *body], None, _ANY_KEYS))


def _part(part: Any, path: Path, depth: int) -> Any:
    if type(part) is list:
        return [_prepare(v, (path, i, True), depth) for i, v in enumerate(part)]
    if type(part) is dict:
        return _map(part, path, depth)
    return _prepare(part, path, depth)


def _tame(error: BaseException) -> BaseException:
    """An error that can be saved in any case: what cannot is told as text."""
    args = tuple(arg if _saveable(arg) else repr(arg) for arg in error.args)
    own = getattr(error, "__dict__", {})
    state = {key: value for key, value in own.items() if _saveable(value)}
    if all(map(operator.is_, args, error.args)) and len(state) == len(own):
        return error
    tamed = type(error).__new__(type(error), *args)
    tamed.args = args
    tamed.__dict__.update(state)
    return tamed


def _saveable(value: Any) -> bool:
    try:
        pack(value)
    except SerializationError:
        return False
    return True


def refusal(obj: Any, path: Path, why: str) -> SerializationError:
    """The error for a value that cannot be saved, with its place."""
    where = _format(path)
    name = f"{type(obj).__module__}.{type(obj).__qualname__}".removeprefix("builtins.")
    return SerializationError(
        f"Cannot save the {name} at {where}: {why}. Keep it out of the state, or turn it into "
        "plain data first.",
        path=where,
        type_name=name,
    )


def _format(path: Path) -> str:
    parts: list[str] = []
    while path:
        path, key, is_index = path
        if is_index:
            parts.append(f"[{key}]")
        elif isinstance(key, str) and key.isidentifier():
            parts.append(f".{key}")
        else:
            parts.append(f"[{key!r}]")
    return "$" + "".join(reversed(parts))
