"""Tools: LangChain's as they are, functions made into one, and what goes wrong in calling them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from ckpt_viz.errors import CkptVizError
from ckpt_viz.types import join_tool_outputs

try:
    from langchain_core.tools import ToolException
except ImportError:  # without langchain_core, tools are plain functions
    ToolException = CkptVizError  # type: ignore[misc, assignment]

join_tool_outputs()

TOOL_INVOCATION_ERROR_TEMPLATE = (
    "Error invoking tool '{tool_name}' with kwargs {tool_kwargs} with error:\n {error}\n "
    "Please fix the error and try again."
)


class ToolInvocationError(ToolException):
    """A tool was called with arguments that it does not take; ``message`` tells the model why."""

    def __init__(
        self,
        tool_name: str,
        source: Any,
        tool_kwargs: dict[str, Any],
        filtered_errors: list[Any] | None = None,
        *,
        hidden: Mapping[str, Any] | None = None,
    ) -> None:
        errors = filtered_errors
        if errors is None and hasattr(source, "errors"):
            errors = [
                e for e in source.errors() if (e.get("loc") or ("",))[0] not in (hidden or ())
            ]
        told = "\n".join(
            f"{'.'.join(str(part) for part in e.get('loc', ()))}: {e.get('msg', 'Unknown error')}"
            for e in errors or ()
        )
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(
            tool_name=tool_name, tool_kwargs=tool_kwargs, error=told or source
        )
        self.tool_name = tool_name
        self.tool_kwargs = tool_kwargs
        self.source = source
        self.filtered_errors = errors
        super().__init__(self.message)


class PlainTool:
    """A function as a tool, where langchain_core is not installed: its arguments are not checked
    beyond their names.
    """

    def __init__(self, func: Any) -> None:
        if not callable(func):
            raise ValueError(
                "The first argument must be a string or a callable with a __name__ for tool "
                f"decorator. Got {type(func)}"
            )
        self.func = func
        self.name = func.__name__
        self.description = inspect.getdoc(func) or ""

    def invoke(self, call: Mapping[str, Any], config: Any = None) -> Any:
        """Call the function with the call's arguments."""
        return self.func(**self._checked(call))

    async def ainvoke(self, call: Mapping[str, Any], config: Any = None) -> Any:
        """Like `invoke`, awaiting."""
        found = self.func(**self._checked(call))
        return await found if inspect.isawaitable(found) else found

    def _checked(self, call: Mapping[str, Any]) -> dict[str, Any]:
        try:
            inspect.signature(self.func).bind(**call["args"])
        except TypeError as error:
            raise ToolInvocationError(self.name, error, call["args"]) from error
        return dict(call["args"])


def tool_of(tool: Any) -> Any:
    """A tool of something that may be a function.

    Raises:
        ValueError: it is neither, or a function without a docstring.
    """
    if hasattr(tool, "invoke") and hasattr(tool, "name"):
        return tool
    if not find_spec("langchain_core"):
        return PlainTool(tool)
    from langchain_core.tools import tool as decorate  # noqa: PLC0415 - optional

    return decorate(tool)


def is_answer(output: Any) -> bool:
    """Whether a tool gave its answer as a message."""
    if isinstance(output, dict):
        return output.get("role") == "tool" and "tool_call_id" in output
    return bool(getattr(output, "type", None) == "tool" and hasattr(output, "tool_call_id"))
