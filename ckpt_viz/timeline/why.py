"""Why a task runs, in a sentence: pure functions over versions, writes and edges.

The evidence for a task of checkpoint C is what the tasks that made C wrote (kept as pending
writes at C's parent): who wrote the channel that triggers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.timeline.records import Topology

PUSH = "__pregel_push"
START = "__start__"
TASKS = "__pregel_tasks"
EDIT = "your edit"
"""Who wrote an update when no record tells as which node."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known around one checkpoint.

    `writers`: (node, channel, value) in the order of the writes that made the checkpoint.
    `values`: the raw channel values (barriers are sets of names). `by_hand`: an `update_state`.
    """

    topology: Topology
    versions: dict[str, Any]
    seen: dict[str, dict[str, Any]]
    writers: tuple[tuple[str, str, Any], ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    by_hand: str | None = None


def version_number(version: Any) -> str:
    """The readable part of a channel version.

    >>> version_number("00000000000000000000000000000003.0.3766"), version_number(4)
    ('3', '4')
    """
    if version is None:
        return "none"
    if isinstance(version, str):
        return version.split(".", 1)[0].lstrip("0") or "0"
    return str(version)


def fired(evidence: Evidence, node: str, triggers: tuple[str, ...]) -> tuple[str, ...]:
    """The triggers of `node` with a version that the node has not seen."""
    seen = evidence.seen.get(node, {})
    return tuple(
        t
        for t in triggers
        if t in evidence.versions and (t not in seen or evidence.versions[t] > seen[t])
    )


def explain(evidence: Evidence, node: str, path: tuple[Any, ...]) -> str:
    """The sentence why a task of `node` runs from the checkpoint of `evidence`, without values."""
    if path and path[0] == PUSH:
        return _sent(evidence, node, path)
    triggers = evidence.topology.triggers.get(node, ())
    new = fired(evidence, node, triggers)
    reasons = [_trigger(evidence, node, t) for t in new]
    text = "; ".join(dict.fromkeys(r for r in reasons if r)) or "ran because it was scheduled"
    if any(is_deferred(evidence.topology, t) for t in new):
        text += "; deferred until the rest was done"
    return text


def sentence(reason: str, sent: Sequence[str], resumed: Sequence[str]) -> str:
    """A reason with its values: the argument of a `Send`, and the answers to interrupts.

    Each answer runs the node anew from its first line, which surprises where there are several.

    >>> sentence("sent by plan, 1 of 2", ["{i: 0}"], ["'yes'"])
    "sent by plan, 1 of 2, with {i: 0}; resumed with 'yes'"
    >>> sentence("ran", [], ["1", "2"])
    'ran; resumed with 1, 2: its code before the first question ran 3 times'
    """
    text = f"{reason}, with {sent[0]}" if sent else reason
    if not resumed:
        return text
    again = f": its code before the first question ran {len(resumed) + 1} times"
    return f"{text}; resumed with {', '.join(resumed)}{again if len(resumed) > 1 else ''}"


def argument(evidence: Evidence, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a sent task was given: one value, or nothing for a task that was not sent."""
    if not path or path[0] != PUSH:
        return ()
    index = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    tasks = evidence.values.get(TASKS) or ()
    return (getattr(tasks[index], "arg", None),) if index < len(tasks) else ()


def is_deferred(topology: Topology, trigger: str) -> bool:
    """Whether a channel shows only when everything else is done (a node with `defer`)."""
    info = topology.channels.get(trigger)
    return info is not None and info.kind.endswith("AfterFinish")


def _sent(evidence: Evidence, node: str, path: tuple[Any, ...]) -> str:
    sends = [w for w in evidence.writers if w[1] == TASKS]
    index = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    tasks = evidence.values.get(TASKS) or ()
    if index >= len(tasks):
        return "sent by a node"
    mine = tasks[index]
    sender = next((w[0] for w in sends if w[2] is mine or _equal(w[2], mine)), None)
    names = {w[0] for w in sends}
    if sender is None and len(names) == 1:
        sender = names.pop()
    who = sender or evidence.by_hand or "a node"
    routers = list(evidence.topology.branches.get(who, {}))
    by = f"{who}'s router `{routers[0]}`" if len(routers) == 1 else who
    if len(names) > 1 and sender:
        theirs = [w[2] for w in sends if w[0] == who]
        own = [i for i, t in enumerate(tasks) if any(_equal(v, t) for v in theirs)]
        if index in own:
            return f"sent by {by}, {own.index(index) + 1} of {len(own)}"
    return f"sent by {by}, {index + 1} of {len(tasks)}"


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - may refuse comparison
        return False


def _trigger(evidence: Evidence, node: str, trigger: str) -> str:
    if trigger == START:
        return "ran because the input starts the graph"
    if trigger.startswith("join:"):
        names = trigger.split(":", 2)[1].split("+")
        verb = {1: "has", 2: "have both"}.get(len(names), "have all")
        return f"barrier: {joined(names)} {verb} finished"
    if not trigger.startswith("branch:to:"):
        return _by_channel(evidence, trigger)
    who = list(dict.fromkeys(w[0] for w in evidence.writers if w[1] == trigger))
    if not who and evidence.by_hand:
        who = [evidence.by_hand]
    if not who and is_deferred(evidence.topology, trigger):
        return _some_steps_ago(evidence.topology, node)
    return "; ".join(_by(evidence.topology, a, node) for a in who)


def _some_steps_ago(topology: Topology, node: str) -> str:
    """What started a deferred node may be older than the step before."""
    leads = [a for a, b in sorted(topology.edges) if b == node]
    leads += [
        a
        for a, routers in topology.branches.items()
        if any(ends is not None and node in ends for ends in routers.values())
    ]
    if len(leads) == 1:
        return _by(topology, leads[0], node)
    return f"ran because one of {joined(leads)} led here" if leads else ""


def _by_channel(evidence: Evidence, trigger: str) -> str:
    """A channel of the user's; or one that older versions named after the node that led here."""
    topology = evidence.topology
    if trigger.startswith("start:"):
        return "ran because START's edge leads here"
    if trigger in topology.triggers and trigger not in topology.channels:
        return f"ran because {trigger}'s edge leads here"
    who = dict.fromkeys(w[0] for w in evidence.writers if w[1] == trigger)
    if who:
        return f"ran because {joined(who)} wrote channel {trigger}"
    return f"ran because channel {trigger} changed"


def shapeless(topology: Topology) -> bool:
    """Whether no edge of the graph is known, as of a history without its graph."""
    return not (topology.edges or topology.branches)


def _by(topology: Topology, source: str, node: str) -> str:
    if source == EDIT:
        return _by_edit(topology, node)
    shown = "START" if source == START else source
    if shapeless(topology):
        return f"ran because {shown} led here"
    if (source, node) in topology.edges:
        return f"ran because {shown}'s edge leads here"
    routers = topology.branches.get(source, {})
    fits = [name for name, ends in routers.items() if ends is None or node in ends]
    if len(fits) == 1:
        return f"ran because router `{fits[0]}` of {shown} said so"
    if fits:
        return f"ran because one of {shown}'s routers said so ({joined(fits)})"
    return f"ran because {shown}'s Command(goto={node!r}) said so"


def _by_edit(topology: Topology, node: str) -> str:
    """An edit set the trigger; where one node alone leads here, it was written as that one."""
    leads = [source for source, end in sorted(topology.edges) if end == node]
    if len(leads) == 1:
        shown = "START" if leads[0] == START else leads[0]
        return f"ran because your edit stands for {shown}, whose edge leads here"
    return "ran because your edit leads here"


def joined(names: Any) -> str:
    """Names in a sentence."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def explain_versions(evidence: Evidence, node: str) -> str:
    """For those who learn: each trigger's version against what the node has seen."""
    seen = evidence.seen.get(node, {})
    told = []
    for trigger in evidence.topology.triggers.get(node, ()):
        at = evidence.versions.get(trigger)
        if at is None:
            told.append(f"`{trigger}` has never been written")
        else:
            told.append(
                f"`{trigger}` is at {version_number(at)}, "
                f"{node} has seen {version_number(seen.get(trigger))}"
            )
    return "; ".join(told)
