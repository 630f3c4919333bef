"""Which classes may be loaded: a fixed list, what this process dumped, what was registered."""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from typing import Any

from ckpt_viz import errors, types

# The ext codes. 0-6 are LangGraph's wire form: a class by name, and how to call it.
ONE = 0  # cls(value)
ARGS = 1  # cls(*values)
KWARGS = 2  # cls(**values)
METHOD = 3  # cls.method(value)
PYDANTIC_V1 = 4
PYDANTIC = 5
NUMPY = 6
# Our own, for what no call of a class can express.
STATE = 40  # module, name, {attribute: value}: set without calling the class
SUBCLASS = 41  # module, name, value of the built-in base, {attribute: value}
EXCEPTION = 42  # module, name, args, {attribute: value}
REFERENCE = 43  # module, name of a class or function
TEXT = 44  # text with lone surrogates
NUMPY_SCALAR = 45  # dtype, bytes
FRAME = 46  # pandas or polars, class, its columns

Name = tuple[str, str]

WIRE_MODULE = "langgraph.types"
OURS: dict[Name, type] = {
    (module, cls.__name__): cls
    for cls in (types.Send, types.Command, types.Interrupt, types.Overwrite)
    for module in (WIRE_MODULE, types.__name__)
}
_BUILTINS = ("set", "frozenset", "tuple", "bytearray", "int", "complex", "range", "dict", "slice")
_STANDARD = {
    "array": ("array",),
    "collections": (
        "deque",
        "OrderedDict",
        "defaultdict",
        "Counter",
        "ChainMap",
        "UserDict",
        "UserList",
        "UserString",
    ),
    "datetime": ("datetime", "date", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "ipaddress": (
        "IPv4Address",
        "IPv6Address",
        "IPv4Network",
        "IPv6Network",
        "IPv4Interface",
        "IPv6Interface",
    ),
    "pathlib": (
        "Path",
        "PosixPath",
        "WindowsPath",
        "PurePath",
        "PurePosixPath",
        "PureWindowsPath",
    ),
    "re": ("compile",),
    "types": ("SimpleNamespace",),
    "uuid": ("UUID",),
    "zoneinfo": ("ZoneInfo",),
}
STANDARD_NAMES = frozenset(
    {(module, name) for module, names in _STANDARD.items() for name in names}
    | {("builtins", name) for name in _BUILTINS}
)
_SECRET_MODULES = ("pydantic.types", "pydantic.v1.types")
_MODEL_MODULES = ("langchain_core.messages.", "langchain_core.documents.")
_REFERABLE = (*_BUILTINS, "list", "str", "bytes", "float", "bool", "object")

_known: dict[Name, Any] = {}
_standard: dict[Name, Any] = {}


def name_of(cls: Any) -> Name:
    """The module and qualified name by which a class is written."""
    return cls.__module__, cls.__qualname__


def register(cls: Any) -> Any:
    """Allow a class to be loaded. Usable as a decorator; the newest class of a name counts."""
    _known[name_of(cls)] = cls
    return cls


def find(name: Name) -> Any:
    """The class or constructor that may be used for a stored name, or None."""
    return find_plain(name) or _known.get(name) or _loaded_model(name)


def find_plain(name: Name) -> Any:
    """As `find`, of the fixed list alone: whatever this process knows, the answer is the same."""
    found = _standard.get(name)
    if found is not None:
        return found
    if name in STANDARD_NAMES:
        found = _standard[name] = getattr(import_module(name[0]), name[1])
        return found
    return OURS.get(name) or _exception(name)


def find_reference(name: Name) -> Any:
    """The class or function that a stored reference means, or None."""
    if name[0] == "builtins" and name[1] in _REFERABLE:
        return getattr(builtins, name[1])
    return find(name)


def _exception(name: Name) -> Any:
    source = {"builtins": builtins, errors.__name__: errors}.get(name[0])
    cls = getattr(source, name[1], None)
    return cls if isinstance(cls, type) and issubclass(cls, BaseException) else None


def _loaded_model(name: Name) -> Any:
    """A LangChain message or a secret, if its module was loaded by somebody else already."""
    cls = getattr(sys.modules.get(name[0]), name[1], None)
    if name[0] in _SECRET_MODULES and name[1] in ("SecretStr", "SecretBytes"):
        return cls
    if not name[0].startswith(_MODEL_MODULES):
        return None
    return cls if isinstance(cls, type) and hasattr(cls, "model_fields") else None
