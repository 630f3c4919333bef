"""Running a compiled graph (any engine) on a history: run, replay, resume, go on, stop.

Rules: an addressed checkpoint must exist; one act at a time; a stop takes effect between
supersteps; a breakpoint holds for every run that is started here.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Mapping
from typing import Any

from ckpt_viz.errors import (
    CkptVizError,
    InvalidUpdateError,
    NothingToResumeError,
    ReadOnlyError,
)
from ckpt_viz.timeline.breaks import Breakpoints, breaking
from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.protocol import OnStep
from ckpt_viz.timeline.rows import read_news
from ckpt_viz.timeline.source import GraphReader
from ckpt_viz.timeline.topology import is_async_graph

_ADDRESS = ("checkpoint_ns", "checkpoint_id", "checkpoint_map")


def is_answer_map(answers: Any) -> bool:
    """True for a dict whose keys all are interrupt ids (32 hex digits)."""
    return (
        isinstance(answers, dict)
        and bool(answers)
        and all(isinstance(k, str) and re.fullmatch("[0-9a-f]{32}", k) for k in answers)
    )


def check_ids(answers: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raises ValueError for an answer to a question that was not asked."""
    unknown = [i for i in answers if i not in asked]
    if unknown:
        known = ", ".join(f"{i} ({place[0]})" for i, place in asked.items()) or "none"
        raise ValueError(f"No interrupt {', '.join(unknown)} here; asked were: {known}")


class ActRunningError(CkptVizError):
    """Another act of this timeline is still running."""


class GraphRuns(GraphReader):
    """The running half of a timeline over a compiled graph."""

    graphless: str | None = None
    """Why nothing can run, where there is no graph; labels and removal may still be possible."""

    def _command(self, **parts: Any) -> Any:
        raise NotImplementedError

    def __init__(
        self,
        graph: Any,
        thread_id: str | None = None,
        checkpoint_ns: str = "",
        colour: Colour | None = None,
    ) -> None:
        """See `GraphReader`; adds the lock that keeps acts apart."""
        super().__init__(graph, thread_id, checkpoint_ns, colour)
        self._act = threading.Lock()
        self._halt = threading.Event()
        self._forbidden: str | None = None
        self.breakpoints = Breakpoints()

    def forbid(self, why: str) -> None:
        """Makes this timeline read-only: every act raises `ReadOnlyError` with this reason."""
        self._forbidden = why

    def _allowed(self) -> None:
        why = self._forbidden or self.graphless
        if why is not None:
            raise ReadOnlyError(why)

    def _update_on(self, graph: Any, config: Any, values: Any, as_node: str | None) -> Any:
        if graph is self.graph and self._async_saver:
            return self.colour.do(
                self.saver,
                lambda saver: self._with(saver).aupdate_state(config, values, as_node=as_node),
            )
        if is_async_graph(graph):
            return self.colour.run(graph.aupdate_state(config, values, as_node=as_node))
        return graph.update_state(config, values, as_node=as_node)

    # -- running -----------------------------------------------------------------------------

    def run(self, value: Any, on_step: OnStep = lambda: None) -> None:
        """Runs with new input on the head of the thread."""
        self._allowed()
        self._check_input(value)
        self._drive(value, self._place(None), on_step)

    def _check_input(self, value: Any) -> None:
        """An input of which the graph would take nothing is an error, in every engine."""
        known = [n for n, c in self.topology.channels.items() if not c.routing]
        if isinstance(value, Mapping) and known != ["__root__"] and not set(value) & set(known):
            named = ", ".join(sorted(str(k) for k in value)) or "none"
            raise InvalidUpdateError(
                f"The input names no channel of the graph, nothing was run: it has {named}; "
                f"the channels are {', '.join(sorted(known))}"
            )

    def replay(self, checkpoint_id: str, on_step: OnStep = lambda: None) -> None:
        """Runs on from the checkpoint; the nodes after it really run again."""
        self.require(checkpoint_id)
        self._drive(None, self._place(checkpoint_id), on_step)

    def resume(
        self, checkpoint_id: str | None, answers: Any, on_step: OnStep = lambda: None
    ) -> None:
        """Answers the open interrupts of a checkpoint (None: of the head) and runs on.

        Where all are answered already, a sibling copy asks again and gets this answer.
        Raises `NothingToResumeError` where nothing waits.
        """
        self._allowed()
        self.refresh()
        target = checkpoint_id or self.head
        if target is None:
            raise NothingToResumeError(f"Thread {self.thread_id!r} has no checkpoint to resume")
        tup = self.require(target)
        asked = self._questions(target)
        news = read_news(tup.pending_writes).values()
        if not any(n.state == "interrupt" for n in news) and any(n.interrupts for n in news):
            answers = self._ask_again(target, answers, asked, on_step)
            target = self.head
        elif not asked and not self.snapshot(target).next:
            raise NothingToResumeError(
                f"Nothing waits for an answer at {target}: no interrupt is open and no node is next"
            )
        elif is_answer_map(answers):
            check_ids(answers, asked)
        at = None if target == self.head else target
        self._drive(self._command(resume=answers), self._place(at), on_step)

    def _questions(self, checkpoint_id: str) -> dict[str, tuple[Any, ...]]:
        """Interrupt id -> its place (node, path, number), the same in a copy."""
        return {
            str(i.id): (task.name, tuple(task.path), k)
            for task in self.snapshot(checkpoint_id).tasks
            for k, i in enumerate(task.interrupts)
        }

    def _ask_again(
        self, checkpoint_id: str, answers: Any, asked: dict[str, tuple[Any, ...]], on_step: OnStep
    ) -> Any:
        if is_answer_map(answers):
            check_ids(answers, asked)
        self._update_on(self.graph, self._reference(checkpoint_id).config, None, "__copy__")
        self._drive(None, self._place(None), on_step)
        if not is_answer_map(answers):
            return answers
        fresh = {place: i for i, place in self._questions(str(self.head)).items()}
        return {fresh[asked[i]]: answer for i, answer in answers.items() if asked[i] in fresh}

    def go_on(self, checkpoint_id: str | None, on_step: OnStep = lambda: None) -> None:
        """Continues from the checkpoint, in place when it is the head."""
        self.refresh()
        at = None if checkpoint_id == self.head else checkpoint_id
        self._drive(None, self._place(at), on_step)

    def _place(self, checkpoint_id: str | None) -> dict[str, Any]:
        """The config to run from. Of a nested graph's checkpoint it names those above it too."""
        config = self._reference(checkpoint_id).config
        if not self.checkpoint_ns:
            return config
        if checkpoint_id is not None:
            config = self.snapshot(checkpoint_id).config
        kept = ("thread_id", *(_ADDRESS if checkpoint_id is not None else ()))
        return {"configurable": {k: v for k, v in config["configurable"].items() if k in kept}}

    def _drive(self, value: Any, config: dict[str, Any], on_step: OnStep) -> None:
        self._allowed()
        if not self._act.acquire(blocking=False):
            raise ActRunningError("An act is still running on this thread: stop it, or wait")
        try:
            self._halt.clear()
            self._run_through(value, config, on_step)
        finally:
            self._act.release()
            self.refresh()
            on_step()

    def _run_through(self, value: Any, config: dict[str, Any], on_step: OnStep) -> None:
        if self._async_saver or is_async_graph(self.graph):
            self.colour.do(
                self.saver,
                lambda saver: self._astream(self._with(saver), value, config, on_step),
            )
        else:
            self._stream(value, config, on_step)

    def _stream(self, value: Any, config: dict[str, Any], on_step: OnStep) -> None:
        with breaking(self.graph, self.breakpoints) as options:
            stream = self.graph.stream(value, config, stream_mode="values", **options)
            with contextlib.closing(stream):
                for _ in stream:
                    on_step()
                    if self._halt.is_set():
                        return

    async def _astream(
        self, graph: Any, value: Any, config: dict[str, Any], on_step: OnStep
    ) -> None:
        with breaking(graph, self.breakpoints) as options:
            stream = graph.astream(value, config, stream_mode="values", **options)
            async with contextlib.aclosing(stream):
                async for _ in stream:
                    on_step()
                    if self._halt.is_set():
                        return

    @property
    def running(self) -> bool:
        """True while an act runs."""
        return self._act.locked()

    def stop(self) -> bool:
        """Asks the running act to end before its next superstep; False when none runs."""
        if not self.running:
            return False
        self._halt.set()
        return True
