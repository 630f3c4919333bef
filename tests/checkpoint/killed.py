"""A program that is killed while it writes, and the questions asked of what it left behind.

Run as ``python killed.py KIND URL FIRST``: puts step after step, with its task's writes, and prints
each step's number when the saver has acknowledged it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from ckpt_viz.checkpoint.base import Config
from ckpt_viz.ids import checkpoint_id

THREAD: Config = {"configurable": {"thread_id": "killed", "checkpoint_ns": ""}}


def open_saver(kind: str, url: str) -> Any:
    """A saver of a kind; ``control`` is one that commits each row by itself."""
    if kind == "sqlite":
        from ckpt_viz.checkpoint.sqlite import SqliteSaver

        return SqliteSaver.from_conn_string(url)
    if kind == "postgres":
        from ckpt_viz.checkpoint.postgres import PostgresSaver

        return PostgresSaver.from_conn_string(url, timeout=3)
    from ckpt_viz.checkpoint.redis import RedisSaver

    saver = RedisSaver.from_conn_string(url)
    if kind == "control":
        _commit_row_by_row(saver)
    return saver


def _commit_row_by_row(saver: Any) -> None:
    from ckpt_viz.checkpoint.scripted.rows import Edit

    edit = saver._rows.edit

    def slowly(whole: Edit) -> Any:
        yield from edit(Edit(whole.thread, rows=whole.rows))
        for key, blob in whole.blobs.items():
            time.sleep(0.002)
            yield from edit(Edit(whole.thread, blobs={key: blob}))
        yield from edit(Edit(whole.thread, writes=whole.writes))
        return set()

    saver._rows.edit = slowly


def values_at(step: int) -> dict[str, Any]:
    """What is right at a step: a number, a list that grows, and a text that changes."""
    log = [f"item {i} " * 10 for i in range(step + 1)]
    return {"n": step, "log": log, "text": f"{step} " * 600}


def put(saver: Any, parent: Config, step: int) -> Config:
    """One step: the checkpoint, and what its task wrote."""
    values = values_at(step)
    versions = dict.fromkeys(values, f"{step + 1:032}.0.{step}")
    made = {
        "v": 4,
        "ts": "2024-08-29T19:19:38.821749+00:00",
        "id": checkpoint_id(step, parent["configurable"].get("checkpoint_id")),
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": {},
        "updated_channels": None,
    }
    config: Config = saver.put(parent, made, {"source": "loop", "step": step}, versions)
    saver.put_writes(config, list(values_at(step + 1).items()), f"task{step}")
    return config


def head(saver: Any) -> tuple[Config, int]:
    """The newest checkpoint and its step, its task run again; -1 where there is none."""
    found = saver.get_tuple(THREAD)
    if found is None:
        return THREAD, -1
    step = found.metadata["step"]
    saver.put_writes(found.config, list(values_at(step + 1).items()), f"task{step}")
    return found.config, step


def check(saver: Any, acknowledged: int) -> int:
    """Nothing acknowledged is lost, and no half of a step is there; returns the newest step."""
    found = list(saver.list(THREAD))
    steps = [one.metadata["step"] for one in found]
    assert steps == list(range(len(steps)))[::-1], steps
    assert len(steps) > acknowledged, (len(steps), acknowledged)
    for one in found:
        step = one.metadata["step"]
        assert one.checkpoint["channel_values"] == values_at(step), step
        wrote = {channel: value for _, channel, value in one.pending_writes}
        assert wrote in ({}, values_at(step + 1)), step
        assert wrote or step > acknowledged, step
    return len(steps) - 1


if __name__ == "__main__":
    the_saver = open_saver(*sys.argv[1:3])
    at, step = head(the_saver)
    while True:
        step += 1
        at = put(the_saver, at, step)
        print(step, flush=True)
