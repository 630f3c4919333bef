"""What is wrong with a builder's graph, said before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_viz.constants import END, START


def check_graph(builder: Any, interrupt: Sequence[str]) -> None:
    """Check that every edge has its nodes.

    Raises:
        ValueError: names the edge and what is missing.
    """
    nodes, branches = builder.nodes, builder.branches
    starts = {s for s, _ in builder.edges}
    starts |= {s for many, _ in builder.waiting_edges for s in many}
    for start in starts | set(branches):
        if start != START and start not in nodes:
            raise ValueError(f"Found edge starting at unknown node '{start}'")
    if START not in starts and START not in branches:
        raise ValueError(
            "Graph must have an entrypoint: add at least one edge from START to another node"
        )
    ends = sorted(end for _, end in builder.edges)
    ends += [end for spec in nodes.values() for end in spec.ends or ()]
    for end in ends:
        if end != END and end not in nodes:
            raise ValueError(f"Found edge ending at unknown node `{end}`")
    for start, routers in branches.items():
        for name, branch in routers.items():
            for end in (branch.ends or {}).values():
                if end != END and end not in nodes:
                    raise ValueError(
                        f"At '{start}' node, '{name}' branch found unknown target '{end}'"
                    )
    for name in interrupt:
        if name not in nodes:
            raise ValueError(f"Interrupt node `{name}` not found")


def one_version(version: Any, graph_version: Any, migrate: Any) -> Any:
    """The version of a graph, which has two words for it.

    Raises:
        ValueError: both are given and differ. TypeError: ``migrate`` can't be called.
    """
    if None not in (version, graph_version) and version != graph_version:
        raise ValueError(
            f"version={version!r} and graph_version={graph_version!r} are two words for one thing: "
            "give one of them."
        )
    steps = list(migrate.values()) if isinstance(migrate, Mapping) else [migrate]
    for step in steps:
        if step is not None and not callable(step):
            raise TypeError(
                f"migrate takes a function of values and version, or a map from each version to a "
                f"function of values, and got {step!r}."
            )
    return graph_version if version is None else version
