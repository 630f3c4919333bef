"""The Memory tab: what the graph's store remembers, and what the selected step wrote to it."""

from __future__ import annotations

from typing import Any

from ckpt_viz.explorer.panels import Json
from ckpt_viz.explorer.request import need
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline.memory import Memory, namespaces, remembered, written
from ckpt_viz.timeline.preview import clean

ITEMS = 50
NAMESPACES = 200
FIELD = 400
NO_STORE = "The graph has no store. Compile it with one: compile(store=InMemoryStore())"


def store_of(session: Session) -> Any:
    """The store of the graph that is looked at, or None."""
    return getattr(session.timeline.graph, "store", None)


def memory(session: Session, request: Json) -> Json:
    """A page of items below a namespace, nearest to `query` first, and what the step wrote."""
    store = store_of(session)
    if store is None:
        return {"why": NO_STORE}
    prefix = tuple(str(part) for part in request.get("prefix") or ())
    offset = max(0, int(request.get("offset") or 0))
    query = str(request.get("query") or "")
    found = remembered(store, prefix, query, limit=ITEMS + 1, offset=offset, hidden=session.redact)
    answer: Json = {
        "why": "",
        "items": [_item(one) for one in found[:ITEMS]],
        "more": len(found) > ITEMS,
    }
    if offset == 0:
        answer["namespaces"] = [list(ns) for ns in namespaces(store, limit=NAMESPACES)]
        wrote = written(session.timeline, store, need(request, "checkpoint"), session.redact)
        answer["written"] = {
            "items": [_item(one) for one in wrote.items[:ITEMS]],
            "count": len(wrote.items),
            "complete": wrote.complete,
            "why": clean(wrote.why),
        }
    return answer


def _item(one: Memory) -> Json:
    return {
        "ns": list(one.namespace),
        "key": one.key,
        "fields": [[clean(name)[:80], clean(text)[:FIELD]] for name, text in one.fields],
        "size": one.size,
        "created": round(one.created * 1000),
        "updated": round(one.updated * 1000),
        "score": None if one.score is None else round(float(one.score), 3),
        "wrote": one.wrote,
    }
