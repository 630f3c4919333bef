"""Commands from tools: checked for the answer that each call needs, and put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ckpt_viz.graph.message import REMOVE_ALL_MESSAGES
from ckpt_viz.prebuilt.messages import answer, content_of, core, part
from ckpt_viz.prebuilt.tools import is_answer
from ckpt_viz.types import Command, Send


def checked(output: Any, call: Any, key: str, *, listed: bool) -> Any:
    """A tool's output as what the node gives: a message, a Command, or a list of Commands.

    Raises:
        ValueError: a Command updates the state without answering the call.
    """
    if isinstance(output, Command):
        return _command(output, call, key, listed)
    if (
        isinstance(output, list)
        and output
        and all(isinstance(one, Command) or is_answer(one) for one in output)
    ):
        return [
            _command(o, call, key, listed, False) if isinstance(o, Command) else o for o in output
        ]
    return answer(call, content_of(output))


def _command(command: Command[Any], call: Any, key: str, listed: bool, strict: bool = True) -> Any:
    update = command.update
    if isinstance(update, dict):
        if listed:
            raise ValueError(
                "Tools can provide a dict in Command.update only when using dict with "
                f"'{key}' key as ToolNode input, got: {update} for tool '{call['name']}'"
            )
        messages = _messages(update.get(key, []))
        command = replace_update(command, {**update, key: messages} if key in update else update)
    elif isinstance(update, list):
        if not listed:
            raise ValueError(
                "Tools can provide a list of messages in Command.update only when using list of "
                f"messages as ToolNode input, got: {update} for tool '{call['name']}'"
            )
        messages = _messages(update)
        command = replace_update(command, messages)
    else:
        return command
    _check_answered(command, messages, call, strict)
    return command


def replace_update(command: Command[Any], update: Any) -> Command[Any]:
    """The Command with another update."""
    given = {"resume": command.resume} if command.answers else {}
    return Command(graph=command.graph, update=update, goto=command.goto, **given)


def _messages(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    module = core()
    return list(listed if module is None else module.convert_to_messages(listed))


def _check_answered(command: Command[Any], messages: Any, call: Any, strict: bool) -> None:
    """The history must not keep a call without its answer."""
    if any(part(m, "id") == REMOVE_ALL_MESSAGES for m in messages):
        return
    found = False
    for message in messages:
        if is_answer(message) and part(message, "tool_call_id") == call["id"]:
            found = True
            if isinstance(message, dict):
                message["name"] = call["name"]
            else:
                message.name = call["name"]
    if not found and strict and command.graph is None:
        messages_of = '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'
        if isinstance(command.update, dict):
            messages_of = f'{{"messages": {messages_of}}}'
        raise ValueError(
            "Expected to have a matching ToolMessage in Command.update for tool "
            f"'{call['name']}', got: {messages}. Every tool call (LLM requesting to call a tool) "
            "in the message history MUST have a corresponding ToolMessage. You can fix it by "
            f"modifying the tool to return `Command(update={messages_of}, ...)`."
        )


def merged(results: Sequence[Any], key: str | None) -> Any:
    """What the node gives: messages under ``key`` (bare where it is None), beside Commands.

    Sends to the parent graph, of several Commands, become one Command.
    """
    flat = [one for r in results for one in (r if isinstance(r, list) else [r])]
    if not any(isinstance(one, Command) for one in flat):
        return flat if key is None else {key: flat}
    found: list[Any] = []
    upward: Command[Any] | None = None
    for one in flat:
        if not isinstance(one, Command):
            found.append([one] if key is None else {key: [one]})
        elif one.graph == Command.PARENT and _sends(one.goto):
            sends = [*(upward.goto_list() if upward else ()), *one.goto_list()]
            upward = replace(upward or Command(graph=Command.PARENT), goto=sends)
        else:
            found.append(one)
    return found if upward is None else [*found, Command(graph=Command.PARENT, goto=upward.goto)]


def _sends(goto: Any) -> bool:
    return isinstance(goto, list) and bool(goto) and all(isinstance(one, Send) for one in goto)
