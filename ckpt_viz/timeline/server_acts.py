"""The timeline of a LangGraph server's thread: its acts are runs on the server.

Nothing of the graph is here: an edit cannot be foreseen, and a run cannot be tried on a copy. Runs
stream debug events, so that each step shows as it happens; stopping one cancels it on the server
and keeps what was saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ckpt_viz.errors import CkptVizError, ReadOnlyError
from ckpt_viz.timeline.event_log import error_line
from ckpt_viz.timeline.protocol import OnStep
from ckpt_viz.timeline.records import Able, ForkPreview, Row, Topology
from ckpt_viz.timeline.retold import RecordedTimeline
from ckpt_viz.timeline.server import PAGE, ServerSaver

FORESEE = "The reducers and routers are on the server, which cannot try them: fork to see"


class ServerRunError(CkptVizError):
    """A run on the server ended with an error; the text is the server's."""


@dataclass(frozen=True, slots=True)
class _Command:
    parts: dict[str, Any]


class ServerTimeline(RecordedTimeline):
    """The history of a thread of a LangGraph server, and runs of it there."""

    saver: ServerSaver
    graphless = None

    def _why_not(self) -> str | None:
        return None

    @property
    def place(self) -> str:
        """Where an act writes."""
        return f"the LangGraph server at {self.saver.url}"

    @property
    def topology(self) -> Topology:
        """The graph's shape as the server draws it; inside a nested graph, as its tasks tell."""
        if self.thread_id is not None:
            self.saver.learn_shape(self.thread_id)
        return super().topology

    def _can_scratch(self) -> Able:
        return Able(False, "The graph is on the server: it cannot be run on a copy here")

    def preview(
        self,
        checkpoint_id: str,
        values: Any,
        as_node: str | None = None,
        replace: Sequence[str] = (),
    ) -> ForkPreview:
        """Raises `ReadOnlyError`: only the server could tell."""
        raise ReadOnlyError(FORESEE)

    def older(self, limit: int = PAGE) -> list[Row]:
        """As of any history; versions begin earlier now, so what was read gets them anew."""
        with self._lock:
            known = sorted(self._lights)
            found = {row.id: row for row in super().older(limit)}
            fresh = [self._lighten(self.require(id_)) for id_ in known]
            found |= {row.id: row for row in self._book.add(fresh)}
            return [found[id_] for id_ in sorted(found)]

    # -- acts --------------------------------------------------------------------------------

    def _check_input(self, value: Any) -> None:
        if any(not channel.routing for channel in self.topology.channels.values()):
            super()._check_input(value)

    def _command(self, **parts: Any) -> Any:
        return _Command(parts)

    def _overwrite(self, value: Any) -> Any:
        return {"__overwrite__": value}

    def _update_on(self, graph: Any, config: Any, values: Any, as_node: str | None) -> Any:
        where = config["configurable"]
        return self.saver.ask(
            lambda: self.saver.client.threads.update_state(
                where["thread_id"], values, as_node=as_node, checkpoint=_point(where)
            )
        )

    def _run_through(self, value: Any, config: dict[str, Any], on_step: OnStep) -> None:
        self.saver.ask(lambda: self._serve(value, config["configurable"], on_step))

    def _serve(self, value: Any, where: dict[str, Any], on_step: OnStep) -> None:
        thread = str(where["thread_id"])
        begin: dict[str, Any] = (
            {"command": value.parts} if isinstance(value, _Command) else {"input": value}
        )
        if where.get("checkpoint_id"):
            begin["checkpoint"] = _point(where)
        run, failure = None, None
        for part in self.saver.client.runs.stream(
            thread,
            self.saver.assistant_of(thread),
            stream_mode="debug",
            interrupt_before=list(self.breakpoints.before) or None,
            interrupt_after=list(self.breakpoints.after) or None,
            multitask_strategy="reject",
            **begin,
        ):
            if part.event == "metadata":
                run = part.data.get("run_id")
            elif part.event == "error":
                failure = error_line(part.data)
            on_step()
            if self._halt.is_set() and run is not None:
                self.saver.client.runs.cancel(thread, run, action="interrupt")
                return
        if failure is not None:
            raise ServerRunError(failure)


def _point(where: dict[str, Any]) -> dict[str, Any] | None:
    """The part of a config that addresses a checkpoint."""
    kept = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
    return {k: where[k] for k in kept if k in where} if "checkpoint_id" in where else None


def is_server(source: Any) -> bool:
    """Whether a source is the address of a server."""
    return isinstance(source, str) and source.startswith(("http://", "https://"))


def open_server(url: str, thread_id: str | None, checkpoint_ns: str = "") -> ServerTimeline:
    """The timeline of a server's threads; `url#NAME` chooses the assistant that acts.

    Raises:
        SourceError: no server answers there, or langgraph-sdk is not installed.
    """
    saver = ServerSaver(url)
    graph = SimpleNamespace(name=saver.name, checkpointer=saver)
    return ServerTimeline(graph, thread_id, checkpoint_ns)
