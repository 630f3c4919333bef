"""Long histories put straight into a saver: what an engine would save, without running it."""

from __future__ import annotations

import random
import time
from typing import Any, TypedDict

from ckpt_viz.graph import START, StateGraph
from ckpt_viz.ids import checkpoint_id

NAMES = ("plan", "act", "observe", "reflect")


class Count(TypedDict):
    n: int


def loop_graph(saver: Any) -> Any:
    """plan -> act -> observe -> reflect -> plan, for ever."""
    flow = StateGraph(Count)
    for name in NAMES:
        flow.add_node(name, lambda s: {"n": s["n"] + 1})
    flow.add_edge(START, NAMES[0])
    for name, after in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True):
        flow.add_edge(name, after)
    return flow.compile(checkpointer=saver)


def fill(saver: Any, count: int, forks: int = 0, thread: str = "1", ns: str = "") -> list[str]:
    """`count` checkpoints of `loop_graph` with `forks` forks, oldest first; their ids."""
    chance = random.Random(7)
    every = count // (forks + 1) if forks else count + 1
    made: list[tuple[str, int, dict[str, str], dict[str, dict[str, str]]]] = []
    for i in range(count):
        fork = i > 50 and i % every == 0
        base = made[-(3 + chance.randrange(40) if fork else 1)] if made else None
        parent, step = (base[0], base[1] + 1) if base else (None, -1)
        id_ = checkpoint_id(step, parent)
        version = f"{step + 2:032}.{id_[-16:]}"
        new = {"n": version}
        seen = dict(base[3]) if base else {}
        node, after = NAMES[step % 4], f"branch:to:{NAMES[(step + 1) % 4]}"
        if not fork:
            new[after] = version
            if base:
                seen[node] = {f"branch:to:{node}": base[2].get(f"branch:to:{node}", version)}
        versions = {**(base[2] if base else {}), **new}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1.7e9 + i))
        checkpoint = {
            "v": 4,
            "id": id_,
            "ts": stamp,
            "channel_values": {"n": step, after: None},
            "channel_versions": versions,
            "versions_seen": seen,
            "updated_channels": None,
        }
        where = {"thread_id": thread, "checkpoint_ns": ns}
        config = {"configurable": {**where, **({"checkpoint_id": parent} if parent else {})}}
        source = "fork" if fork else "loop" if base else "input"
        metadata = {"source": source, "step": step, "parents": {}}
        saver.put(config, checkpoint, metadata, new)
        made.append((id_, step, versions, seen))
    return [one[0] for one in made]
