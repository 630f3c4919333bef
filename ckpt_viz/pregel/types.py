"""Names that older programs import from here; `ckpt_viz.types` is their home."""

import warnings

from ckpt_viz.policies import default_retry_on
from ckpt_viz.types import (
    All,
    CachePolicy,
    PregelTask,
    RetryPolicy,
    StateSnapshot,
    StateUpdate,
    StreamMode,
    StreamWriter,
)
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10

__all__ = [
    "All",
    "CachePolicy",
    "PregelTask",
    "RetryPolicy",
    "StateSnapshot",
    "StateUpdate",
    "StreamMode",
    "StreamWriter",
    "default_retry_on",
]

_TEXT = (
    "Importing from langgraph.pregel.types is deprecated. "
    "Please use 'from langgraph.types import ...' instead."
)
warnings.warn(LangGraphDeprecatedSinceV10(_TEXT), stacklevel=2)
