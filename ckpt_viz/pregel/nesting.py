"""A graph that runs inside a task of another: where it keeps its history, what it takes from above.

A graph called in a node is *nested* when it is called in the node's context without a config of
its own `configurable`, or with one that the node's config was passed on in. Its namespace is the
task's, ``name:task_id``, after the parent's and a ``|``; the second and later calls in one task
add ``|1``, ``|2`` …. A graph compiled with ``checkpointer=True`` leaves the task ids out, so that
the next task finds its memory; with ``False`` it keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.constants import NS_END, NS_SEP, TASK
from ckpt_viz.pregel.langchain import carried
from ckpt_viz.pregel.settings import merge_config
from ckpt_viz.types import scope


class Replay:
    """A time travel: nested graphs begin from what they had before ``bound``, a checkpoint id."""

    __slots__ = ("bound", "visited")

    def __init__(self, bound: str) -> None:
        self.bound = bound
        self.visited: set[str] = set()

    def visits(self, ns: str) -> bool:
        """Whether this is the first visit to a namespace, which counts as made."""
        stable = recast(ns)
        if stable in self.visited:
            return False
        self.visited.add(stable)
        return True


@dataclass(slots=True, eq=False)
class Nest:
    """What surrounds a run. For a root run, nothing but the checkpoints that its config names.

    ``parents``: the checkpoint ids of the graphs above, by namespace, and of any that the caller
    addressed. ``told``: the task above goes on with what it had. ``outlets``: the runs above that
    stream what happens in here. ``above``: the scope of the task that this runs in. ``lasting``:
    its history outlives the task.
    """

    ns: str = ""
    parents: dict[str, str] = field(default_factory=dict)
    told: bool = False
    replay: Replay | None = None
    outlets: tuple[Any, ...] = ()
    above: Any = None
    lasting: bool = True


def recast(ns: str) -> str:
    """A namespace without its task ids and counters: the path in the graph.

    >>> recast("a:1f0|1|b:2c7")
    'a|b'
    """
    parts = ns.split(NS_SEP)
    return NS_SEP.join(part.split(NS_END)[0] for part in parts if not part.isdigit())


def call_config(own: Mapping[str, Any], config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The config of a call: the surrounding task's, under the graph's own, under the caller's.

    A nested call's result carries the scope of the task around it in ``configurable``.
    """
    around, given = scope.get(None), (config or {}).get("configurable")
    if around is None or (given and TASK in given):
        return merge_config(carried(), own, config)
    found = around.config
    if given:  # a thread of its own: it shares tags, metadata and limits only
        found = {key: value for key, value in found.items() if key != "configurable"}
    return merge_config(found, carried(), own, config)


def nest_in(above: Any, memory: bool | None) -> Nest:
    """The surroundings of a graph that is called in a task; counts the call."""
    task, run = above.task, above.run
    ns = recast(task.ns) if memory is True else task.ns
    if count := above.count():
        ns = f"{ns}{NS_SEP}{count}"
    listens = run.settings.form.subgraphs and run.settings.modes
    return Nest(
        ns,
        above.below(),
        run.going_on,
        run.replay,
        (*run.nest.outlets, run) if listens else run.nest.outlets,
        above,
        memory is True,
    )


def root_nest(config: Mapping[str, Any]) -> Nest:
    """The surroundings of a root run: the checkpoints of nested graphs that its config names."""
    ids = config["configurable"].get("checkpoint_map")
    return Nest(parents=dict(ids)) if ids else ALONE


def wanted_id(config: Mapping[str, Any], nest: Nest) -> str | None:
    """The id of the checkpoint that a run is asked to start from."""
    where = config["configurable"]
    ids = where.get("checkpoint_map")
    if nest.above is not None or (ids and nest.ns in ids):
        found = (ids or {}).get(nest.ns)
    else:  # a namespace without a map says nothing of the root
        found = None if where.get("checkpoint_ns") else where.get("checkpoint_id")
    return None if found is None else str(found)


ALONE = Nest()
