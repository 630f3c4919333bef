"""`ToolNode`: runs the tools that the last message calls, side by side, and answers in order."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypedDict, get_args, get_type_hints

from ckpt_viz.constants import END
from ckpt_viz.errors import GraphBubbleUp, is_invalid_resume
from ckpt_viz.prebuilt.commands import checked, merged
from ckpt_viz.prebuilt.injection import InjectedState, InjectedStore, ToolRuntime, injected, wanted
from ckpt_viz.prebuilt.messages import answer, content_of, is_model_message, part
from ckpt_viz.prebuilt.tools import (
    TOOL_INVOCATION_ERROR_TEMPLATE,
    ToolInvocationError,
    is_answer,
    tool_of,
)
from ckpt_viz.pregel.runnable import Composable, join_runnables
from ckpt_viz.pregel.workers import Workers
from ckpt_viz.runtime import DEFAULT_RUNTIME, Runtime
from ckpt_viz.types import scope

__all__ = [
    "INVALID_TOOL_NAME_ERROR_TEMPLATE",
    "TOOL_CALL_ERROR_TEMPLATE",
    "TOOL_INVOCATION_ERROR_TEMPLATE",
    "InjectedState",
    "InjectedStore",
    "ToolCallRequest",
    "ToolCallWithContext",
    "ToolInvocationError",
    "ToolNode",
    "ToolRuntime",
    "msg_content_output",
    "tools_condition",
]

INVALID_TOOL_NAME_ERROR_TEMPLATE = (
    "Error: {requested_tool} is not a valid tool, try one of [{available_tools}]."
)
TOOL_CALL_ERROR_TEMPLATE = "Error: {error}\n Please fix your mistakes."
msg_content_output = content_of


@dataclass
class ToolCallRequest:
    """One call of a tool, as ``wrap_tool_call`` gets it; ``tool`` is None for an unknown name."""

    tool_call: Any
    tool: Any
    state: Any
    runtime: ToolRuntime[Any, Any]

    def override(self, **changes: Any) -> ToolCallRequest:
        """A copy with some fields changed."""
        return replace(self, **changes)


class ToolCallWithContext(TypedDict):
    """The argument of a Send that runs one tool call, with the state that its tool may ask for."""

    tool_call: Any
    __type: Literal["tool_call_with_context"]
    state: Any


def _only_invocation(error: Exception) -> str:
    """The default: tell the model of wrong arguments, and raise everything else."""
    if isinstance(error, ToolInvocationError):
        return error.message
    raise error


class ToolNode(Composable):
    """A node that runs the tool calls of the last message.

    ``tools`` are LangChain tools or plain functions with a docstring. ``handle_tool_errors``: by
    default wrong arguments are told to the model and other errors raised; True tells it of all, a
    text is told instead, error classes say which, a function makes the text of an error.
    ``wrap_tool_call(request, execute)`` stands around each call.
    """

    def __init__(
        self,
        tools: Sequence[Any],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: Any = _only_invocation,
        messages_key: str = "messages",
        wrap_tool_call: Any = None,
        awrap_tool_call: Any = None,
    ) -> None:
        self.name = name
        self.tags = tags
        self.messages_key = messages_key
        self.handle_tool_errors = handle_tool_errors
        self._wrap = wrap_tool_call
        self._awrap = awrap_tool_call
        found = [tool_of(tool) for tool in tools]
        self._tools = {tool.name: tool for tool in found}
        self._wants = {tool.name: wanted(tool) for tool in found}
        join_runnables()

    @property
    def tools_by_name(self) -> dict[str, Any]:
        """The tools, by the names that models call them by."""
        return self._tools

    def invoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Run the calls on threads, side by side; the answers in the order of the calls.

        When a question of a tool has been answered they run one after the other, so that each
        answer reaches the call that asked.
        """
        requests = self._requests(input, config)
        results: list[Any] = [None] * len(requests)

        def run(index: int) -> None:
            try:
                results[index] = self._run(requests[index])
            except BaseException as error:  # noqa: BLE001 - raised in the node's own thread
                results[index] = _Failure(error)

        if len(requests) == 1 or _resumed():
            for index in range(len(requests)):
                run(index)
                if isinstance(results[index], _Failure):
                    break
        else:
            workers = Workers((config or {}).get("max_concurrency"))
            workers.start([partial(copy_context().run, run, i) for i in range(len(requests))])
            workers.close(wait=True)
        return self._combined(results, input)

    async def ainvoke(self, input: Any, config: Any = None, **options: Any) -> Any:
        """Like `invoke`, awaiting."""
        requests = self._requests(input, config)
        if _resumed():
            return self._combined([await self._arun(request) for request in requests], input)
        calls = [self._arun(request) for request in requests]
        found = await asyncio.gather(*calls, return_exceptions=True)
        results = [_Failure(r) if isinstance(r, BaseException) else r for r in found]
        return self._combined(results, input)

    # one call ----------------------------------------------------------------------------------

    def _run(self, request: ToolCallRequest) -> Any:
        if self._wrap is None:
            return self._execute(request)
        try:
            return self._wrap(request, self._execute)
        except Exception as error:  # noqa: BLE001 - told, or raised again
            return self._told(request, error)

    def _execute(self, request: ToolCallRequest) -> Any:
        if request.tool is None:
            return self._unknown(request)
        try:
            output = request.tool.invoke(self._call(request), request.runtime.config)
        except Exception as error:  # noqa: BLE001 - told, or raised again
            return self._told(request, error)
        return self._answer(request, output)

    async def _arun(self, request: ToolCallRequest) -> Any:
        if self._awrap is None and self._wrap is None:
            return await self._aexecute(request)
        try:
            if self._awrap is not None:
                return await self._awrap(request, self._aexecute)
            return self._wrap(request, self._execute)
        except Exception as error:  # noqa: BLE001 - told, or raised again
            return self._told(request, error)

    async def _aexecute(self, request: ToolCallRequest) -> Any:
        if request.tool is None:
            return self._unknown(request)
        try:
            output = await request.tool.ainvoke(self._call(request), request.runtime.config)
        except Exception as error:  # noqa: BLE001 - told, or raised again
            return self._told(request, error)
        return self._answer(request, output)

    def _call(self, request: ToolCallRequest) -> dict[str, Any]:
        """The call with what the tool gets from the run, whatever the model said of it."""
        call, tool = request.tool_call, request.tool
        wants = self._wants.get(tool.name) or wanted(tool)
        own = injected(wants, request.runtime)
        return {**call, "args": {**call["args"], **own}, "type": "tool_call"}

    def _unknown(self, request: ToolCallRequest) -> Any:
        names = ", ".join(self._tools)
        call = request.tool_call
        text = INVALID_TOOL_NAME_ERROR_TEMPLATE.format(
            requested_tool=call["name"], available_tools=names
        )
        return answer(call, text, failed=True)

    def _told(self, request: ToolCallRequest, error: Exception) -> Any:
        """The answer that tells of an error.

        Raises:
            Exception: the error itself, where it is not handled. Interrupts always are raised,
                and that an answer to one does not fit.
        """
        if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
            raise error
        call = request.tool_call
        if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):
            own = self._wants.get(call["name"], {})
            error = ToolInvocationError(call["name"], error, call["args"], hidden=own)
        how = self.handle_tool_errors
        if how is False or not isinstance(error, _handled(how)):
            raise error
        if isinstance(how, str):
            text = how
        elif callable(how) and not inspect.isclass(how):
            text = how(error)
        else:
            text = TOOL_CALL_ERROR_TEMPLATE.format(error=repr(error))
        return answer(call, text, failed=True)

    def _answer(self, request: ToolCallRequest, output: Any) -> Any:
        call = request.tool_call
        if is_answer(output):
            if not isinstance(output, dict):
                output.content = content_of(output.content)
            return output
        return checked(output, call, self.messages_key, listed=isinstance(request.state, list))

    # all calls ---------------------------------------------------------------------------------

    def _requests(self, input: Any, config: Any) -> list[ToolCallRequest]:
        current = scope.get(None)
        config = config or (current.config if current is not None else {})
        runtime = _runtime(current, config)
        calls, state = self._calls(input)
        made = []
        for call in calls:
            own = ToolRuntime(
                state,
                runtime.context,
                config,
                runtime.stream_writer,
                call["id"],
                runtime.store,
                list(self._tools.values()),
                runtime.execution_info,
                runtime.server_info,
            )
            made.append(ToolCallRequest(call, self._tools.get(call["name"]), state, own))
        return made

    def _calls(self, input: Any) -> tuple[list[Any], Any]:
        """The calls to run, and the state that their tools may ask for.

        Raises:
            ValueError: there is no message, or none of a model.
        """
        if isinstance(input, dict) and input.get("__type") == "tool_call_with_context":
            return [input["tool_call"]], input["state"]
        if isinstance(input, list) and input and _is_call(input[-1]):
            return input, _state_now(input)
        if isinstance(input, list):
            messages = input
        elif isinstance(input, dict):
            messages = input.get(self.messages_key) or []
        else:
            messages = getattr(input, self.messages_key, None) or []
        if not messages:
            raise ValueError("No message found in input")
        last = next((m for m in reversed(messages) if is_model_message(m)), None)
        if last is None:
            raise ValueError("No AIMessage found in input")
        return list(part(last, "tool_calls") or []), input

    def _combined(self, results: Sequence[Any], input: Any) -> Any:
        for result in results:
            if isinstance(result, _Failure):
                raise result.error
        bare = isinstance(input, list) and not (input and _is_call(input[-1]))
        return merged(results, None if bare else self.messages_key)


class _Failure:
    """An error on its way to the node's own thread."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _resumed() -> bool:
    """Whether the running task has had an answer, or may take one."""
    return bool(getattr(scope.get(None), "resumed", False))


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "tool_call"


def _runtime(current: Any, config: Any) -> Runtime[Any]:
    if current is not None:
        found: Runtime[Any] = current.runtime
        return found
    return (config.get("configurable") or {}).get("__pregel_runtime") or DEFAULT_RUNTIME


def _state_now(given: Any) -> Any:
    """The graph's state, for a Send that carries calls alone."""
    run = getattr(scope.get(None), "run", None)
    return given if run is None else run.live.read(run.program.stream_channels)


def _handled(how: Any) -> tuple[Any, ...]:
    """The errors that ``handle_tool_errors`` is for."""
    if isinstance(how, tuple):
        return how
    if inspect.isclass(how):
        return (how,)
    if how is True or isinstance(how, str) or how is _only_invocation:
        return (Exception,)
    return _annotated(how)


def _annotated(handler: Callable[..., Any]) -> tuple[type[Exception], ...]:
    """The errors that a handler's first parameter is annotated with; without, all."""
    try:
        hints = get_type_hints(handler)
        first = next(iter(inspect.signature(handler).parameters))
    except (NameError, TypeError, ValueError, StopIteration):
        return (Exception,)
    hint = hints.get(first)
    kinds: tuple[Any, ...] = get_args(hint) or (hint,)
    return tuple(k for k in kinds if inspect.isclass(k) and issubclass(k, Exception)) or (
        Exception,
    )


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Go to the node ``tools`` when the last message calls tools, else to the end.

    Raises:
        ValueError: there is no message.
    """
    if isinstance(state, list):
        messages = state
    elif isinstance(state, dict):
        messages = state.get(messages_key, [])
    else:
        messages = getattr(state, messages_key, [])
    if not messages and not isinstance(state, list):
        raise ValueError(f"No messages found in input state to tool_edge: {state}")
    return "tools" if part(messages[-1], "tool_calls") else END
