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


_OLDER: Final = {
    "CACHE_NS_WRITES": "__pregel_ns_writes",
    "CONFIG_KEY_CACHE": "__pregel_cache",
    "CONFIG_KEY_CALL": "__pregel_call",
    "CONFIG_KEY_CHECKPOINT_ID": "checkpoint_id",
    "CONFIG_KEY_CHECKPOINT_MAP": "checkpoint_map",
    "CONFIG_KEY_CHECKPOINT_NS": "checkpoint_ns",
    "CONFIG_KEY_DURABILITY": "__pregel_durability",
    "CONFIG_KEY_NODE_FINISHED": "__pregel_node_finished",
    "CONFIG_KEY_READ": "__pregel_read",
    "CONFIG_KEY_RESUME_MAP": "__pregel_resume_map",
    "CONFIG_KEY_RESUMING": "__pregel_resuming",
    "CONFIG_KEY_RUNNER_SUBMIT": "__pregel_runner_submit",
    "CONFIG_KEY_RUNTIME": "__pregel_runtime",
    "CONFIG_KEY_SCRATCHPAD": "__pregel_scratchpad",
    "CONFIG_KEY_SEND": "__pregel_send",
    "CONFIG_KEY_STREAM": "__pregel_stream",
    "CONFIG_KEY_TASK_ID": "__pregel_task_id",
    "CONFIG_KEY_THREAD_ID": "thread_id",
    "OVERWRITE": "__overwrite__",
}
"""Names that older programs import from here; this engine reads few of their keys."""


def __getattr__(name: str) -> Any:
    """What older programs import from here: `Send`, `Interrupt` and names of keys."""
    if name in _OLDER:
        text = (
            f"Importing {name} from langgraph.constants is deprecated. This constant is now "
            "private and should not be used directly. Please let the LangGraph team know if you "
            "need this value."
        )
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=2)
        return _OLDER[name]
    if name in ("Send", "Interrupt"):
        text = (
            f"Importing {name} from langgraph.constants is deprecated. Please use "
            f"'from langgraph.types import {name}' instead."
        )
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=2)
        return getattr(import_module("ckpt_viz.types"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
