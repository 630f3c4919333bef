"""The requests of the page: a table from kind to function, and the rule that all are answered."""

from __future__ import annotations

import json
import math
import re
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ckpt_viz.checkpoint.serde.looking import looking
from ckpt_viz.explorer.acting import ACTS
from ckpt_viz.explorer.panels import (
    Json,
    checkpoint_json,
    diff_json,
    hidden_diff,
    rows_json,
)
from ckpt_viz.explorer.questions import QUESTIONS
from ckpt_viz.explorer.request import BadRequestError, Handler, need
from ckpt_viz.explorer.session import Session, error_json
from ckpt_viz.explorer.tabs import TABS
from ckpt_viz.timeline.blame import blame
from ckpt_viz.timeline.nested import nested
from ckpt_viz.timeline.paths import follow
from ckpt_viz.timeline.preview import Previewer, clean
from ckpt_viz.timeline.search import search
from ckpt_viz.timeline.table import Ask, state_of
from ckpt_viz.timeline.threads import tells_threads
from ckpt_viz.timeline.watch import Point, watch

SEARCH_SECONDS = 0.15
TABLE_SECONDS = 0.2
PAGE_ROWS = 5_000
INSIDE_ROWS = 400
BETWEEN = "\x01"
"""Stands between a checkpoint and its namespace in the page's keys of nested rows."""


def answer(session: Session, request: Any) -> Json:
    """The answer to one request: a result or an error, always."""
    number = request.get("id") if isinstance(request, dict) else None
    try:
        if not isinstance(request, dict):
            raise BadRequestError(f"a request is an object, not {type(request).__name__}")
        handler = HANDLERS.get(str(request.get("kind")))
        if handler is None:
            known = ", ".join(HANDLERS)
            raise BadRequestError(f"unknown kind {request.get('kind')!r}; known are {known}")
        with nullcontext() if request["kind"] in ACTS else looking():
            result = handler(session.place(request.get("at")), request)
        json.dumps(result, allow_nan=False)
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:  # noqa: BLE001 - a page waits: whatever failed in code of a user's, it is told
        return {"re": number, "ok": False, "error": error_json(error)}
    return {"re": number, "ok": True, "result": result}


def _hello(session: Session, request: Json) -> Json:
    session.greeted = True
    return {**_known_threads(session), **session.overview()}


def _known_threads(session: Session) -> Json:
    """The first threads of the table; where only reading all would tell them, the one in view."""
    thread = session.timeline.thread_id
    if thread is None or tells_threads(session.timeline.saver):
        return threads_json(session)
    here = {"id": thread, "checkpoints": 0, "last_step": None, "last_time": None, "status": ""}
    return {"threads": [here], "thread_count": None}


def threads_json(session: Session, ask: Ask = Ask(), seconds: float = TABLE_SECONDS) -> Json:  # noqa: B008 - frozen
    """A part of the table of threads, and how many there are."""
    page = session.table.page(ask, seconds)
    rows = [
        {
            "id": t.id,
            "checkpoints": t.checkpoints,
            "last_step": None if t.last_step < -1 else t.last_step,
            "last_time": round(t.last_time * 1000) or None,
            "status": state_of(t),
            "bytes": t.bytes,
            "preview": clean(t.preview),
        }
        for t in page.threads
    ]
    counted = {"thread_count": page.total, "matched": page.matched, "left": page.left}
    return {"threads": rows, **counted}


def _threads(session: Session, request: Json) -> Json:
    ask = Ask(
        offset=max(0, int(request.get("offset") or 0)),
        limit=min(500, max(1, int(request.get("limit") or 100))),
        sort=request.get("sort") or "time",
        down=request.get("down") is not False,
        text=str(request.get("text") or ""),
        state=tuple(str(one) for one in request.get("state") or ()),
    )
    return threads_json(session, ask)


def _thread(session: Session, request: Json) -> Json:
    thread = request.get("thread")
    session.show(None if thread is None else str(thread), str(request.get("ns") or ""))
    return {**_known_threads(session), **session.overview()}


def _checkpoint(session: Session, request: Json) -> Json:
    checkpoint = need(request, "checkpoint")
    found = checkpoint_json(session.timeline, checkpoint, session)
    if request.get("select") and request.get("at") is None:
        session.selected = checkpoint
    return found


def _value(session: Session, request: Json) -> Json:
    path = tuple(request.get("path") or ())
    values = session.timeline.snapshot(need(request, "checkpoint")).values
    previewer = Previewer(session.redact)
    hidden = [path[: i + 1] for i in range(len(path)) if previewer.hides(path[: i + 1])]
    if hidden:
        return {"entries": previewer.page(None, hidden[0], 0)[0], "total": 1}
    offset = max(0, int(request.get("offset") or 0))
    entries, total = previewer.page(follow(values, path), path, offset)
    return {"entries": entries, "total": total}


def _diff(session: Session, request: Json) -> Json:
    """The difference of two states; each may be inside a nested graph of its own."""
    a, b = request.get("a"), need(request, "b")
    before = {} if a is None else _values(session, str(a))
    return diff_json(a, b, hidden_diff(before, _values(session, b), session.redact))


def _values(session: Session, key: str) -> Any:
    """The state that a key of the page names: an id, with the namespace behind it when nested."""
    checkpoint, _, ns = key.partition(BETWEEN)
    return session.place(ns or None).timeline.snapshot(checkpoint).values


def _blame(session: Session, request: Json) -> Json:
    path = tuple(request.get("path") or ())
    if not path:
        raise BadRequestError("blame needs 'path': the steps to a value, its channel first")
    found = blame(session.timeline, need(request, "checkpoint"), path)
    return {
        "text": clean(found.text),
        "by": clean(found.by),
        "change": found.change,
        "carried": found.carried,
        "note": clean(found.note),
        "checkpoint": found.checkpoint_id,
        "before": found.before_id,
        "step": found.step,
        "task": found.task,
    }


def _search(session: Session, request: Json) -> Json:
    after = request.get("after")
    found = search(
        session.timeline,
        need(request, "query"),
        after if isinstance(after, str) else None,
        SEARCH_SECONDS,
        session.redact.without,
    )
    return {"ids": list(found.ids), "after": found.after}


def _watch(session: Session, request: Json) -> Json:
    points = watch(
        session.timeline, need(request, "checkpoint"), need(request, "path"), session.redact
    )
    return {"points": [_point_json(p) for p in points]}


def _point_json(point: Point) -> list[Any]:
    number = point.number if point.number is not None and math.isfinite(point.number) else None
    text = None if point.text is None else clean(point.text)
    return [point.id, text, number, point.changed]


def _ping(session: Session, request: Json) -> Json:
    return {}


def _select(session: Session, request: Json) -> Json:
    session.selected = need(request, "checkpoint")
    return {}


def _refresh(session: Session, request: Json) -> Json:
    return {"rows": session.all_rows()}


def _older(session: Session, request: Json) -> Json:
    """The next older rows, for a page that has all down to `before`."""
    timeline = session.timeline
    rows, more = timeline.page(need(request, "before"), PAGE_ROWS)
    return {
        **rows_json(rows, timeline.head, timeline.unfinished(session.busy), False),
        "more": more,
    }


def _nested(session: Session, request: Json) -> Json:
    """The graphs inside this one: `[namespace, the checkpoint that it ran from, node]` each."""
    return {"nested": [[one.ns, one.owner, one.node] for one in nested(session.timeline)]}


def _inside(session: Session, request: Json) -> Json:
    """The newest rows of a namespace that ran from one checkpoint."""
    timeline, owner = session.timeline, need(request, "owner")
    inner = timeline.inside(need(request, "ns"))
    inner.refresh()
    here = timeline.checkpoint_ns
    rows = [r for r in inner.known() if inner.light(r.id).above.get(here, owner) == owner]
    kept = {row.id for row in rows[-INSIDE_ROWS:]}
    waits = [one for one in inner.unfinished(session.busy) if one.parent in kept]
    return {
        **rows_json(rows[-INSIDE_ROWS:], inner.head, waits, True),
        "nested": [[one.ns, one.owner, one.node] for one in nested(inner)],
        "more": len(rows) > INSIDE_ROWS,
    }


def _export(session: Session, request: Json) -> Json:
    kind = str(request.get("format") or "html")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    thread = re.sub(r"[^\w.-]+", "_", str(session.timeline.thread_id))[:40]
    folder = Path(str(request.get("folder") or "."))
    return {"path": str(session.export(folder / f"checkpoints-{thread}-{stamp}.{kind}"))}


HANDLERS: dict[str, Handler] = {
    "ping": _ping,
    "hello": _hello,
    "thread": _thread,
    "threads": _threads,
    "older": _older,
    "nested": _nested,
    "inside": _inside,
    "checkpoint": _checkpoint,
    "value": _value,
    "diff": _diff,
    "blame": _blame,
    "search": _search,
    "watch": _watch,
    **ACTS,
    **TABS,
    **QUESTIONS,
    "select": _select,
    "refresh": _refresh,
    "export": _export,
}
