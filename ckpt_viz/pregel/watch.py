"""What debug mode looks at: a program whose nodes are watched while they run."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.constants import ROOT
from ckpt_viz.debug import SurpriseWarning
from ckpt_viz.errors import SerializationError
from ckpt_viz.pregel.program import Node, Program
from ckpt_viz.types import Command

_pack = JsonPlusSerializer().dumps_typed


def watched(program: Program) -> Program:
    """The program with each node's call wrapped; what the nodes do is not changed."""
    twin = copy.copy(program)
    known = frozenset(c for c in program.channels if not c.startswith(("branch:", "join:", "__")))
    known = known | {ROOT} if ROOT in program.channels else known
    twin.nodes = {name: _watched(node, known) for name, node in program.nodes.items()}
    return twin


def _watched(node: Node, known: frozenset[str]) -> Node:
    twin = copy.copy(node)
    twin.call = _InputCall(node, known) if node.hidden else _Call(node, known)
    if node.acall is not None:
        awaited = copy.copy(node)
        awaited.call = node.acall
        twin.acall = _Call(awaited, known)
    return twin


class _Call:
    """A node's call; its input is compared with what it was, its answer's keys are looked at."""

    __slots__ = ("known", "node")

    def __init__(self, node: Node, known: frozenset[str]) -> None:
        self.node = node
        self.known = known

    def __call__(self, value: Any, **given: Any) -> Any:
        before = _packed(value)
        try:
            output = self.node.call(value, **given)
        except BaseException:
            self._compare(before, value)
            raise
        if inspect.isawaitable(output):
            return self._await(output, before, value)
        return self._told(output, before, value)

    async def _await(self, output: Any, before: dict[str, Any], value: Any) -> Any:
        try:
            found = await output
        except BaseException:
            self._compare(before, value)
            raise
        return self._told(found, before, value)

    def _told(self, output: Any, before: dict[str, Any], value: Any) -> Any:
        self._compare(before, value)
        if ROOT not in self.known:
            unknown = [k for part in _parts(output) for k in part if k not in self.known]
            if unknown:
                _tell(
                    self.node,
                    f"Node {self.node.name!r} returned {_keys(unknown)} which the graph does not "
                    f"have: ignored. Known keys: {sorted(self.known)}.",
                )
        return output

    def _compare(self, before: dict[str, Any], value: Any) -> None:
        after = _packed(value)
        changed = [k for k in {**before, **after} if before.get(k) != after.get(k)]
        if changed:
            _tell(
                self.node,
                f"Node {self.node.name!r} changed {_keys(changed)} of its input in place: a result "
                "may show that, a checkpoint does not. Return the new value instead.",
            )


class _InputCall(_Call):
    """The hidden node that spreads the input over the keys."""

    __slots__ = ()

    def __call__(self, value: Any, **given: Any) -> Any:
        if isinstance(value, dict) and ROOT not in self.known:
            unknown = [k for k in value if k not in self.known]
            if unknown:
                _tell(
                    self.node,
                    f"The input has {_keys(unknown)} which the graph does not have: ignored. "
                    f"Known keys: {sorted(self.known)}.",
                )
        return self.node.call(value, **given)


def _parts(output: Any) -> Iterable[Mapping[str, Any]]:
    """The dictionaries in a node's answer."""
    for one in output if isinstance(output, list | tuple) else (output,):
        update = one.update if isinstance(one, Command) else one
        if isinstance(update, dict):
            yield update


def _packed(value: Any) -> dict[str, Any]:
    """What a node's input holds, by key, in a form that later changes leave alone."""
    if isinstance(value, dict):
        return {str(k): _frozen(v) for k, v in value.items()}
    if hasattr(value, "__dict__"):
        return {k: _frozen(v) for k, v in vars(value).items()}
    return {"the value": _frozen(value)}


def _frozen(value: Any) -> Any:
    try:
        return _pack(value)
    except SerializationError:
        return repr(value)


def _keys(names: Iterable[Any]) -> str:
    listed = list(dict.fromkeys(map(str, names)))
    return f"key{'s' if len(listed) > 1 else ''} {', '.join(map(repr, listed))}"


def _tell(node: Node, text: str) -> None:
    """A warning that points at the node's own code, where that can be found."""
    code = getattr(inspect.unwrap(node.func or node.call), "__code__", None)
    if code is None:
        warnings.warn(text, SurpriseWarning, stacklevel=2)
    else:
        warnings.warn_explicit(text, SurpriseWarning, code.co_filename, code.co_firstlineno)
