"""Whether two values are one value to a saver: equal in every type inside, not only in ``==``."""

from __future__ import annotations

from typing import Any

from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.errors import SerializationError

_serde = JsonPlusSerializer()


def stored_alike(one: Any, other: Any) -> bool:
    """Whether two values would be stored as the same bytes.

    What can't be stored is alike to nothing; that is told when it is saved.

    >>> stored_alike([1, {"a": (2,)}], [1, {"a": (2,)}]), stored_alike([1], [True])
    (True, False)
    """
    try:
        return _serde.dumps_typed(one) == _serde.dumps_typed(other)
    except SerializationError:
        return False
