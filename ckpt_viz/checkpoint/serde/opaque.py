"""A value whose class this process may not load: kept, shown, and written back unchanged."""

from __future__ import annotations

from typing import Any, ClassVar


class Opaque:
    """Stands for a stored value of a class that is not allowed to be loaded here.

    ``module`` and ``name`` say which class it was, ``data`` is what was stored of it as plain
    data. Saving it again writes the same bytes. To load the real thing, pass its class to
    ``register`` or to the serializer's ``with_allowlist``.
    """

    __slots__ = ("code", "data", "module", "name", "raw")

    made: ClassVar[int] = 0
    """How many this process has made: while there are none, nobody needs to look for them."""

    def __init__(self, module: str, name: str, data: Any, code: int = 0, raw: bytes = b"") -> None:
        Opaque.made += 1
        self.module = module
        self.name = name
        self.data = data
        self.code = code
        self.raw = raw

    def __repr__(self) -> str:
        return f"Opaque({self.module}.{self.name}, {self.data!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and (self.code, self.raw) == (other.code, other.raw)

    def __hash__(self) -> int:
        return hash((self.code, self.raw))
