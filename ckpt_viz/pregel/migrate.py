"""Checkpoints that another version of the graph has saved, taken up by this one.

A version is whatever the graph's author calls it; it stands in each checkpoint's metadata under
`VERSION`. A checkpoint of the graph's own version is left alone, and so is one that named none
where the graph has no ``migrate``. Any other is brought here by ``migrate``, or refused: it is
never read as what it is not. What is stored stays as it was. A graph that has neither a version
nor ``migrate`` knows of no versions, and reads every checkpoint as its own.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ckpt_viz.checkpoint.serde.alike import stored_alike
from ckpt_viz.errors import MigrationError
from ckpt_viz.pregel.program import Program

VERSION = "graph_version"
_INNER = ("branch:", "join:", "__")


def migrated(program: Program, saved: Any) -> Any:
    """The checkpoint tuple as this version of the graph would have saved it.

    Raises:
        MigrationError: no way leads from the version that saved it to this one.
    """
    made_by = (saved.metadata or {}).get(VERSION)
    if made_by == program.version or (made_by is None and program.migrate is None):
        return saved
    checkpoint = saved.checkpoint
    kept = {k: v for k, v in checkpoint["channel_values"].items() if k.startswith(_INNER)}
    state = {k: v for k, v in checkpoint["channel_values"].items() if k not in kept}
    fresh = _brought(program, copy.deepcopy(state), made_by, saved.config)
    versions = dict(checkpoint["channel_versions"])
    newest = max(versions.values(), default=None)
    if newest is not None:
        versions |= dict.fromkeys(_differing(state, fresh), newest)
    return saved._replace(
        checkpoint={**checkpoint, "channel_values": {**kept, **fresh}, "channel_versions": versions}
    )


def _brought(program: Program, values: dict[str, Any], made_by: Any, config: Any) -> dict[str, Any]:
    """The values, passed through the function or through the chain of functions."""
    migrate, where = program.migrate, config["configurable"]
    place = f"Checkpoint {where['checkpoint_id']!r} of thread {where['thread_id']!r}"
    if migrate is None:
        raise MigrationError(
            f"{place} was saved by version {made_by!r} of the graph, and this is version "
            f"{program.version!r} without a way from there: compile(version={program.version!r}, "
            f"migrate={{{made_by!r}: function from its values to those of the next version}}).",
            found=made_by,
            wanted=program.version,
        )
    if not isinstance(migrate, Mapping):
        return _checked(migrate(values, made_by), made_by, place)
    steps = list(migrate)
    if made_by not in steps:
        known = ", ".join(map(repr, steps)) or "none"
        raise MigrationError(
            f"{place} was saved by version {made_by!r} of the graph, from which no path leads to "
            f"version {program.version!r}: the ways known begin at {known}. Add one to migrate=, "
            "or read the checkpoint with the graph that made it.",
            found=made_by,
            wanted=program.version,
        )
    for version in steps[steps.index(made_by) :]:
        values = _checked(migrate[version](dict(values)), version, place)
    return values


def _checked(values: Any, version: Any, place: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise MigrationError(
            f"{place}: the migration from version {version!r} gave {type(values).__name__}, "
            "and not the dict of the state's values.",
            found=version,
        )
    return values


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The keys that only one of two states has, or that are stored as something else."""
    return [
        key
        for key in sorted(old.keys() | new.keys())
        if key not in old or key not in new or not stored_alike(old[key], new[key])
    ]


def changed_by(program: Program, saved: Any, found: Any) -> dict[str, bool]:
    """The channels whose values a migration has changed: the next checkpoint saves them."""
    if found is saved:
        return {}
    old, new = (s.checkpoint["channel_values"] for s in (saved, found))
    return {key: True for key in _differing(old, new) if key in program.channels}
