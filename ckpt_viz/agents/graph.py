"""The graph of a session: one channel a field of its state, one node a kind of save.

It is what the Explorer and the graph's own methods see of a session. Its nodes do nothing: a state
is saved by `SessionStorage`, which writes as the node that tells why.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict

from ckpt_viz.agents.migrator import StateMigrator
from ckpt_viz.agents.state import Fields, version_of
from ckpt_viz.errors import MigrationError
from ckpt_viz.graph.compiled import CompiledStateGraph
from ckpt_viz.graph.state import START, StateGraph

EVENTS = ("create", "turn", "checkpoint", "restore", "rollback", "migrate")
"""Why a state was saved."""


def session_graph(
    saver: Any, state_class: type[Any], migrator: StateMigrator | None
) -> CompiledStateGraph:
    """The compiled graph over a saver's sessions, at the version of ``state_class``."""
    version = version_of(state_class)
    migrate = None
    if migrator is not None:
        brings = migrator

        def migrate(values: Fields, found: Any) -> Fields:
            return brings.bring_now(values, int(found or 1), version)

    return _compiled(saver, state_class, migrate)


def saving_graph(saver: Any, state_class: type[Any]) -> CompiledStateGraph:
    """The graph by which whole states are saved: what they are made from may be of any older
    version, for all of its fields are given."""
    version = version_of(state_class)

    def migrate(values: Fields, found: Any) -> Fields:
        if int(found or 1) > version:
            raise MigrationError(
                f"The session's state is of version {found}, and one of version {version} was to "
                "be saved in its place: nothing was. Use the program that saved it, or migrate.",
                found=found,
                wanted=version,
            )
        return values

    return _compiled(saver, state_class, migrate)


def _compiled(saver: Any, state_class: type[Any], migrate: Any) -> CompiledStateGraph:
    channels = {f.name: Any for f in dataclasses.fields(state_class)}
    flow = StateGraph(TypedDict(state_class.__name__, channels, total=False))  # type: ignore[operator]
    for event in EVENTS:
        flow.add_node(event, _nothing)
    flow.add_edge(START, "checkpoint")
    return flow.compile(
        checkpointer=saver, name="sessions", version=version_of(state_class), migrate=migrate
    )


def _nothing(state: Any) -> None:
    """What a node does that only gives its name to a save."""
