"""The programs by theme. Importing this puts them all on the list."""

from ..basics import PROGRAMS
from . import (
    commands,
    custom,
    failures,
    flow,
    functional,
    interrupts,
    messages,
    policies,
    raw,
    rewind,
    settings,
    streams,
    values,
)

__all__ = [
    "PROGRAMS",
    "commands",
    "custom",
    "failures",
    "flow",
    "functional",
    "interrupts",
    "messages",
    "policies",
    "raw",
    "rewind",
    "settings",
    "streams",
    "values",
]
