"""Why a node does not run, in a sentence: from what ran, what comes, and the graph's edges."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.timeline.records import TaskState
from ckpt_viz.timeline.why import START, TASKS, Evidence, fired, is_deferred, joined, shapeless

COMES = {
    "error": "failed",
    "interrupt": "waits for an answer",
    "pending": "runs next",
    "running": "runs now",
    "done": "runs first",
}


def explain_not(evidence: Evidence, node: str, comes: Mapping[str, TaskState]) -> str:
    """The sentence why `node` does not run from this checkpoint; `comes` are those that do."""
    return (
        _barrier(evidence, node)
        or _deferred(evidence, node)
        or _router(evidence, node)
        or _after(evidence, node, comes)
        or _channels(evidence, node)
    )


def _barrier(evidence: Evidence, node: str) -> str:
    for starts, end in evidence.topology.waiting:
        if end != node:
            continue
        has = evidence.values.get(f"join:{'+'.join(starts)}:{node}") or ()
        if isinstance(has, tuple | list) and len(has) == 2 and isinstance(has[1], bool):
            has = has[0] or ()  # a barrier that also waits for the run's end keeps a flag
        got = [s for s in starts if s in has]
        miss = [s for s in starts if s not in has]
        if got and miss:
            return f"barrier: has {joined(got)}, still waits for {joined(miss)}"
    return ""


def _deferred(evidence: Evidence, node: str) -> str:
    triggers = evidence.topology.triggers.get(node, ())
    new = [t for t in fired(evidence, node, triggers) if t in evidence.values]
    if any(is_deferred(evidence.topology, t) for t in new):
        return "deferred: runs when everything else is done"
    return ""


def _router(evidence: Evidence, node: str) -> str:
    """A router that could have led here ran, and led elsewhere."""
    branches = evidence.topology.branches
    for source in sorted({w[0] for w in evidence.writers}):
        for router, ends in branches.get(source, {}).items():
            if ends is None or node in ends:
                chosen = _chosen(evidence, source, ends)
                shown = "START" if source == START else source
                return f"router `{router}` of {shown} chose {chosen} instead"
    return ""


def _chosen(evidence: Evidence, source: str, ends: tuple[str, ...] | None) -> str:
    names: dict[str, None] = {}
    for writer, channel, value in evidence.writers:
        if writer != source:
            continue
        target = channel.removeprefix("branch:to:")
        if target != channel and (ends is None or target in ends):
            names[target] = None
        elif channel == TASKS and (ends is None or getattr(value, "node", None) in ends):
            names[str(getattr(value, "node", "a Send"))] = None
    return joined(names) if names else "the end"


def _after(evidence: Evidence, node: str, comes: Mapping[str, TaskState]) -> str:
    """Who leads here, and whether it comes or did not run."""
    topology = evidence.topology
    froms = [a for a, b in sorted(topology.edges) if b == node]
    froms += [
        a
        for a, routers in topology.branches.items()
        for ends in routers.values()
        if ends is not None and node in ends
    ]
    froms += [s for starts, end in topology.waiting if end == node for s in starts]
    names = list(dict.fromkeys(froms))
    coming = [f"{n}, which {COMES[comes[n]]}" for n in names if n in comes and n != START]
    if coming:
        return f"comes after {joined(coming)}"
    others = [n for n in names if n != START]
    if START in names and not others:
        return "runs on a new input: only START leads here"
    if names:
        shown = joined(["START" if n == START else n for n in names])
        return f"waits for {shown}, which did not run in the step that made this"
    return ""


def _channels(evidence: Evidence, node: str) -> str:
    topology = evidence.topology
    own = [t for t in topology.triggers.get(node, ()) if t in topology.channels]
    if own and not any(topology.channels[t].routing for t in own):
        return f"nothing new in {joined([f'channel {t}' for t in own])}"
    if shapeless(topology):
        return "nothing led here; which edges there are is not known without the graph"
    return "no edge leads here: only a Command or a Send can start it"
