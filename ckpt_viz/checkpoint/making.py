"""Checkpoints made by hand, as programs that drive a saver themselves make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ckpt_viz.ids import stamp

LATEST_VERSION = 2
ChannelVersions = dict[str, str | int | float]
EXCLUDED_METADATA_KEYS = frozenset(
    {
        "thread_id",
        "checkpoint_id",
        "checkpoint_ns",
        "checkpoint_map",
        "langgraph_step",
        "langgraph_node",
        "langgraph_triggers",
        "langgraph_path",
        "langgraph_checkpoint_ns",
    }
)
"""Entries of a config that tell where a task runs, and are no metadata of the user's."""


class CheckpointMetadata(TypedDict, total=False):
    """What is kept about a checkpoint, beside the user's own entries."""

    source: Literal["input", "loop", "update", "fork"]
    step: int
    parents: dict[str, str]
    run_id: str


def empty_checkpoint() -> dict[str, Any]:
    """A checkpoint in which nothing has been written yet."""
    id_, time = stamp(-2)
    return {
        "v": LATEST_VERSION,
        "ts": time,
        "id": id_,
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
        "pending_sends": [],
        "updated_channels": None,
    }


def copy_checkpoint(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """A copy whose maps may be changed; the values are the same objects."""
    return {
        **checkpoint,
        "channel_values": dict(checkpoint["channel_values"]),
        "channel_versions": dict(checkpoint["channel_versions"]),
        "versions_seen": {k: dict(v) for k, v in checkpoint["versions_seen"].items()},
    }


def create_checkpoint(
    checkpoint: Mapping[str, Any],
    channels: Mapping[str, Any] | None,
    step: int,
    *,
    id: str | None = None,
) -> dict[str, Any]:
    """The next checkpoint after one, with the channels' present values and a new id."""
    made, time = stamp(step, checkpoint["id"])
    values = {}
    for name, channel in (channels or {}).items():
        if name in checkpoint["channel_versions"] and channel.is_available():
            values[name] = channel.checkpoint()
    return {
        **copy_checkpoint(checkpoint),
        "ts": time,
        "id": id or made,
        "channel_values": values,
        "updated_channels": None,
    }


def get_checkpoint_metadata(
    config: Mapping[str, Any], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """The metadata with the scalar entries of a config's own metadata and configurable.

    >>> config = {"configurable": {"thread_id": "1", "user": "me"}, "metadata": {"k": 1}}
    >>> get_checkpoint_metadata(config, {"source": "loop"})
    {'source': 'loop', 'k': 1, 'user': 'me'}
    """
    found = {k: clean(v) for k, v in metadata.items()}
    for part in ("metadata", "configurable"):
        for key, value in (config.get(part) or {}).items():
            taken = key in found or key in EXCLUDED_METADATA_KEYS or key.startswith("__")
            if not taken and isinstance(value, str | int | float | bool):
                found[key] = clean(value)
    return found


def get_serializable_checkpoint_metadata(
    config: Mapping[str, Any], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """`get_checkpoint_metadata` without the ``writes`` that old versions kept."""
    return get_checkpoint_metadata(config, {k: v for k, v in metadata.items() if k != "writes"})


def clean(value: Any) -> Any:
    """Text without null characters, which databases refuse."""
    return value.replace("\x00", "") if isinstance(value, str) and "\x00" in value else value
