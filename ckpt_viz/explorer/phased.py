"""The phases of a step as they cross: values as one line each, many of a kind counted and cut."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ckpt_viz.explorer.panels import Json
from ckpt_viz.timeline.lines import line
from ckpt_viz.timeline.phases import NOTHING, Phases, Planned, Ran, Updated, barrier_names
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.why import START, version_number

WRITE_LIMIT = 24
TASK_LIMIT = 60
NAME_LIMIT = 60


class Liner:
    """Writes what channels hold as one line each."""

    def __init__(self, redact: Iterable[str]) -> None:
        """`redact`: as in a session."""
        self._redact = redact

    def line(self, channel: str, value: Any) -> str:
        """One line for what a channel holds, or for one write to it."""
        return line(value, () if channel == START else (channel,), self._redact)

    def maybe(self, channel: str, value: Any) -> str | None:
        """The same, and None for an empty channel."""
        return None if value is NOTHING else self.line(channel, value)


def phases_json(found: Phases, redact: Iterable[str]) -> Json:
    """The three phases, and what is not known of them."""
    liner = Liner(redact)
    return {
        "base": found.base_id,
        "base_step": found.base_step,
        "source": found.source,
        "plan": [_planned(p) for p in found.plan[:TASK_LIMIT]],
        "barriers": [
            {"node": b.node, "has": list(b.has), "waits": list(b.waits)} for b in found.barriers
        ],
        "idle": list(found.idle[:NAME_LIMIT]),
        "run": _alike([_ran(r, liner) for r in found.run])[:TASK_LIMIT],
        "update": [_updated(u, liner) for u in found.update],
        "tasks": max(len(found.plan), len(found.run)),
        "notes": [clean(n) for n in found.notes],
    }


def _planned(one: Planned) -> Json:
    return {
        "id": one.id,
        "node": one.node,
        "sent": None if one.sent is None else list(one.sent),
        "triggers": [
            {
                "channel": t.channel,
                "at": version_number(t.at),
                "seen": version_number(t.seen),
                "fired": t.fired,
            }
            for t in one.triggers
        ],
    }


def _ran(one: Ran, liner: Liner) -> Json:
    return {
        "id": one.id,
        "node": one.node,
        "state": one.state,
        "writes": [[c, liner.line(c, v)] for c, v in one.writes[:WRITE_LIMIT]],
        "more": max(0, len(one.writes) - WRITE_LIMIT),
        "n": 1,
    }


def _alike(tasks: list[Json]) -> list[Json]:
    """Tasks of a node that wrote the same, told once with their number."""
    out: list[Json] = []
    for task in tasks:
        last = out[-1] if out else None
        same = ("node", "state", "writes", "more")
        if last is not None and all(last[key] == task[key] for key in same):
            last["n"] += 1
        else:
            out.append(task)
    return out


def _runs(writes: list[tuple[str, str]]) -> list[list[Any]]:
    """Equal writes in a row, told once with their number."""
    return [[node, text, len(list(group))] for (node, text), group in groupby(writes)]


def _updated(one: Updated, liner: Liner) -> Json:
    name = one.channel
    ticks = None
    if one.names:
        ticks = [list(one.names), list(barrier_names(one.old)), list(barrier_names(one.new))]
    writes = _runs([(node, liner.line(name, v)) for node, v in one.writes])
    return {
        "channel": name,
        "routing": one.routing,
        "how": clean(one.how),
        "reducer": one.reducer,
        "old": liner.maybe(name, one.old),
        "new": liner.maybe(name, one.new),
        "writes": writes[:WRITE_LIMIT],
        "more": sum(n for *_, n in writes[WRITE_LIMIT:]),
        "from": version_number(one.before),
        "to": version_number(one.after),
        "ticks": ticks,
    }
