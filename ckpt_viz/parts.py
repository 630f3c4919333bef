"""The chunks of a stream with ``version="v2"`` and their payloads, as types; and `GraphOutput`.

A chunk is ``{"type": mode, "ns": namespace, "data": payload}``, for ``values`` with ``interrupts``
too. `ckpt_viz.types` offers these names; questions and snapshots in them are its `Interrupt` and
`StateSnapshot`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from ckpt_viz.warnings import LangGraphDeprecatedSinceV11

StateT = TypeVar("StateT")
OutputT = TypeVar("OutputT")
INTERRUPT = "__interrupt__"


class TaskPayload(TypedDict):
    """A task starts."""

    id: str
    name: str
    input: Any
    triggers: list[str]
    metadata: NotRequired[dict[str, Any]]


class TaskResultPayload(TypedDict):
    """A task ended. ``result`` holds its writes by channel."""

    id: str
    name: str
    error: str | None
    interrupts: list[dict[str, Any]]
    result: dict[str, Any]


class CheckpointTask(TypedDict):
    """A task of a checkpoint, with what is known of its outcome."""

    id: str
    name: str
    error: NotRequired[str]
    result: NotRequired[Any]
    interrupts: NotRequired[list[dict[str, Any]]]
    state: Any


class CheckpointPayload(TypedDict, Generic[StateT]):
    """A checkpoint was made."""

    config: dict[str, Any] | None
    metadata: dict[str, Any]
    values: StateT
    next: list[str]
    parent_config: dict[str, Any] | None
    tasks: list[CheckpointTask]


class DebugCheckpoint(TypedDict, Generic[StateT]):
    """A checkpoint, as the debug mode wraps it."""

    step: int
    timestamp: str
    type: Literal["checkpoint"]
    payload: CheckpointPayload[StateT]


class DebugTask(TypedDict):
    """A task that starts, as the debug mode wraps it."""

    step: int
    timestamp: str
    type: Literal["task"]
    payload: TaskPayload


class DebugTaskResult(TypedDict):
    """A task that ended, as the debug mode wraps it."""

    step: int
    timestamp: str
    type: Literal["task_result"]
    payload: TaskResultPayload


DebugPayload = DebugCheckpoint[StateT] | DebugTask | DebugTaskResult


class ValuesStreamPart(TypedDict, Generic[OutputT]):
    """All values after a step; ``interrupts`` are the questions that wait."""

    type: Literal["values"]
    ns: tuple[str, ...]
    data: OutputT
    interrupts: tuple[Any, ...]


class UpdatesStreamPart(TypedDict):
    """What a node returned, by its name; or questions under ``__interrupt__``."""

    type: Literal["updates"]
    ns: tuple[str, ...]
    data: dict[str, Any]


class MessagesStreamPart(TypedDict):
    """A message or a chunk of one, with the metadata of the call that made it."""

    type: Literal["messages"]
    ns: tuple[str, ...]
    data: tuple[Any, dict[str, Any]]


class CustomStreamPart(TypedDict):
    """What a node put into its stream writer."""

    type: Literal["custom"]
    ns: tuple[str, ...]
    data: Any


class CheckpointStreamPart(TypedDict, Generic[StateT]):
    """A checkpoint was made."""

    type: Literal["checkpoints"]
    ns: tuple[str, ...]
    data: CheckpointPayload[StateT]


class TasksStreamPart(TypedDict):
    """A task starts or ended."""

    type: Literal["tasks"]
    ns: tuple[str, ...]
    data: TaskPayload | TaskResultPayload


class DebugStreamPart(TypedDict, Generic[StateT]):
    """Tasks and checkpoints, each with its step and time."""

    type: Literal["debug"]
    ns: tuple[str, ...]
    data: DebugPayload[StateT]


StreamPart = (
    CheckpointStreamPart[StateT]
    | DebugStreamPart[StateT]
    | ValuesStreamPart[OutputT]
    | UpdatesStreamPart
    | MessagesStreamPart
    | CustomStreamPart
    | TasksStreamPart
)


@dataclass(frozen=True)
class GraphOutput(Generic[OutputT]):
    """What ``invoke(version="v2")`` gives: the final values, and the questions that wait.

    Reading it like a dictionary works as with version 1, with a warning.
    """

    value: OutputT
    interrupts: tuple[Any, ...] = ()

    def __getitem__(self, key: str) -> Any:
        _warn("result[key]")
        if key == INTERRUPT:
            return self.interrupts
        return self.value[key]  # type: ignore[index]

    def __contains__(self, key: object) -> bool:
        _warn("key in result")
        if key == INTERRUPT:
            return bool(self.interrupts)
        return key in self.value  # type: ignore[operator]


def _warn(form: str) -> None:
    text = (
        f"Accessing GraphOutput via `{form}` is deprecated. Use `result.value` to access the "
        "output value directly, or `result.interrupts` for interrupts."
    )
    warnings.warn(LangGraphDeprecatedSinceV11(text), stacklevel=3)
