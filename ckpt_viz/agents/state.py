"""`AgentState`: what a session knows, as plain data.

A state that was read or saved remembers in ``origin`` the checkpoint it is equal to, and a view of
it in ``earlier`` the messages that it leaves out. These are no fields: they are not saved, not
compared, and a copy made by the constructor has none.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Fields = dict[str, Any]
"""A state as a dictionary, one entry a field."""
FOLDED = "folded"
"""In ``metadata``: how many of the oldest messages this view of the state leaves out."""


class Traced:
    """Remembers outside of its fields where a state came from."""

    __slots__ = ("earlier", "origin")
    earlier: list[dict[str, Any]]
    origin: str | None


@dataclass
class AgentState(Traced):
    """The state of one session: who talks, what was said, what is known, what tools gave.

    ``created_at`` is an ISO time stamp in UTC. A later version of it is a subclass with a field
    ``version: int = 2`` and its new fields, each with a default.
    """

    state_id: str
    session_id: str
    agent_id: str
    user_id: str
    created_at: str
    conversation_history: list[dict[str, Any]] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    tool_results: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add_message(self, role: str, content: str) -> None:
        """Append a message to the conversation, with the time."""
        message = {"role": role, "content": content, "timestamp": now()}
        self.conversation_history.append(message)

    def set_context(self, key: str, value: Any) -> None:
        """Note a fact about the conversation."""
        self.context[key] = value

    def get_context(self, key: str, default: Any = None) -> Any:
        """A noted fact, or the default."""
        return self.context.get(key, default)

    def add_tool_result(self, tool: str, result: Any) -> None:
        """Append what a tool gave, with the time."""
        self.tool_results.append({"tool": tool, "result": result, "timestamp": now()})

    @property
    def turns(self) -> int:
        """How many turns were talked: a turn is two messages, the user's and the answer."""
        return turns_of(fields_of(self))


def now() -> str:
    """The time as a state keeps it."""
    return datetime.now(UTC).isoformat()


def fields_of(state: Any) -> Fields:
    """A state's fields; their values are the state's own, not copies."""
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}


def turns_of(fields: Fields) -> int:
    """The turns in a state's fields, those that a view leaves out too.

    >>> turns_of({"conversation_history": [{}, {}, {}], "metadata": {"folded": 4}})
    3
    """
    left_out = (fields.get("metadata") or {}).get(FOLDED, 0)
    return (len(fields.get("conversation_history") or ()) + int(left_out)) // 2


def version_of(state_class: type[Any]) -> int:
    """A class's version: what its field ``version`` has by default, or else 1.

    >>> version_of(AgentState)
    1
    """
    for one in dataclasses.fields(state_class):
        if one.name == "version":
            return int(one.default)  # type: ignore[arg-type]
    return 1


def state_from(state_class: type[Any], fields: Fields, origin: str | None) -> Any:
    """An instance of a class from its fields.

    Raises:
        TypeError: a field that the class does not have, or one that it needs is not there.
    """
    known = {f.name for f in dataclasses.fields(state_class)}
    if "version" not in known:
        fields = {k: v for k, v in fields.items() if k != "version"}
    unknown = sorted(fields.keys() - known)
    if unknown:
        raise TypeError(
            f"The saved state has {', '.join(unknown)}, which {state_class.__name__} does not "
            "have: give the class that has it as state_class=, or register a migration."
        )
    state = state_class(**fields)
    state.origin = origin
    return state
