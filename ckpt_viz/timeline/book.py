"""The rows of one namespace, kept up to date as checkpoints are read in any order.

A history is read newest first and grows at the other end meanwhile. So a row is made again only
where something that it tells of came in: itself, its parent, a child, a sibling; never all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ckpt_viz.timeline.records import Row
from ckpt_viz.timeline.rows import Light, make_row

_BAD = ("error", "interrupt")


class Book:
    """Light records and the rows made of them. Not safe to share: the reader holds a lock."""

    def __init__(self) -> None:
        """Holds nothing yet."""
        self.lights: dict[str, Light] = {}
        self.rows: dict[str, Row] = {}
        self.bad: set[str] = set()
        self.head: str | None = None
        self._children: dict[str | None, list[str]] = {}
        self._order: list[str] = []
        self._sorted = True

    def order(self) -> list[str]:
        """All ids, oldest first."""
        if not self._sorted:
            self._order.sort()
            self._sorted = True
        return self._order

    def children(self, ids: Iterable[str]) -> list[str]:
        """All children of these checkpoints, oldest first."""
        return sorted(i for id_ in ids for i in self._children.get(id_, ()))

    def add(self, fresh: Iterable[Light]) -> list[Row]:
        """Takes records in; the rows that are new or have changed, oldest first."""
        touched: set[str] = set()
        head = self.head
        for light in fresh:
            self._take(light)
            touched.add(light.id)
            touched.update(self._children.get(light.id, ()))
            if light.parent_id is not None:
                touched.add(light.parent_id)
                touched.update(self._forks(light.parent_id))
        if self.head != head and head is not None:
            touched.add(head)
        news = []
        for id_ in sorted(touched & self.lights.keys()):
            row = self._make(self.lights[id_])
            if self.rows.get(id_) != row:
                self.rows[id_] = row
                news.append(row)
        return news

    def _take(self, light: Light) -> None:
        if light.id not in self.lights:
            self._sorted = self._sorted and (not self._order or self._order[-1] < light.id)
            self._order.append(light.id)
            family = self._children.setdefault(light.parent_id, [])
            family.insert(bisect_left(family, light.id), light.id)
        self.lights[light.id] = light
        self.head = light.id if self.head is None else max(self.head, light.id)
        if any(news.state in _BAD for news in light.news.values()):
            self.bad.add(light.id)
        else:
            self.bad.discard(light.id)

    def _forks(self, parent_id: str) -> list[str]:
        """The children that may be copies of a sibling."""
        family = self._children.get(parent_id, ())
        return [i for i in family if self.lights[i].source == "fork"] if len(family) > 1 else []

    def _make(self, light: Light) -> Row:
        family = self._children.get(light.parent_id, [])
        earlier = [] if light.source != "fork" else family[: bisect_left(family, light.id)]
        return make_row(
            light,
            self.lights.get(light.parent_id or ""),
            [self.lights[i] for i in earlier],
            head=light.id == self.head,
            has_child=light.id in self._children,
        )
