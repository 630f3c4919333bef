"""What the caller said: one frozen record made from config and keywords, before a run begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import MissingThreadIdError

DEFAULT_RECURSION_LIMIT = 10_007
_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")


@dataclass(frozen=True, slots=True)
class Settings:
    """One run's settings. ``modes`` are the stream modes that somebody listens to."""

    config: dict[str, Any]
    modes: frozenset[str]
    many: bool
    durability: str
    before: tuple[str, ...] | str
    after: tuple[str, ...] | str
    limit: int
    context: Any = None
    subgraphs: bool = False
    keys: Any = None


def merge_config(*configs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Configs laid over each other; ``configurable``, ``metadata`` and ``tags`` are joined."""
    merged: dict[str, Any] = {"configurable": {}}
    for config in configs:
        for key, value in (config or {}).items():
            if key in ("configurable", "metadata"):
                merged[key] = {**merged.get(key, {}), **(value or {})}
            elif key == "tags":
                merged[key] = [*merged.get(key, []), *(value or [])]
            elif value is not None:
                merged[key] = value
    return merged


def thread_of(config: Mapping[str, Any], doing: str) -> str:
    """The config's thread id.

    Raises:
        MissingThreadIdError: there is none.
    """
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        raise MissingThreadIdError(
            f"Cannot {doing}: the graph has a checkpointer, so the config needs "
            "configurable.thread_id; pass config={'configurable': {'thread_id': '1'}}. "
            "Checkpointer requires one or more of the following 'configurable' keys: "
            "thread_id, checkpoint_ns, checkpoint_id"
        )
    return str(thread)


def place(config: Mapping[str, Any], checkpoint_id: str | None) -> dict[str, Any]:
    """The bare config that addresses a checkpoint of the config's thread and namespace."""
    where = config.get("configurable", {})
    found = {
        "thread_id": str(where["thread_id"]),
        "checkpoint_ns": where.get("checkpoint_ns", ""),
    }
    if checkpoint_id is not None:
        found["checkpoint_id"] = checkpoint_id
    return {"configurable": found}


def user_metadata(config: Mapping[str, Any]) -> dict[str, Any]:
    """The scalar entries of ``metadata`` and ``configurable`` that go into checkpoints."""
    found = {}
    for part in ("metadata", "configurable"):
        for key, value in (config.get(part) or {}).items():
            if not key.startswith("__") and key not in _PLACE and _is_scalar(value):
                found[key] = value
    return found


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def names(value: Sequence[str] | str | None) -> tuple[str, ...] | str:
    """A break-point list in one form: a tuple of node names, or "*" for all."""
    if value is None:
        return ()
    if value == "*":
        return "*"
    return (value,) if isinstance(value, str) else tuple(value)
