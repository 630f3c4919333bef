"""What a run gives to its nodes: context, store and stream writer in one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ckpt_viz.types import StreamWriter, scope

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Runtime(Generic[C]):
    """The run's surroundings, for a node that has a ``runtime`` parameter."""

    context: Any = None
    store: Any = None
    stream_writer: StreamWriter = lambda chunk: None
    previous: Any = None


def get_runtime(context_schema: Any = None) -> Runtime[Any]:
    """The runtime of the running task.

    Raises:
        RuntimeError: called outside of a running node.
    """
    current = scope.get(None)
    if current is None:
        raise RuntimeError("get_runtime() was called outside of a running node: call it in a node.")
    found: Runtime[Any] = current.runtime
    return found
