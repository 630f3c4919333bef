"""The programs by theme. Importing this puts them all on the list."""

from ..basics import PROGRAMS
from . import (
    commands,
    failures,
    flow,
    functional,
    interrupts,
    policies,
    raw,
    rewind,
    settings,
    values,
)

__all__ = [
    "PROGRAMS",
    "commands",
    "failures",
    "flow",
    "functional",
    "interrupts",
    "policies",
    "raw",
    "rewind",
    "settings",
    "values",
]
