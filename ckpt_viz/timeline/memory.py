"""What a graph's store remembers, and which of it was written during a step.

A store does not know of checkpoints. What was written during a step is told by time: between the
checkpoint's parent and the checkpoint. So an item that another run wrote at that time is among
them, and one that was written again later is not. Reading starts no time to live anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from ckpt_viz.timeline.children import items
from ckpt_viz.timeline.preview import short
from ckpt_viz.timeline.redact import REDACTED, Redaction
from ckpt_viz.timeline.rows import Light

PAGE = 500
LIMIT = 20_000
"""How many items are looked at for what a step wrote."""
FIELDS = 12
RAN = frozenset({"loop"})
"""Sources of checkpoints that a step made: elsewhere no node ran since the parent."""


class Store(Protocol):
    """What this module needs of a store: this package's have it, and LangGraph's."""

    def search(self, namespace_prefix: tuple[str, ...], /, **options: Any) -> list[Any]:
        """Items below a namespace."""
        ...

    def list_namespaces(self, **options: Any) -> list[tuple[str, ...]]:
        """Namespaces that hold something."""
        ...


class Reader(Protocol):
    """What this module needs of a timeline."""

    def light(self, checkpoint_id: str) -> Light:
        """The light record."""
        ...


@dataclass(frozen=True, slots=True)
class Memory:
    """An item of a store, in short. Times are in seconds since the epoch.

    `fields` are names and short texts of the value's entries, at most 12; `size` is how many there
    are. `score` tells how near it is to a question. `wrote` is `new` or `changed` where a step is
    asked for.
    """

    namespace: tuple[str, ...]
    key: str
    fields: tuple[tuple[str, str], ...]
    size: int
    created: float
    updated: float
    score: float | None = None
    wrote: Literal["", "new", "changed"] = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The items that a step wrote. `complete` is False where the store holds too many to look at.

    `exact` is False where the store tells whole seconds, so that neighbouring steps may be meant.
    `why` tells why there are none, where no step ran.
    """

    items: tuple[Memory, ...]
    complete: bool = True
    exact: bool = True
    why: str = ""


def namespaces(store: Store, *, limit: int = 200, offset: int = 0) -> tuple[tuple[str, ...], ...]:
    """The namespaces that hold something, in order."""
    return tuple(map(tuple, store.list_namespaces(limit=limit, offset=offset)))


def remembered(
    store: Store,
    prefix: Iterable[str] = (),
    query: str = "",
    *,
    limit: int = 50,
    offset: int = 0,
    hidden: Iterable[str] = (),
) -> tuple[Memory, ...]:
    """Items below a namespace: the nearest to a query first, without one as the store gives them.

    ``hidden``: paths and names in a value that are not told.
    """
    options = {"query": query or None, "limit": limit, "offset": offset, "refresh_ttl": False}
    redaction = Redaction.of(hidden)
    return tuple(_memory(item, redaction) for item in store.search(tuple(prefix), **options))


def written(
    reader: Reader, store: Store, checkpoint_id: str, hidden: Iterable[str] = ()
) -> Written:
    """The items that were written between a checkpoint and its parent, oldest first.

    Raises:
        CheckpointNotFoundError: there is no such checkpoint.
    """
    light = reader.light(checkpoint_id)
    if light.parent_id is None or light.source not in RAN:
        return Written((), why="No step ran between this checkpoint and its parent.")
    start, redaction = reader.light(light.parent_id).time, Redaction.of(hidden)
    found: list[Memory] = []
    seen, exact = 0, True
    for item in _everything(store):
        seen += 1
        if _within(item.updated_at, start, light.time):
            exact = exact and item.updated_at.microsecond > 0
            is_new = item.created_at == item.updated_at or _seconds(item.created_at) > start
            found.append(_memory(item, redaction, "new" if is_new else "changed"))
    found.sort(key=lambda memory: memory.updated)
    return Written(tuple(found), seen < LIMIT, exact)


def _everything(store: Store) -> Iterator[Any]:
    for offset in range(0, LIMIT, PAGE):
        page = store.search((), limit=PAGE, offset=offset, refresh_ttl=False)
        yield from page
        if len(page) < PAGE:
            return


def _within(moment: datetime, start: float, end: float) -> bool:
    """Whether a time may lie after the start and up to the end.

    A time in whole seconds, which is what some stores keep, may be any of its second.
    """
    low = _seconds(moment)
    high = low + 1 if moment.microsecond == 0 else low
    return high > start and low <= end


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _memory(item: Any, redaction: Redaction, wrote: Literal["", "new", "changed"] = "") -> Memory:
    kids = items(item.value) or []
    return Memory(
        namespace=tuple(item.namespace),
        key=item.key,
        fields=tuple(
            (key, REDACTED if redaction.hides((step,)) else _text(child, redaction, step))
            for key, step, child in kids[:FIELDS]
        ),
        size=len(kids),
        created=_seconds(item.created_at),
        updated=_seconds(item.updated_at),
        score=getattr(item, "score", None),
        wrote=wrote,
    )


def _text(value: Any, redaction: Redaction, step: Any) -> str:
    return short(redaction.without(value, (step,)))[0]
