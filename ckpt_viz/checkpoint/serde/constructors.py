"""Old JSON rows: LangChain's ``{"lc": …, "type": "constructor"}`` objects, read as data.

Version 1 names a LangChain object by its public path; version 2, LangGraph's, any class by module,
with arguments. Both are only ever looked up among what may be loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ckpt_viz.checkpoint.serde import registry as reg
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.checkpoint.serde.views import is_known, view

Find = Callable[[reg.Name], Any]
_BAD = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_METHODS = ("fromisoformat",)
_TYPES = {"langgraph.constants": reg.WIRE_MODULE, "langgraph.types": reg.WIRE_MODULE}


def load_json(raw: bytes | str, find: Find) -> Any:
    """The value of JSON text; `find` gives the class of a name that may be used, or None."""

    def revive(found: dict[str, Any]) -> Any:
        if found.get("lc") not in (1, 2) or not isinstance(found.get("id"), list):
            return found
        *path, name = [str(part) for part in found["id"]] or [""]
        where = (".".join(path), name)
        if found.get("type") == "constructor":
            return _construct(found, where, find)
        return Opaque(*where, {k: v for k, v in found.items() if k not in ("lc", "id")})

    return json.loads(raw, object_hook=revive)


def _construct(found: dict[str, Any], where: reg.Name, find: Find) -> Any:
    args, kwargs = found.get("args") or [], found.get("kwargs") or {}
    name = (_TYPES.get(where[0], where[0]), where[1])
    cls = find(name)
    if cls is None:
        if is_known(name) and not args:
            return view(name, kwargs)
        return Opaque(*where, kwargs or args)
    try:
        return _call(cls, name, found.get("method"), args, kwargs)
    except _BAD:
        return Opaque(*where, kwargs or args)


def _call(cls: Any, name: reg.Name, method: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    for one in method if isinstance(method, list) else [method]:
        if one is None or one == "construct":
            return cls(*args, **kwargs)
        if one in _METHODS and name in reg.STANDARD_NAMES:
            return getattr(cls, one)(*args, **kwargs)
    raise LookupError(method)
