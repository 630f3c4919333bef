"""The Explorer: an anywidget whose page talks to a `Session` by small messages.

Rules: a message handler only puts the request in the worker's queue; nothing of the state is a
synced trait (it would be saved into the notebook); Python's own calls never wait for the page.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from IPython.display import display, update_display

from ckpt_viz.explorer.bundle import script_text, style_text
from ckpt_viz.explorer.export import write_export
from ckpt_viz.explorer.landing import THREADS, svg_threads, text_threads
from ckpt_viz.explorer.messages import answer
from ckpt_viz.explorer.methods import Acts, Selection
from ckpt_viz.explorer.outputs import note_output
from ckpt_viz.explorer.panels import Json, hidden_diff
from ckpt_viz.explorer.session import Session
from ckpt_viz.explorer.static import svg_tree, text_tree
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.blame import Blame, blame
from ckpt_viz.timeline.diff import Diff
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.paths import parse
from ckpt_viz.timeline.records import ThreadInfo
from ckpt_viz.timeline.search import search
from ckpt_viz.timeline.watch import Point, watch

THEMES = ("auto", "light", "dark")


class Explorer(Acts, anywidget.AnyWidget):
    """The checkpoint explorer of one graph; make it with `explore()`."""

    _esm = script_text()
    _css = style_text()
    height = traitlets.Int(560).tag(sync=True)
    theme = traitlets.Enum(THEMES, "auto").tag(sync=True)

    def __init__(
        self,
        timeline: GraphTimeline,
        *,
        redact: Sequence[str] = (),
        height: int = 560,
        theme: str = "auto",
        follow: bool = True,
    ) -> None:
        """Takes a timeline; see `explore` for the other arguments."""
        self._session_id = uuid.uuid4().hex[:12]
        self._session = Session(timeline, self._send_json, redact, follow)
        self._session.export = self.export
        self._session.redraw = self._redraw
        self._shown = False
        self.cells: set[str] = set()
        super().__init__(height=height, theme=theme)
        self.on_msg(self._received)

    def _twin(self, timeline: GraphTimeline) -> Explorer:
        session = self._session
        return Explorer(
            timeline,
            redact=session.redact.patterns,
            height=self.height,
            theme=self.theme,
            follow=session.worker.follow,
        )

    # -- the page ----------------------------------------------------------------------------

    def _send_json(self, message: Json) -> None:
        self.send(self._session.hidden(message))

    def _received(self, _widget: Any, content: Any, _buffers: Any) -> None:
        self._session.worker.put(lambda: self._reply(content))

    def _reply(self, content: Any) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "export":
            content = {**content, "folder": str(Path.cwd())}
        self._session.redact.learn(content)
        reply = answer(self._session, content)
        if kind == "hello" and reply["ok"]:
            extra = {"session": self._session_id, "height": self.height, "theme": self.theme}
            reply["result"] |= extra
        self._send_json(reply)

    def close(self) -> None:
        """Stops following, and takes the view away."""
        session = getattr(self, "_session", None)
        if session is not None:
            session.close()
        super().close()

    def retire(self) -> None:
        """As `close`, until it is shown again."""
        self.close()
        self.__dict__.pop("_repr_mimebundle_", None)  # a closed widget has none, for good

    def _reopen(self) -> None:
        if self.comm is None:
            self.open()
            self._session.reopen()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self._reopen()
        found = super()._repr_mimebundle_(**kwargs)
        data, metadata = found if isinstance(found, tuple) else (found or {}, {})
        return {**data, **self._picture()}, metadata

    def _picture(self) -> dict[str, str]:
        timeline = self._session.timeline
        if timeline.thread_id is None:
            listed = self._threads()
            return {"image/svg+xml": svg_threads(*listed), "text/plain": text_threads(*listed)}
        timeline.refresh()
        rows, more, notes = timeline.known(), timeline.more, self._session.notes()
        title, waits = self._session.title, timeline.unfinished()
        return {
            "image/svg+xml": svg_tree(rows, title, waits, more=more, notes=notes),
            "text/plain": text_tree(rows, title, more=more, notes=notes),
        }

    def _threads(self) -> tuple[list[ThreadInfo], str, int]:
        timeline = self._session.timeline
        return timeline.threads(limit=THREADS), self._session.title, timeline.thread_count()

    def _redraw(self) -> None:
        """Puts the picture of the tree as it is now in the place of the saved one."""
        if self._shown:
            update_display(self._picture(), display_id=self._picture_id, raw=True)  # type: ignore[no-untyped-call]

    @property
    def _picture_id(self) -> str:
        return f"ckpt-viz-{self._session_id}"

    def _ipython_display_(self) -> None:
        # Two outputs: JupyterLab prefers the widget to a picture in the same output even where no
        # kernel can fill it. The page's style hides the second one while the first is alive.
        note_output(self)
        data, metadata = self._repr_mimebundle_()
        static = {kind: data.pop(kind) for kind in ("image/svg+xml", "text/plain")}
        if data:
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        self._session.drawn()
        display(static, display_id=self._picture_id, raw=True)  # type: ignore[no-untyped-call]
        self._shown = True

    def __repr__(self) -> str:
        """The tree as text; without a thread, the threads."""
        timeline = self._session.timeline
        if timeline.thread_id is None:
            return self._session.hidden_text(text_threads(*self._threads()))
        timeline.refresh()
        return self._session.hidden_text(
            text_tree(
                timeline.known(),
                self._session.title,
                timeline.unfinished(),
                more=timeline.more,
                notes=self._session.notes(),
            )
        )

    # -- Python ------------------------------------------------------------------------------

    def diff(self, a: str | None, b: str | None = None) -> Diff:
        """The difference from checkpoint `a` to `b` (None: the selected one)."""
        before = {} if a is None else self.timeline.snapshot(a).values
        after = self.timeline.snapshot(b or self._base()).values
        return hidden_diff(before, after, self._session.redact)

    def blame(self, path: str) -> Blame:
        """Who wrote the value at a path of the selected state, such as "messages[-1].content".

        Raises:
            PathError: the text is no path. LookupError: there is no such value.
        """
        return blame(self.timeline, self._base(), parse(path).steps)

    def search(self, query: str) -> list[Selection]:
        """The checkpoints that a query means, newest first: `node:tool messages~"refund" error`.

        Raises:
            QueryError: the query cannot be understood; the text says where.
        """
        return [Selection(self.timeline, id_) for id_ in search(self.timeline, query).ids]

    def watch(self, path: str) -> tuple[Point, ...]:
        """A path's value at each step of the selected branch up to here, oldest first.

        Raises:
            PathError: the text is no path.
        """
        return watch(self.timeline, self._base(), path)

    def refresh(self) -> Explorer:
        """Reads what is new now."""
        self._session.refresh()
        return self

    def export(self, path: str | Path) -> Path:
        """Writes the history to a file: .html (browsable, offline), .svg, .dot or .json."""
        return write_export(self._session, path)


def explore(
    source: Any,
    thread_id: str | None = None,
    *,
    graph: Any = None,
    checkpoint_ns: str = "",
    at: str | int | None = None,
    write: bool | None = None,
    key: bytes | str | None = None,
    redact: Sequence[str] = (),
    height: int = 560,
    theme: str = "auto",
    follow: bool = True,
    big: bool = False,
) -> Explorer:
    """Shows the history of a compiled graph (of this package or of LangGraph), a saver, a path, …

    A path or an address is read-only unless `write=True`; `key` decrypts it.
    `at` selects a checkpoint by id or step. `redact` names channels or paths (`user.token`,
    `*.api_key`) whose values never leave Python. `write=False` refuses every act. `big` asks for a
    taller view (900 px).
    Without `thread_id`: the only thread, else a table of threads.
    """
    timeline = open_timeline(source, thread_id, checkpoint_ns, graph, write=write, key=key)
    if timeline.thread_id is None:
        threads = timeline.threads(limit=2)
        if len(threads) == 1:
            timeline = timeline.at(threads[0].id, checkpoint_ns)
    explorer = Explorer(
        timeline, redact=redact, height=900 if big else height, theme=theme, follow=follow
    )
    if isinstance(at, int):
        explorer.select(step=at)
    elif at is not None:
        explorer.select(at)
    return explorer
