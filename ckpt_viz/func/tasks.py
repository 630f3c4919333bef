"""`task`: a function whose calls are steps of a run, saved as they finish."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ckpt_viz.constants import PUSH, RETURN
from ckpt_viz.pregel.cached import namespace_of
from ckpt_viz.pregel.callables import callable_of, injectable
from ckpt_viz.pregel.calls import call
from ckpt_viz.pregel.program import Node, Write
from ckpt_viz.pregel.retry import policies_of, refuse_timeout
from ckpt_viz.types import RetryPolicy, TimeoutPolicy
from ckpt_viz.warnings import older_word


class TaskFunction:
    """A function decorated by `task`. Calling it starts a task and gives a future."""

    def __init__(
        self, func: Callable[..., Any], name: str | None, retry: Any, cache: Any, timeout: Any
    ) -> None:
        plain = func
        while isinstance(plain, functools.partial):
            plain = plain.func
        functools.update_wrapper(self, plain)
        self.func = func
        own = str(name or getattr(plain, "__name__", type(plain).__name__))
        self.__name__ = own
        self.retry_policy = policies_of(retry)
        self.cache_policy = cache
        self.timeout = TimeoutPolicy.coerce(timeout)
        self._wants = injectable(func)
        self._signature = inspect.signature(func) if self._wants else None
        self._call, is_async = callable_of(func)
        if self.timeout is not None and not is_async:
            raise refuse_timeout(own, "Task")
        self.node = Node(
            own,
            (PUSH,),
            (),
            self._run,
            _returned,
            self._wants,
            is_async,
            func=func,
            retry=self.retry_policy,
            timeout=self.timeout,
            cache=cache,
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method that is a task: its object is its first argument."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Start the task: a future, to be awaited in async code, with ``result()`` elsewhere.

        Raises:
            RuntimeError: called outside of a run.
        """
        return call(self.node, args, kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By name where the name leads here, as functions are: so an executor can be sent it."""
        name, module = vars(self)["__qualname__"], sys.modules.get(self.__module__)
        if self.__module__ != "__main__" and getattr(module, name, None) is self:
            return name
        return super().__reduce_ex__(protocol)

    def clear_cache(self, cache: Any) -> None:
        """Forget the task's results in a cache."""
        if self.cache_policy is not None:
            cache.clear([namespace_of(self.node)])

    async def aclear_cache(self, cache: Any) -> None:
        """Like `clear_cache`, awaiting."""
        if self.cache_policy is not None:
            await cache.aclear([namespace_of(self.node)])

    def _run(self, value: Any, **given: Any) -> Any:
        args, kwargs = value
        if given and self._signature is not None:
            bound = self._signature.bind_partial(*args, **kwargs).arguments
            kwargs = {**{k: v for k, v in given.items() if k not in bound}, **kwargs}
        return self._call(*args, **kwargs)


def _returned(output: Any) -> list[Write]:
    return [(RETURN, output)]


def task(
    __func_or_none__: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: Any = None,
    timeout: Any = None,
    **kwargs: Any,
) -> Any:
    """Make a function a task: ``@task`` or ``@task(name=…, retry_policy=…)``.

    A call inside an entrypoint, a node or another task gives a future. What it returns is saved
    when it ends, so a resumed run takes the saved result instead of running it again. ``timeout``
    is in seconds and needs an async function.
    """
    retry = older_word(kwargs, "retry", "retry_policy", retry_policy)
    TimeoutPolicy.coerce(timeout)  # refused here, where it is written

    def decorate(func: Callable[..., Any]) -> TaskFunction:
        return TaskFunction(func, name, retry, cache_policy, timeout)

    return decorate if __func_or_none__ is None else decorate(__func_or_none__)
