"""The history of a run as records, and the acts on it; knows nothing of any widget."""

from ckpt_viz.timeline.alignment import Alignment, Pair, align, compare
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.protocol import Timeline
from ckpt_viz.timeline.recording import record
from ckpt_viz.timeline.records import (
    Capability,
    ForkPreview,
    Reference,
    Row,
    TaskView,
    ThreadInfo,
    Unfinished,
    Writes,
)
from ckpt_viz.timeline.source import NoHistoryError

__all__ = [
    "Alignment",
    "Capability",
    "ForkPreview",
    "NoHistoryError",
    "Pair",
    "Reference",
    "Row",
    "TaskView",
    "ThreadInfo",
    "Timeline",
    "Unfinished",
    "Writes",
    "align",
    "compare",
    "open_timeline",
    "record",
]
