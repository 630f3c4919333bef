"""What a node's output writes: values, static edges, joins, and where routers lead."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ckpt_viz.constants import END, ROOT, START, TASKS
from ckpt_viz.errors import InvalidUpdateError, ParentCommand
from ckpt_viz.pregel.callables import is_runnable
from ckpt_viz.pregel.program import View, Write, branch_to
from ckpt_viz.types import Command, Send, scope


def value_writes(output: Any, keys: frozenset[str]) -> list[Write]:
    """The writes of a node's output; keys that the graph does not have are ignored.

    Raises:
        InvalidUpdateError: the output is not a dictionary, a Command or a list with Commands.
    """
    if output is None:
        return []
    if isinstance(output, Command):
        return _command_values(output, keys)
    if isinstance(output, Send):
        return []
    if isinstance(output, list | tuple) and any(isinstance(o, Command) for o in output):
        return [w for one in output for w in value_writes(one, keys)]
    if ROOT in keys:
        return [(ROOT, output)]
    if isinstance(output, dict):
        return [(k, v) for k, v in output.items() if k in keys]
    fields = _fields(output)
    if fields is not None:
        return [(k, v) for k, v in fields.items() if k in keys]
    raise InvalidUpdateError(
        f"Expected dict, got {output}\n"
        "A node returns a dictionary of state keys, a Command or None."
    )


def _fields(output: Any) -> dict[str, Any] | None:
    """The set fields of a dataclass or Pydantic instance, or None for anything else."""
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        return {f.name: getattr(output, f.name) for f in dataclasses.fields(output)}
    chosen = getattr(output, "model_fields_set", None)
    if chosen is not None:
        fields = type(output).model_fields
        values = {k: getattr(output, k) for k in fields}
        return {
            k: v
            for k, v in values.items()
            if v is not None or k in chosen or fields[k].default is not None
        }
    return None


def _command_values(command: Command[Any], keys: frozenset[str]) -> list[Write]:
    if command.graph == Command.PARENT:
        raise ParentCommand(command.without_graph())
    update = command.update
    if update is None:
        return []
    if isinstance(update, list | tuple) and all(
        isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in update
    ):
        return [(k, v) for k, v in update if k in keys]
    return value_writes(update, keys)


def goto_writes(output: Any) -> list[Write]:
    """The writes of the gotos in a node's output, and of the Sends in it.

    Raises:
        InvalidUpdateError: a target that the graph does not have.
    """
    commands = output if isinstance(output, list | tuple) else (output,)
    found: list[Write] = []
    for command in commands:
        if isinstance(command, Send):
            found += target_writes(command)
        elif isinstance(command, Command):
            found += [w for t in command.goto_list() for w in target_writes(t)]
    return found


def target_writes(target: Any) -> list[Write]:
    """The write that makes one target run next: none for END."""
    if isinstance(target, Send):
        if target.node == END:
            raise InvalidUpdateError("Cannot send a packet to the END node")
        return [(TASKS, target)]
    if target == END:
        return []
    return [(branch_to(target), None)]


@dataclasses.dataclass(slots=True, eq=False)
class Branch:
    """A router after a node, with the map from its answers to nodes.

    ``input_schema`` is the class that its parameter is annotated with, ``view`` what it is given,
    ``known`` the writes of the names that it has answered.
    """

    name: str
    router: Callable[..., Any]
    ends: dict[Any, str] | None
    is_async: bool
    wants: tuple[str, ...] = ()
    path: Any = None
    input_schema: Any = None
    view: View | None = None
    known: dict[str, list[Write]] = dataclasses.field(default_factory=dict)

    @property
    def shown(self) -> str | None:
        """The name that callbacks are told; a lambda has none."""
        name = getattr(self.router, "__name__", "<lambda>")
        return None if name == "<lambda>" else str(name)

    def ask(self, state: Any) -> Any:
        """The router's answer, or what to await for it."""
        wants = self.wants
        answer = self.router(state, **scope.get().arguments(wants)) if wants else self.router(state)
        if answer.__class__ is not str and is_runnable(answer):
            return answer.invoke(state)
        return answer

    def writes(self, answer: Any) -> list[Write]:
        """The writes of a router's answer: names, Sends, or a list of both.

        Raises:
            ValueError: an answer that is no destination. KeyError: not in the map.
        """
        mapped, known = self.ends, self.known
        one_name = answer.__class__ is str
        if one_name and answer in known:
            return known[answer]
        several = not one_name and isinstance(answer, list | tuple)
        answers = answer if several else (answer,)
        found: list[Write] = []
        for one in answers:
            target = one if mapped is None or isinstance(one, Send) else mapped[one]
            if target is None or target == START:
                raise ValueError("Branch did not return a valid destination")
            found += target_writes(target)
        if one_name and mapped is not None:
            known[answer] = found
        return found


@dataclasses.dataclass(slots=True, eq=False)
class Writing:
    """What one node's output writes, and where its routers lead."""

    keys: frozenset[str]
    edges: tuple[Write, ...]
    branches: Sequence[Branch]

    def write(self, output: Any) -> list[Write]:
        """The writes of an output: values, gotos and static edges."""
        keys = self.keys
        if output.__class__ is dict and ROOT not in keys:
            writes = [(k, v) for k, v in output.items() if k in keys]
        else:
            writes = value_writes(output, keys)
            if output is not None:
                writes += goto_writes(output)
        writes += self.edges
        return writes

    def route(self, read: Callable[[Any], Any], around: Any = None) -> Any:
        """The writes of the routers, each on a fresh read; a coroutine if one is async.

        ``around(branch, position, state)`` asks a router in the place of its ``ask``.
        """
        writes: list[Write] = []
        for position, branch in enumerate(self.branches):
            state = read(branch.view)
            answer = branch.ask(state) if around is None else around(branch, position, state)
            if answer.__class__ is not str and inspect.isawaitable(answer):
                return self._await(writes, answer, position, read, around)
            writes += branch.writes(answer)
        return writes

    def _ask(self, position: int, read: Callable[[Any], Any], around: Any) -> Any:
        branch = self.branches[position]
        state = read(branch.view)
        return branch.ask(state) if around is None else around(branch, position, state)

    async def _await(
        self, writes: list[Write], answer: Any, first: int, read: Callable[[Any], Any], around: Any
    ) -> list[Write]:
        for position in range(first, len(self.branches)):
            given = answer if position == first else self._ask(position, read, around)
            found = await given if inspect.isawaitable(given) else given
            writes += self.branches[position].writes(found)
        return writes
