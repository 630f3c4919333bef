"""What is asked of a store, checked before anything is done."""

from __future__ import annotations

from collections.abc import Iterable

from ckpt_viz.store.filters import check_filter
from ckpt_viz.store.namespaces import validate_op_namespace
from ckpt_viz.store.records import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

_QUESTIONS = (SearchOp, ListNamespacesOp)


def checked_ops(ops: Iterable[Op]) -> list[Op]:
    """The operations of a batch, their namespaces as tuples.

    Raises:
        ValueError: one that there is not; an operator, a kind of match, a limit or an offset that
            there is not.
        InvalidNamespaceError: a namespace that no store could keep.
    """
    done: list[Op] = []
    for op in ops:
        if isinstance(op, PutOp) or isinstance(op, GetOp):  # noqa: SIM101 - twice as quick as one
            validate_op_namespace(op)
            plain = type(op.namespace) is tuple
            done.append(op if plain else op._replace(namespace=tuple(op.namespace)))
        else:
            done.append(_checked_question(op))
    return done


def _checked_question(op: Op) -> Op:
    if not isinstance(op, _QUESTIONS):
        raise ValueError(
            f"Unknown operation type: {type(op)}. Use GetOp, PutOp, SearchOp, ListNamespacesOp."
        )
    validate_op_namespace(op)
    _check_page(op)
    if isinstance(op, SearchOp):
        check_filter(op.filter)
        return op._replace(namespace_prefix=tuple(op.namespace_prefix))
    return op


def _check_page(op: SearchOp | ListNamespacesOp) -> None:
    if op.limit < 0 or op.offset < 0:
        raise ValueError(
            f"A page cannot begin at {op.offset} and have {op.limit} entries: limit and offset "
            "are 0 or more."
        )
    if isinstance(op, SearchOp):
        return
    for kind, _ in op.match_conditions or ():
        if kind not in ("prefix", "suffix"):
            raise ValueError(f"Unsupported match type: {kind}. Use prefix or suffix.")
