"""The state behind one Explorer: its timeline, selection, acts under way and the way to the page.

Knows no widget: `send` is any callable that takes a JSON-safe dict. Every act carries an id, so
that a double click is one act. One act at a time; browsing goes on meanwhile.
"""

from __future__ import annotations

import threading
import traceback
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ckpt_viz.checkpoint.serde.looking import looking
from ckpt_viz.explorer.live import Worker
from ckpt_viz.explorer.panels import Json, can_json, rows_json
from ckpt_viz.explorer.swaps import Swaps
from ckpt_viz.timeline.acts import ActRunningError, GraphTimeline
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import Act, TaskView, Unfinished
from ckpt_viz.timeline.redact import Redaction
from ckpt_viz.timeline.table import ThreadTable

FIRST_ROWS = 2_000
RECENT_ROWS = 400
ACT_LIMIT = 500
TRACE_LIMIT = 20_000
PEERS: weakref.WeakSet[Session] = weakref.WeakSet()


def error_json(error: BaseException) -> Json:
    """An error as the page shows it."""
    text = "".join(traceback.format_exception(error))
    return {
        "type": type(error).__name__,
        "message": clean(str(error) or type(error).__name__)[:4_000],
        "traceback": clean(text[-TRACE_LIMIT:]),
    }


def heading(timeline: GraphTimeline) -> str:
    """What names a history in pictures and files: the graph's name, the thread, the namespace."""
    thread = "" if timeline.thread_id is None else f"thread {timeline.thread_id}"
    parts = (timeline.title, thread, timeline.checkpoint_ns)
    return ", ".join(part for part in parts if part) or "graph"


def shape_of(timeline: GraphTimeline) -> Json:
    """The nodes and channels of the graph that is looked at, as the page lists them."""
    topology = timeline.topology
    return {
        "nodes": [n for n in topology.triggers if not n.startswith("__")],
        "channels": [
            {"name": c.name, "kind": c.kind, "reducer": c.reducer, "routing": c.routing}
            for c in topology.channels.values()
        ],
    }


class Session(Swaps):
    """One Explorer's state; safe to use from the worker, an act and the user's thread."""

    def __init__(
        self,
        timeline: GraphTimeline,
        send: Callable[[Json], None],
        redact: Sequence[str] = (),
        follow: bool = True,
    ) -> None:
        """Selects the head; nothing is sent until the page has said hello."""
        self.timeline = timeline
        self.redact = Redaction(redact)
        self._searched: set[str | None] = {None}
        self._send = send
        self.export: Callable[[Path], Path] = self._no_export
        self.redraw: Callable[[], None] = lambda: None
        self.greeted = False
        self.selected: str | None = None
        self.worker = Worker(self.refresh, follow)
        self._lock = threading.RLock()
        self._acts: OrderedDict[str, Json] = OrderedDict()
        self._traces: dict[tuple[str, str], str] = {}
        self._busy = False
        self._stopped = False
        self._told: list[Unfinished] = []
        self._drawn: tuple[Any, ...] = ()
        self._before: str | None = None
        PEERS.add(self)
        self._table: tuple[Any, ThreadTable] | None = None

    def _no_export(self, path: Path) -> Path:
        raise RuntimeError(f"Can't write {path}: this session has no exporter")

    # -- to the page -------------------------------------------------------------------------

    def send(self, message: Json) -> None:
        """Sends an event, once there is a page."""
        if self.greeted:
            self._send(message)

    def hidden(self, message: Json) -> Json:
        """The message as it may be shown: no sentence of it tells what is redacted."""
        if not self.redact:
            return message
        self._learn()
        hidden: Json = self.redact.scrubbed(message)
        return hidden

    def hidden_text(self, text: str) -> str:
        """A text for people, without what is redacted."""
        if self.redact:
            self._learn()
        return self.redact.scrub(text)

    def _learn(self) -> None:
        """Looks for hidden values where errors and questions may have taken their words from."""
        waits = self.timeline.unfinished()
        for checkpoint in {self.timeline.head, *(one.parent for one in waits)} - self._searched:
            found = self.timeline.snapshot_or_none(checkpoint)
            if found is not None:
                self._searched.add(checkpoint)
                self.redact.learn(found.values)

    def refresh(self) -> bool:
        """Reads what is new and tells the page; True when there was any."""
        timeline = self.timeline
        with looking():
            news = timeline.refresh()
        unfinished = timeline.unfinished(running=self._busy)
        if not news and unfinished == self._told:
            self._settle()
            return False
        self._told = unfinished
        self.send({"event": "rows", **rows_json(news, timeline.head, unfinished, reset=False)})
        if not self.worker.follow:
            self._settle()
        return bool(news)

    def _settle(self) -> None:
        """Draws the saved picture again, once what was going on is over."""
        now = self._sign()
        if now != self._drawn and not self._busy:
            self._drawn = now
            self.redraw()

    def drawn(self) -> None:
        """The picture was drawn as things are now."""
        self._told = self.timeline.unfinished(running=self._busy)
        self._drawn = self._sign()

    def _sign(self) -> tuple[Any, ...]:
        timeline = self.timeline
        waits = tuple((u.parent, u.task, u.status) for u in self._told)
        return timeline.thread_id, timeline.checkpoint_ns, timeline.head, waits

    def all_rows(self, limit: int = FIRST_ROWS) -> Json:
        """The newest part of the tree, read now; `more` tells whether there is an older one."""
        timeline = self.timeline
        timeline.refresh()
        rows = timeline.known(limit)
        unfinished = timeline.unfinished(running=self._busy)
        more = timeline.more or len(timeline.ids()) > len(rows)
        return {**rows_json(rows, timeline.head, unfinished, reset=True), "more": more}

    def overview(self) -> Json:
        """The part of the hello answer that depends on thread and namespace."""
        timeline = self.timeline
        rows = self.all_rows()
        if self.selected is None:
            self.selected = timeline.head
        return {
            "title": timeline.title,
            "thread": timeline.thread_id,
            "ns": timeline.checkpoint_ns,
            "namespaces": timeline.namespaces(),
            "can": can_json(timeline.can),
            "place": timeline.place,
            "scratch": self.scratch_json(),
            "changes": self.changes,
            **self.breakpoints_json(),
            "store": getattr(timeline.graph, "store", None) is not None,
            **shape_of(timeline),
            "notes": self.notes(),
            "rows": rows,
            "selected": self.selected,
        }

    def show(self, thread: str | None, ns: str) -> None:
        """Looks at another thread or namespace."""
        self.require_idle("changing the thread")
        self.timeline = self.timeline.at(thread, ns)
        self.selected = None
        self.done = None

    def notes(self) -> dict[str, str]:
        """What somebody wrote on checkpoints of this thread, by id."""
        if self.timeline.thread_id is None:
            return {}
        return {i: clean(text) for i, text in self.timeline.labels().items()}

    @property
    def table(self) -> ThreadTable:
        """The table of threads of the saver that is looked at."""
        if self._table is None or self._table[0] is not self.timeline.saver:
            self._table = self.timeline.saver, ThreadTable(self.timeline, self.redact.patterns)
        return self._table[1]

    def place(self, ns: Any) -> Session:
        """This session, looking into another namespace for one request."""
        if not isinstance(ns, str) or ns == self.timeline.checkpoint_ns:
            return self
        return cast(Session, Elsewhere(self, self.timeline.inside(ns)))

    @property
    def title(self) -> str:
        """The graph's name and the thread, for pictures and files."""
        return heading(self.timeline)

    def push_all(self) -> None:
        """Tells the page everything again (another graph, another thread)."""
        overview = self.overview()
        self.send({"event": "rows", **overview["rows"]})
        self.send({"event": "graph", **{k: v for k, v in overview.items() if k != "rows"}})

    # -- acts --------------------------------------------------------------------------------

    def traceback_of(self, task: TaskView) -> str | None:
        """The traceback of a task that failed in an act of this session."""
        return self._traces.get((task.id, task.name)) if task.state == "error" else None

    def once(self, act: str | None, do: Callable[[], Json]) -> Json:
        """Does an act unless one with this id was done; then its answer is given again."""
        with self._lock:
            if act and act in self._acts:
                return self._acts[act]
            answer = do()
            if act:
                self._acts[act] = answer
                while len(self._acts) > ACT_LIMIT:
                    self._acts.popitem(last=False)
            return answer

    def head(self) -> str | None:
        """The newest checkpoint, read now."""
        self.timeline.refresh()
        return self.timeline.head

    def note(self, done: Act, before: str | None) -> None:
        """Keeps what was done last, and the head that was before it."""
        self.done, self._before = done, before

    def tell_peers(self) -> None:
        """Lets other Explorers of the same history look at once."""
        mine = self.timeline
        for other in list(PEERS):
            theirs = other.timeline
            same = theirs.saver is mine.saver and theirs.thread_id == mine.thread_id
            if other is not self and same and other.greeted:
                other.worker.poke()

    def start(self, job: Callable[[], None], done: Act | None = None) -> None:
        """Runs an act on a thread of its own; its end is told by an event."""
        self._enter()
        if done is not None:
            self.note(done, self.head())
        threading.Thread(target=self._quiet, args=(job,), name="ckpt-viz-act", daemon=True).start()

    def perform(self, job: Callable[[], None], done: Act | None = None) -> None:
        """Runs an act in the caller's thread and raises what it raises."""
        self._enter()
        if done is not None:
            self.note(done, self.head())
        self._work(job)

    def _enter(self) -> None:
        with self._lock:
            if self._busy:
                raise ActRunningError("A run is still under way here: stop it, or wait for its end")
            self._busy = self.worker.busy = True
            self._stopped = False
        self.send({"event": "run", "state": "running"})

    def _quiet(self, job: Callable[[], None]) -> None:
        try:
            self._work(job)
        except Exception:  # noqa: BLE001 - told to the page by _work; nobody waits in this thread
            return

    def _work(self, job: Callable[[], None]) -> None:
        state, error = "done", None
        try:
            job()
        except BaseException as raised:
            state, error = "error", error_json(raised)
            raise
        finally:
            self._leave(state, error)

    def _leave(self, state: str, error: Json | None) -> None:
        with self._lock:
            self._busy = self.worker.busy = False
        self.timeline.refresh()
        waits = self.timeline.unfinished()
        if error is not None:
            for task in waits:
                if task.status == "error" and task.parent == self.timeline.head:
                    self._traces[task.task, task.name] = error["traceback"]
        elif self._stopped:
            state = "stopped"
        elif any(u.status == "interrupt" and u.parent == self.timeline.head for u in waits):
            state = "interrupt"
        elif self._holds():
            state = "breakpoint"
        self.send({"event": "rows", **self.all_rows(RECENT_ROWS), "reset": False})
        message: Json = {"event": "run", "state": state, "before": self._before}
        if error is not None:
            message["error"] = error
        if self.done is not None:
            told = None if error is None else str(error["message"])
            self.done = replace(self.done, end=self.timeline.head, error=told)
        self.send(message)
        self.worker.poke()
        self.tell_peers()

    def _holds(self) -> bool:
        """True when the run ended before its end: at a breakpoint."""
        head = self.timeline.head
        row = None if head is None else self.timeline.row(head)
        return row is not None and row.status == "pending"

    @property
    def busy(self) -> bool:
        """True while an act runs."""
        return self._busy

    def stop(self) -> bool:
        """Asks the act to end before its next superstep."""
        self._stopped = self._busy and self.timeline.stop()
        return self._stopped

    def close(self) -> None:
        """Ends the worker."""
        self.send({"event": "closed"})
        self.worker.close()
        self.greeted = False

    def reopen(self) -> None:
        """Begins again after `close`, for another page."""
        self.worker = Worker(self.refresh, self.worker.follow)


class Elsewhere:
    """A session seen from inside one of its namespaces: all is the session's but the timeline."""

    def __init__(self, session: Session, timeline: GraphTimeline) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "timeline", timeline)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._session, name, value)
