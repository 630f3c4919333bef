"""Node bodies on any ``concurrent.futures.Executor``: threads, processes, loky, Dask.

Only the body travels, as bytes, with its input and what it may ask for; channels, commits, routers
and streams stay with the driver. What it raises comes back as itself, with the traceback of the
other side as a note. A chunk that it writes arrives when it has ended; the store stays at home.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.constants import RESUME, TASK
from ckpt_viz.envelope import seal, unseal
from ckpt_viz.errors import GraphBubbleUp, GraphInterrupt, SerializationError
from ckpt_viz.ids import interrupt_id
from ckpt_viz.pregel.models import answer_schema, fitted
from ckpt_viz.pregel.pending import open_interrupts
from ckpt_viz.pregel.run import Run, told
from ckpt_viz.pregel.scope import TaskScope
from ckpt_viz.runtime import RunControl, Runtime
from ckpt_viz.types import Interrupt, scope

_SENT = ("configurable", "metadata", "tags", "recursion_limit", "max_concurrency")


@dataclass(slots=True)
class Call:
    """A body with all that it is given."""

    func: Callable[..., Any]
    value: Any
    wants: tuple[str, ...]
    config: dict[str, Any]
    context: Any
    previous: Any
    info: Any
    failure: Any
    resumes: list[Any]
    by_id: dict[str, Any]
    single: list[Any]


@dataclass(slots=True)
class Reply:
    """What came of a call. ``trace`` is the other side's traceback."""

    output: Any = None
    error: BaseException | None = None
    trace: str = ""
    asked: int = 0
    resumes: list[Any] = field(default_factory=list)
    single: list[Any] = field(default_factory=list)
    chunks: list[Any] = field(default_factory=list)
    drain: str | None = None


class RemoteScope:
    """What `ckpt_viz.types.scope` holds while a body runs on the other side."""

    run = None
    task = None
    beat = None
    hears = False

    def __init__(self, call: Call, reply: Reply) -> None:
        self.call = call
        self.reply = reply
        self.config = call.config
        self.previous = call.previous
        self.error = call.failure
        reply.resumes, reply.single = call.resumes, call.single
        self.runtime: Runtime[Any] = Runtime(
            context=call.context,
            stream_writer=self.writer,
            previous=call.previous,
            execution_info=call.info,
            control=RunControl(),
        )

    def writer(self, chunk: Any) -> None:
        """Keep a chunk for the custom stream."""
        self.reply.chunks.append(chunk)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(
            f"{name!r} stays with the run and cannot be used by a node that an executor runs. "
            "Use it in a node of a run without `executor`."
        )

    def ask(self, value: Any, schema: Any = None) -> Any:
        """As `ckpt_viz.pregel.scope.TaskScope.ask`."""
        call, reply = self.call, self.reply
        index, reply.asked = reply.asked, reply.asked + 1
        if index < len(reply.resumes):
            return fitted(schema, reply.resumes[index])
        id_ = interrupt_id(call.info.checkpoint_ns, index)
        if id_ in call.by_id:
            given = call.by_id.pop(id_)
        elif reply.single:
            given = reply.single.pop()
        else:
            raise GraphInterrupt((Interrupt(value, id_, answer_schema(schema)),))
        answer = fitted(schema, given)
        reply.resumes.append(given)
        return answer

    def arguments(self, wants: tuple[str, ...]) -> dict[str, Any]:
        """The keyword arguments that a node asked for by name."""
        return {name: getattr(self, name) for name in wants}


def work(sealed: bytes) -> bytes:
    """The other side: open a call, make it, and seal what came of it."""
    call, reply = unseal(sealed), Reply()
    own = RemoteScope(call, reply)
    token = scope.set(own)
    try:
        output = call.func(call.value, **own.arguments(call.wants))
        reply.output = _awaited(output) if inspect.isawaitable(output) else output
    except BaseException as error:  # noqa: BLE001 - everything goes back to the driver
        reply.error, reply.trace = error, traceback.format_exc()
    finally:
        scope.reset(token)
    assert own.runtime.control is not None
    reply.drain = own.runtime.control.drain_reason
    return _sealed(reply)


def _awaited(output: Any) -> Any:
    import asyncio  # noqa: PLC0415 - only an async body needs it

    async def wait() -> Any:
        return await output

    return asyncio.run(wait())


def _sealed(reply: Reply) -> bytes:
    try:
        found = seal(reply)
        unseal(found)  # an exception may go in and not come out again
        return found
    except Exception as error:  # noqa: BLE001 - told in place of what cannot travel
        lost = reply.error
        if lost is not None:
            error = RuntimeError(f"{told(lost)} was raised, and cannot be sent back: {told(error)}")
        return seal(Reply(error=error, trace=reply.trace))


def _sent(config: dict[str, Any]) -> dict[str, Any]:
    """What of a task's config travels: nothing that leads back into the run."""
    found = {k: v for k, v in config.items() if k in _SENT}
    where = config["configurable"]
    found["configurable"] = {k: v for k, v in where.items() if k not in (TASK, "checkpoint_map")}
    return found


class Remote:
    """One run's way to its executor."""

    __slots__ = ("executor", "run")

    def __init__(self, run: Run, executor: Any) -> None:
        self.run = run
        self.executor = executor

    def call(self, own: TaskScope) -> Any:
        """What a task's body returns on the executor.

        Raises:
            SerializationError: the body or its input cannot be sent.
            BaseException: what the body raised.
        """
        return self.finish(own, self.begin(own).result())

    def begin(self, own: TaskScope) -> Future[bytes]:
        """Hand a task's body over."""
        run, task, node = self.run, own.task, own.task.node
        answers, runtime = run.answers, own.runtime
        asks = task.id in open_interrupts(run.pending)
        single = answers.take_single() if asks else []
        call = Call(
            node.call,
            task.input,
            node.wants,
            _sent(own.config),
            runtime.context,
            runtime.previous,
            runtime.execution_info,
            getattr(task, "failure", None),
            task.resumes,
            answers.every(),
            single,
        )
        try:
            sealed = seal(call)
        except TypeError as error:
            answers.single += single
            raise SerializationError(
                f"Cannot send node {node.name!r} with its input to the executor: {error}"
            ) from error
        found: Future[bytes] = self.executor.submit(work, sealed)
        return found

    def finish(self, own: TaskScope, data: bytes) -> Any:
        """Take up what came of a body, and return or raise it."""
        run, task, reply = self.run, own.task, unseal(data)
        for chunk in reply.chunks:
            own.writer(chunk)
        task.resumes = reply.resumes
        if reply.asked and reply.resumes:
            task.special = [(RESUME, list(reply.resumes))]
        run.answers.single += reply.single
        for answered in range(len(reply.resumes)):
            id_ = interrupt_id(task.ns, answered)
            run.answers.answers(id_).pop(id_, None)
        if reply.drain is not None:
            run.control.request_drain(reply.drain)
        if reply.error is None:
            return reply.output
        if not isinstance(reply.error, GraphBubbleUp):
            reply.error.add_note(f"On the executor:\n{reply.trace}")
        raise reply.error
