"""Unpacking msgpack: a class is used only if it may be; otherwise the value stays `Opaque`.

Nothing outside a fixed list of standard modules is imported here, whatever the bytes say, and
a record is rebuilt by setting its attributes, without running its ``__init__``.
"""

from __future__ import annotations

import enum
import re
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ormsgpack import OPT_NON_STR_KEYS, unpackb

from ckpt_viz.checkpoint.serde import registry as reg
from ckpt_viz.checkpoint.serde.event_hooks import emit_serde_event
from ckpt_viz.checkpoint.serde.frames import build_frame
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.errors import damaged

_BAD = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)
_set = object.__setattr__
_TEXT_METHODS = ("fromisoformat",)

Hook = Callable[[int, bytes], Any]


def unpacker(allowed: Mapping[reg.Name, Any], find_more: Callable[[reg.Name], Any]) -> Hook:
    """The hook that turns an ext value into an object, with these classes allowed as well."""

    def find(name: reg.Name) -> Any:
        return allowed.get(name) or reg.find(name) or find_more(name)

    return hook_by(find)


def hook_by(find: Callable[[reg.Name], Any], nested: Hook | None = None) -> Hook:
    """The hook that builds objects of classes that ``find`` gives; others become `Opaque`.

    ``nested`` is for exts inside of an ext, where another hook stands before this one.
    """

    def hook(code: int, raw: bytes) -> Any:
        if code == reg.TEXT:
            return raw.decode("utf-8", "surrogatepass")
        try:
            parts = unpackb(raw, ext_hook=nested or hook, option=OPT_NON_STR_KEYS)
        except (ValueError, TypeError):
            return Opaque("", f"ext {code}", bytes(raw), code, bytes(raw))
        try:
            return _BUILD[code](find, parts)
        except _BAD:
            return _opaque(code, parts, bytes(raw))

    return hook


def unpack(data: bytes, hook: Hook) -> Any:
    """The value that was packed into ``data``.

    Raises:
        SerializationError: the bytes are damaged: no value was ever packed so.
    """
    try:
        return unpackb(data, ext_hook=hook, option=OPT_NON_STR_KEYS)
    except (ValueError, TypeError) as error:
        raise damaged("msgpack", error) from error


def _opaque(code: int, parts: Any, raw: bytes) -> Opaque:
    if code in (reg.NUMPY, reg.NUMPY_SCALAR):
        return Opaque("numpy", "ndarray" if code == reg.NUMPY else "generic", parts, code, raw)
    if isinstance(parts, list) and len(parts) >= 2 and isinstance(parts[0], str):
        data = parts[2] if len(parts) > 2 else None
        emit_serde_event({"kind": "msgpack_blocked", "module": parts[0], "name": str(parts[1])})
        return Opaque(parts[0], str(parts[1]), data, code, raw)
    return Opaque("", f"ext {code}", parts, code, raw)


Find = Callable[[reg.Name], Any]


def _wanted(find: Find, parts: list[Any]) -> Any:
    name = (parts[0], parts[1])
    cls = _numpy_scalar_class(name[1]) if name[0] == "numpy" else find(name)
    if cls is None:
        raise LookupError(name)
    return cls


def _numpy() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise LookupError("numpy is not loaded")
    return numpy


def _numpy_scalar_class(name: str) -> Any:
    numpy = _numpy()
    cls = getattr(numpy, name)
    if not (isinstance(cls, type) and issubclass(cls, numpy.generic)):
        raise TypeError(name)
    return cls


def _one(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    value = parts[2]
    _check(cls, [value])
    if isinstance(value, list) and isinstance(cls, type) and issubclass(cls, enum.Enum):
        return _member(cls, value)
    return cls(value)


def _member(cls: type[enum.Enum], value: list[Any]) -> enum.Enum:
    """The member of a list value; LangGraph writes a tuple as a list."""
    try:
        return cls(value)
    except ValueError:
        return cls(tuple(value))


def _args(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return _rebuild_exception(cls, parts[2], {})
    _check(cls, parts[2])
    return cls(*parts[2])


def _check(cls: Any, args: list[Any]) -> None:
    """Refuse what would make a few bytes into hours or gigabytes.

    Raises:
        TypeError: a bytearray of a length, or a fraction told by an exponent.
    """
    if cls is bytearray and not all(isinstance(a, bytes) for a in args):
        raise TypeError("a bytearray is made of bytes")
    if cls is Fraction and not all(isinstance(a, int) or str(a).isdecimal() for a in args):
        raise TypeError("a fraction is made of whole numbers")


def _kwargs(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    values: dict[str, Any] = parts[2]
    if hasattr(cls, "_make"):
        return cls._make([values[field] for field in cls._fields])
    fields = _record_fields(cls)
    if fields is None:
        return cls(**values)
    if parts[0] == reg.WIRE_MODULE:
        return cls(**{k: v for k, v in values.items() if k in fields})
    if fields != values.keys():
        return cls(**values)
    return _rebuild(cls, values)


def _record_fields(cls: Any) -> Any:
    declared = getattr(cls, "__dataclass_fields__", None)
    if declared is not None:
        return {k for k, f in declared.items() if f._field_type.name == "_FIELD"}
    attrs = getattr(cls, "__attrs_attrs__", None)
    return None if attrs is None else {a.name for a in attrs}


def _rebuild(cls: Any, values: dict[str, Any]) -> Any:
    obj = object.__new__(cls)
    for key, value in values.items():
        _set(obj, key, value)
    return obj


def _method(find: Find, parts: list[Any]) -> Any:
    if parts[3] not in _TEXT_METHODS or (parts[0], parts[1]) not in reg.STANDARD_NAMES:
        raise LookupError(parts[3])
    return getattr(_wanted(find, parts), parts[3])(parts[2])


def _state(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    if _record_fields(cls) is None:
        raise TypeError(f"{cls} is no record")
    return _rebuild(cls, parts[2])


def _subclass(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    value, state = parts[2], parts[3]
    base = _built_in_base(cls)
    if base in (bool, int, float, complex, str, bytes, tuple, frozenset):
        obj = base.__new__(cls, value)
    else:
        obj = base.__new__(cls)
        _fill(base, obj, value)
    if state:
        obj.__dict__.update(state)
    return obj


def _built_in_base(cls: Any) -> Any:
    return next(b for b in cls.__mro__ if b.__module__ in ("builtins", "collections"))


def _fill(base: Any, obj: Any, value: Any) -> None:
    """Put the value into an empty object through its built-in base, past overridden methods."""
    if base in (deque, defaultdict):
        base.__init__(obj, *value)
    elif issubclass(base, dict):
        setter = OrderedDict.__setitem__ if base is OrderedDict else dict.__setitem__
        for key, item in value:
            setter(obj, key, item)
    elif base is set:
        set.update(obj, value)
    else:
        base.extend(obj, value)


def _exception(find: Find, parts: list[Any]) -> Any:
    return _rebuild_exception(_wanted(find, parts), parts[2], parts[3])


def _rebuild_exception(cls: Any, args: list[Any], state: dict[str, Any]) -> Any:
    if not issubclass(cls, BaseException):
        raise TypeError(f"{cls} is no exception")
    obj = cls.__new__(cls, *args)
    if isinstance(obj, OSError | SyntaxError | UnicodeError | ImportError | StopIteration):
        _built_in_base(cls).__init__(obj, *args)
    if not isinstance(obj, OSError):
        obj.args = tuple(args)
    if state:
        obj.__dict__.update(state)
    return obj


def _reference(find: Find, parts: list[Any]) -> Any:
    target = reg.find_reference((parts[0], parts[1])) or find((parts[0], parts[1]))
    if target is None:
        raise LookupError(parts[1])
    return target


def _pydantic(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    values = parts[2]
    if len(parts) < 5 or not isinstance(values, dict):
        return cls.model_validate(values)
    more = parts[4]
    extra = more["extra"]
    obj = cls.__new__(cls)
    own = {k: v for k, v in values.items() if extra is None or k not in extra}
    _set(obj, "__dict__", own)
    _set(obj, "__pydantic_fields_set__", set(more["set"]))
    _set(obj, "__pydantic_extra__", None if extra is None else {k: values[k] for k in extra})
    _set(obj, "__pydantic_private__", more["private"])
    return obj


def _pydantic_v1(find: Find, parts: list[Any]) -> Any:
    cls = _wanted(find, parts)
    if len(parts) < 5:
        return cls.parse_obj(parts[2])
    return cls.construct(set(parts[4]["set"]), **parts[2])


def _array(_: Find, parts: list[Any]) -> Any:
    numpy = _numpy()
    dtype, shape, order, raw = parts
    if isinstance(dtype, list):
        dtype = [tuple(tuple(p) if isinstance(p, list) else p for p in field) for field in dtype]
    kind = numpy.dtype(dtype)
    if kind.hasobject:
        raise TypeError("arrays of objects are not loaded")
    if not isinstance(raw, bytes):
        raise TypeError("an array is made of bytes")
    made = numpy.frombuffer(bytearray(raw), dtype=kind).reshape(shape, order=order)
    _check_text(kind, made)
    return made


def _check_text(kind: Any, made: Any) -> None:
    """Numpy shows texts unchecked, and breaks on letters that do not exist.

    Raises:
        ValueError: the array holds such a letter.
    """
    if kind.kind == "U" and made.size and kind.itemsize:
        letters = made.reshape(-1).view(kind.byteorder.replace("|", "=") + "u4")
        if int(letters.max()) > sys.maxunicode:
            raise ValueError("no such letter")


def _scalar(_: Find, parts: list[Any]) -> Any:
    kind = _numpy().dtype(parts[0])
    if kind.hasobject:
        raise TypeError("scalars of objects are not loaded")
    made = _numpy().frombuffer(parts[1], dtype=kind)
    _check_text(kind, made)
    return made[0]


def _frame(_: Find, parts: list[Any]) -> Any:
    return build_frame(*parts)


_BUILD: dict[int, Callable[[Find, list[Any]], Any]] = {
    reg.ONE: _one,
    reg.ARGS: _args,
    reg.KWARGS: _kwargs,
    reg.METHOD: _method,
    reg.PYDANTIC_V1: _pydantic_v1,
    reg.PYDANTIC: _pydantic,
    reg.NUMPY: _array,
    reg.STATE: _state,
    reg.SUBCLASS: _subclass,
    reg.EXCEPTION: _exception,
    reg.REFERENCE: _reference,
    reg.NUMPY_SCALAR: _scalar,
    reg.FRAME: _frame,
}
