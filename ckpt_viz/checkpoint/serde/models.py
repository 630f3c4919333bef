"""Reducers for records of the user's own: dataclasses, attrs, Pydantic; and for numpy.

None of these packages is imported; a class tells by its attributes what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ormsgpack import Ext

from ckpt_viz.checkpoint.serde.registry import (
    KWARGS,
    NUMPY,
    NUMPY_SCALAR,
    ONE,
    PYDANTIC,
    PYDANTIC_V1,
    STATE,
)

Reducer = Callable[[Any], "tuple[int, list[Any]] | Ext"]

secrets_welcome: ContextVar[bool] = ContextVar("secrets_welcome", default=False)
"""Whether what is packed now will be encrypted, so that secrets may be part of it."""


def model_reducer(cls: type) -> Reducer | None:
    """The reducer of a Pydantic model of either generation, or None."""
    if cls.__name__ in ("SecretStr", "SecretBytes") and cls.__module__.startswith("pydantic"):
        return _secret
    if hasattr(cls, "__pydantic_validator__") and hasattr(cls, "model_construct"):
        return _pydantic
    if hasattr(cls, "__fields__") and hasattr(cls, "__fields_set__") and hasattr(cls, "construct"):
        return _pydantic_v1
    return None


def _secret(obj: Any) -> tuple[int, list[Any]]:
    if not secrets_welcome.get():
        raise TypeError(
            "secrets are not written in clear: keep it out of the state, or use the "
            "EncryptedSerializer"
        )
    return ONE, [type(obj).__module__, type(obj).__qualname__, obj.get_secret_value()]


def _pydantic(obj: Any) -> tuple[int, list[Any]]:
    cls = type(obj)
    extra = obj.__pydantic_extra__
    more = {
        "set": sorted(obj.__pydantic_fields_set__),
        "extra": None if extra is None else sorted(extra),
        "private": obj.__pydantic_private__,
    }
    values = {**obj.__dict__, **(extra or {})}
    return PYDANTIC, [cls.__module__, cls.__qualname__, values, "model_validate_json", more]


def _pydantic_v1(obj: Any) -> tuple[int, list[Any]]:
    cls = type(obj)
    more = {"set": sorted(obj.__fields_set__)}
    return PYDANTIC_V1, [cls.__module__, cls.__qualname__, dict(obj.__dict__), "construct", more]


def record_reducer(cls: type) -> Reducer | None:
    """The reducer of a dataclass or an attrs class, or None."""
    module, name = cls.__module__, cls.__qualname__
    if hasattr(cls, "__dataclass_fields__"):
        declared = cls.__dataclass_fields__
        fields = [f for f in declared.values() if f._field_type.name == "_FIELD"]
        plain = len(fields) == len([f for f in declared.values() if _not_classvar(f)])
        plain = plain and all(f.init for f in fields)
    elif hasattr(cls, "__attrs_attrs__"):
        fields = list(cls.__attrs_attrs__)
        plain = all(f.init and f.alias == f.name for f in fields)
    else:
        return None
    names = [f.name for f in fields]
    code = KWARGS if plain else STATE
    return lambda o: (code, [module, name, {n: getattr(o, n) for n in names if hasattr(o, n)}])


def _not_classvar(field: Any) -> bool:
    return bool(field._field_type.name != "_FIELD_CLASSVAR")


def numpy_reducer(cls: type) -> Reducer | None:
    """The reducer of a numpy array or scalar, or None for anything else of numpy."""
    names = {base.__name__ for base in cls.__mro__ if base.__module__ == "numpy"}
    if cls.__name__ == "ndarray":
        return _array
    if "generic" in names:
        return _scalar
    return None


def _array(obj: Any) -> tuple[int, list[Any]]:
    if obj.dtype.hasobject:
        raise TypeError("an array of Python objects has no fixed form: use a list")
    order = "F" if obj.flags.f_contiguous and not obj.flags.c_contiguous else "C"
    dtype = obj.dtype.str if obj.dtype.names is None else obj.dtype.descr
    return NUMPY, [dtype, list(obj.shape), order, obj.tobytes(order=order)]


def _scalar(obj: Any) -> tuple[int, list[Any]] | Ext:
    dtype = obj.dtype
    if dtype.kind in "biuf" and dtype.itemsize <= 8:
        return ONE, ["numpy", dtype.type.__name__, obj.item()]
    if dtype.hasobject or dtype.names is not None:
        raise TypeError("this numpy scalar has no fixed form: use a plain value")
    return NUMPY_SCALAR, [dtype.str, obj.tobytes()]
