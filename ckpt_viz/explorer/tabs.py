"""What the tabs ask for when they are opened: answers that not every click needs."""

from __future__ import annotations

from ckpt_viz.explorer.bundle import packed_asset
from ckpt_viz.explorer.drawn import shape_json
from ckpt_viz.explorer.memories import memory
from ckpt_viz.explorer.panels import Json
from ckpt_viz.explorer.phased import phases_json
from ckpt_viz.explorer.request import Handler, need
from ckpt_viz.explorer.session import Session
from ckpt_viz.explorer.stored import storage_json
from ckpt_viz.timeline.phases import phases
from ckpt_viz.timeline.standing import standing
from ckpt_viz.timeline.storage import storage


def _graph(session: Session, request: Json) -> Json:
    return shape_json(session.timeline.shape())


def _asset(session: Session, request: Json) -> Json:
    return {"gzip": packed_asset(need(request, "name"))}


def _phases(session: Session, request: Json) -> Json:
    timeline, checkpoint = session.timeline, need(request, "checkpoint")
    found = phases_json(phases(timeline, checkpoint), session.redact)
    return {**found, "inside": standing(timeline, checkpoint)}


def _storage(session: Session, request: Json) -> Json:
    timeline = session.timeline
    timeline.refresh()
    steps = {light.id: light.step for light in timeline.known_lights()}
    return storage_json(storage(timeline), timeline.place, steps)


TABS: dict[str, Handler] = {
    "graph": _graph,
    "asset": _asset,
    "phases": _phases,
    "storage": _storage,
    "memory": memory,
}
