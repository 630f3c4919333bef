"""Exceptions: one class for each reaction that a caller can have."""

from __future__ import annotations

from typing import Any


class CkptVizError(Exception):
    """The root of every error that this package raises on purpose."""


class EmptyChannelError(CkptVizError):
    """A channel was read that holds no value."""


class EmptyInputError(CkptVizError):
    """A run was started with nothing to do: no input, and no checkpoint to go on from."""


class InvalidUpdateError(CkptVizError):
    """A write does not fit: wrong shape, unknown key, or two values for a one-value channel."""


class GraphRecursionError(RecursionError):
    """A run took more supersteps than ``recursion_limit`` allows."""


class GraphBubbleUp(CkptVizError):
    """Base of the signals that leave a node without being failures."""


class GraphInterrupt(GraphBubbleUp):
    """A node asked a question; ``args[0]`` is the sequence of `Interrupt`."""

    def __init__(self, interrupts: Any = ()) -> None:
        super().__init__(tuple(interrupts))


class ParentCommand(GraphBubbleUp):
    """A node sent a Command to the graph above it; ``args[0]`` is the Command."""


class ThreadBusyError(CkptVizError):
    """Another run is executing on this thread."""


class CheckpointNotFoundError(CkptVizError, ValueError):
    """A checkpoint id was given that the saver does not have."""


class NothingToResumeError(CkptVizError, ValueError):
    """An answer was given where no interrupt is open."""


class MissingThreadIdError(CkptVizError, ValueError, KeyError):
    """A saver is in use, but the config has no ``configurable.thread_id``."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class SerializationError(CkptVizError, TypeError):
    """A value cannot be saved.

    ``path`` is its place in the value (``$.foo.x[1]``), ``type_name`` its type and
    ``channel`` the channel that holds it, where known.
    """

    def __init__(
        self, message: str, *, path: str = "$", type_name: str = "", channel: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.type_name = type_name
        self.channel = channel


class TaskNotFound(CkptVizError):
    """A task id was named that the checkpoint does not have."""
