"""The acts of the Explorer as methods: what the page does, Python does too.

Rules: a method acts on the selected checkpoint, runs in the caller's thread, raises what the act
raises, and selects what the act made; it never waits for the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from ckpt_viz.errors import MissingThreadIdError
from ckpt_viz.explorer.copying import code_of
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.breaks import Breakpoints
from ckpt_viz.timeline.edits import Edit
from ckpt_viz.timeline.paths import parse
from ckpt_viz.timeline.records import Act, ForkPreview


class Selection:
    """One checkpoint, as Python sees it; `config` can be given to the graph's own methods."""

    def __init__(self, timeline: GraphTimeline, checkpoint_id: str) -> None:
        """Reads nothing yet."""
        self._timeline = timeline
        self.id = checkpoint_id

    @property
    def snapshot(self) -> Any:
        """The `StateSnapshot`, read now."""
        return self._timeline.snapshot(self.id)

    @property
    def config(self) -> dict[str, Any]:
        """The config that addresses this checkpoint."""
        config: dict[str, Any] = self.snapshot.config
        return config

    @property
    def values(self) -> Any:
        """The state's values."""
        return self.snapshot.values

    def __repr__(self) -> str:
        """The id and the thread; no values."""
        return f"Selection({self.id!r}, thread {self._timeline.thread_id!r})"


class Acts:
    """The acting half of the Explorer."""

    _session: Session

    @property
    def changes(self) -> str:
        """What the graph that was set last has other than the one before, in words."""
        changes = self._session.changes or {}
        named = [
            f"{word}: {', '.join(changes[key])}"
            for key, word in (("new", "new"), ("gone", "gone"))
            if changes.get(key)
        ]
        return f" ({'; '.join(named)})" if named else ""

    def _twin(self, timeline: GraphTimeline) -> Self:
        """An Explorer like this one of another history."""
        raise NotImplementedError

    @property
    def timeline(self) -> GraphTimeline:
        """The history that is shown."""
        return self._session.timeline

    @property
    def graph(self) -> Any:
        """The graph that acts run on. Set a new one to run on with new code."""
        return self.timeline.graph

    @graph.setter
    def graph(self, graph: Any) -> None:
        self._session.adopt(graph)

    @property
    def head(self) -> Selection | None:
        """The newest checkpoint."""
        self.timeline.refresh()
        return self._selection(self.timeline.head)

    @property
    def selected(self) -> Selection | None:
        """The checkpoint that is selected (the head at first)."""
        if self._session.selected is None:
            return self.head
        return self._selection(self._session.selected)

    def _selection(self, checkpoint_id: str | None) -> Selection | None:
        return None if checkpoint_id is None else Selection(self.timeline, checkpoint_id)

    def select(self, checkpoint_id: str | None = None, *, step: int | None = None) -> Selection:
        """Selects a checkpoint by id or by step (of several at a step: the newest).

        Raises:
            LookupError: there is none. TypeError: neither is given, or an id that is no text.
        """
        if checkpoint_id is not None and not isinstance(checkpoint_id, str):
            raise TypeError(f"An id is a text; a step is selected with step={checkpoint_id!r}")
        if checkpoint_id is None and step is None:
            raise TypeError("Which checkpoint? Give its id, or step=")
        if checkpoint_id is None:
            checkpoint_id = self._at_step(step)
        self.timeline.require(checkpoint_id)
        self._session.selected = checkpoint_id
        self._session.send({"event": "select", "checkpoint": checkpoint_id})
        return Selection(self.timeline, checkpoint_id)

    def _need_thread(self) -> None:
        if self.timeline.thread_id is None:
            raise MissingThreadIdError(
                "No thread is chosen: explore(…, thread_id='…'), or pick one in the table"
            )

    def _at_step(self, step: int | None) -> str:
        self._need_thread()
        rows = self.timeline.rows()
        for row in reversed(rows):
            if row.step == step:
                return row.id
        steps = sorted({row.step for row in rows})
        raise LookupError(f"No checkpoint at step {step}; the steps here are {steps}")

    def _base(self) -> str:
        selected = self.selected
        if selected is None:
            self._need_thread()
            raise LookupError(
                f"Thread {self.timeline.thread_id!r} has no checkpoints yet: run the graph first"
            )
        return selected.id

    @property
    def breakpoints(self) -> Breakpoints:
        """Where runs that are started here end; `set_breakpoints` sets them."""
        return self.timeline.breakpoints

    def set_breakpoints(self, before: Iterable[str] = (), after: Iterable[str] = ()) -> Self:
        """Ends the runs that are started here before and after nodes; without any, nowhere.

        A node of a nested graph is named with colons: "sub:node". `resume()` goes on.

        Raises:
            ValueError: there is no such node; the text names those there are.
        """
        self._session.set_breakpoints(Breakpoints.of(self.graph, before, after))
        return self

    def fork(
        self, values: Any, as_node: str | None = None, replace: Sequence[str] = ()
    ) -> Selection:
        """Saves an edited child of the selected checkpoint, and selects it. Runs nothing.

        `values` go through the channels' reducers, but for those named in `replace`. `as_node`:
        the node that is said to have returned them; what follows it runs next.
        """
        return self._fork(Act("fork", self._base(), values, as_node, tuple(replace)))

    def edit(self, path: str, value: Any, as_node: str | None = None) -> Selection:
        """Forks with one value changed at its path, such as "messages[-1].content".

        Only that path's channel is written, as a whole: its reducer is not asked.

        Raises:
            PathError: the text is no path. LookupError: it leads nowhere. LockedError: it leads
            to what can't be set.
        """
        base = self._base()
        edit = Edit(parse(path).steps, value)
        values, replace = self.timeline.with_edits(base, [edit], None, ())
        return self._fork(Act("fork", base, values, as_node, replace))

    def _fork(self, fork: Act) -> Selection:
        session, before = self._session, self._session.head()
        new = self.timeline.update(str(fork.base), fork.values, fork.as_node, fork.replace)
        session.refresh()
        session.note(fork, before)
        session.tell_peers()
        return self.select(new)

    def preview(
        self, values: Any, as_node: str | None = None, replace: Sequence[str] = ()
    ) -> ForkPreview:
        """What `fork` would give. Writes nothing; reducers and routers run, nodes don't."""
        return self.timeline.preview(self._base(), values, as_node, replace)

    def make_head(self) -> Selection:
        """Makes the selected checkpoint the newest again, by a copy of it."""
        return self._fork(Act("fork", self._base(), None, "__copy__"))

    def scratch(self) -> Self:
        """Another Explorer on an in-memory copy of the selected checkpoint's lineage.

        Acts there run the graph's nodes, but this history stays as it is.
        """
        selected = self.selected
        return self._twin(self.timeline.scratch(None if selected is None else selected.id))

    def replay(self, live: bool = True) -> Selection:
        """Runs on from the selected checkpoint. With `live=False` runs nothing."""
        base = self._base()
        if not live:
            return Selection(self.timeline, base)
        return self._act(lambda poke: self.timeline.replay(base, poke), Act("replay", base))

    def resume(self, answer: Any = None) -> Selection:
        """Answers the open interrupt of the selected checkpoint, or goes on when answer is None.

        Several interrupts: give a map from interrupt id to answer. Where all are answered, a
        branch beside it asks again and gets this answer.
        """
        base = self._base()
        done = Act("resume", base, answer)
        if answer is None:
            return self._act(lambda poke: self.timeline.go_on(base, poke), done)
        return self._act(lambda poke: self.timeline.resume(base, answer, poke), done)

    def run(self, value: Any = None) -> Selection:
        """Runs the graph with new input on the thread's head; without input, goes on."""
        done = Act("run", self.timeline.head, value)
        return self._act(lambda poke: self.timeline.run(value, poke), done)

    def _act(self, do: Callable[[Callable[[], None]], None], done: Act) -> Selection:
        self._session.perform(lambda: do(self._session.worker.poke), done)
        head = self.timeline.head
        if head is None:
            raise LookupError("The run left no checkpoint")
        return self.select(head)

    def code(self, form: str = "python") -> str:
        """What was done last here, as code; before any act, the selected checkpoint.

        `form` is "python" (for this notebook) or "pytest" (a test that stands alone).

        Raises:
            NoSourceError: a value or the graph has no source.
        """
        if form not in ("python", "pytest"):
            raise ValueError(f"form is 'python' or 'pytest', not {form!r}")
        meant = self._session.done or self._base()
        return code_of(self._session, form == "pytest", meant)

    def stop(self) -> bool:
        """Asks the act under way to end before its next superstep."""
        return self._session.stop()
