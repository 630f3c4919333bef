"""From what a person types to a thread, a namespace and a checkpoint of it.

Rule: what is not there is an error that names what is, so that the next try is right.
"""

from __future__ import annotations

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.records import Row

NAMED = 10


class ChoiceError(ValueError):
    """What was named is not there, or means several; the text tells what there is."""


def choose_thread(timeline: GraphTimeline, thread: str | None, ns: str = "") -> GraphTimeline:
    """The timeline of the thread that is meant: the named one, or the only one.

    Raises:
        ChoiceError: there is no such thread or namespace, or there are several threads.
    """
    if thread is None and timeline.thread_id is None:
        found = timeline.at(None).threads(limit=2)
        if len(found) != 1:
            raise ChoiceError(f"Which thread? Give --thread. {known_threads(timeline)}")
        thread = found[0].id
    there = timeline.at(thread or timeline.thread_id, ns)
    if next(there.newest_first(), None) is None:
        raise ChoiceError(_missing(timeline, there))
    return there


def _missing(timeline: GraphTimeline, there: GraphTimeline) -> str:
    root = there.at(there.thread_id)
    if not there.checkpoint_ns or next(root.newest_first(), None) is None:
        return f"Thread {there.thread_id!r} is not there. {known_threads(timeline)}"
    spaces = [ns for ns in there.namespaces() if ns]
    names = ", ".join(spaces[:NAMED])
    more = f" and {len(spaces) - NAMED} more" if len(spaces) > NAMED else ""
    known = f"They are: {names}{more}." if spaces else "It has none: no graph ran inside."
    return f"Thread {there.thread_id!r} has no namespace {there.checkpoint_ns!r}. {known}"


def known_threads(timeline: GraphTimeline) -> str:
    """The threads that there are, in a sentence."""
    root = timeline.at(None)
    found = root.threads(limit=NAMED + 1)
    names = ", ".join(info.id for info in found[:NAMED])
    more = f" and {root.thread_count() - NAMED} more" if len(found) > NAMED else ""
    if not found:
        return "There are none yet: run the graph with a thread_id."
    return f"There are: {names}{more}."


def all_rows(timeline: GraphTimeline) -> list[Row]:
    """All rows of a thread, oldest first."""
    return [*reversed([*timeline.newest_first()])]


def choose_checkpoint(timeline: GraphTimeline, name: str | None) -> str:
    """The id that a word means: `head`, a step, an id, or how an id begins or ends.

    Raises:
        ChoiceError: it means none, or several.
    """
    rows = all_rows(timeline)
    if not rows:
        raise ChoiceError(f"Thread {timeline.thread_id!r} has no checkpoints")
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
            raise ChoiceError(f"No checkpoint at step {name}: they are {steps[0]} to {steps[-1]}")
        return at[-1]
    near = [row.id for row in rows if row.id.startswith(name) or row.id.endswith(name)]
    if len(near) != 1:
        many = "no checkpoint" if not near else f"{len(near)} checkpoints"
        raise ChoiceError(
            f"{name!r} means {many}: give a step ({rows[0].step} to {rows[-1].step}), a whole id "
            "or head"
        )
    return near[0]
