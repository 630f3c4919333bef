"""`entrypoint`: a function that is a whole workflow."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import GenericAlias
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

from ckpt_viz.channels import EphemeralValue, LastValue
from ckpt_viz.checkpoint.serde import register
from ckpt_viz.constants import END, PREVIOUS, START
from ckpt_viz.graph.classes import named_classes
from ckpt_viz.pregel.callables import callable_of, wants_of
from ckpt_viz.pregel.main import Pregel
from ckpt_viz.pregel.program import Node, Write
from ckpt_viz.pregel.retry import policies_of
from ckpt_viz.types import RetryPolicy, TimeoutPolicy
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10, older_word

R = TypeVar("R")
S = TypeVar("S")


class entrypoint:  # noqa: N801 - a decorator
    """Make a function a workflow: ``@entrypoint(checkpointer=…)``.

    The function takes one input, and by name ``previous`` (what the thread's last run returned or
    saved), ``config``, ``runtime``, ``store`` and ``writer``. The decorated name is a graph, with
    ``invoke``, ``stream``, ``get_state`` and their like.
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # for annotations alone

    def __init__(  # noqa: PLR0917 - LangGraph's order
        self,
        checkpointer: Any = None,
        store: Any = None,
        cache: Any = None,
        context_schema: Any = None,
        cache_policy: Any = None,
        retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
        timeout: Any = None,
        **kwargs: Any,
    ) -> None:
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        since = {"config_schema": LangGraphDeprecatedSinceV10}
        self.context_schema = older_word(
            kwargs, "config_schema", "context_schema", context_schema, since
        )
        self.cache_policy = cache_policy
        self.retry_policy = older_word(kwargs, "retry", "retry_policy", retry_policy)
        self.timeout = timeout

    @dataclass(slots=True)
    class final(Generic[R, S]):  # noqa: N801 - LangGraph's name
        """What an entrypoint returns when ``previous`` shall be something else than the result."""

        value: R
        save: S

        def __init__(self, *, value: R, save: S) -> None:
            self.value = value
            self.save = save

    def __call__(self, func: Callable[..., Any]) -> Pregel:
        """The graph of one node that runs the function.

        Raises:
            NotImplementedError: a generator. ValueError: a function without a parameter.
        """
        if inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
            raise NotImplementedError("Generators are not supported in the Functional API.")
        parameters = inspect.signature(func).parameters
        if not parameters:
            raise ValueError("Entrypoint function must have at least one parameter")
        hints = _hints(func)
        for cls in named_classes(hints.values()):
            register(cls)
        output, saved = _returns(hints.get("return", Any))
        name = func.__name__
        call, is_async = callable_of(func)
        node = Node(
            name,
            (START,),
            (START,),
            call,
            _written,
            wants_of(func),
            is_async,
            func=func,
            single=True,
            retry=policies_of(self.retry_policy),
            timeout=TimeoutPolicy.coerce(self.timeout),
            cache=self.cache_policy,
            calls=True,
        )
        return Pregel(
            nodes={name: node},
            channels={
                START: EphemeralValue(hints.get(next(iter(parameters)), Any)),
                END: LastValue(output, END),
                PREVIOUS: LastValue(saved, PREVIOUS),
            },
            input_channels=START,
            output_channels=END,
            stream_channels=END,
            stream_mode="updates",
            stream_eager=True,
            checkpointer=self.checkpointer,
            store=self.store,
            cache=self.cache,
            context_schema=self.context_schema,
        )


def _hints(func: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(func)
    except (NameError, TypeError, AttributeError):  # forward names of a local scope
        return {}


def _returns(hint: Any) -> tuple[Any, Any]:
    """The types of the result and of what is saved for the next run."""
    if get_origin(hint) is entrypoint.final:
        value, saved = get_args(hint)
        return value, saved
    return hint, hint


def _written(output: Any) -> list[Write]:
    if isinstance(output, entrypoint.final):
        return [(END, output.value), (PREVIOUS, output.save)]
    return [(END, output), (PREVIOUS, output)]
