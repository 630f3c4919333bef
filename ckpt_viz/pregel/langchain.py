"""What a run shares with langchain_core: the config of the running task, and its callbacks.

langchain_core is never needed and never imported for its own sake. When it is loaded already, the
running task's config is put into its context variable, so that a model called in a node finds its
callbacks, tags and metadata there. Callbacks are told of the graph as one chain and of each node
as a chain inside it; a run that nobody listens to pays for none of this.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Generator, Iterator, KeysView, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from ckpt_viz.pregel.requests import Ask
from ckpt_viz.pregel.settings import named
from ckpt_viz.types import scope

Script = Generator[Any, Any, Any]
_CONFIG = "langchain_core.runnables.config"


class _TaskConfig(dict[str, Any]):
    """The config of whichever task runs where it is read: one object stands for all of them."""

    def _now(self) -> dict[str, Any]:
        current = scope.get(None)
        return {} if current is None else current.config

    def __getitem__(self, key: str) -> Any:
        return self._now()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._now()

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def get(self, key: str, default: Any = None) -> Any:
        return self._now().get(key, default)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        return self._now().keys()

    def items(self) -> Any:
        return self._now().items()

    def values(self) -> Any:
        return self._now().values()

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


def inherited() -> Mapping[str, Any] | None:
    """The config that a run begun here takes over from what runs around it, or None.

    Inside a LangChain runnable it is that runnable's child config; inside a node the task's.
    """
    core = sys.modules.get(_CONFIG)
    carried = None if core is None else core.var_child_runnable_config.get()
    if carried is not None and carried is not _HERE:
        found: Mapping[str, Any] = carried
        return found
    current = scope.get(None)
    return None if current is None else current.config


def trace_of(run: Any, name: str) -> Trace | None:
    """The trace of a run of the graph with this name; None where nobody listens.

    Raises:
        ImportError: the messages mode was asked for, and langchain_core is not installed.
    """
    config = run.settings.config
    callbacks = config.get("callbacks")
    if "messages" in run.settings.modes:
        from ckpt_viz.pregel.messages import MessageHandler  # noqa: PLC0415 - langchain_core

        return Trace(config, name, MessageHandler(run))
    if not callbacks or not getattr(callbacks, "handlers", True):
        return None
    return Trace(config, name)


class Trace:
    """Tells callbacks what one run does. ``name`` is the graph's.

    What is told of the run is a script; what is told of a task exists in both colours.
    """

    def __init__(self, config: Mapping[str, Any], name: str, handler: Any = None) -> None:
        from langchain_core.callbacks import manager  # noqa: PLC0415 - an optional dependency

        self.managers = manager.CallbackManager, manager.AsyncCallbackManager
        self.config = config
        self.name = config.get("run_name") or name
        self.handler = handler
        self.root: Any = None

    def _manager(self, awaited: bool, callbacks: Any, metadata: Mapping[str, Any]) -> Any:
        return self.managers[awaited].configure(
            inheritable_callbacks=callbacks,
            inheritable_tags=list(self.config.get("tags") or ()),
            inheritable_metadata={**metadata, "ls_integration": "langgraph"},
        )

    def around(self, run: Any, script: Script, value: Any) -> Script:
        """A run's script with its input, and its output or failure, told around it."""

        def begin(awaited: bool) -> Any:
            config = self.config
            manager = self._manager(awaited, config.get("callbacks"), named(config))
            if self.handler is not None:
                manager.add_handler(self.handler)
            return manager.on_chain_start(None, value, name=self.name, run_id=config.get("run_id"))

        self.root = yield Ask(begin)
        try:
            yield from script
        except GeneratorExit:
            raise  # left early: nothing can be asked of the driver any more
        except BaseException as error:
            told = error
            yield Ask(lambda _: self.root.on_chain_error(told))
            raise
        yield Ask(lambda _: self.root.on_chain_end(run.output))

    def _start(self, awaited: bool, own: Any) -> Any:
        task, config = own.task, own.config
        callbacks = self.root.get_child(f"graph:step:{task.step}")
        manager = self._manager(awaited, callbacks, config["metadata"])
        return manager.on_chain_start(None, task.input, name=task.name)

    @contextmanager
    def task(self, own: Any) -> Iterator[None]:
        """Around a node call; ``own`` is the scope, with its ``output`` at the end."""
        run = self._start(False, own)
        own.config["callbacks"] = run.get_child("seq:step:1")
        try:
            yield
        except BaseException as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end(own.output)

    @asynccontextmanager
    async def atask(self, own: Any) -> AsyncIterator[None]:
        """Like `task`, awaiting."""
        run = await self._start(True, own)
        own.config["callbacks"] = run.get_child("seq:step:1")
        try:
            yield
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end(own.output)
