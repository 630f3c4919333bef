"""From the words of a command line to a timeline and a checkpoint in it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.event_text import TEXT_LIMIT
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.records import Row
from ckpt_viz.timeline.retold import over
from ckpt_viz.timeline.told import read_text

STDIN = "-"
NAMED = 10


class CommandError(Exception):
    """A command cannot be done as it was given; the text says what to do."""


def opened(source: str, args: argparse.Namespace, *, write: bool = False) -> GraphTimeline:
    """The timeline of a source: a path, an address, or `-` for a log on standard input."""
    if source == STDIN:
        raw = sys.stdin.buffer.read(TEXT_LIMIT + 1)
        if raw.startswith(b"SQLite format 3\0"):
            raise CommandError("A database can't come through a pipe: give its path")
        return over(read_text(raw.decode("utf-8", "replace"), "Standard input"), None, args.ns)
    timeline = open_timeline(source, None, args.ns, write=write)
    for note in getattr(timeline, "notes", ()):
        print(f"ckpt-viz: {source}: {note}", file=sys.stderr)
    return timeline


def one_thread(timeline: GraphTimeline, thread: str | None, ns: str) -> GraphTimeline:
    """The timeline of the thread that is meant: the named one, or the only one."""
    if thread is not None:
        there = timeline.at(thread, ns)
        if not there.rows():
            space = f" has nothing in namespace {ns!r}" if ns else " is not there"
            raise CommandError(f"Thread {thread!r}{space}. {_known(timeline)}")
        return there
    if timeline.thread_id is not None:
        return timeline.at(timeline.thread_id, ns)
    found = timeline.threads(limit=2)
    if len(found) != 1:
        raise CommandError(f"Which thread? Give --thread. {_known(timeline)}")
    return timeline.at(found[0].id, ns)


def _known(timeline: GraphTimeline) -> str:
    found = timeline.threads(limit=NAMED + 1)
    names = ", ".join(info.id for info in found[:NAMED])
    more = f" and {timeline.thread_count() - NAMED} more" if len(found) > NAMED else ""
    return f"There are: {names}{more}." if found else "There are none."


def all_rows(timeline: GraphTimeline) -> list[Row]:
    """All rows of a thread, oldest first."""
    return [*reversed([*timeline.newest_first()])]


def checkpoint(timeline: GraphTimeline, name: str | None) -> str:
    """The id that a word means: `head`, a step, an id, or how an id begins or ends."""
    rows = all_rows(timeline)
    if not rows:
        raise CommandError(f"Thread {timeline.thread_id!r} has no checkpoints")
    if name in (None, "head"):
        return rows[-1].id
    assert name is not None
    exact = [row.id for row in rows if row.id == name]
    if exact:
        return exact[0]
    if name.lstrip("-").isdigit() and len(name) < 8:
        at = [row.id for row in rows if row.step == int(name)]
        if not at:
            steps = sorted({row.step for row in rows})
            raise CommandError(f"No checkpoint at step {name}: they are {steps[0]} to {steps[-1]}")
        return at[-1]
    near = [row.id for row in rows if row.id.startswith(name) or row.id.endswith(name)]
    if len(near) != 1:
        many = "no checkpoint" if not near else f"{len(near)} checkpoints"
        raise CommandError(f"{name!r} means {many}: give a step or a whole id")
    return near[0]


def is_source(word: str) -> bool:
    """Whether a word is a source, and no name of a checkpoint."""
    return word == STDIN or "://" in word or Path(word).expanduser().exists()
