"""Which namespaces there may be, how they are matched, and how they are written in one text.

A label is any text but the empty one, without ``.`` and NUL. So labels joined by ``.`` are told
apart again, and what lies below a namespace begins with its text and a ``.``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.store.records import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Namespace,
    Op,
    PutOp,
    SearchOp,
)

_RESERVED = "langgraph"


@lru_cache(4096)
def _are_good(parts: Namespace) -> bool:
    """Whether labels are plain texts; what is asked of one namespace again and again."""
    return all(isinstance(p, str) and p and "." not in p and "\0" not in p for p in parts)


def check_labels(parts: Namespace) -> None:
    """Refuse labels that no namespace may have.

    Raises:
        InvalidNamespaceError: one is not text, is empty, or holds a period or a NUL.
    """
    try:
        if _are_good(parts):
            return
    except TypeError:  # a label that has no hash is no text, which is told below
        pass
    for part in parts:
        if not isinstance(part, str):
            raise InvalidNamespaceError(
                f"Invalid namespace label '{part}' found in {parts}. Namespace labels must be "
                f"strings, but got {type(part).__name__}."
            )
        if not part:
            raise InvalidNamespaceError(
                f"Namespace labels cannot be empty strings. Got {part} in {parts}"
            )
        for odd, name in ((".", "periods ('.')"), ("\0", "NUL bytes ('\\x00')")):
            if odd in part:
                raise InvalidNamespaceError(
                    f"Invalid namespace label '{part}' found in {parts}. "
                    f"Namespace labels cannot contain {name}."
                )


def checked(namespace: Namespace) -> Namespace:
    """A namespace that something may be put into, as a tuple.

    Raises:
        InvalidNamespaceError: it is empty, reserved, or has a label that none may have.
    """
    parts = tuple(namespace)
    if not parts:
        raise InvalidNamespaceError("Namespace cannot be empty. Pass a tuple: ('user', 'notes').")
    check_labels(parts)
    if parts[0] == _RESERVED:
        raise InvalidNamespaceError(
            f'Root label for namespace cannot be "{_RESERVED}". Got: {parts}'
        )
    return parts


def validate_op_namespace(op: Op) -> None:
    """Refuse an operation whose namespaces no store could keep.

    Raises:
        InvalidNamespaceError: as `check_labels`.
    """
    if isinstance(op, PutOp) or isinstance(op, GetOp):  # noqa: SIM101 - twice as quick as one
        check_labels(tuple(op.namespace))
    elif isinstance(op, SearchOp):
        check_labels(tuple(op.namespace_prefix))
    elif isinstance(op, ListNamespacesOp):
        for condition in op.match_conditions or ():
            check_labels(tuple(condition.path))


def listed(namespaces: Iterable[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """The namespaces an operation asks for, in order, each once.

    >>> listed([("b", "x"), ("a", "y"), ("a", "z")], ListNamespacesOp(max_depth=1))
    [('a',), ('b',)]
    """
    conditions = op.match_conditions or ()
    found = {
        namespace if op.max_depth is None else namespace[: op.max_depth]
        for namespace in namespaces
        if all(_fits(namespace, condition) for condition in conditions)
    }
    return sorted(found)[op.offset : op.offset + op.limit]


def common_prefix(op: ListNamespacesOp) -> Namespace:
    """How all namespaces that an operation asks for begin: the longest prefix up to a ``*``."""
    best: Namespace = ()
    for kind, path in op.match_conditions or ():
        if kind == "prefix":
            plain = path[: path.index("*")] if "*" in path else path
            best = max(best, tuple(plain), key=len)
    return best


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    part = namespace[start : start + len(path)]
    return all(want in ("*", have) for have, want in zip(part, path, strict=True))


def text_of(namespace: Namespace) -> str:
    """A namespace as one text that a database can hold.

    >>> text_of(("user", "notes"))
    'user.notes'
    """
    return escape(".".join(namespace))


def namespace_of(text: str) -> Namespace:
    """The namespace that `text_of` was given."""
    return tuple(unescape(text).split(".")) if text else ()
