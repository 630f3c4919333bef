"""What a run shares with langchain_core: the config of the running task, and its callbacks.

langchain_core is never needed and never imported for its own sake. When it is loaded already, the
running task's config is put into its context variable, so that a model called in a node finds its
callbacks, tags and metadata there. Callbacks are told of the graph as one chain and of each node
as a chain inside it; a run that nobody listens to pays for none of this.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import uuid4

from ckpt_viz.pregel.callables import is_runnable
from ckpt_viz.pregel.requests import Ask
from ckpt_viz.pregel.settings import named
from ckpt_viz.types import scope

Script = Generator[Any, Any, Any]
_CONFIG = "langchain_core.runnables.config"


class _TaskConfig(Mapping[str, Any]):
    """The config of whichever task runs where it is read: one object stands for all of them."""

    def _now(self) -> dict[str, Any]:
        current = scope.get(None)
        if current is None:
            return {}
        config = current.config
        if config.get("callbacks") is None:  # nobody listens; langchain_core expects a parent run
            kind = sys.modules[_CONFIG].CallbackManager
            config["callbacks"] = kind([], parent_run_id=uuid4())
        return config

    def __getitem__(self, key: str) -> Any:
        return self._now()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def items(self) -> Any:
        return self._now().items()

    def copy(self) -> dict[str, Any]:
        return dict(self._now())


_HERE = _TaskConfig()


def enter(task_scope: Any) -> None:
    """Make a task the running one in this context, for us and for a loaded langchain_core.

    Call it inside the context that the node is called in: it sets context variables.
    """
    scope.set(task_scope)
    if (core := sys.modules.get(_CONFIG)) is not None:
        core.var_child_runnable_config.set(_HERE)


def carried() -> Mapping[str, Any] | None:
    """What langchain_core carries to a run begun here: a runnable's child config, or None.

    Inside of a node the task's own scope says the rest; here only the callbacks then matter.
    """
    core = sys.modules.get(_CONFIG)
    found = None if core is None else core.var_child_runnable_config.get()
    if found is None or scope.get(None) is None:
        return None if found is _HERE else found
    callbacks = found.get("callbacks")
    return None if callbacks is None else {"callbacks": callbacks}


def trace_of(run: Any, name: str) -> Trace | None:
    """The trace of a run of the graph with this name; None where nobody listens.

    Raises:
        ImportError: the messages mode was asked for, and langchain_core is not installed.
    """
    config = run.settings.config
    callbacks = config.get("callbacks")
    if "messages" in run.settings.modes:
        try:
            from ckpt_viz.pregel.messages import MessageHandler  # noqa: PLC0415 - langchain_core
        except ImportError as error:
            raise ImportError(
                "stream_mode='messages' shows what LangChain models say, and langchain_core is "
                "not installed: pip install langchain-core."
            ) from error
        return Trace(config, name, MessageHandler(run))
    told = callbacks and getattr(callbacks, "handlers", True)
    return Trace(config, name) if told or _is_heard() else None


def _is_heard() -> bool:
    """Whether one of langchain_core's context managers collects what runs inside of it."""
    hooks = getattr(sys.modules.get("langchain_core.tracers.context"), "_configure_hooks", ())
    return any(hook[0].get() is not None for hook in hooks)


class Trace:
    """Tells callbacks what one run does. ``name`` is the graph's.

    What is told of the run is a script; what is told of a task exists in both colours.
    """

    def __init__(self, config: Mapping[str, Any], name: str, handler: Any = None) -> None:
        from langchain_core.callbacks import manager  # noqa: PLC0415 - an optional dependency

        self.managers = manager.CallbackManager, manager.AsyncCallbackManager
        self.awaited = False
        self.config = config
        self.name = config.get("run_name") or name
        self.handler = handler
        self.root: Any = None
        self.inside: dict[str, Any] = {}

    def _manager(self, awaited: bool, callbacks: Any, tags: Any, metadata: Any) -> Any:
        return self.managers[awaited].configure(
            inheritable_callbacks=callbacks,
            inheritable_tags=list(tags or ()),
            inheritable_metadata={**metadata, "ls_integration": "langgraph"},
        )

    def around(self, run: Any, script: Script, value: Any) -> Script:
        """A run's script with its input, and its output or failure, told around it."""

        def begin(awaited: bool) -> Any:
            self.awaited = awaited
            config = self.config
            tags, metadata = config.get("tags"), named(config)
            manager = self._manager(awaited, config.get("callbacks"), tags, metadata)
            if self.handler is not None:
                manager.add_handler(self.handler)
            return manager.on_chain_start(None, value, name=self.name, run_id=config.get("run_id"))

        self.root = yield Ask(begin)
        try:
            yield from script
        except GeneratorExit as error:  # left early: nothing can be asked of the driver any more
            if not self.awaited:
                self.root.on_chain_error(error)
            raise
        except BaseException as error:
            told = error
            yield Ask(lambda _: self.root.on_chain_error(told))
            raise
        else:
            yield Ask(lambda _: self.root.on_chain_end(run.output))
        finally:
            run.trace = None  # the handlers know the run: no circle outlives it

    def paused(self, run: Any, status: str) -> Script:
        """A run stops for an answer, or at a break point."""
        yield from self._tell(run, "GraphInterruptEvent", status, tuple(run.interrupts))

    def resumed(self, run: Any) -> Script:
        """A run goes on from a checkpoint."""
        yield from self._tell(run, "GraphResumeEvent", "pending")

    def _tell(self, run: Any, kind: str, status: str, *more: Any) -> Script:
        """Tell the handlers of a graph's life; without their module there are none."""
        module = sys.modules.get("ckpt_viz.callbacks")
        if module is not None:
            within = tuple(run.live.ns.split("|")) if run.live.ns else ()
            where = (run.live.id, within)
            event = getattr(module, kind)(self.root.run_id, status, *where, *more)
            yield Ask(lambda awaited: module.tell(self.root.handlers, awaited, event))

    def _start(self, awaited: bool, own: Any) -> Any:
        """A task begins: inside of its caller, or of the run."""
        task, config = own.task, own.config
        caller = None if task.caller is None else self.inside.get(task.caller.id)
        if caller is None:
            callbacks = self.root.get_child(f"graph:step:{task.step}")
        else:
            callbacks = caller.get_child("seq:step:1")
        manager = self._manager(awaited, callbacks, config.get("tags"), config["metadata"])
        return manager.on_chain_start(None, _given(task), name=task.name)

    def _enter(self, own: Any, run: Any) -> None:
        self.inside[own.task.id] = run
        own.config["callbacks"] = run.get_child("seq:step:1")

    @contextmanager
    def task(self, own: Any) -> Iterator[None]:
        """Around a node call; ``own`` is the scope, with its ``output`` at the end."""
        if _is_silent(own.task):
            yield
            return
        run = self._start(False, own)
        self._enter(own, run)
        try:
            yield
        except BaseException as error:
            run.on_chain_error(error)
            raise
        finally:
            del self.inside[own.task.id]
        for tap in _taps(run, "tap_output_iter"):
            list(tap(run.run_id, iter((own.output,))))
        run.on_chain_end(own.output)

    @asynccontextmanager
    async def atask(self, own: Any) -> AsyncIterator[None]:
        """Like `task`, awaiting."""
        if _is_silent(own.task):
            yield
            return
        run = await self._start(True, own)
        self._enter(own, run)
        try:
            yield
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        finally:
            del self.inside[own.task.id]
        for tap in _taps(run, "tap_output_aiter"):
            _ = [chunk async for chunk in tap(run.run_id, _one(own.output))]
        await run.on_chain_end(own.output)

    def router(self, own: Any, branch: Any, position: int, state: Any) -> Any:
        """A router's answer, or what to await for it; ``position`` counts the task's routers.

        A router that is a runnable tells of itself. A lambda is told by what LangGraph wraps it in.
        """
        inside, config = self.inside[own.task.id], own.config
        callbacks = inside.get_child(f"seq:step:{position + (2 if own.task.node.hidden else 3)}")
        if is_runnable(branch.path):
            config["callbacks"] = callbacks
            return branch.ask(state)
        manager = self._manager(False, callbacks, config.get("tags"), config["metadata"])
        name = branch.shown or (None if self.awaited else "RunnableCallable")
        run = manager.on_chain_start(None, state, name=name)
        config["callbacks"] = run.get_child()
        try:
            answer = branch.ask(state)
        except BaseException as error:
            run.on_chain_error(error)
            raise
        if inspect.isawaitable(answer):
            return _answered(run, answer)
        run.on_chain_end(answer)
        return answer


async def _answered(run: Any, answer: Any) -> Any:
    try:
        found = await answer
    except BaseException as error:
        run.on_chain_error(error)
        raise
    run.on_chain_end(found)
    return found


def _is_silent(task: Any) -> bool:
    """Whether a task only spreads the input, which nobody is told of."""
    return bool(task.node.hidden and task.node.route is None)


def _given(task: Any) -> Any:
    """A task's input as callbacks are told it: a called task's arguments by their names."""
    if task.caller is None:
        return task.input
    args, kwargs = task.input
    try:
        return dict(inspect.signature(task.node.func).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # the call itself will tell what is wrong
        return task.input


def _taps(run: Any, name: str) -> list[Any]:
    """What handlers that listen to streams do with what a node gives."""
    return [getattr(h, name) for h in run.handlers if hasattr(h, name)]


async def _one(output: Any) -> AsyncIterator[Any]:
    yield output
