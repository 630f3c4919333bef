"""The programs by theme. Importing this puts them all on the lists."""

from ..basics import NESTED, PROGRAMS
from . import (
    commands,
    custom,
    failures,
    flow,
    functional,
    interrupts,
    messages,
    mixed,
    nested_interrupts,
    nested_rewind,
    policies,
    raw,
    rewind,
    settings,
    streams,
    subgraphs,
    values,
)

__all__ = [
    "NESTED",
    "PROGRAMS",
    "commands",
    "custom",
    "failures",
    "flow",
    "functional",
    "interrupts",
    "messages",
    "mixed",
    "nested_interrupts",
    "nested_rewind",
    "policies",
    "raw",
    "rewind",
    "settings",
    "streams",
    "subgraphs",
    "values",
]
