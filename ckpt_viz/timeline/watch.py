"""Watch expressions: one path's value along a branch, and the steps where it changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.paths import parse
from ckpt_viz.timeline.preview import same, short
from ckpt_viz.timeline.redact import REDACTED, Redaction
from ckpt_viz.timeline.rows import Light

LIMIT = 2_000
TEXT = 200
_MISSING: Any = object()


class Reader(Protocol):
    """What this module needs of a timeline."""

    def ancestors(self, checkpoint_id: str, limit: int | None = None) -> list[str]:
        """From a checkpoint to its root."""
        ...

    def light(self, checkpoint_id: str) -> Light:
        """The light record."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """The value at one checkpoint. ``number`` where it is one (a length is); no text: no value."""

    id: str
    text: str | None
    number: float | None
    changed: bool


def watch(
    reader: Reader, checkpoint_id: str, text: str, hidden: Iterable[str] = ()
) -> tuple[Point, ...]:
    """A path's values along the branch that ends in a checkpoint, oldest first, at most 2,000.

    A state is read only where the channel has another version than before. ``hidden``: paths and
    names whose values are not told.

    Raises:
        PathError: the text is no path.
    """
    path, redaction = parse(text), Redaction.of(hidden)
    channel = str(path.steps[0])
    points: list[Point] = []
    value, version = _MISSING, _MISSING
    for id_ in reversed(reader.ancestors(checkpoint_id, LIMIT)):
        before, now = value, reader.light(id_).versions.get(channel)
        if version is _MISSING or now != version:
            version = now
            try:
                value = path.of(reader.snapshot(id_).values)
            except (LookupError, *DAMAGED):
                value = _MISSING
        secret = redaction.hides(path.steps)
        points.append(_point(id_, value, before, secret))
    return tuple(points)


def _point(id_: str, value: Any, before: Any, secret: bool) -> Point:
    changed = value is not before and (
        value is _MISSING or before is _MISSING or not same(value, before)
    )
    if value is _MISSING:
        return Point(id_, None, None, changed)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if secret:
        return Point(id_, REDACTED, None, changed)
    try:
        number = float(value) if is_number else None
    except OverflowError:
        number = None
    return Point(id_, short(value)[0][:TEXT], number, changed)
