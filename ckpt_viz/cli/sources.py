"""From the words of a command line to a timeline."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.event_text import TEXT_LIMIT
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.retold import over
from ckpt_viz.timeline.told import read_text

STDIN = "-"


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


def is_source(word: str) -> bool:
    """Whether a word is a source, and no name of a checkpoint."""
    return word == STDIN or "://" in word or Path(word).expanduser().exists()
