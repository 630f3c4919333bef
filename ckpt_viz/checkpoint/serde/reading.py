"""The serializer of histories that are only looked at: reads what LangGraph and we ever wrote.

Nothing is imported, and with ``views`` nothing of the user's or of LangChain's is built even where
its module is loaded: known records become `View`, all others `Opaque`. What cannot be read (a
pickle, a value under an unknown tag) is one `Opaque` as well, so that the rest still shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ormsgpack import OPT_NON_STR_KEYS, unpackb

from ckpt_viz.checkpoint.serde import registry as reg
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.serde.constructors import load_json
from ckpt_viz.checkpoint.serde.decode import Hook, hook_by
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.checkpoint.serde.views import is_known, view
from ckpt_viz.errors import SerializationError

_SNAPSHOT = 7
"""The ext code of what LangGraph keeps of a DeltaChannel now and then: the value, packed."""
_SNAPSHOT_NAME = ("langgraph.checkpoint.serde.types", "_DeltaSnapshot")
_RECORDS = (reg.PYDANTIC, reg.PYDANTIC_V1, reg.KWARGS, reg.STATE)
_TAGS = ("msgpack", "null", "empty", "bytes", "bytearray", "json", "delta")


class ReadingSerializer(JsonPlusSerializer):
    """Reads the rows of any version of LangGraph, and ours.

    Args:
        views: show records as plain data. False where a graph is given, which needs the real
            classes: then those that the process knows already are used, as by the default.
        allowed_msgpack_modules: classes that may be built all the same.
        secrets: write ``SecretStr`` and the like too, because the bytes will be encrypted.
    """

    def __init__(
        self,
        *,
        views: bool = True,
        allowed_msgpack_modules: Iterable[Any] | bool | None = None,
        secrets: bool = False,
    ) -> None:
        super().__init__(allowed_msgpack_modules=allowed_msgpack_modules, secrets=secrets)
        self.views = views
        self._hook = self._hook_of()

    def _hook_of(self) -> Hook:
        def hook(code: int, raw: bytes) -> Any:
            if code == _SNAPSHOT:
                return self._snapshot(unpackb(raw, ext_hook=hook, option=OPT_NON_STR_KEYS))
            if self.views and code in _RECORDS:
                parts = unpackb(raw, ext_hook=hook, option=OPT_NON_STR_KEYS)
                if _names_known(parts):
                    return view((parts[0], parts[1]), parts[2])
            return build(code, raw)

        build = hook_by(self._find, hook)
        return hook

    def _find(self, name: reg.Name) -> Any:
        if not self.views:
            return self._allowed.get(name) or reg.find(name)
        return self._allowed.get(name) or reg.find_plain(name)

    def _snapshot(self, value: Any) -> Any:
        if self.views:
            return value
        cls = getattr(sys.modules.get(_SNAPSHOT_NAME[0]), _SNAPSHOT_NAME[1], None)
        return value if cls is None else cls(value)

    def _like(self, allowed: Iterable[Any], *, secrets: bool) -> ReadingSerializer:
        made = ReadingSerializer(
            views=self.views, allowed_msgpack_modules=allowed or None, secrets=secrets
        )
        made._allowed.update(self._allowed)
        return made

    def loads_typed(self, data: Typed) -> Any:
        """The value of ``(tag, bytes)``; an `Opaque` where it can't be read."""
        tag, raw = data
        if tag == "json":
            return load_json(raw, self._find)
        if "+" in tag:
            raise SerializationError(
                f"A value here is encrypted ({tag.partition('+')[2]}) and no key was given: pass "
                "explore(source, key=…), or set LANGGRAPH_AES_KEY.",
                type_name=tag,
            )
        if tag not in _TAGS:
            return Opaque("", tag, bytes(raw or b""))
        return super().loads_typed((tag, raw or b""))


def _names_known(parts: Any) -> bool:
    """Whether an ext's parts name a record that is shown as a view."""
    if not isinstance(parts, list) or len(parts) < 3:
        return False
    module, name = parts[:2]
    return isinstance(module, str) and isinstance(name, str) and is_known((module, name))
