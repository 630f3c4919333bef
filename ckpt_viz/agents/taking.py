"""How a memory takes in messages: by hand, as a node of a graph, or as a reducer of its state.

A memory in a graph is a value of the state, made by ``to_dict``. So it is saved with each
checkpoint, and a fork has its own: what one branch remembers the other never hears of. The memory
object that the graph is built with is a pattern; it stays empty.

What a memory does is a script that asks for calls, with two drivers: one blocks, one awaits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple, Self

from xxhash import xxh32_hexdigest

Message = dict[str, Any]
Data = dict[str, Any]
TAKEN = "taken"
"""In a memory's dictionary: marks of those of the state's messages that its node has taken in."""
_ROLES = {"human": "user", "ai": "assistant"}


class Call(NamedTuple):
    """A call that a script asks for: how to make it in each colour."""

    now: Callable[[], Any]
    later: Callable[[], Any]


Script = Generator[Call, Any, Any]


def run(script: Script) -> Any:
    """Run a script by blocking calls. A call that fails ends the script.

    Raises:
        TypeError: a call gave something that has to be awaited.
    """
    answer: Any = None
    try:
        while True:
            try:
                wanted = script.send(answer)
            except StopIteration as done:
                return done.value
            answer = wanted.now()
            if inspect.isawaitable(answer):
                getattr(answer, "close", lambda: None)()
                raise TypeError(
                    "This memory calls an async function, and is asked to remember without "
                    "awaiting: use it as a node under ainvoke or astream, or give it a function "
                    "that returns."
                )
    finally:
        script.close()


async def arun(script: Script) -> Any:
    """Run a script by awaited calls. A call that fails ends the script."""
    answer: Any = None
    try:
        while True:
            try:
                wanted = script.send(answer)
            except StopIteration as done:
                return done.value
            answer = wanted.later()
            if inspect.isawaitable(answer):
                answer = await answer
    finally:
        script.close()


class Taking:
    """What all memories share: they are values that can take in messages."""

    def to_dict(self) -> Data:
        """All that is remembered, as plain data."""
        raise NotImplementedError

    def revived(self, data: Mapping[str, Any]) -> Self:
        """A memory with this one's settings, and what a dictionary remembers (none: nothing)."""
        raise NotImplementedError

    def taking(self, message: Message) -> Script:
        """The script that takes in one message: ``role``, ``content`` and maybe ``metadata``."""
        raise NotImplementedError

    def reduce(self, current: Mapping[str, Any] | None, update: Any) -> Data:
        """A reducer: what is remembered once the update's messages are taken in.

        ``Annotated[dict, memory.reduce]`` makes a key of the state a memory; a node writes a
        message to it, or several.
        """
        memory = self.revived(current or {})
        for message in messages_of(update):
            run(memory.taking(message))
        return memory.to_dict()

    def node(self, messages: str = "messages", memory: str = "memory") -> MemoryNode:
        """A node that takes in what is new in the state's messages.

        ``messages`` is the key that it reads, and ``memory`` the key that the memory is kept in.
        """
        return MemoryNode(self, messages, memory)


class MemoryNode:
    """A node that keeps a memory up to date with the messages of the state, in both colours.

    What it has taken in stays remembered when it is removed from the state.
    """

    def __init__(self, pattern: Taking, messages: str, memory: str) -> None:
        self.pattern = pattern
        self.messages = messages
        self.memory = memory
        self.name = "remember"

    def _script(self, state: Any) -> Script:
        data = _read(state, self.memory) or {}
        given = _several(_read(state, self.messages) or [])
        marks = [_mark(each) for each in given]
        memory = self.pattern.revived(data)
        for each in given[_known(marks, data.get(TAKEN, [])) :]:
            yield from memory.taking(_message(each))
        return {self.memory: {**memory.to_dict(), TAKEN: marks}}

    def invoke(self, state: Any, config: Any = None) -> Data:
        """The update that has the memory."""
        found: Data = run(self._script(state))
        return found

    async def ainvoke(self, state: Any, config: Any = None) -> Data:
        """Like `invoke`, awaiting."""
        found: Data = await arun(self._script(state))
        return found


def _read(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _mark(given: Any) -> str:
    """What a message is known by: its id, or else who says what."""
    name = given.get("id") if isinstance(given, Mapping) else getattr(given, "id", None)
    if not name:
        message = _message(given)
        name = f"{message['role']}: {message['content']}"
    return xxh32_hexdigest(str(name).encode("utf-8", "surrogatepass"))


def _known(marks: list[str], taken: list[str] | int) -> int:
    """How many messages of a state had been taken in before the new ones came.

    Messages come at the end; any of the older ones may have been removed.

    >>> _known(["c", "d"], ["a", "b", "c"])
    1
    """
    if isinstance(taken, int):  # memories of older programs say how many
        return taken
    if marks[: len(taken)] == taken:
        return len(taken)
    older = iter(taken)
    return sum(1 for _ in takewhile(lambda mark: mark in older, marks))


def messages_of(update: Any) -> list[Message]:
    """One message or several as a list of plain ones.

    >>> messages_of(("user", "hi"))
    [{'role': 'user', 'content': 'hi'}]

    Raises:
        TypeError: there is something among them that is no message.
    """
    return [_message(each) for each in _several(update)]


def _several(update: Any) -> list[Any]:
    one = isinstance(update, Mapping | str) or hasattr(update, "content")
    pair = isinstance(update, tuple) and len(update) == 2 and isinstance(update[0], str)
    return [update] if one or pair else list(update)


def _message(given: Any) -> Message:
    if isinstance(given, Mapping) and "content" in given:
        return {**given, "role": str(given.get("role", "user"))}
    if isinstance(given, str):
        return {"role": "user", "content": given}
    if isinstance(given, tuple | list) and len(given) == 2:
        return {"role": str(given[0]), "content": given[1]}
    if hasattr(given, "content"):
        kind = str(getattr(given, "role", None) or getattr(given, "type", "user"))
        return {"role": _ROLES.get(kind, kind), "content": given.content}
    raise TypeError(
        f"A message is a dictionary with role and content, a pair of them, a text or an object "
        f"with content, and not {type(given).__name__}."
    )


class Conversation(list[Message]):
    """Messages for a summarizer; as text they are one line each.

    >>> print(Conversation([{"role": "user", "content": "hi"}]))
    user: hi
    """

    def __str__(self) -> str:
        return "\n".join(f"{one['role']}: {one['content']}" for one in self)
