"""Checkpoints that another version of the graph has saved, taken up by this one."""

from __future__ import annotations

from typing import Any

from ckpt_viz.pregel.program import Program

VERSION = "graph_version"


def migrated(program: Program, saved: Any) -> Any:
    """The checkpoint tuple as this version of the graph would have saved it.

    The program's ``migrate(values, version)`` gets the state's values and the version that saved
    them (None where none was named), and gives the values of now.
    """
    metadata = saved.metadata or {}
    if program.migrate is None or metadata.get(VERSION) == program.version:
        return saved
    checkpoint = saved.checkpoint
    inner = ("branch:", "join:", "__")
    kept = {k: v for k, v in checkpoint["channel_values"].items() if k.startswith(inner)}
    state = {k: v for k, v in checkpoint["channel_values"].items() if k not in kept}
    fresh = program.migrate(dict(state), metadata.get(VERSION))
    versions = dict(checkpoint["channel_versions"])
    newest = max(versions.values(), default=None)
    for key in fresh.keys() | state.keys():
        if newest is not None and (key not in fresh or fresh[key] != state.get(key)):
            versions[key] = newest
    return saved._replace(
        checkpoint={**checkpoint, "channel_values": {**kept, **fresh}, "channel_versions": versions}
    )


def changed_by(program: Program, saved: Any, found: Any) -> dict[str, bool]:
    """The channels whose values a migration has changed: the next checkpoint saves them."""
    if found is saved:
        return {}
    old, new = (s.checkpoint["channel_values"] for s in (saved, found))
    keys = (old.keys() | new.keys()) & program.channels.keys()
    return {k: True for k in keys if k not in new or k not in old or old[k] != new[k]}
