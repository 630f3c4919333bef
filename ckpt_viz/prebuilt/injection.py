"""What a tool gets beside the model's arguments: the state, the store, the run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from ckpt_viz.runtime import ExecutionInfo, ServerInfo
from ckpt_viz.types import StreamWriter

try:
    from langchain_core.tools import InjectedToolArg
    from langchain_core.tools.base import _DirectlyInjectedToolArg as _Direct
except ImportError:  # without langchain_core, tools are plain functions

    class InjectedToolArg:  # type: ignore[no-redef]
        """An argument that no model gives."""

    class _Direct:  # type: ignore[no-redef]
        """An argument that no model gives, marked by its type alone."""


StateT = TypeVar("StateT")
ContextT = TypeVar("ContextT")


class InjectedState(InjectedToolArg):
    """Marks a tool's argument as the graph's state, or as one field of it.

    ``Annotated[dict, InjectedState]`` is all of it, ``Annotated[str, InjectedState("foo")]`` one
    field.
    """

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Marks a tool's argument as the graph's store."""


@dataclass
class ToolRuntime(_Direct, Generic[StateT, ContextT]):
    """All that a run has for a tool: an argument with this type gets it."""

    state: StateT
    context: ContextT
    config: Any
    stream_writer: StreamWriter
    tool_call_id: str | None
    store: Any
    tools: list[Any] = field(default_factory=list)
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None


def wanted(tool: Any) -> dict[str, Any]:
    """The arguments that a tool gets from the run, by name, with what marks them."""
    sources = [getattr(tool, name, None) for name in ("args_schema", "func", "coroutine", "_run")]
    found: dict[str, Any] = {}
    for source in sources:
        for name, hint in _hints(source).items():
            mark = _mark(hint)
            if mark is not None:
                found[name] = mark
    return found


def _hints(source: Any) -> dict[str, Any]:
    if not (callable(source) or inspect.isclass(source)):
        return {}
    try:
        return get_type_hints(source, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names of a local scope
        return {}


def _mark(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        for extra in get_args(hint)[1:]:
            made = extra() if inspect.isclass(extra) and issubclass(extra, _MARKS) else extra
            if isinstance(made, _MARKS):
                return made
    kinds = [hint, get_origin(hint), *get_args(hint)]
    return ToolRuntime if ToolRuntime in kinds else None


_MARKS = (InjectedState, InjectedStore)


def injected(wants: Mapping[str, Any], runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """The values of the arguments that a tool gets from the run.

    Raises:
        ValueError: the store is wanted, and the graph has none. KeyError: no such field.
    """
    found: dict[str, Any] = {}
    for name, mark in wants.items():
        if mark is ToolRuntime:
            found[name] = runtime
        elif isinstance(mark, InjectedStore):
            if runtime.store is None:
                raise ValueError(
                    "Cannot inject store into tools with InjectedStore annotations - please "
                    "compile your graph with a store."
                )
            found[name] = runtime.store
        else:
            found[name] = field_of(runtime.state, mark.field)
    return found


def field_of(state: Any, name: str | None) -> Any:
    """A state, or one field of it."""
    if name is None:
        return state
    return state[name] if isinstance(state, dict) else getattr(state, name)
