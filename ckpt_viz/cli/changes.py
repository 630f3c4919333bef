"""The commands that write: they need `--write`, and tell with `--dry-run` what they would do."""

from __future__ import annotations

import argparse
from typing import Any

from ckpt_viz.cli.paper import Answer
from ckpt_viz.cli.sources import CommandError, opened
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.choosing import all_rows, choose_thread
from ckpt_viz.timeline.keeping import method, no_way


def _writable(args: argparse.Namespace) -> GraphTimeline:
    if not (args.write or args.dry_run):
        raise CommandError(
            f"{args.command} writes: add --write to do it, or --dry-run to see what it would do"
        )
    return opened(args.source, args, write=args.write and not args.dry_run)


def prune(args: argparse.Namespace) -> Answer:
    """Removes all of a thread but its head and what is labelled."""
    timeline = choose_thread(_writable(args), args.thread, args.ns)
    saver = timeline.saver
    act = getattr(saver, "would_prune", None) if args.dry_run else method(saver, "prune")
    if act is None:
        raise CommandError(no_way(saver, "prune a thread", "prune"))
    done = act([timeline.thread_id])
    data = {"thread": timeline.thread_id, "dry_run": args.dry_run, "removed": _told(done)}
    word = "would go" if args.dry_run else "went"
    lines = [f"thread {timeline.thread_id}: {key} {word}: {count}" for key, count in _counts(done)]
    return Answer(data, lines or [f"thread {timeline.thread_id}: done"])


def copy(args: argparse.Namespace) -> Answer:
    """Gives another thread all that a thread has."""
    timeline = choose_thread(_writable(args), args.thread, args.ns)
    copying = method(timeline.saver, "copy_thread")
    if copying is None and not (args.dry_run and hasattr(timeline.saver, "would_prune")):
        raise CommandError(no_way(timeline.saver, "copy a thread", "copy_thread"))
    if timeline.at(args.target).rows():
        raise CommandError(f"Thread {args.target!r} is there already: name a new one")
    count = len(all_rows(timeline))
    if not args.dry_run:
        copying(timeline.thread_id, args.target)
    data = {
        "thread": timeline.thread_id,
        "target": args.target,
        "checkpoints": count,
        "dry_run": args.dry_run,
    }
    verb = "would copy" if args.dry_run else "copied"
    text = f"{verb} {count} checkpoints of thread {timeline.thread_id} to {args.target}"
    return Answer(data, [text])


def _told(done: Any) -> dict[str, Any]:
    if hasattr(done, "_asdict"):
        return dict(done._asdict())
    return dict(done) if isinstance(done, dict) else {}


def _counts(done: Any) -> list[tuple[str, int]]:
    """How many of each kind went."""
    found = _told(done).items()
    return [(kind, gone if isinstance(gone, int) else len(gone)) for kind, gone in found]
