"""Values as Python source, with the imports that the source needs.

Rules: the source, evaluated, gives an equal value of the same class; what has no such source is an
error that says where it is. A class that lives in a notebook is named as it is and listed, so that
its definition can be put beside.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import pathlib
import uuid
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from ckpt_viz.timeline.preview import type_name

DEEPEST = 60
_AS_REPR = (
    datetime.datetime,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
)
_BY_CALL = (decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath)


class NoSourceError(ValueError):
    """A value has no Python source."""


class Writer:
    """Writes values as source, and collects what the source needs."""

    def __init__(self) -> None:
        """Needs nothing yet."""
        self.imports: set[str] = set()
        self.local: set[str] = set()

    def source(self, value: Any, path: str = "", depth: int = 0) -> str:
        """The source of a value.

        Raises:
            NoSourceError: says where the value is that has none, and of which class it is.

        >>> Writer().source({"a": (1, float("nan"), {2})})
        "{'a': (1, float('nan'), {2})}"
        """
        if depth > DEEPEST:
            raise NoSourceError(f"{path or 'the value'} is nested too deep to be written as code")
        kind = type(value)
        if value is None or kind in (bool, int, str, bytes, complex):
            return repr(value)
        if kind is float:
            return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
        if isinstance(value, enum.Enum):
            return f"{self._name(kind, path)}.{value.name}"
        if isinstance(value, _AS_REPR):
            self.imports.add("import datetime")
            return repr(value)
        if isinstance(value, _BY_CALL):
            return f"{self._name(kind, path)}({str(value)!r})"
        found = self._container(value, path, depth)
        return found if found is not None else self._object(value, path, depth)

    def _container(self, value: Any, path: str, depth: int) -> str | None:
        kind = type(value)
        if kind in (list, tuple, set, frozenset, deque):
            parts = [self.source(v, f"{path}[{i}]", depth + 1) for i, v in enumerate(value)]
            if kind is list:
                return f"[{', '.join(parts)}]"
            if kind is tuple:
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            if kind is set and parts:
                return f"{{{', '.join(parts)}}}"
            tail = "" if kind is not deque or value.maxlen is None else f", maxlen={value.maxlen}"
            return f"{self._name(kind, path)}([{', '.join(parts)}]{tail})"
        if kind is dict or kind.__name__ == "defaultdict":
            return f"{{{', '.join(self._pairs(value, path, depth))}}}"
        if kind is OrderedDict:
            return f"{self._name(kind, path)}({{{', '.join(self._pairs(value, path, depth))}}})"
        return None

    def _pairs(self, value: Mapping[Any, Any], path: str, depth: int) -> list[str]:
        return [
            f"{self.source(k, path, depth + 1)}: {self.source(v, f'{path}[{k!r}]', depth + 1)}"
            for k, v in value.items()
        ]

    def _object(self, value: Any, path: str, depth: int) -> str:
        fields = _fields(value)
        if fields is None:
            raise NoSourceError(
                f"{path or 'The value'} is a {type_name(value)}, which has no Python source"
            )
        parts = [
            f"{name}={self.source(v, f'{path}.{name}', depth + 1)}" for name, v in fields.items()
        ]
        return f"{self._name(type(value), path)}({', '.join(parts)})"

    def _name(self, kind: type, path: str) -> str:
        module, name = kind.__module__, kind.__qualname__
        if "<locals>" in name:
            raise NoSourceError(
                f"{path or 'The value'} is a {name.rsplit('.', 1)[-1]}, a class that was made "
                "inside a function: nothing can import it"
            )
        top = name.split(".", 1)[0]
        if module == "__main__":
            self.local.add(top)
        elif module != "builtins":
            self.imports.add(f"from {_public(module)} import {top}")
        return name


def _public(module: str) -> str:
    return {"pathlib._local": "pathlib"}.get(module, module)


def _fields(value: Any) -> dict[str, Any] | None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if type(value).__name__ == "Send" and hasattr(value, "node"):
        return {"node": value.node, "arg": value.arg}
    if type(value).__name__ == "Interrupt" and hasattr(value, "id"):
        return {"value": value.value, "id": value.id}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    given = getattr(value, "model_fields_set", None)
    if isinstance(given, set) and hasattr(type(value), "model_fields"):
        return {n: getattr(value, n) for n in type(value).model_fields if n in given}
    return None
