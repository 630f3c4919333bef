"""Reserved words that people meet in checkpoints and events: LangGraph's, unchanged."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, Final

from ckpt_viz.warnings import LangGraphDeprecatedSinceV10

START: Final = "__start__"
END: Final = "__end__"
TAG_HIDDEN: Final = "langsmith:hidden"
"""Marks a node or edge that streams and drawings leave out."""

TAG_NOSTREAM: Final = "nostream"
"""Marks a model whose tokens the messages mode leaves out."""

CONF: Final = "configurable"
CONFIG_KEY_CHECKPOINTER: Final = "__pregel_checkpointer"

INPUT: Final = "__input__"
INTERRUPT: Final = "__interrupt__"
RESUME: Final = "__resume__"
ERROR: Final = "__error__"
ERROR_SOURCE: Final = "__error_source_node__"
SCHEDULED: Final = "__scheduled__"
NO_WRITES: Final = "__no_writes__"
RETURN: Final = "__return__"
PREVIOUS: Final = "__previous__"
COPY: Final = "__copy__"
ROOT: Final = "__root__"

PULL: Final = "__pregel_pull"
PUSH: Final = "__pregel_push"
TASKS: Final = "__pregel_tasks"

NULL_TASK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""The task id of writes made by the caller (a Command's update, goto or resume), not by a task."""

TASK: Final = "__pregel_task"
"""The key of a node's ``configurable`` that carries its scope to the graphs it calls."""

EVENT: Final = "checkpoint_event"
"""In metadata: why this one checkpoint was saved. What is made from it does not inherit that."""

NS_SEP: Final = "|"
NS_END: Final = ":"

CONTROL: Final = frozenset(
    {NO_WRITES, PUSH, RESUME, INTERRUPT, RETURN, ERROR, ERROR_SOURCE, SCHEDULED}
)
"""Names of pending writes that steer the engine and never reach a channel."""


def __getattr__(name: str) -> Any:
    """`Send` and `Interrupt`, which older programs import from here."""
    if name in ("Send", "Interrupt"):
        text = (
            f"Importing {name} from langgraph.constants is deprecated. Please use "
            f"'from langgraph.types import {name}' instead."
        )
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=2)
        return getattr(import_module("ckpt_viz.types"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
