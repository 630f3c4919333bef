"""What each command finds: a function a command, from parsed words to an answer. Reading only."""

from __future__ import annotations

import argparse
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ckpt_viz.cli.paper import Answer, Table, pretty
from ckpt_viz.cli.sources import CommandError, is_source, opened
from ckpt_viz.explorer.export import write_export
from ckpt_viz.explorer.panels import hidden_diff
from ckpt_viz.explorer.session import Session, heading
from ckpt_viz.explorer.static import label, text_tree
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.alignment import Alignment, align, branch, differing
from ckpt_viz.timeline.blame import blame as blame_of
from ckpt_viz.timeline.choosing import all_rows, choose_checkpoint, choose_thread
from ckpt_viz.timeline.keeping import method
from ckpt_viz.timeline.paths import follow, parse
from ckpt_viz.timeline.records import Row, TaskView
from ckpt_viz.timeline.redact import Redaction
from ckpt_viz.timeline.search import search as found_by

DIFFERS = 1
"""The exit code where two things differ, or where nothing was found: as of `diff` and `grep`."""

SIGNS = {"add": "+", "del": "-", "change": "~"}


def _stamp(seconds: float) -> str:
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")


def _here(args: argparse.Namespace) -> GraphTimeline:
    return choose_thread(opened(args.source, args), args.thread, args.ns)


def threads(args: argparse.Namespace) -> Answer:
    """The threads of a source, the last used first."""
    timeline = opened(args.source, args)
    found = timeline.threads(args.query, limit=args.limit, offset=args.offset)
    data = [
        {
            "thread": info.id,
            "checkpoints": info.checkpoints,
            "last_step": info.last_step,
            "last_time": info.last_time,
            "status": info.status,
            "head": info.head,
        }
        for info in found
    ]
    rows = [
        [t.id, str(t.checkpoints), str(t.last_step), t.status, _stamp(t.last_time)] for t in found
    ]
    heads = ("thread", "checkpoints", "last step", "status", "last time")
    return Answer(data, [Table(heads, rows)] if rows else ["no threads"])


def row_data(row: Row) -> dict[str, Any]:
    """A row as data."""
    return {
        "id": row.id,
        "parent": row.parent_id,
        "step": row.step,
        "source": row.source,
        "time": row.time,
        "nodes": list(row.nodes),
        "changed": list(row.changed),
        "next": list(row.next),
        "status": row.status,
        "head": row.head,
    }


def history(args: argparse.Namespace) -> Answer:
    """The tree of a thread, newest first."""
    timeline = _here(args)
    shown = [*reversed([*islice(timeline.newest_first(), None if args.at else args.limit)])]
    waits = [] if args.redact or args.at else timeline.unfinished()
    if args.at:
        line = branch(shown, choose_checkpoint(timeline, args.at))
        shown = line[max(0, len(line) - args.limit) :] if args.limit is not None else line
    tree = text_tree(shown, heading(timeline), waits, notes=timeline.labels())
    return Answer([row_data(row) for row in reversed(shown)], [tree])


def show(args: argparse.Namespace) -> Answer:
    """One checkpoint: its state, what made it and what runs next."""
    timeline = _here(args)
    id_ = choose_checkpoint(timeline, args.at)
    row = next(row for row in timeline.newest_first() if row.id == id_)
    snapshot, writes = timeline.snapshot(id_), timeline.writes(id_)
    values = Redaction(args.redact).without(snapshot.values)
    if args.path:
        value = follow(values, parse(args.path).steps)
        return Answer(value, [pretty(value)])
    tasks = [("made", t) for t in writes.made] + [("next", t) for t in writes.next]
    data = {
        **row_data(row),
        "thread": timeline.thread_id,
        "namespace": timeline.checkpoint_ns,
        "values": values,
        "made": [_task_data(t, args) for t in writes.made],
        "following": [_task_data(t, args) for t in writes.next],
    }
    title = f"{heading(timeline)}: step {row.step}, {label(row)}, {id_}"
    table = Table(("task", "node", "state", "why"), [[w, t.name, t.state, t.why] for w, t in tasks])
    parts: list[str | Table] = [title, f"next: {', '.join(row.next) or 'nothing'}", pretty(values)]
    return Answer(data, [*parts, table] if tasks else parts)


def _task_data(task: TaskView, args: argparse.Namespace) -> dict[str, Any]:
    return {
        "id": task.id,
        "node": task.name,
        "state": task.state,
        "why": task.why,
        "triggers": list(task.triggers),
        "result": Redaction(args.redact).without(task.result),
        "error": task.error,
        "interrupts": [
            {"id": i.id, "value": Redaction(args.redact).without(i.value), "answered": i.answered}
            for i in task.interrupts
        ],
    }


def diff(args: argparse.Namespace) -> Answer:
    """Two checkpoints of a source, or two sources side by side."""
    if args.b is None and (is_source(args.a) or args.other_thread is not None):
        return _sides(args)
    timeline = _here(args)
    ids = [choose_checkpoint(timeline, args.a), choose_checkpoint(timeline, args.b)]
    before, after = (timeline.snapshot(id_).values for id_ in ids)
    found = hidden_diff(before, after, Redaction(args.redact))
    parts = [p for p in found.parts if p.op in SIGNS]
    data = {
        "a": ids[0],
        "b": ids[1],
        "summary": found.summary,
        "parts": [
            {"op": p.op, "path": p.path, "before": p.before, "after": p.after} for p in parts
        ],
    }
    lines = [found.summary]
    for part in parts:
        sides = [side for side in (part.before, part.after) if side is not None]
        lines.append(f"{SIGNS[part.op]} {part.path}: {' -> '.join(sides)}")
    return Answer(data, lines, DIFFERS if parts else 0)


def _sides(args: argparse.Namespace) -> Answer:
    first = _here(args)
    other = args.other_thread
    if other is None:
        other = args.thread
    second = choose_thread(opened(args.a, args), other, args.ns)
    tips = [choose_checkpoint(t, at) for t, at in ((first, args.at), (second, args.other_at))]
    hidden = [*args.ignore, *args.redact]

    def differ(left: Row, right: Row) -> list[str]:
        states = first.snapshot(left.id).values, second.snapshot(right.id).values
        return differing(*states, hidden)

    found = align(branch(all_rows(first), tips[0]), branch(all_rows(second), tips[1]), differ)
    rows = [_pair_cells(found, n) for n in range(len(found.pairs))]
    heads = ("", "A", "", "B", "differs in")
    code = 0 if found.first is None else DIFFERS
    titles = [f"A: {heading(first)}", f"B: {heading(second)}"]
    return Answer(_sides_data(found), [*titles, Table(heads, rows), found.text], code)


def _pair_cells(found: Alignment, n: int) -> list[str]:
    pair = found.pairs[n]
    mark = " " if pair.same else ">" if n == found.first else "!"
    cells = [f"{r.step} {label(r)}" if r else "" for r in (pair.a, pair.b)]
    both = "=" if pair.same else "|" if pair.a and pair.b else "<" if pair.a else ">"
    return [mark, cells[0], both, cells[1], ", ".join(pair.differs)]


def _sides_data(found: Alignment) -> dict[str, Any]:
    return {
        "first": found.first,
        "kind": found.kind,
        "ancestor": found.ancestor,
        "text": found.text,
        "pairs": [
            {
                "a": None if p.a is None else row_data(p.a),
                "b": None if p.b is None else row_data(p.b),
                "same": p.same,
                "nodes": p.nodes,
                "differs": list(p.differs),
            }
            for p in found.pairs
        ],
    }


def blame(args: argparse.Namespace) -> Answer:
    """Who wrote a value."""
    timeline = _here(args)
    found = blame_of(timeline, choose_checkpoint(timeline, args.at), parse(args.path).steps)
    data = {
        "path": found.path,
        "by": found.by,
        "change": found.change,
        "step": found.step,
        "checkpoint": found.checkpoint_id,
        "before": found.before_id,
        "task": found.task,
        "carried": found.carried,
        "note": found.note,
    }
    return Answer(data, [found.text])


def search(args: argparse.Namespace) -> Answer:
    """The checkpoints that a query means, newest first."""
    timeline = _here(args)
    ids = found_by(timeline, " ".join(args.query), shown=Redaction(args.redact).without).ids
    known = {row.id: row for row in timeline.newest_first()}
    rows = [known[id_] for id_ in ids]
    heads = ("step", "nodes", "changed", "status", "id")
    cells = [[str(r.step), label(r), ", ".join(r.changed), r.status, r.id] for r in rows]
    parts = [Table(heads, cells)] if rows else ["nothing found"]
    return Answer([row_data(row) for row in rows], parts, 0 if rows else DIFFERS)


def export(args: argparse.Namespace) -> Answer:
    """Writes a history to a file: .html, .svg, .dot or .json."""
    if Path(args.file).exists() and not args.force:
        raise CommandError(f"{args.file} exists: give another name, or --force")
    session = Session(_here(args), lambda message: None, args.redact, follow=False)
    try:
        path = write_export(session, args.file)
    finally:
        session.close()
    return Answer({"path": str(path)}, [str(path)])


def report(args: argparse.Namespace) -> Answer:
    """What takes how many bytes, or how many checkpoints where the source tells no bytes."""
    timeline = opened(args.source, args)
    told = method(timeline.saver, "storage_report")
    if told is None:
        return threads(argparse.Namespace(**vars(args), query="", limit=None, offset=0))
    found = told()
    keys = ("thread_id", "bytes", "checkpoints", "writes", "shared", "unique")
    rows = sorted(found["threads"], key=lambda each: -each["bytes"])
    table = Table(keys, [[str(each.get(key, "")) for key in keys] for each in rows])
    return Answer(found, [f"{found['bytes']} bytes in {len(rows)} threads", table])
