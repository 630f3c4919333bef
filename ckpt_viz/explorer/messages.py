"""The requests of the page: a table from kind to function, and the rule that all are answered."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ckpt_viz.explorer.panels import Json, checkpoint_json, compare, without
from ckpt_viz.explorer.session import Session, error_json
from ckpt_viz.timeline.blame import blame
from ckpt_viz.timeline.paths import follow
from ckpt_viz.timeline.preview import Previewer, clean, mark
from ckpt_viz.timeline.records import ForkPreview
from ckpt_viz.timeline.search import search
from ckpt_viz.timeline.watch import Point, watch

PREVIEW_SECONDS = 2.0
SEARCH_SECONDS = 0.15
Handler = Callable[[Session, Json], Json]


class BadRequestError(ValueError):
    """A request of the page lacks a field or names an unknown kind."""


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
        result = handler(session, request)
        json.dumps(result, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - a page waits: whatever failed, it is told
        return {"re": number, "ok": False, "error": error_json(error)}
    return {"re": number, "ok": True, "result": result}


def _need(request: Json, name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise BadRequestError(f"{request.get('kind')} needs {name!r} (text), got {value!r}")
    return value


def _replace(request: Json) -> list[str]:
    return [str(name) for name in request.get("replace") or ()]


def _hello(session: Session, request: Json) -> Json:
    session.greeted = True
    return {"threads": threads_json(session), **session.overview()}


def threads_json(session: Session) -> list[Json]:
    """The table of threads."""
    return [
        {
            "id": t.id,
            "checkpoints": t.checkpoints,
            "last_step": t.last_step,
            "last_time": round(t.last_time * 1000),
            "status": t.status,
        }
        for t in session.timeline.threads()
    ]


def _thread(session: Session, request: Json) -> Json:
    thread = request.get("thread")
    session.show(None if thread is None else str(thread), str(request.get("ns") or ""))
    return {"threads": threads_json(session), **session.overview()}


def _checkpoint(session: Session, request: Json) -> Json:
    return checkpoint_json(session.timeline, _need(request, "checkpoint"), session)


def _value(session: Session, request: Json) -> Json:
    path = tuple(request.get("path") or ())
    values = session.timeline.snapshot(_need(request, "checkpoint")).values
    previewer = Previewer(session.redact)
    hidden = [path[: i + 1] for i in range(len(path)) if previewer.hides(path[: i + 1])]
    if hidden:
        return {"entries": previewer.page(None, hidden[0], 0)[0], "total": 1}
    offset = max(0, int(request.get("offset") or 0))
    entries, total = previewer.page(follow(values, path), path, offset)
    return {"entries": entries, "total": total}


def _diff(session: Session, request: Json) -> Json:
    a = request.get("a")
    return compare(session.timeline, a and str(a), _need(request, "b"), session.redact)


def _blame(session: Session, request: Json) -> Json:
    path = tuple(request.get("path") or ())
    if not path:
        raise BadRequestError("blame needs 'path': the steps to a value, its channel first")
    found = blame(session.timeline, _need(request, "checkpoint"), path)
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
        _need(request, "query"),
        after if isinstance(after, str) else None,
        SEARCH_SECONDS,
        lambda values: without(values, session.redact),
    )
    return {"ids": list(found.ids), "after": found.after}


def _watch(session: Session, request: Json) -> Json:
    points = watch(
        session.timeline, _need(request, "checkpoint"), _need(request, "path"), session.redact
    )
    return {"points": [_point_json(p) for p in points]}


def _point_json(point: Point) -> list[Any]:
    number = point.number if point.number is not None and math.isfinite(point.number) else None
    text = None if point.text is None else clean(point.text)
    return [point.id, text, number, point.changed]


def _within(seconds: float, do: Callable[[], ForkPreview]) -> ForkPreview:
    box: list[ForkPreview] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            box.append(do())
        except Exception as error:  # noqa: BLE001 - handed over to the worker's thread
            errors.append(error)

    thread = threading.Thread(target=work, name="ckpt-viz-preview", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not box:
        raise TimeoutError(
            f"The preview took longer than {seconds:g} s: a reducer or router of yours is slow. "
            "Fork without it."
        )
    return box[0]


def _preview(session: Session, request: Json) -> Json:
    timeline, checkpoint = session.timeline, _need(request, "checkpoint")
    as_node = request.get("as_node") or None
    found = _within(
        PREVIEW_SECONDS,
        lambda: timeline.preview(checkpoint, request.get("values"), as_node, _replace(request)),
    )
    base = timeline.snapshot(checkpoint).values
    return {
        "values": mark(Previewer(session.redact).entries(found.values), base, found.values),
        "next": list(found.next),
        "again": list(found.again),
        "notes": list(found.notes),
        "dead_end": found.dead_end,
    }


def _fork(session: Session, request: Json) -> Json:
    timeline = session.timeline

    def do() -> Json:
        new = timeline.update(
            _need(request, "checkpoint"),
            request.get("values"),
            request.get("as_node") or None,
            _replace(request),
        )
        session.refresh()
        session.selected = new
        if request.get("run"):
            session.start(lambda: timeline.go_on(new, session.worker.poke))
        return {"checkpoint": new}

    return session.once(request.get("act"), do)


def _replay(session: Session, request: Json) -> Json:
    timeline = session.timeline
    checkpoint = _need(request, "checkpoint")

    def do() -> Json:
        timeline.require(checkpoint)
        session.start(lambda: timeline.replay(checkpoint, session.worker.poke))
        return {"started": True}

    return session.once(request.get("act"), do)


def _replay_plan(session: Session, request: Json) -> Json:
    timeline = session.timeline
    following = timeline.snapshot(_need(request, "checkpoint")).next
    return {"again": list(timeline.topology.reachable(tuple(following)))}


def _resume(session: Session, request: Json) -> Json:
    timeline = session.timeline
    checkpoint = _need(request, "checkpoint")
    answers = request.get("answers")
    if not isinstance(answers, dict):
        raise BadRequestError("resume needs 'answers': a map from interrupt id to answer")

    def work() -> None:
        if answers:
            timeline.resume(checkpoint, answers, session.worker.poke)
        else:
            timeline.go_on(checkpoint, session.worker.poke)

    def do() -> Json:
        timeline.require(checkpoint)
        session.start(work)
        return {"started": True}

    return session.once(request.get("act"), do)


def _run(session: Session, request: Json) -> Json:
    timeline = session.timeline

    def do() -> Json:
        session.start(lambda: timeline.run(request.get("input"), session.worker.poke))
        return {"started": True}

    return session.once(request.get("act"), do)


def _stop(session: Session, request: Json) -> Json:
    return {"stopped": session.stop()}


def _ping(session: Session, request: Json) -> Json:
    return {}


def _select(session: Session, request: Json) -> Json:
    session.selected = _need(request, "checkpoint")
    return {}


def _refresh(session: Session, request: Json) -> Json:
    return {"rows": session.all_rows()}


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
    "checkpoint": _checkpoint,
    "value": _value,
    "diff": _diff,
    "blame": _blame,
    "search": _search,
    "watch": _watch,
    "preview": _preview,
    "fork": _fork,
    "replay": _replay,
    "replay_plan": _replay_plan,
    "resume": _resume,
    "run": _run,
    "stop": _stop,
    "select": _select,
    "refresh": _refresh,
    "export": _export,
}
