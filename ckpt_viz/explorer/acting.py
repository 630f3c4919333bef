"""The page's requests that act: fork and its preview, replay, resume, run, scratch, breakpoints.

Rules: an act carries an id, and the same id again is answered again and done once; what is asked
for is checked before anything is written; an act that runs nodes is answered when it began.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from typing import Any

from ckpt_viz.explorer.copying import code_of
from ckpt_viz.explorer.panels import Json, checkpoint_json, diff_json, hidden_diff
from ckpt_viz.explorer.request import BadRequestError, Handler, names, need
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline.breaks import Breakpoints
from ckpt_viz.timeline.edits import LockedError, json_text, read_edits
from ckpt_viz.timeline.paths import follow, shown
from ckpt_viz.timeline.preview import Previewer, clean, mark
from ckpt_viz.timeline.records import Act, ForkPreview

PREVIEW_SECONDS = 2.0


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


def _refuse_hidden(session: Session, state: Any, path: tuple[Any, ...]) -> None:
    """Raises `LockedError` for a value of which a part is redacted."""
    try:
        value = follow(state, path)
    except LookupError:
        value = None
    if session.redact.within(value, path):
        raise LockedError(f"{shown(path)} is redacted, or a part of it is: edit another part")


def read_fork(session: Session, request: Json) -> Act:
    """The fork that a request means: its base, and values that hold the edits by path too."""
    timeline = session.timeline
    base = need(request, "checkpoint")
    values = request.get("values")
    if isinstance(request.get("values_json"), str):
        values = json.loads(request["values_json"])  # as text: JavaScript rounds big integers
    asked = [one for one in request.get("edits") or () if isinstance(one, dict)]
    state = timeline.snapshot(base).values if asked else {}
    for one in asked:
        _refuse_hidden(session, state, tuple(one.get("path") or ()))
    edits = read_edits(state, asked)
    values, replace = timeline.with_edits(base, edits, values, names(request, "replace"))
    as_node = request.get("as_node") or None
    return Act("fork", base, values, as_node, tuple(replace), bool(request.get("run")))


def _select(session: Session, checkpoint: str) -> None:
    """Selects what an act made, unless it was made inside: what is selected is of the root."""
    if isinstance(session, Session):
        session.selected = checkpoint


def _preview(session: Session, request: Json) -> Json:
    timeline = session.timeline
    fork = read_fork(session, request)
    base = str(fork.base)
    found = _within(
        PREVIEW_SECONDS,
        lambda: timeline.preview(base, fork.values, fork.as_node, fork.replace),
    )
    before = timeline.snapshot(base).values
    return {
        "values": mark(Previewer(session.redact).entries(found.values), before, found.values),
        "diff": diff_json(base, "", hidden_diff(before, found.values, session.redact)),
        "next": list(found.next),
        "again": list(found.again),
        "restarts": list(found.restarts),
        "asks": list(found.asks),
        "notes": list(found.notes),
        "dead_end": found.dead_end,
    }


def _fork(session: Session, request: Json) -> Json:
    timeline = session.timeline

    def do() -> Json:
        fork = read_fork(session, request)
        if fork.run:
            session.require_idle("running another")
        before = session.head()
        new = timeline.update(str(fork.base), fork.values, fork.as_node, fork.replace)
        session.refresh()
        _select(session, new)
        session.note(fork, before)
        if fork.run:
            session.start(lambda: timeline.go_on(new, session.worker.poke))
        session.tell_peers()
        panels = checkpoint_json(timeline, new, session)
        return {"checkpoint": new, "before": before, "panels": panels}

    return session.once(request.get("act"), do)


def _edit_text(session: Session, request: Json) -> Json:
    """The value at a path as JSON text, or why it is locked."""
    path = tuple(request.get("path") or ())
    state = session.timeline.snapshot(need(request, "checkpoint")).values
    try:
        _refuse_hidden(session, state, path)
        return {"json": json_text(follow(state, path))}
    except LockedError as error:
        return {"locked": clean(str(error))}


def _replay(session: Session, request: Json) -> Json:
    timeline = session.timeline
    checkpoint = need(request, "checkpoint")

    def do() -> Json:
        timeline.require(checkpoint)
        done = Act("replay", checkpoint)
        session.start(lambda: timeline.replay(checkpoint, session.worker.poke), done)
        return {"started": True}

    return session.once(request.get("act"), do)


def _replay_plan(session: Session, request: Json) -> Json:
    timeline = session.timeline
    snapshot = timeline.snapshot(need(request, "checkpoint"))
    following = tuple(str(n) for n in snapshot.next)
    again = timeline.topology.reachable(following)
    asked = timeline.askers()
    return {
        "next": list(following),
        "again": list(again),
        "restarts": [n for n in again if timeline.is_graph(n)],
        "asks": [n for n in again if n in asked],
    }


def _resume(session: Session, request: Json) -> Json:
    timeline = session.timeline
    checkpoint = need(request, "checkpoint")
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
        session.start(work, Act("resume", checkpoint, answers))
        return {"started": True}

    return session.once(request.get("act"), do)


def read_input(request: Json) -> Any:
    """The new input of a run; as text, so that big integers arrive whole."""
    text = request.get("input_json")
    return json.loads(text) if isinstance(text, str) else request.get("input")


def _run(session: Session, request: Json) -> Json:
    timeline = session.timeline

    def do() -> Json:
        value = read_input(request)
        done = Act("run", session.head(), value)
        session.start(lambda: timeline.run(value, session.worker.poke), done)
        return {"started": True}

    return session.once(request.get("act"), do)


def _stop(session: Session, request: Json) -> Json:
    return {"stopped": session.stop()}


def _make_head(session: Session, request: Json) -> Json:
    checkpoint = need(request, "checkpoint")

    def do() -> Json:
        before = session.head()
        new = session.timeline.make_head(checkpoint)
        session.refresh()
        _select(session, new)
        session.note(Act("fork", checkpoint, None, "__copy__"), before)
        session.tell_peers()
        return {"checkpoint": new, "before": before}

    return session.once(request.get("act"), do)


def _scratch(session: Session, request: Json) -> Json:
    def do() -> Json:
        session.enter_scratch(need(request, "checkpoint") if request.get("checkpoint") else None)
        return session.overview()

    return session.once(request.get("act"), do)


def _home(session: Session, request: Json) -> Json:
    session.leave_scratch()
    return session.overview()


def _breakpoints(session: Session, request: Json) -> Json:
    timeline = session.timeline
    before, after = names(request, "before"), names(request, "after")
    session.set_breakpoints(Breakpoints.of(timeline.graph, before, after))
    return session.breakpoints_json()


def _returned(session: Session, request: Json) -> Json:
    """What a node that made this checkpoint returned, as JSON text by channel."""
    writes = session.timeline.writes(need(request, "checkpoint"))
    node = need(request, "node")
    found = next((t.result for t in writes.made if t.name == node), None)
    kept: dict[str, Any] = {}
    for channel, value in (found or {}).items() if isinstance(found, dict) else ():
        with contextlib.suppress(LockedError):
            if not session.redact.within(value, (channel,)):
                kept[str(channel)] = json.loads(json_text(value))
    return {"json": json.dumps(kept, indent=2, ensure_ascii=False)}


def _code(session: Session, request: Json) -> Json:
    """What is meant, as Python for the notebook or as a test that stands alone."""
    return {"text": code_of(session, request.get("form") == "pytest", _meant(session, request))}


def _meant(session: Session, request: Json) -> Act | tuple[str | None, str] | str:
    """An act, the two ends of a difference, or one checkpoint."""
    what = need(request, "what")
    if what == "last":
        if session.done is None:
            raise BadRequestError("Nothing was done here yet")
        return session.done
    if what == "run":
        return Act("run", session.head(), read_input(request))
    if what == "fork":
        return read_fork(session, request)
    checkpoint = need(request, "checkpoint")
    if what == "resume":
        return Act("resume", checkpoint, request.get("answers"))
    if what == "replay":
        return Act("replay", checkpoint)
    if what == "diff":
        a = request.get("a")
        return (None if a is None else str(a)), checkpoint
    return checkpoint


ACTS: dict[str, Handler] = {
    "preview": _preview,
    "fork": _fork,
    "edit_text": _edit_text,
    "returned": _returned,
    "code": _code,
    "replay": _replay,
    "replay_plan": _replay_plan,
    "resume": _resume,
    "run": _run,
    "stop": _stop,
    "make_head": _make_head,
    "scratch": _scratch,
    "home": _home,
    "breakpoints": _breakpoints,
}
