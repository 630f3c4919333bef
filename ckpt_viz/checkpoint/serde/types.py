"""The words of pending writes, and the shape of a channel and a send, for savers to import."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

from ckpt_viz.channels.base import BaseChannel as ChannelProtocol
from ckpt_viz.constants import ERROR, INTERRUPT, RESUME, SCHEDULED, TASKS

__all__ = [
    "ERROR",
    "INTERRUPT",
    "RESUME",
    "SCHEDULED",
    "TASKS",
    "ChannelProtocol",
    "SendProtocol",
    "Update",
    "Value",
]

Value = TypeVar("Value")
Update = TypeVar("Update")


@runtime_checkable
class SendProtocol(Protocol):
    """What a Send has."""

    node: str
    arg: Any
