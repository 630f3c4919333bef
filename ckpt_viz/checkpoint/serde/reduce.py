"""How each class is written: one reducer a class, found once and kept.

A reducer turns an object into ``(code, parts)``; the parts are packed by the caller, so that a
reducer never meets bytes. `reducer_for` decides by the class alone.
"""

from __future__ import annotations

import enum
import re
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    UserString,
    defaultdict,
    deque,
)
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from pathlib import PurePath
from types import FunctionType, SimpleNamespace
from typing import Any

from ormsgpack import Ext

from ckpt_viz import types
from ckpt_viz.checkpoint.serde import models
from ckpt_viz.checkpoint.serde.frames import frame_reducer
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.checkpoint.serde.registry import (
    ARGS,
    EXCEPTION,
    KWARGS,
    METHOD,
    ONE,
    REFERENCE,
    SUBCLASS,
    WIRE_MODULE,
    register,
)

Parts = tuple[int, list[Any]]
Reducer = Callable[[Any], "Parts | Ext"]


class Reference:
    """Marks a class or function that is to be written by name."""

    __slots__ = ("target",)

    def __init__(self, target: Any) -> None:
        self.target = target


def _int(obj: int) -> Parts:
    return ARGS, ["builtins", "int", [format(obj, "x"), 16]]


def _datetime(obj: datetime) -> Parts:
    zone = obj.tzinfo
    plain = zone is None or (type(zone) is timezone and zone == timezone(zone.utcoffset(None)))
    named = plain and zone is not None and len(zone.__reduce__()[1]) > 1
    if plain and not named and not obj.fold:
        return METHOD, ["datetime", "datetime", obj.isoformat(), "fromisoformat"]
    fields: dict[str, Any] = {
        key: getattr(obj, key)
        for key in ("year", "month", "day", "hour", "minute", "second", "microsecond")
    }
    return KWARGS, ["datetime", "datetime", {**fields, "tzinfo": zone, "fold": obj.fold}]


def _time(obj: time) -> Parts:
    keys = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
    return KWARGS, ["datetime", "time", {key: getattr(obj, key) for key in keys}]


def _timezone(obj: timezone) -> Parts:
    return ARGS, ["datetime", "timezone", list(obj.__reduce__()[1])]


def _deque(obj: deque[Any]) -> Parts:
    if obj.maxlen is None:
        return ONE, ["collections", "deque", list(obj)]
    return ARGS, ["collections", "deque", [list(obj), obj.maxlen]]


def _defaultdict(obj: defaultdict[Any, Any]) -> Parts:
    factory = obj.default_factory
    target = None if factory is None else Reference(factory)
    return ARGS, ["collections", "defaultdict", [target, dict(obj)]]


def _reference(obj: Reference) -> Parts:
    target = obj.target
    name = getattr(target, "__qualname__", "<nameless>")
    if not isinstance(target, type | FunctionType) or "<" in name:
        raise TypeError(f"{target!r} has no name by which it can be found again")
    register(target)
    return REFERENCE, [target.__module__, name]


def _type(obj: type) -> Parts:
    return _reference(Reference(obj))


def _path(obj: PurePath) -> Parts:
    return ARGS, ["pathlib", type(obj).__name__, list(obj.parts)]


def _text_of(module: str) -> Reducer:
    return lambda obj: (ONE, [module, type(obj).__name__, str(obj)])


def _command(obj: types.Command[Any]) -> Parts:
    fields = {key: getattr(obj, key) for key in ("graph", "update", "resume", "goto")}
    if not obj.answers:
        del fields["resume"]
    return KWARGS, [WIRE_MODULE, "Command", fields]


def _interrupt(obj: types.Interrupt) -> Parts:
    fields = {key: getattr(obj, key) for key in ("value", "id", "response_schema")}
    return KWARGS, [WIRE_MODULE, "Interrupt", fields]


_EXACT: dict[type, Reducer] = {
    tuple: lambda o: (ONE, ["builtins", "tuple", list(o)]),
    set: lambda o: (ONE, ["builtins", "set", list(o)]),
    frozenset: lambda o: (ONE, ["builtins", "frozenset", list(o)]),
    bytearray: lambda o: (ONE, ["builtins", "bytearray", bytes(o)]),
    int: _int,
    complex: lambda o: (ARGS, ["builtins", "complex", [o.real, o.imag]]),
    range: lambda o: (ARGS, ["builtins", "range", [o.start, o.stop, o.step]]),
    slice: lambda o: (ARGS, ["builtins", "slice", [o.start, o.stop, o.step]]),
    ChainMap: lambda o: (ARGS, ["collections", "ChainMap", list(o.maps)]),
    UserDict: lambda o: (ONE, ["collections", "UserDict", o.data]),
    UserList: lambda o: (ONE, ["collections", "UserList", o.data]),
    UserString: lambda o: (ONE, ["collections", "UserString", o.data]),
    SimpleNamespace: lambda o: (KWARGS, ["types", "SimpleNamespace", vars(o)]),
    datetime: _datetime,
    date: lambda o: (ARGS, ["datetime", "date", [o.year, o.month, o.day]]),
    time: _time,
    timedelta: lambda o: (ARGS, ["datetime", "timedelta", [o.days, o.seconds, o.microseconds]]),
    timezone: _timezone,
    re.Pattern: lambda o: (ARGS, ["re", "compile", [o.pattern, o.flags]]),
    deque: _deque,
    OrderedDict: lambda o: (ONE, ["collections", "OrderedDict", [[k, v] for k, v in o.items()]]),
    Counter: lambda o: (ONE, ["collections", "Counter", dict(o)]),
    defaultdict: _defaultdict,
    types.Send: lambda o: (ARGS, [WIRE_MODULE, "Send", [o.node, o.arg]]),
    types.Command: _command,
    types.Interrupt: _interrupt,
    types.Overwrite: lambda o: (KWARGS, [WIRE_MODULE, "Overwrite", {"value": o.value}]),
    Opaque: lambda o: Ext(o.code, o.raw),
    Reference: _reference,
}
_BY_NAME: dict[tuple[str, str], Reducer] = {
    (WIRE_MODULE, "Send"): lambda o: (ARGS, [WIRE_MODULE, "Send", [o.node, o.arg]]),
    ("decimal", "Decimal"): _text_of("decimal"),
    ("fractions", "Fraction"): lambda o: (
        ARGS,
        ["fractions", "Fraction", [o.numerator, o.denominator]],
    ),
    ("array", "array"): lambda o: (ARGS, ["array", "array", [o.typecode, o.tolist()]]),
    ("uuid", "UUID"): lambda o: (ONE, ["uuid", "UUID", o.hex]),
    ("zoneinfo", "ZoneInfo"): _text_of("zoneinfo"),
    **{
        ("ipaddress", f"IPv{v}{kind}"): _text_of("ipaddress")
        for v in (4, 6)
        for kind in ("Address", "Network", "Interface")
    },
}
_BASES: tuple[type, ...] = (
    Counter,
    OrderedDict,
    defaultdict,
    dict,
    deque,
    list,
    tuple,
    set,
    frozenset,
    str,
    bytes,
    bytearray,
    bool,
    int,
    float,
    complex,
)
_cache: dict[type, Reducer] = dict(_EXACT)
_MANY = (Counter, OrderedDict, defaultdict, dict)


def reducer_for(cls: type) -> Reducer | None:
    """The reducer of a class, or None if objects of it cannot be saved."""
    found = _cache.get(cls)
    if found is None:
        found = _choose(cls)
        if found is not None:
            _cache[cls] = found
    return found


def _choose(cls: type) -> Reducer | None:
    named = _BY_NAME.get((cls.__module__, cls.__qualname__))
    if named is not None:
        return named
    if cls.__module__.startswith("pathlib") and issubclass(cls, PurePath):
        return _path
    if issubclass(cls, type):
        return _type
    if cls.__module__.partition(".")[0] == "numpy":
        return models.numpy_reducer(cls)
    if cls.__module__.partition(".")[0] in ("pandas", "polars"):
        return frame_reducer(cls)
    chosen = _user_class(cls)
    if chosen is not None:
        register(cls)
    return chosen


def _user_class(cls: type) -> Reducer | None:
    module, name = cls.__module__, cls.__qualname__
    if issubclass(cls, enum.Enum):
        return lambda o: (ONE, [module, name, o.value])
    if issubclass(cls, BaseException):
        return _exception
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields: tuple[str, ...] = cls._fields
        return lambda o: (KWARGS, [module, name, dict(zip(fields, o, strict=True))])
    model = models.model_reducer(cls)
    if model is not None:
        return model
    for base in _BASES:
        if issubclass(cls, base):
            return _subclass(cls, base)
    return models.record_reducer(cls)


def _subclass(cls: type, base: type) -> Reducer:
    module, name = cls.__module__, cls.__qualname__

    def reduce(obj: Any) -> Parts:
        if base is defaultdict:
            factory = obj.default_factory
            value: Any = [None if factory is None else Reference(factory), dict(obj)]
        elif base in _MANY:
            value = [[k, dict.__getitem__(obj, k)] for k in dict.__iter__(obj)]
        elif base is deque:
            value = [list(obj), obj.maxlen]
        elif base in (list, tuple, set, frozenset):
            value = list(base.__iter__(obj))
        else:
            value = _base_value(base, obj)
        return SUBCLASS, [module, name, value, getattr(obj, "__dict__", {})]

    return reduce


def _base_value(base: type, obj: Any) -> Any:
    if base is str:
        return str.__str__(obj)[:] if type(obj) is str else "".join(str.__iter__(obj))
    if base is int:
        return int.__int__(obj)
    if base is float:
        return float.__float__(obj)
    return base(obj)


def _exception(obj: BaseException) -> Parts:
    cls = type(obj)
    state = getattr(obj, "__dict__", {})
    args = list(obj.__reduce__()[1] if isinstance(obj, OSError) else obj.args)
    if not state:
        return ARGS, [cls.__module__, cls.__qualname__, args]
    return EXCEPTION, [cls.__module__, cls.__qualname__, args, state]
