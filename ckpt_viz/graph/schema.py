"""State keys to channels, by annotation."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

from ckpt_viz.channels import MISSING, BaseChannel, BinaryOperatorAggregate, LastValue
from ckpt_viz.constants import ROOT
from ckpt_viz.managed.base import ManagedValueSpec, is_managed_value


def channels_of(schema: Any) -> dict[str, BaseChannel]:
    """The channels of a state schema; a type without annotations gives one ``__root__``."""
    hints = _hints(schema)
    if not hints:
        return {ROOT: channel_of(ROOT, schema)}
    return {k: channel_of(k, hint) for k, hint in hints.items() if _managed(hint) is None}


def managed_of(schema: Any) -> dict[str, ManagedValueSpec]:
    """The keys of a state schema that a run computes, with what computes them."""
    found = {key: _managed(hint) for key, hint in _hints(schema).items()}
    return {key: kind for key, kind in found.items() if kind is not None}


def _managed(hint: Any) -> ManagedValueSpec | None:
    last = _bare(hint).__metadata__[-1] if get_origin(_bare(hint)) is Annotated else None
    return last if is_managed_value(last) else None


def _bare(hint: Any) -> Any:
    """The annotation without what only tells whether the key has to be there."""
    words = ("Required", "NotRequired", "ReadOnly")
    while get_origin(hint) is not None and getattr(get_origin(hint), "__name__", "") in words:
        hint = get_args(hint)[0]
    return hint


def _hints(schema: Any) -> dict[str, Any]:
    if not inspect.isclass(schema) or get_origin(schema) is not None:
        return {}
    structured = (
        is_typeddict(schema)
        or dataclasses.is_dataclass(schema)
        or hasattr(schema, "model_fields")
        or "__annotations__" in vars(schema)
    )
    return get_type_hints(schema, include_extras=True) if structured else {}


def channel_of(key: str, hint: Any) -> BaseChannel:
    """One key's channel: a reducer, a channel or a channel class in ``Annotated``, else LastValue.

    Raises:
        ValueError: a reducer that does not take two values.
    """
    hint = _bare(hint)
    if get_origin(hint) is not Annotated:
        return LastValue(hint, key)
    typ, *extras = get_args(hint)
    last = extras[-1]
    if isinstance(last, BaseChannel):
        last = last.from_checkpoint(MISSING)
        last.key = key
        return last
    if inspect.isclass(last) and issubclass(last, BaseChannel):
        made = last(typ)
        made.key = key
        return made
    if callable(last):
        _check_reducer(key, last)
        return BinaryOperatorAggregate(typ, last, key)
    return LastValue(typ, key)


def _check_reducer(key: str, reducer: Any) -> None:
    try:
        parameters = inspect.signature(reducer).parameters.values()
    except (ValueError, TypeError):  # a builtin without a signature: taken on trust
        return
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if sum(p.kind in kinds for p in parameters) != 2:
        raise ValueError(
            "Invalid reducer signature. Expected (a, b) -> c. "
            f"Got {inspect.signature(reducer)} for {key!r}."
        )


def coercer(schema: Any) -> Any:
    """What turns the values read into the schema's own class; None for dictionaries."""
    if inspect.isclass(schema) and (
        dataclasses.is_dataclass(schema) or hasattr(schema, "model_fields")
    ):
        return lambda values: schema(**values)
    return None
