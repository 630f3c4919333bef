"""The scope of one running task: its config, its answers, its store and stream writer."""

from __future__ import annotations

import threading
import time
from typing import Any, Protocol

from ckpt_viz.channels import MISSING
from ckpt_viz.constants import NS_SEP, PREVIOUS, RESUME, TAG_HIDDEN, TASK
from ckpt_viz.errors import GraphInterrupt
from ckpt_viz.ids import checkpoint_id, interrupt_id
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.models import answer_schema, fitted
from ckpt_viz.pregel.program import Program
from ckpt_viz.pregel.settings import Settings, named
from ckpt_viz.pregel.task import Task
from ckpt_viz.runtime import DEFAULT_RUNTIME, ExecutionInfo, RunControl, Runtime
from ckpt_viz.types import Interrupt, StreamWriter


class Answers:
    """The answers of one run: a single one that exactly one question may take, and a map by id.

    A nested run's questions are also answered from ``above``, the answers of the run around it.
    """

    __slots__ = ("above", "by_id", "single")

    def __init__(self, above: Answers | None = None) -> None:
        self.above = above
        self.single: list[Any] = []
        self.by_id: dict[str, Any] = {}

    def take(self, id_: str) -> list[Any]:
        """The answer to a question, which nobody else gets then; an empty list without one."""
        found = self.answers(id_)
        return [found.pop(id_)] if found else self.take_single()

    def answers(self, id_: str) -> dict[str, Any]:
        """The map that has an answer by this id; an empty one without."""
        if id_ in self.by_id:
            return self.by_id
        return self.above.answers(id_) if self.above is not None else {}

    def every(self) -> dict[str, Any]:
        """All answers by id."""
        return {**self.by_id, **(self.above.every() if self.above is not None else {})}

    def take_single(self) -> list[Any]:
        """The answer without an id, which nobody else gets then; an empty list without one."""
        try:
            return [self.single.pop()]
        except IndexError:  # there is none, or another thread's question took it
            return self.above.take_single() if self.above is not None else []


class Surroundings(Protocol):
    """What a scope needs of its run."""

    answers: Answers
    control: RunControl
    live: Live
    program: Program
    settings: Settings
    store: Any

    def below(self) -> dict[str, Any]:
        """The checkpoint ids of this run and those above it, by namespace."""

    def writer(self, chunk: Any) -> None:
        """Put a chunk into the custom stream."""

    def custom(self, ns: tuple[str, ...], chunk: Any) -> None:
        """Put a chunk into the custom stream as that of the graph at a namespace."""


_counting = threading.Lock()


class TaskScope:
    """What `ckpt_viz.types.scope` holds while a node runs. Everything is made on demand."""

    __slots__ = ("_config", "asked", "output", "pushed", "run", "task")

    attempt = 1
    began: float | None = None
    beat: Any = None
    hears = False

    def __init__(self, task: Task, run: Surroundings) -> None:
        self.task = task
        self.run = run
        self.asked = 0
        self.output: Any = None
        self.pushed: list[tuple[str, Any]] | None = None
        self._config: dict[str, Any] | None = None

    def count(self) -> int:
        """How many graphs the task has called before this one."""
        with _counting:
            self.task.graphs += 1
            return self.task.graphs - 1

    def push(self, channel: str, value: Any) -> None:
        """Write to a channel, before what the node returns."""
        self.pushed = [*(self.pushed or ()), (channel, value)]

    @property
    def store(self) -> Any:
        """The graph's store."""
        return self.run.store

    @property
    def writer(self) -> StreamWriter:
        """Puts a chunk into the custom stream."""
        if self.task.caller is None:
            return self.run.writer
        ns = tuple(self.task.ns.split(NS_SEP))[:-1]
        return lambda chunk: self.run.custom(ns, chunk)

    def ask(self, value: Any, schema: Any = None) -> Any:
        """Answer the task's next question, or stop the task with it.

        An answer that does not fit the schema is not kept: the question can be answered again.
        """
        task, answers = self.task, self.run.answers
        index = self.asked
        self.asked += 1
        if index < len(task.resumes):
            self._note()
            return fitted(schema, task.resumes[index])
        id_ = interrupt_id(task.ns, len(task.resumes))
        found = answers.take(id_)
        if not found:
            raise GraphInterrupt((Interrupt(value, id_, answer_schema(schema)),))
        answer = fitted(schema, found[0])
        task.resumes += found
        self._note()
        return answer

    @property
    def resumed(self) -> bool:
        """Whether the task has answers, or may take one: its questions must keep their order."""
        answers: Answers | None = self.run.answers
        while answers is not None:
            if answers.single or answers.by_id:
                return True
            answers = answers.above
        return bool(self.task.resumes)

    def _note(self) -> None:
        """The answers become a pending write, so that the next attempt has them too."""
        self.task.special = [(RESUME, list(self.task.resumes))]

    def below(self) -> dict[str, Any]:
        """The checkpoints that a graph called here runs under; callers have the run's own."""
        ids, callers, caller = self.run.below(), [], self.task.caller
        while caller is not None:
            callers.append(caller.ns)
            caller = caller.caller
        return {**ids, **dict.fromkeys(reversed(callers), self.run.live.id)} if callers else ids

    @property
    def config(self) -> dict[str, Any]:
        """The config that a node with a ``config`` parameter gets: the same object each time."""
        if self._config is None:
            task, base = self.task, self.run.settings.config
            found = {k: v for k, v in base.items() if k not in ("run_name", "run_id")}
            found["configurable"] = {
                **base["configurable"],
                "checkpoint_map": self.below(),
                "checkpoint_id": None,
                "checkpoint_ns": task.ns,
                TASK: self,
            }
            found["metadata"] = {
                **named(base),
                "langgraph_step": task.step,
                "langgraph_node": task.name,
                "langgraph_triggers": task.triggers,
                "langgraph_path": task.path,
                "langgraph_checkpoint_ns": task.ns,
                **(task.node.metadata or {}),
            }
            tags = [*task.node.tags, *([TAG_HIDDEN] if task.node.hidden else ())]
            if tags:
                found["tags"] = [*(base.get("tags") or ()), *tags]
            found.setdefault("callbacks", None)  # a key that nodes may count on
            self._config = found
        return self._config

    @property
    def runtime(self) -> Runtime[Any]:
        """The record that a node with a ``runtime`` parameter gets."""
        run, task, config = self.run, self.task, self.run.settings.config
        info = ExecutionInfo(
            task.base or checkpoint_id(task.step),
            task.ns,
            task.id,
            config["configurable"].get("thread_id"),
            None if (run_id := config.get("run_id")) is None else str(run_id),
            self.attempt,
            self.began or time.time(),
        )
        return Runtime(
            context=run.settings.context,
            store=self.store,
            stream_writer=self.writer,
            heartbeat=self.beat or DEFAULT_RUNTIME.heartbeat,
            previous=self.previous,
            execution_info=info,
            control=run.control,
        )

    @property
    def error(self) -> Any:
        """The failure that an error handler handles."""
        return self.task.failure  # type: ignore[attr-defined]

    @property
    def previous(self) -> Any:
        """What the thread's last run of an entrypoint saved."""
        found = self.run.live.get(PREVIOUS) if PREVIOUS in self.run.program.channels else None
        return None if found is MISSING else found

    def arguments(self, wants: tuple[str, ...]) -> dict[str, Any]:
        """The keyword arguments that a node asked for by name."""
        return {name: getattr(self, name) for name in wants}
