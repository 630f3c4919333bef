"""A function as a runnable, which gets what it asks for by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ckpt_viz.pregel.callables import is_runnable, wants_of
from ckpt_viz.pregel.runnable import Composable, join_runnables
from ckpt_viz.types import scope
from ckpt_viz.utils.config import ensure_config

__all__ = ["RunnableCallable", "RunnableLike"]

RunnableLike = Any
"""What can be a node: a runnable, a function, a map of both."""


class RunnableCallable(Composable):
    """A function, a coroutine function or one of each, called by ``invoke`` and ``ainvoke``.

    Parameters called ``config``, ``store``, ``writer``, ``runtime`` and ``previous`` are filled
    in; ``kwargs`` go along with each call. ``recurse``: a runnable that it gives is called on the
    same input; ``explode_args``: the input is a pair of arguments. ``trace`` means nothing here.

    Raises:
        ValueError: there is no function. TypeError: it can't be called.
    """

    def __init__(
        self,
        func: Callable[..., Any] | None,
        afunc: Callable[..., Awaitable[Any]] | None = None,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        trace: bool = True,
        recurse: bool = True,
        explode_args: bool = False,
        **kwargs: Any,
    ) -> None:
        one = afunc if func is None else func
        if one is None:
            raise ValueError("At least one of func or afunc must be provided.")
        if not callable(one):
            raise TypeError(f"{one} is not a callable object")
        called = getattr(one, "__name__", "<lambda>")
        self.name: Any = name or (None if called == "<lambda>" else called)
        self.func = func
        self.afunc = afunc
        self.tags = tags
        self.trace = trace
        self.recurse = recurse
        self.explode_args = explode_args
        self.kwargs = kwargs
        self._wants = wants_of(one)
        join_runnables()

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return super().get_name(suffix, name=name or self.name or type(self).__name__)

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Call the function.

        Raises:
            TypeError: there is only a coroutine function.
            ValueError: it asks for something that is not there outside of a graph.
        """
        if self.func is None:
            raise TypeError(
                f'No synchronous function provided to "{self.name}".\nEither initialize with a '
                "synchronous function or invoke via the async API (ainvoke, astream, etc.)"
            )
        args, named = self._arguments(input, config, kwargs)
        found = self.func(*args, **named)
        return found.invoke(input, config) if self.recurse and is_runnable(found) else found

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Like `invoke`, awaiting the coroutine function where there is one."""
        if self.afunc is None:
            return self.invoke(input, config, **kwargs)
        args, named = self._arguments(input, config, kwargs)
        found = await self.afunc(*args, **named)
        return await found.ainvoke(input, config) if self.recurse and is_runnable(found) else found

    def _arguments(self, input: Any, config: Any, kwargs: dict[str, Any]) -> Any:
        args, named = input if self.explode_args else ((input,), {})
        named = {**self.kwargs, **named, **kwargs}
        for name in self._wants:
            if name not in named:
                named |= self._filled(name, config)
        return args, named

    def _filled(self, name: str, config: Any) -> dict[str, Any]:
        """One of the engine's arguments."""
        if name == "config":
            return {name: ensure_config() if config is None else config}
        current: Any = scope.get(None)
        if current is not None:
            return {name: getattr(current, name)}
        runtime = ((config or {}).get("configurable") or {}).get("__pregel_runtime")
        if runtime is not None:
            told = {"runtime": runtime, "writer": getattr(runtime, "stream_writer", None)}
            return {name: told.get(name, getattr(runtime, name, None))}
        if name == "writer":
            return {name: lambda chunk: None}
        key = "N/A" if name == "runtime" else name
        raise ValueError(f"Missing required config key '{key}' for '{self.name}'.")
