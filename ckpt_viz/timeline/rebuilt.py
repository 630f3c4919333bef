"""Channels of LangGraph's that store no value at most steps, shown without their graph.

A ``DeltaChannel`` keeps a value now and then; between, its state is that value with what was
written since, put together by a reducer that is in the graph alone. So both parts are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.timeline.rows import config_id

COUNTERS = "counters_since_delta_snapshot"
"""The entry of a checkpoint's metadata that names such channels."""
_MOST = 5_000
Find = Callable[[str], Any]


def deltas(tup: Any, find: Find) -> dict[str, View]:
    """Channel -> its parts, for channels that this checkpoint holds no value of.

    Args:
        tup: the checkpoint's tuple.
        find: gives the tuple of an ancestor by id, or None.
    """
    checkpoint = tup.checkpoint
    named = (tup.metadata or {}).get(COUNTERS)
    wanted = {
        channel
        for channel in (named if isinstance(named, dict) else ())
        if channel in checkpoint["channel_versions"] and channel not in checkpoint["channel_values"]
    }
    writes: dict[str, list[Any]] = {channel: [] for channel in wanted}
    bases: dict[str, Any] = {}
    at, left = config_id(tup.parent_config), _MOST
    while at is not None and wanted and left:
        before, left = find(at), left - 1
        if before is None:
            break
        for _, channel, value in reversed(before.pending_writes or ()):
            if channel in wanted:
                writes[channel].append(value)
        values = before.checkpoint["channel_values"]
        bases |= {channel: values[channel] for channel in wanted & values.keys()}
        wanted = wanted - values.keys()
        at = config_id(before.parent_config)
    return {c: _shown(bases.get(c), w[::-1]) for c, w in writes.items() if w or c in bases}


def _shown(base: Any, writes: list[Any]) -> View:
    parts = {} if base is None else {"base": base}
    return View("langgraph.channels", "DeltaChannel", {**parts, "writes": writes})
