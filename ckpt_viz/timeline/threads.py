"""Which threads a saver holds, the last used first: light for savers that can tell, and for others
by reading what they list.

A saver tells by `thread_heads(query)`, pairs of a thread and the id of its newest root checkpoint,
newest first, and by `count_checkpoints(threads)`; both are optional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ckpt_viz.timeline.databases.beside import beside
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import ThreadInfo
from ckpt_viz.timeline.rows import config_id

MOST = 200
ListAll = Callable[[], Iterable[Any]]


class Head(NamedTuple):
    """A thread, the id of its newest root checkpoint, and how many there are (None: ask)."""

    thread: str
    id: str
    checkpoints: int | None


def tells_threads(saver: Any) -> bool:
    """Whether a saver can tell its threads without listing all their checkpoints."""
    return callable(getattr(saver, "thread_heads", None)) or isinstance(
        getattr(saver, "storage", None), dict
    )


def heads(saver: Any, query: str, list_all: ListAll) -> list[Head]:
    """All threads whose id holds `query`, in any case, the last used first."""
    index = index_of(saver)
    if index is not None:
        return [Head(thread, id_, None) for thread, id_ in index.thread_heads(query)]
    storage = getattr(saver, "storage", None)
    found = _stored(storage) if isinstance(storage, dict) else _listed(list_all())
    wanted = query.casefold()
    kept = [head for head in found if wanted in head.thread.casefold()]
    return sorted(kept, key=lambda head: head.id, reverse=True)


def index_of(saver: Any) -> Any:
    """What tells the saver's threads quickly: itself, what it adapts, or a reader of its file."""
    for one in (saver, getattr(saver, "saver", None)):
        if callable(getattr(one, "thread_heads", None)):
            return one
    return beside(saver)


def counts(saver: Any, found: Sequence[Head]) -> dict[str, int]:
    """How many root checkpoints each of these threads has."""
    unknown = [head.thread for head in found if head.checkpoints is None]
    known = {head.thread: head.checkpoints for head in found if head.checkpoints is not None}
    index = index_of(saver)
    return {**known, **(index.count_checkpoints(unknown) if unknown and index else {})}


def unreadable_thread(head: Head, count: int, error: Exception) -> ThreadInfo:
    """A thread whose newest checkpoint is damaged: the others are shown all the same."""
    told = clean(str(error))[:MOST]
    return ThreadInfo(head.thread, count, -2, 0.0, "unreadable", head.id, preview=told)


def _stored(storage: dict[Any, Any]) -> Iterable[Head]:
    """From the documented dictionary of a memory saver: thread -> namespace -> id -> packed."""
    for thread, spaces in list(storage.items()):
        root = spaces.get("")
        if root:
            yield Head(str(thread), str(max(root)), len(root))


def _listed(tuples: Iterable[Any]) -> Iterable[Head]:
    newest: dict[str, str] = {}
    count: dict[str, int] = {}
    for tup in tuples:
        where = tup.config["configurable"]
        if where.get("checkpoint_ns"):
            continue
        thread = str(where["thread_id"])
        count[thread] = count.get(thread, 0) + 1
        newest[thread] = max(newest.get(thread, ""), str(config_id(tup.config)))
    return [Head(thread, id_, count[thread]) for thread, id_ in newest.items()]
