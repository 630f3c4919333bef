"""Values of classes that may not be loaded here: kept and shown, but nothing runs on them.

A channel whose value is, or holds, an `Opaque` passes through a run unchanged. A task that would
read it is refused, and so is a reducer that would go on from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from ckpt_viz.channels import BinaryOperatorAggregate
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.errors import SerializationError
from ckpt_viz.types import Overwrite

_DEEP = 50


def opaque_in(value: Any, depth: int = 0) -> Opaque | None:
    """The first opaque value that a saved value holds. None at once where none was ever made."""
    if not Opaque.made or depth > _DEEP:
        return None
    if isinstance(value, Opaque):
        return value
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset | deque):
        inner = value
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        inner = vars(value).values()
    return next((found for one in inner if (found := opaque_in(one, depth + 1))), None)


def refuse_readers(channels: Any, tasks: Iterable[Any]) -> None:
    """Refuse tasks that would read what is opaque.

    Raises:
        SerializationError: the message names node, channel and class.
    """
    for task in tasks:
        for name in task.node.reads if task.node is not None else ():
            channel = channels[name]  # which tells, when it is first touched
            if name in channels.opaque and (found := opaque_in(channel.peek())):
                raise _refusal(f"Node {task.name!r} reads", name, found)


def refuse_reducers(channels: Any, tasks: Iterable[Any]) -> None:
    """Refuse writes that a reducer would add to what is opaque.

    Raises:
        SerializationError: the message names channel and class.
    """
    for task in tasks:
        for name, value in task.writes:
            folds = isinstance(channels.specs.get(name), BinaryOperatorAggregate)
            if not folds or isinstance(value, Overwrite):
                continue
            if found := opaque_in(channels[name].peek()):
                raise _refusal(f"The reducer of a write of {task.name!r} goes on from", name, found)


def _refusal(who: str, channel: str, found: Opaque) -> SerializationError:
    name = f"{found.module}.{found.name}"
    return SerializationError(
        f"{who} channel {channel!r}, which holds a value of {name}, a class that is not allowed "
        "to be loaded here. Name it in the graph's state, register it "
        "(ckpt_viz.checkpoint.serde.register), or give the saver's serializer an allow-list.",
        type_name=name,
        channel=channel,
    )
